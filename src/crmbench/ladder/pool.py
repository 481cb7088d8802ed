"""The tasks that a ladder can be climbed on: by mechanism, and by size."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import NamedTuple

from crmbench.authoring.rungs import LEVELS, PER_MECHANISM, PUBLISHED_SEED, split_of
from crmbench.core.task import Task
from crmbench.domains.registry import domain_names, load_domain, load_generator
from crmbench.errors import InputError
from crmbench.ladder.fit import Harder
from crmbench.language.counts import counted
from crmbench.runner.executors.spread import check_executor, open_executor, workers_asked
from crmbench.runner.task_sets import load_named, shipped_split

FEWEST = 12
"""Tasks of which every mechanism has at least one."""
_log = logging.getLogger("crmbench.data")


@dataclass(frozen=True)
class Rung:
    """The tasks of one mechanism of about one size, or at one budget."""

    mechanism: str
    level: str
    size: float
    """The middle size of its tasks, or their budget."""
    tasks: tuple[Task, ...]


def size_of(task: Task) -> int | None:
    """The size that a task's tag gives; None where it has none."""
    text = task.tag("size")
    return int(text) if text is not None and text.isdigit() and int(text) > 0 else None


def budget_of(task: Task) -> float | None:
    """The multiple of its calls that a task's tag gives; None where it has none."""
    text = task.tag("budget")
    return None if text is None else float(text)


def measured(task: Task) -> float | None:
    """What half is looked for in: the task's budget if it is there at several, else its size."""
    return budget_of(task) or size_of(task)


def harder(tasks: Iterable[Task]) -> Harder:
    """Whether more of what half is looked for in makes it harder, or less."""
    return "more" if all(budget_of(task) is None for task in tasks) else "less"


def load_tasks(
    files: Sequence[str],
    domains: Sequence[str],
    mechanisms: Sequence[str],
    per_level: int,
    seed: int,
    levels: Sequence[int] = LEVELS,
    *,
    workers: int | None = 1,
    executor: str = "",
) -> list[Task]:
    """The tasks of files, or of the domains' hard families at every level.

    Those that come along are read; what goes beyond them, by its seed, its number or its mechanism,
    is made.

    Args:
        per_level: Tasks of each mechanism and level.
        seed: That they follow from; the published ones are those of `PUBLISHED_SEED`.
        workers: Processes, or actors on Ray, that make levels; None: one for each core, or CPU of
            the cluster.
        executor: See `crmbench.runner.executors.spread.open_executor`.

    Raises:
        InputError: A domain has no hard set, or no task is of the mechanisms and has a size.
    """
    check_executor(executor)
    tasks = [task for file in files for task in load_named(file).tasks()]
    if not files:
        wanted = [
            _Level(domain, level, per_level, seed, tuple(mechanisms))
            for domain in domains or hard_domains()
            for level in levels
        ]
        read = {each: _read(each) for each in wanted}
        missing = [left for each, part in read.items() if (left := _left(each, part)) is not None]
        made = _made(missing, workers, executor)
        tasks = [
            task
            for each, part in read.items()
            for task in (*part, *_beside(part, made.get(each.place, ())))
        ]
    kept = [
        task
        for task in tasks
        if size_of(task) is not None and (not mechanisms or task.tag("mechanism") in mechanisms)
    ]
    if kept:
        return kept
    known = sorted({name for task in tasks if (name := task.tag("mechanism"))})
    raise InputError(
        "no task of the ladder is of that kind",
        expected=f"tasks with the tags mechanism and size; mechanisms here: {', '.join(known)}",
    )


class _Level(NamedTuple):
    """Tasks that are wanted of a level."""

    domain: str
    level: int
    per_level: int
    """Of each mechanism."""
    seed: int
    mechanisms: tuple[str, ...]
    """None: all that a set has."""

    @property
    def place(self) -> tuple[str, int]:
        return self.domain, self.level

    def chosen(self, tasks: Iterable[Task]) -> list[Task]:
        """The first of each mechanism that is wanted, as many as are wanted."""
        kept: Counter[str | None] = Counter()
        found = []
        for task in tasks:
            mechanism = task.tag("mechanism")
            kept[mechanism] += 1
            asked_for = not self.mechanisms or mechanism in self.mechanisms
            if asked_for and kept[mechanism] <= self.per_level:
                found.append(task)
        return found


