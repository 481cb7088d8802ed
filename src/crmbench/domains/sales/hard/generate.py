"""The hard sales sets: tasks of every mechanism at one level, from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import count

from crmbench.authoring.dataset import Dataset
from crmbench.core.clock import uuid_text
from crmbench.core.task import Task
from crmbench.domains.sales.hard import merge, review, shift, worklist
from crmbench.errors import InputError

STANDARD_SEED = 42
PUBLISHED = 3
LEVELS = 5
SIZE = 120

Maker = Callable[[str, int, str, str], list[Task]]
"""From the seed of a world, the level, the world's name and the canary: the world's tasks."""

MECHANISMS: Mapping[str, Maker] = {
    "worklist": worklist.tasks,
    "shift": shift.tasks,
    "review": review.tasks,
    "merge": merge.tasks,
}
IN_THE_SET = ("worklist", "shift", "review")
"""Those of a hard set. Strong agents pass every merge, so that it is there for the ladder alone."""
ABOUT: Mapping[str, str] = {
    "handbook_worklist": " ".join((worklist.__doc__ or "").split()),
    "handbook_review": " ".join((review.__doc__ or "").split()),
    "merge_duplicates": " ".join((merge.__doc__ or "").split()),
    "desk_shift": " ".join((shift.__doc__ or "").split()),
}


def generate(
    seed: int = STANDARD_SEED,
    size: int | None = None,
    level: int = PUBLISHED,
    mechanisms: Collection[str] = IN_THE_SET,
) -> Dataset:
    """Write the hard tasks of a level. The same seed gives the same ones on every machine.

    Args:
        seed: Of the worlds too; any other than `STANDARD_SEED` makes a private set.
        size: How many in all; 120 if left out. The mechanisms share them equally.
        level: 1 to 5; level 3 is the published one.
        mechanisms: Those that are wanted; names of other sets' are passed over.

    Raises:
        InputError: There is no such level, or the size is below the number of mechanisms.
    """
    if not 1 <= level <= LEVELS:
        raise InputError(f"there is no level {level}", field="--level", expected=f"1 to {LEVELS}")
    wanted = SIZE if size is None else size
    makers = {name: make for name, make in MECHANISMS.items() if name in mechanisms}
    if wanted < len(makers):
        raise InputError(
            f"cannot make a hard set of {wanted} tasks", expected=f"at least {len(makers)}"
        )
    canary = f"crmbench canary {uuid_text(f'sales hard canary {seed}', 1)}"
    drafts: list[Task] = []
    for place, (name, make) in enumerate(makers.items()):
        share = wanted // len(makers) + (place < wanted % len(makers))
        drafts += _of(name, make, seed, level, canary, share)
    random.Random(f"sales hard order {seed} {level}").shuffle(drafts)
    tasks = tuple(
        replace(task, task_id=f"shd-{level}-{number:03d}") for number, task in enumerate(drafts, 1)
    )
    return Dataset("sales_hard", seed, {"hard": tasks}, canary, (), ABOUT)


def _of(name: str, make: Maker, seed: int, level: int, canary: str, share: int) -> list[Task]:
    """That many tasks of a mechanism, from one world after the other."""
    found: list[Task] = []
    for number in count(1):
        if len(found) >= share:
            break
        place = f"{seed}-{number:02d}"
        found += make(place, level, f"{name}-L{level}-{place}", canary)
    return found[:share]
