"""How the work of an audit is shared out: tasks by world, one worker a share."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, TypeVar

from crmbench.core.task import Task
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import grader_on
from crmbench.runner.executors.spread import open_executor

T_co = TypeVar("T_co", covariant=True)
WORTH_IT = 64
"""Fewer tasks are done sooner than processes start."""


class Work(Protocol[T_co]):
    """Something to find out of each task: one result a task, in their order."""

    def __call__(self, tasks: Sequence[Task], grader: Grader, /) -> Sequence[T_co]: ...


@dataclass(frozen=True)
class Question:
    """A piece of work, and what it is to be done on."""

    work: Work[Any]
    backend: str = "sqlite"
    keep: Callable[[Task], bool] = lambda _task: True
    """Says which tasks it is to be done on."""


class Item(NamedTuple):
    """A question about one share of the tasks."""

    work: Work[Any]
    share: tuple[int, ...]
    """The numbers of the tasks."""
    backend: str


def answers(
    tasks: Sequence[Task], questions: Sequence[Question], workers: int, executor: str = ""
) -> Generator[list[Any]]:
    """For each question its results, one a task, in the order of the tasks.

    A share holds whole worlds as far as possible. With few tasks all is done in this process.

    Args:
        workers: How many at most.
        executor: Where they are; see `crmbench.runner.executors.spread.open_executor`.
    """
    shares = shares_of(tasks, workers if len(tasks) >= WORTH_IT else 1)
    items = [
        Item(q.work, tuple(n for n in share if q.keep(tasks[n])), q.backend)
        for q in questions
        for share in shares
    ]
    here = executor == "inline" or (not executor and len(shares) <= 1)
    last = end if here else end_process
    with open_executor(executor, len(shares), begin, (tasks,), last) as opened:
        results = opened.map(do, items)
        for start in range(0, len(items), max(len(shares), 1)):
            found: dict[int, Any] = {}
            for item in items[start : start + len(shares)]:
                found.update(zip(item.share, next(results), strict=True))
            yield [found[place] for place in sorted(found)]


def shares_of(tasks: Sequence[Task], count: int) -> tuple[tuple[int, ...], ...]:
    """The numbers of the tasks, by world, cut where each part has as many turns as the others."""
    order = sorted(range(len(tasks)), key=lambda place: tasks[place].world)
    turns = list(accumulate(len(tasks[place].turns) for place in order))
    parts: list[list[int]] = [[] for _ in range(count)]
    for place, so_far in zip(order, turns, strict=True):
        parts[(so_far - 1) * count // turns[-1]].append(place)
    return tuple(tuple(part) for part in parts if part)


_tasks: Sequence[Task] = ()
_graders: dict[str, Grader] = {}
"""Of this process: for each backend who keeps the worlds and the ground truth between items."""


def begin(tasks: Sequence[Task]) -> None:
    """Make ready to work on these tasks."""
    global _tasks
    _tasks = tasks


def do(item: Item) -> Sequence[Any]:
    """Answer a question about a share."""
    if item.backend not in _graders:
        _graders[item.backend] = grader_on(item.backend)
    return item.work([_tasks[number] for number in item.share], _graders[item.backend])


def end() -> None:
    """Close the databases; one that was interrupted may refuse, and the others are closed too."""
    while _graders:
        _, grader = _graders.popitem()
        with suppress(Exception):
            grader.close()


def end_process() -> None:
    """`end`, for a process of the audit's own; also a server that was only just starting goes."""
    end()
    # Imported here, for most audits' processes play on SQLite alone.
    from crmbench.core.postgres import stop_embedded

    stop_embedded()
