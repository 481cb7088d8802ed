"""Where the same job is done on many items: in this process, or in several.

A job is a module-level function, so that it pickles; what it works with beside its item is made
once a worker by an initializer and kept in the worker's module. Another way to spread work (a
cluster) is another class with `map`.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from itertools import cycle
from multiprocessing import get_context
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Step = Callable[..., None]


class Executor(Protocol):
    """Does a job on many items. Use it as a context manager."""

    @property
    def workers(self) -> int:
        """How many items are worked on at once."""

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Begin all of it, and give one result an item, in their order, as they are ready.

        Item number n goes to worker number n modulo `workers`, so that a worker can keep what it
        made for one item for those that follow.

        Raises:
            Exception: What a job raised, when its result is asked for.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class InlineExecutor:
    """Does each item in this process, when its result is asked for. Implements `Executor`.

    Args:
        initializer: Called with `initargs` before the first item.
        finalizer: Called when the executor is left, in whatever way.
    """

    workers = 1

    def __init__(self, initializer: Step, initargs: Sequence[Any], finalizer: Step) -> None:
        self._finalizer = finalizer
        initializer(*initargs)

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return map(job, items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._finalizer()


class ProcessExecutor:
    """Several processes, each with its own queue. Implements `Executor`.

    Args:
        workers: How many processes.
        initializer: Called with `initargs` in each process, before its first item.
        finalizer: Called in each process at the end, also when it is interrupted.
    """

    def __init__(
        self, workers: int, initializer: Step, initargs: Sequence[Any], finalizer: Step
    ) -> None:
        self.workers = workers
        self._finalizer = finalizer
        start = (finalizer, initializer, tuple(initargs))
        self._pools = [
            ProcessPoolExecutor(1, get_context("fork"), initializer=_begin, initargs=start)
            for _ in range(workers)
        ]
        self._pids = [pool.submit(os.getpid) for pool in self._pools]

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        pools = cycle(self._pools)
        # Handed out at once, so that no process waits for another.
        pending: list[Future[Result]] = [next(pools).submit(job, item) for item in items]
        return (future.result() for future in pending)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            for pool in self._pools:
                pool.submit(self._finalizer)
        else:
            for pid in self._pids:
                if pid.done() and pid.exception() is None:
                    with suppress(ProcessLookupError):
                        os.kill(pid.result(), signal.SIGTERM)
        for pool in self._pools:
            pool.shutdown(cancel_futures=kind is not None)


def _begin(finalizer: Step, initializer: Step, initargs: Sequence[Any]) -> None:
    # Ctrl-C reaches every process of a terminal; the parent alone decides what comes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        try:
            finalizer()
        finally:
            # Not sys.exit, which whatever is running could catch.
            os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    # What came with the fork stays; no collection need look at it.
    gc.freeze()
    initializer(*initargs)
