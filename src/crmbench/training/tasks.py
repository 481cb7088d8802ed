"""Where a session's tasks come from: a fixed list, drawn from by seeds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.complaints import did_you_mean
from crmbench.runner.task_sets import load_named


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
