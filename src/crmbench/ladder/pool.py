"""The tasks that a ladder can be climbed on: by mechanism, and by size."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import NamedTuple

from crmbench.core.task import Task
from crmbench.domains.registry import domain_names, load_domain, load_generator
from crmbench.errors import InputError
from crmbench.ladder.fit import Harder
from crmbench.runner.executors.spread import check_executor, open_executor, workers_asked
from crmbench.runner.task_sets import load_named

LEVELS = range(1, 6)
FEWEST = 12
"""Tasks of which every mechanism has at least one."""


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

    Args:
        per_level: Tasks of each mechanism and level that are made.
        seed: That they follow from; the published ones are those of 42.
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
        count = min(workers_asked(workers, executor), len(wanted))
        # A high level takes as long as all below it: begun last, it would keep one worker alone.
        order = sorted(wanted, key=lambda each: -each.level)
        with open_executor(executor, count, _nothing, (), _nothing) as opened:
            made = dict(zip(order, opened.stream(_generated, order), strict=True))
        tasks = [task for each in wanted for task in made[each]]
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
    """Tasks that are to be made."""

    domain: str
    level: int
    per_level: int
    """Of each mechanism."""
    seed: int
    mechanisms: tuple[str, ...]
    """None: all that a set has."""


def _generated(wanted: _Level) -> list[Task]:
    per_level = wanted.per_level
    make = partial(load_generator(wanted.domain, "hard"), seed=wanted.seed, level=wanted.level)
    if wanted.mechanisms and "mechanisms" in signature(make).parameters:
        # What is not asked for is not made, and some mechanisms are only made if asked for.
        make = partial(make, mechanisms=wanted.mechanisms)
    tasks = make(size=max(per_level, FEWEST)).tasks
    mechanisms = {task.tag("mechanism") for task in tasks}
    if len(tasks) < per_level * len(mechanisms):
        # A size is shared among the mechanisms.
        tasks = make(size=per_level * len(mechanisms)).tasks
    kept: Counter[str | None] = Counter()
    chosen = []
    for task in tasks:
        kept[task.tag("mechanism")] += 1
        if kept[task.tag("mechanism")] <= per_level:
            chosen.append(task)
    return chosen


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
