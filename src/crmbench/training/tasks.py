"""Where a session's tasks come from: a fixed list, drawn from by seeds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from crmbench.authoring.pools import read_pool
from crmbench.core.task import Task
from crmbench.domains.registry import load_generator, load_pool_generator
from crmbench.errors import InputError
from crmbench.formats.complaints import did_you_mean
from crmbench.runner.task_sets import load_named

STANDARD_SEED = 42
"""Of the published sets."""
LADDER_SIZE = 12


@runtime_checkable
class TaskSource(Protocol):
    """Gives a session its tasks. Pickles, if its sessions are to."""

    def draw(self, seed: int) -> Task:
        """The task of a seed: the same one each time, unless what was noted has changed that."""

    def find(self, which: str | int) -> Task:
        """The task of an id, or at a place from 0.

        Raises:
            InputError: There is none.
        """

    def note(self, task: Task, success: bool) -> None:
        """Told of each episode that has ended."""


class TaskPool:
    """Tasks that are as likely each. Implements `TaskSource`.

    Args:
        tasks: What is drawn from, in the order in which places count.

    Raises:
        InputError: There are none.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        if not tasks:
            raise InputError("there are no tasks to train on", expected="one at least")
        self.tasks = tuple(tasks)
        self._places = {task.task_id: place for place, task in enumerate(self.tasks)}

    @classmethod
    def made(cls, domain: str, split: str = "train", seed: int = 0, size: int = 180) -> TaskPool:
        """Tasks made for training; any number of them, from any number of seeds.

        The two splits share no world, no name of a person or a firm and no phrasing, whatever
        their seeds, and neither shares a world with a published set.

        Args:
            domain: ``sales`` or ``service``, or an installed one that makes such tasks.
            split: ``train`` or ``held_out``.
            seed: The same one makes the same tasks.
            size: How many; at least one a family.

        Raises:
            InputError: There is no such domain or split, or the size is too small.
        """
        pool = read_pool(split)
        return cls(load_pool_generator(domain)(pool, seed, size).tasks)

    @classmethod
    def ladder(cls, domain: str, level: int, seed: int, size: int = LADDER_SIZE) -> TaskPool:
        """Tasks of the domain's hard families, at a level of their size: for a curriculum.

        Seeds keep these apart, and only seeds: their names come from one bank.

        Args:
            level: 1 (smallest) to 5.
            seed: Any but that of the published ones.

        Raises:
            InputError: There is no such domain or level, or the seed is `STANDARD_SEED`.
        """
        if seed == STANDARD_SEED:
            raise InputError(
                f"{seed} is the seed of the published tasks", field="seed", expected="another"
            )
        return cls(load_generator(domain, "hard")(seed=seed, size=size, level=level).tasks)

    def draw(self, seed: int) -> Task:
        """The task of a seed."""
        return self.tasks[random.Random(seed).randrange(len(self.tasks))]

    def find(self, which: str | int) -> Task:
        """The task of an id, or at a place from 0.

        Raises:
            InputError: There is none.
        """
        place = self._places.get(which) if isinstance(which, str) else which
        if place is None:
            raise InputError(f"there is no task '{which}'" + did_you_mean(str(which), self._places))
        if not 0 <= place < len(self.tasks):
            raise InputError(f"there is no task {which}", expected=f"0 to {len(self.tasks) - 1}")
        return self.tasks[place]

    def note(self, task: Task, success: bool) -> None:
        """What came of an episode changes nothing here."""

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._places

    def __len__(self) -> int:
        return len(self.tasks)


def task_source(tasks: str | Path | Sequence[Task] | TaskSource) -> TaskSource:
    """The source that a name, a list or a source stands for.

    Raises:
        InputError: A file cannot be read, or there are no tasks.
    """
    if isinstance(tasks, str | Path):
        return TaskPool(load_named(str(tasks)).tasks())
    return tasks if isinstance(tasks, TaskSource) else TaskPool(tasks)