def _read(wanted: _Level) -> list[Task]:
    """What comes along of it; nothing where that is too few, or of another seed."""
    if wanted.seed != PUBLISHED_SEED or wanted.per_level > PER_MECHANISM:
        return []
    return wanted.chosen(shipped_split(wanted.domain, split_of(wanted.level)))


def _left(wanted: _Level, read: Sequence[Task]) -> _Level | None:
    """What is to be made beside what was read; None: nothing."""
    if not wanted.mechanisms:
        return None if read else wanted
    known = {task.tag("mechanism") for task in read}
    others = tuple(name for name in wanted.mechanisms if name not in known)
    return wanted._replace(mechanisms=others) if others else None


def _beside(read: Sequence[Task], made: Iterable[Task]) -> Iterator[Task]:
    """What was made, under ids that what was read does not have: both are numbered from 1."""
    taken = {task.task_id for task in read}
    for task in made:
        clash = task.task_id in taken
        yield replace(task, task_id=f"{task.task_id}-{task.tag('mechanism')}") if clash else task


def _made(
    wanted: Sequence[_Level], workers: int | None, executor: str
) -> dict[tuple[str, int], list[Task]]:
    """Domain and level to their tasks, made now."""
    if not wanted:
        return {}
    _log.warning("Making tasks of %s …", counted(len(wanted), "level"))
    # A high level takes as long as all below it: begun last, it would keep one worker alone.
    order = sorted(wanted, key=lambda each: -each.level)
    count = min(workers_asked(workers, executor), len(order))
    with open_executor(executor, count, _nothing, (), _nothing) as opened:
        made = opened.stream(_generated, order)
        return {each.place: tasks for each, tasks in zip(order, made, strict=True)}


def _generated(wanted: _Level) -> list[Task]:
    make = partial(load_generator(wanted.domain, "hard"), seed=wanted.seed, level=wanted.level)
    if wanted.mechanisms and "mechanisms" in signature(make).parameters:
        # What is not asked for is not made, and some mechanisms are only made if asked for.
        make = partial(make, mechanisms=wanted.mechanisms)
    tasks = make(size=max(wanted.per_level, FEWEST)).tasks
    mechanisms = {task.tag("mechanism") for task in tasks}
    if len(tasks) < wanted.per_level * len(mechanisms):
        # A size is shared among the mechanisms.
        tasks = make(size=wanted.per_level * len(mechanisms)).tasks
    return wanted.chosen(tasks)


def _nothing() -> None:
    """Workers that make levels keep nothing."""


def hard_domains() -> list[str]:
    """The domains that have a hard set."""
    return [
        name
        for name in domain_names()
        if any("hard" in each.splits for each in load_domain(name).task_sets)
    ]


def rungs_of(tasks: Sequence[Task]) -> dict[str, tuple[Rung, ...]]:
    """Mechanism to its rungs, the smallest size first; tasks of one level are one rung."""
    groups: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task in tasks:
        mechanism = task.tag("mechanism") or task.family or task.domain
        # Without levels each size is a rung of its own.
        level = task.tag("level") or f"{size_of(task)} items"
        groups[f"{task.domain}/{mechanism}", level].append(task)
    found: dict[str, list[Rung]] = defaultdict(list)
    for (mechanism, level), members in groups.items():
        sizes = sorted(size for task in members if (size := measured(task)))
        middle = float(sizes[len(sizes) // 2])
        found[mechanism].append(Rung(mechanism, level, middle, tuple(members)))
    return {name: tuple(sorted(found[name], key=lambda r: r.size)) for name in sorted(found)}
