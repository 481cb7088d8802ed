"""A generated set of tasks with its splits."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from crmbench.core.clock import uuid_text
from crmbench.core.task import Task


@dataclass(frozen=True)
class Dataset:
    """What a domain generates from a seed."""

    domain: str
    seed: int
    splits: Mapping[str, tuple[Task, ...]]
    """Name to tasks; the first ones partition the set, later ones may repeat tasks of those."""
    canary: str
    """The string that every task carries and no model may be trained on."""
    held_out: tuple[str, ...] = ()
    """Families of which the training split has nothing."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Family to what it tests, in a sentence or two."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task once, in the order of the splits."""
        return tuple({t.task_id: t for tasks in self.splits.values() for t in tasks}.values())


def canary_of(seed: str) -> str:
    """The string that marks a set's tasks; the same for the same seed."""
    return f"crmbench canary {uuid_text(seed, 1)}"


def numbered(
    tasks: Sequence[Task], prefix: str, rng: random.Random | None = None, first: int = 1
) -> list[Task]:
    """Tasks under ids that say nothing: ``prefix-0001`` and on.

    Args:
        prefix: What all ids begin with.
        rng: Shuffles them before, so that an id does not tell the family either.
        first: The first number.
    """
    found = list(tasks)
    if rng is not None:
        rng.shuffle(found)
    return [replace(task, task_id=f"{prefix}-{first + i:04d}") for i, task in enumerate(found)]
