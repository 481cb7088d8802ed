"""The nine tasks, each in three forms, and every form a family of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from crmbench.authoring.family import Family
from crmbench.domains.service.families.context import TaskContext
from crmbench.domains.service.families.draft import Candidate
from crmbench.domains.service.families.wording import phrases

Draw = Callable[[TaskContext], Iterator[Candidate]]
"""Finds what tasks could be about, one after the other."""
UNANSWERABLE = 0.2
"""Share of the questions without an answer, in the tasks that have such questions."""


@dataclass(frozen=True, kw_only=True)
class TaskForm(Family[Draw]):
    """A task in one of its forms."""

    task: str
    """Of the nine."""
    form: str
    """A key of `FORMS`."""
    complexity: str
    empty_share: float = 0.0
    """How many of its tasks have no answer."""


# Suffix of the family's name, how many tasks each of the nine has of it (the weight), complexity.
FORMS: Mapping[str, tuple[str, int, str]] = {
    "asked": ("", 130, "simple"),
    "done": ("_doing", 20, "medium"),
    "talked": ("_turns", 15, "complex"),
}


@dataclass(frozen=True)
class ServiceFamily:
    """One of the nine tasks."""

    name: str
    category: str
    asked: Draw
    """Questions."""
    done: Draw
    """Questions whose answer is acted on."""
    talked: Draw
    """Conversations of three to five turns."""
    with_empty: bool = True
    """Whether a share of the questions has no answer."""

    @property
    def forms(self) -> tuple[TaskForm, ...]:
        """The families of its three forms."""
        drawn = {"asked": self.asked, "done": self.done, "talked": self.talked}
        return tuple(
            TaskForm(
                name=f"{self.name}{suffix}",
                category=self.category,
                about=phrases(self.name)["about"][form],
                write=drawn[form],
                weight=size,
                task=self.name,
                form=form,
                complexity=complexity,
                empty_share=UNANSWERABLE if self.with_empty and form == "asked" else 0.0,
            )
            for form, (suffix, size, complexity) in FORMS.items()
        )
