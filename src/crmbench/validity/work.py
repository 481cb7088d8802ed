"""How the work of an audit is shared out: tasks by world, one worker a share.

Tasks of many decisions have worlds of their own that take seconds to make. Few of these are kept,
so they are asked about in rounds: every question about a few worlds, then about the next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple, Protocol, TypeVar

from crmbench.core.task import Task
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import grader_on
from crmbench.runner.executors.spread import open_executor
from crmbench.validity.hard import of_many

T_co = TypeVar("T_co", covariant=True)
WORTH_IT = 64
"""Fewer tasks are done sooner than processes start, unless they have many decisions."""
FEW_OF_MANY = 8
"""Tasks of many decisions, such as are worth it."""
WORLDS_AT_ONCE = 4
"""Worlds of tasks of many decisions that a worker is asked about in a round; every domain keeps so
many."""


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
    tasks: Sequence[Task],
    questions: Sequence[Question],
    workers: int,
    executor: str = "",
    on_round: Callable[[int, int], None] = lambda _done, _of: None,
) -> Generator[list[Any]]:
    """For each question its results, one a task, in the order of the tasks.

    A share holds whole worlds as far as possible. With few tasks, or few of many decisions, all is
    done in this process.

    Args:
        workers: How many at most.
        executor: Where they are; see `crmbench.runner.executors.spread.open_executor`.
        on_round: Told how many rounds are done, and of how many, after each.
    """
    several = len(tasks) >= WORTH_IT or sum(map(of_many, tasks)) >= FEW_OF_MANY
    rounds = rounds_of(tasks, workers if several else 1)
    count = max((len(shares) for shares in rounds), default=0)
    items = [
        Item(q.work, tuple(n for n in share if q.keep(tasks[n])), q.backend)
        for shares in rounds
        for q in questions
        for share in (*shares, *[()] * (count - len(shares)))
    ]
    here = executor == "inline" or (not executor and count <= 1)
    last = end if here else end_process
    found: list[dict[int, Any]] = [{} for _ in questions]
    with open_executor(executor, count, begin, (tasks,), last) as opened:
        results = zip(items, opened.map(do, items), strict=True)
        for number in range(1, len(rounds) + 1):
            for each in found:
                for item, answer in islice(results, count):
                    each.update(zip(item.share, answer, strict=True))
                if number == len(rounds):
                    yield [each[place] for place in sorted(each)]
            on_round(number, len(rounds))


Shares = tuple[tuple[int, ...], ...]
"""The numbers of the tasks that each worker is asked about."""


def rounds_of(tasks: Sequence[Task], count: int) -> tuple[Shares, ...]:
    """What is asked about at once: first all tasks with few decisions, then the others, by worlds.

    Those are dealt out mechanism by mechanism, since one costs many times what another does.
    """
    few = [place for place, task in enumerate(tasks) if not of_many(task)]
    worlds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, task in enumerate(tasks):
        if of_many(task):
            worlds[task.tag("mechanism") or "", task.world].append(place)
    dealt = [worlds[world] for world in sorted(worlds)]
    at_once = count * WORLDS_AT_ONCE
    rounds = [_shares(tasks, few, count)] if few else []
    for start in range(0, len(dealt), at_once):
        some = dealt[start : start + at_once]
        parts = (tuple(chain(*some[worker::count])) for worker in range(count))
        rounds.append(tuple(part for part in parts if part))
    return tuple(rounds)


def _shares(tasks: Sequence[Task], places: Sequence[int], count: int) -> Shares:
    """Some tasks by world, cut where each part has as many turns as the others."""
    order = sorted(places, key=lambda place: tasks[place].world)
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
