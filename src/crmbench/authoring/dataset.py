"""A generated set of tasks with its splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
