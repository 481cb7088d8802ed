"""Replies whose right reading is known, against what the grader reads in them.

A file of replies (right and wrong ones, best by writers who have not seen the grader) is the
measure of the reading: how many right ones are rejected, how many wrong ones are accepted, and how
many it leaves undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.task import Task
from crmbench.core.world import Backend
from crmbench.errors import InputError
from crmbench.grading.gold import GoldRun, execute_gold
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, Problem, outcome_of


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to one turn of a task, and whether it is right."""

    task_id: str
    turn: int
    """Counted from 1."""
    text: str
    right: bool
    submitted: str | None = None
    """What was given with the answering tool; None where nothing was."""
    style: str = ""
    """How a right reply is written, where the file says so."""
    why: str = ""
    """Why a wrong one is wrong, where the file says so."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any], line: int) -> Reply:
        """A line of a file of replies.

        Raises:
            InputError: A field is missing or of the wrong type.
        """
        wanted = {"task_id": str, "turn": int, "reply": str, "right": bool}
        for name, kind in wanted.items():
            if not isinstance(data.get(name), kind):
                raise InputError(
                    f"no usable '{name}'", line=line, field=name, expected=kind.__name__
                )
        return cls(
            data["task_id"],
            data["turn"],
            data["reply"],
            data["right"],
            data.get("respond"),
            str(data.get("style", "")),
            str(data.get("why", "")),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A reply and what the grader makes of it."""

    reply: Reply
    problems: tuple[Problem, ...]

    @property
    def outcome(self) -> Outcome:
        return outcome_of(self.problems)

    @property
    def agrees(self) -> bool:
        """Whether the grader is certain, and right."""
        wanted = Outcome.SUCCEEDS if self.reply.right else Outcome.FAILS
        return self.outcome is wanted


def check_replies(
    domain: Domain, tasks: Sequence[Task], replies: Iterable[Reply], backend: Backend
) -> Iterator[Judged]:
    """Judge replies as if the gold had been played up to and in the turn of each.

    Raises:
        InputError: A reply is to a task or a turn that is not there.
    """
    by_id = {task.task_id: task for task in tasks}
    walked: dict[str, GoldRun] = {}
    for reply in replies:
        task = by_id.get(reply.task_id)
        if task is None:
            raise InputError(f"there is no task '{reply.task_id}' in the data")
        if not 1 <= reply.turn <= len(task.turns):
            raise InputError(f"task '{reply.task_id}' has no turn {reply.turn}")
        if reply.task_id not in walked:
            walked[reply.task_id] = execute_gold(domain, task, backend)
        words = TurnWords.of_gold(
            domain, task, walked[reply.task_id], reply.turn - 1, reply.submitted
        )
        yield Judged(reply, tuple(judge_words(words, reply.text)))


def tally(judged: Sequence[Judged]) -> dict[str, Any]:
    """How many right and wrong replies are accepted, rejected and left undecided, by style."""
    return {
        name: {**_counts(part), "by_style": _by_style(part)}
        for name, part in (
            ("right", [each for each in judged if each.reply.right]),
            ("wrong", [each for each in judged if not each.reply.right]),
        )
    }


def _counts(judged: Sequence[Judged]) -> dict[str, int]:
    outcomes = [each.outcome for each in judged]
    return {
        "n": len(judged),
        "accepted": outcomes.count(Outcome.SUCCEEDS),
        "rejected": outcomes.count(Outcome.FAILS),
        "undecided": outcomes.count(Outcome.UNDECIDED),
    }


def _by_style(judged: Sequence[Judged]) -> dict[str, dict[str, int]]:
    styles = sorted({each.reply.style for each in judged if each.reply.style})
    return {
        style: _counts([each for each in judged if each.reply.style == style]) for style in styles
    }
