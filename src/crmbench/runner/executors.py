"""A few processes that share the tasks of an audit."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from multiprocessing import get_context
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from crmbench.agents.oracle import OracleFactory
from crmbench.core.backends import backend_maker
from crmbench.core.task import Task
from crmbench.runner.evaluate import AnyFactory, Evaluator

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
WORTH_IT = 64
"""Fewer tasks are done sooner than processes start."""

Playing = Callable[[AnyFactory], Evaluator]
"""An evaluator for an agent, on a backend that the caller chose."""


class Work(Protocol[T_co]):
    """Something to find out of each task: one result a task, in their order."""

    def __call__(self, tasks: Sequence[Task], playing: Playing, /) -> Sequence[T_co]: ...


@dataclass(frozen=True)
class Pending(Generic[T]):
    """Results that are still being worked out."""

    shares: tuple[tuple[int, ...], ...]
    """The numbers of the tasks in each share."""
    parts: tuple[Callable[[], Sequence[T]], ...]
    """Give the results for each share."""

    def results(self) -> list[T]:
        """One a task, in the order of the tasks; waits for them."""
        found: dict[int, T] = {}
        for share, part in zip(self.shares, self.parts, strict=True):
            found.update(zip(share, part(), strict=True))
        return [found[place] for place in sorted(found)]


class Workers:
    """Processes with a share of the tasks each, who keep worlds and ground truth between gates.

    A share holds whole worlds as far as possible. With few tasks the work is done in this process.

    Args:
        processes: How many at most.
    """

    def __init__(self, tasks: Sequence[Task], processes: int) -> None:
        self._tasks = tasks
        count = processes if len(tasks) >= WORTH_IT else 1
        self._shares = _shares(tasks, count)
        self._desk = _Desk(tasks)
        self._pools = [
            ProcessPoolExecutor(1, get_context("fork"), initializer=_start, initargs=(tasks,))
            for _ in self._shares
            if len(self._shares) > 1
        ]

    def submit(
        self,
        work: Work[T],
        backend: str = "sqlite",
        keep: Callable[[Task], bool] = lambda _task: True,
    ) -> Pending[T]:
        """Begin some work.

        Args:
            keep: Says which tasks it is to be done on.
        """
        shares = tuple(
            tuple(number for number in share if keep(self._tasks[number])) for share in self._shares
        )
        parts: list[Callable[[], Sequence[T]]] = []
        for place, share in enumerate(shares):
            if self._pools:
                parts.append(self._pools[place].submit(_at_desk, work, share, backend).result)
            else:
                parts.append(partial(self._desk.do, work, share, backend))
        return Pending(shares, tuple(parts))

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pool in self._pools:
            pool.submit(_close)
            pool.shutdown(cancel_futures=kind is not None)
        self._desk.close()


def _shares(tasks: Sequence[Task], count: int) -> tuple[tuple[int, ...], ...]:
    """The numbers of the tasks, by world, cut where each part has as many turns as the others."""
    order = sorted(range(len(tasks)), key=lambda place: tasks[place].world)
    turns = list(accumulate(len(tasks[place].turns) for place in order))
    parts: list[list[int]] = [[] for _ in range(count)]
    for place, so_far in zip(order, turns, strict=True):
        parts[(so_far - 1) * count // turns[-1]].append(place)
    return tuple(tuple(part) for part in parts if part)


class _Desk:
    """What one process works with: for each backend an evaluator that keeps what it has made."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._evaluators: dict[str, Evaluator] = {}

    def do(self, work: Work[T], share: Sequence[int], backend: str) -> Sequence[T]:
        if backend not in self._evaluators:
            self._evaluators[backend] = evaluator_on(backend, OracleFactory())
        shared = self._evaluators[backend]
        tasks = [self._tasks[number] for number in share]
        return work(tasks, lambda agent: Evaluator.sharing(shared, agent))

    def close(self) -> None:
        for evaluator in self._evaluators.values():
            evaluator.close()
        self._evaluators.clear()


_desk: _Desk | None = None
"""Of this process, where it is a worker."""


def _start(tasks: Sequence[Task]) -> None:
    global _desk
    # The tasks came with the fork, and stay; no collection need look at them.
    gc.freeze()
    _desk = _Desk(tasks)


def _at_desk(work: Work[T], share: Sequence[int], backend: str) -> Sequence[T]:
    assert _desk is not None, "a worker's process begins with a desk"
    return _desk.do(work, share, backend)


def _close() -> None:
    assert _desk is not None, "a worker's process begins with a desk"
    _desk.close()


def evaluator_on(backend: str, agent: AnyFactory) -> Evaluator:
    """An evaluator on the backend of that name."""
    return Evaluator(agent, backend_maker(backend))
