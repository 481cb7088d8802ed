"""Run directories as pages see them: figures at once, the list of episodes once it is read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crmbench.errors import CrmbenchError, InputError
from crmbench.report.labels import player, short_player
from crmbench.report.settings import settings
from crmbench.report.views.lines import EpisodeLine, line_of
from crmbench.runner.outline import outlines, stored_config, stored_figures, task_heads
from crmbench.seats.errors import NotFound

if TYPE_CHECKING:
    from crmbench.grading.record import EpisodeRecord
    from crmbench.runner.run_dir import RunDir

FACETS = ("outcome", "category", "family", "tag", "complexity", "fault")
"""What the list of episodes can be narrowed by, beside words and cost."""


class StoredRun:
    """One run directory.

    Args:
        path: Its directory.
        name: What addresses call it; no other run has it.

    Raises:
        InputError: The directory holds no run.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.config = stored_config(path)
        self.agent = player(self.config)
        self.short = short_player(self.config)
        self.settings = settings(self.config)
        self.seen = 0
        """Episodes read so far."""
        self.problem: str | None = None
        """Why the episodes could not be read."""
        self._figures = stored_figures(path)
        self._lines: list[EpisodeLine] = []
        self._places: dict[tuple[str, int], int] = {}
        self._ready = threading.Event()

    @property
    def ready(self) -> bool:
        """Whether the list of episodes is read."""
        return self._ready.is_set()

    def wait(self, seconds_: float) -> bool:
        """Whether the list is read, or is within so many seconds."""
        return self._ready.wait(seconds_)

    @property
    def figures(self) -> Mapping[str, Any] | None:
        """What ``summary.json`` holds; None until it is known."""
        return self._figures

    @property
    def lines(self) -> Sequence[EpisodeLine]:
        """The episodes, as far as they are read."""
        return self._lines

    def read(self) -> None:
        """Read the list of episodes; for a thread of its own."""
        try:
            heads = {head.conversation_id: head for head in task_heads(self.path)}
            for number, outline in enumerate(outlines(self.path)):
                self._places[outline.place] = number
                self._lines.append(line_of(number, outline, heads))
                self.seen = number + 1
            self._ready.set()
            if self._figures is None:
                self._figures = self._worked_out()
        except (CrmbenchError, OSError) as error:
            self.problem = str(error)
        finally:
            self._ready.set()

    def _worked_out(self) -> dict[str, Any]:
        """The figures of a run that has not ended."""
        from crmbench.report.summary import summary_of

        return summary_of(self.run_dir).to_data()

    @cached_property
    def run_dir(self) -> RunDir:
        """The directory as the grading reads it; a list does without, and without its import."""
        from crmbench.runner.parts import open_run

        return open_run(self.path)

    @cached_property
    def _whole(self) -> Callable[[Iterable[tuple[str, int]]], Iterator[EpisodeRecord]]:
        return self.run_dir.by_key()

    def episode(self, task_id: str, trial: int) -> EpisodeRecord:
        """An episode as a whole; where each is is found out once."""
        return next(self._whole([(task_id, trial)]))

    def line(self, task_id: str, trial: int) -> EpisodeLine:
        """The line of an episode.

        Raises:
            NotFound: The run has no such episode.
        """
        number = self._places.get((task_id, trial))
        if number is None:
            raise NotFound(f"The run {self.name} has no trial {trial + 1} of the task {task_id}.")
        return self._lines[number]

    def trials(self, task_id: str) -> list[EpisodeLine]:
        """The episodes of a task."""
        return [line for line in self._lines if line.task_id == task_id]

    @cached_property
    def _counts(self) -> dict[str, dict[str, int]]:
        counts: dict[str, Counter[str]] = {facet: Counter() for facet in FACETS}
        for line in self._lines:
            for facet, counter in counts.items():
                counter.update(line.values(facet))
        return {facet: dict(sorted(c.items(), key=_most_first)) for facet, c in counts.items()}

    @property
    def has_costs(self) -> bool:
        """Whether the cost of any episode is known, so far as they are read."""
        return any(line.cost is not None for line in self._lines)

    def options(self, facet: str) -> dict[str, int]:
        """The values of a facet, most frequent first, with how many episodes have each."""
        return self._counts[facet] if self.ready else {}


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


@dataclass
class RunStore:
    """The runs that are looked at, in the order in which they were named."""

    runs: dict[str, StoredRun] = field(default_factory=dict)

    @classmethod
    def open(cls, directories: Sequence[Path]) -> RunStore:
        """The runs of some directories: each is one, or holds some.

        Raises:
            InputError: One of them holds no run.
        """
        store = cls()
        for directory in directories:
            found = list(_runs_in(directory))
            if not found:
                raise InputError(
                    "holds no run",
                    file=str(directory),
                    expected="a directory that `crmbench run --out` made, or one of several",
                )
            for path in found:
                name = store._free_name(path)
                store.runs[name] = StoredRun(path, name)
        return store

    def _free_name(self, path: Path) -> str:
        wanted = path.resolve().name or "run"
        name, number = wanted, 2
        while name in self.runs:
            name, number = f"{wanted}-{number}", number + 1
        return name

    def read(self) -> None:
        """Read the lists of episodes."""
        for run in self.runs.values():
            run.read()

    def get(self, name: str) -> StoredRun:
        """A run.

        Raises:
            NotFound: There is none of that name.
        """
        if name not in self.runs:
            raise NotFound(f"There is no run '{name[:80]}'.")
        return self.runs[name]


def _runs_in(directory: Path) -> Iterator[Path]:
    if (directory / "config.json").exists():
        yield directory
        return
    for depth in ("*", "*/*"):
        yield from sorted(path.parent for path in directory.glob(f"{depth}/config.json"))
