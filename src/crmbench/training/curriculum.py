"""From small tasks to large ones, as a policy gets better."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.training.tasks import TaskPool


class Curriculum:
    """Draws from one level after another. Implements `TaskSource`.

    The next level begins when enough of the last episodes succeeded. It depends on nothing but
    the episodes that were noted, so the same run takes the same way; each process of a
    `VectorSession` takes its own.

    Args:
        levels: Pools, the easiest first, such as those of `TaskPool.ladder`.
        window: Over how many of the last episodes success is counted.
        raise_at: The share of them that has to succeed.

    Raises:
        InputError: There is no level, or a number is out of range.
    """

    def __init__(
        self, levels: Sequence[TaskPool], *, window: int = 50, raise_at: float = 0.8
    ) -> None:
        if not levels:
            raise InputError("there are no levels", field="levels", expected="one pool at least")
        if window < 1 or not 0 < raise_at <= 1:
            raise InputError(
                f"is {window} and {raise_at}",
                field="window, raise_at",
                expected="1 or more, and a share above 0",
            )
        self.levels = tuple(levels)
        self.level = 0
        """The one that is drawn from, from 0."""
        self._raise_at = raise_at
        self._recent: deque[bool] = deque(maxlen=window)

    def draw(self, seed: int) -> Task:
        """The task of a seed at the level reached."""
        return self.levels[self.level].draw(seed)

    def find(self, which: str | int) -> Task:
        """The task of an id on any level, or at a place of the level reached.

        Raises:
            InputError: There is none.
        """
        if isinstance(which, str):
            for pool in self.levels:
                if which in pool:
                    return pool.find(which)
        return self.levels[self.level].find(which)

    def note(self, task: Task, success: bool) -> None:
        """Count an episode; those of other levels say nothing of this one."""
        if task.task_id not in self.levels[self.level]:
            return
        self._recent.append(success)
        full = len(self._recent) == self._recent.maxlen
        if full and sum(self._recent) >= self._raise_at * len(self._recent):
            self.level = min(self.level + 1, len(self.levels) - 1)
            self._recent.clear()
