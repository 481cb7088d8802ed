"""Where the same job is done on many items: in this process, in several, or on a Ray cluster.

A job is a module-level function, so that it pickles; what it works with beside its item is made
once a worker by an initializer and kept in the worker's module. What comes of it does not depend on
the executor: results come in the order of the items, and items are done again where a worker dies.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from types import FrameType, TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from crmbench.core.signals import signals_held
from crmbench.errors import HarnessError, InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
Step = Callable[..., None]

AHEAD = 3
"""Items a worker that `stream` hands out before the first of their results is taken: two keep a
worker busy while a third is waited for. More would only fill memory."""
TRIES = 3
"""How often an item is begun whose worker dies."""
COLLECT_AFTER = 10_000
"""Objects after which a worker looks for cycles; an episode makes some thousand and hardly any."""


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

    def stream(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """One result an item, in their order; whichever worker is free takes the next item, and few
        are begun before their results are taken. An item whose worker died is done again.

        Raises:
            Exception: What a job raised, when its result is asked for.
            HarnessError: Workers died over the same item `TRIES` times.
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

    def stream(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return map(job, items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._finalizer()


@dataclass
class _Begun(Generic[Item, Result]):
    """An item that a worker has."""

    item: Item
    worker: int
    future: Future[Result]
    tries: int = 1


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
        self._stopped = False
        self._start = (finalizer, initializer, tuple(initargs))
        self._pools = [self._pool() for _ in range(workers)]
        self._pids = [pool.submit(os.getpid) for pool in self._pools]

    def _pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, get_context("fork"), initializer=_begin, initargs=self._start)

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        pools = cycle(self._pools)
        # Handed out at once, so that no process waits for another.
        pending: list[Future[Result]] = [next(pools).submit(_do, job, item) for item in items]
        return (future.result() for future in pending)

    def stream(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        rest = iter(items)
        pending: deque[_Begun[Item, Result]] = deque()
        more = True
        while more or pending:
            while more and len(pending) < AHEAD * self.workers:
                worker = self._least_busy(pending)
                try:
                    item = next(rest)
                except StopIteration:
                    more = False
                else:
                    future = self._submit(worker, job, item)
                    pending.append(_Begun(item, worker, future))
            if not pending:
                return
            try:
                result = pending[0].future.result()
            except BrokenProcessPool:
                if self._stopped:
                    raise
                self._begin_again(pending, job)
                continue
            pending.popleft()
            yield result

    def _least_busy(self, pending: Iterable[_Begun[Any, Any]]) -> int:
        busy = [0] * self.workers
        for begun in pending:
            busy[begun.worker] += not begun.future.done()
        return busy.index(min(busy))

    def _submit(self, worker: int, job: Callable[[Item], Result], item: Item) -> Future[Result]:
        try:
            return self._pools[worker].submit(_do, job, item)
        except BrokenProcessPool as error:
            broken: Future[Result] = Future()
            broken.set_exception(error)
            return broken

    def _begin_again(
        self, pending: Iterable[_Begun[Item, Result]], job: Callable[[Item], Result]
    ) -> None:
        """Put new processes in the place of dead ones, and give them what those had."""
        lost = [
            begun
            for begun in pending
            if begun.future.done() and isinstance(begun.future.exception(), BrokenProcessPool)
        ]
        for worker in {begun.worker for begun in lost}:
            self._pools[worker].shutdown(wait=False)
            self._pools[worker] = self._pool()
            self._pids[worker] = self._pools[worker].submit(os.getpid)
        # Which of a dead worker's items killed it is not known: only the first was begun.
        for worker in {begun.worker for begun in lost}:
            first = next(begun for begun in lost if begun.worker == worker)
            first.tries += 1
            if first.tries > TRIES:
                raise HarnessError(
                    f"{TRIES} worker processes died over the same work; was memory too small?"
                )
        for begun in lost:
            begun.future = self._submit(begun.worker, job, begun.item)

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
                with suppress(BrokenProcessPool):
                    pool.submit(self._finalizer)
        else:
            self._stopped = True
            for pid in self._pids:
                # Waited for: a worker may be at its first item before its number has come back, and
                # one that is not told to end would be waited for without end.
                with suppress(BrokenProcessPool, ProcessLookupError):
                    os.kill(pid.result(), signal.SIGTERM)
        for pool in self._pools:
            pool.shutdown(cancel_futures=kind is not None)


class _Told:
    """What a worker process knows of itself."""

    working = False
    """Whether it makes itself ready or is at an item; else it waits, or sends a result."""
    to_stop = False
    alone = False
    """Whether the process that it works for is gone."""


def _begin(finalizer: Step, initializer: Step, initargs: Sequence[Any]) -> None:
    # Ctrl-C reaches every process of a terminal; the parent alone decides what comes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        _Told.to_stop = True
        try:
            finalizer()
        finally:
            # A result of which a part is sent has to be sent whole: the parent would wait for the
            # rest without end, since it holds the pipe's other end itself.
            if _Told.working or _Told.alone:
                # Not sys.exit, which whatever is running could catch.
                os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    with signals_held():
        # Signals are for the main thread, also while it lets them wait.
        threading.Thread(target=_end_with_parent, daemon=True).start()
    _Told.working = True
    initializer(*initargs)
    collect_rarely()
    _Told.working = False


def _end_with_parent() -> None:
    """Have this worker told to stop once the process that it works for is gone, killed for
    instance: it would wait for work without end, since it holds its queue's other end itself.
    """
    parent = parent_process()
    if parent is None:
        return
    wait([parent.sentinel])
    _Told.alone = True
    # The finalizer belongs to the main thread, which waits or is at an item.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def _do(job: Callable[[Item], Result], item: Item) -> Result:
    """A job on an item, in a worker that may have been told to stop."""
    if _Told.to_stop:
        os._exit(1)
    _Told.working = True
    try:
        return job(item)
    finally:
        _Told.working = False


def collect_rarely() -> None:
    """Have no collection look at what is there already, and fewer at what is made from here on."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """`collect_rarely` for as long as this lasts, for a process that has other things to do too."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:  # else somebody else wants them so
            gc.unfreeze()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers_asked(workers: int | None, executor: str) -> int:
    """How many workers share work that only our own code does: as many as asked for; where nobody
    says, one for each core, and on Ray 0, which is one for each CPU of the cluster.
    """
    return workers or (0 if executor.startswith("ray") else cores())


def open_executor(
    name: str, workers: int, initializer: Step, initargs: Sequence[Any], finalizer: Step
) -> Executor:
    """The executor of a name: ``inline``, ``processes`` (also ""), ``ray`` or ``ray://HOST:PORT``.

    With one worker "" does everything in this process.

    Args:
        workers: How many; on Ray 0 takes one for each CPU of the cluster.

    Raises:
        InputError: There is none of that name.
        MissingExtraError: It needs a package that is not installed.
    """
    check_executor(name)
    if name == "ray" or name.startswith("ray:"):
        from crmbench.runner.executors.ray_cluster import RayExecutor

        return RayExecutor(name, workers, initializer, initargs, finalizer)
    if name == "inline" or (name == "" and workers <= 1):
        return InlineExecutor(initializer, initargs, finalizer)
    return ProcessExecutor(max(1, workers), initializer, initargs, finalizer)


def check_executor(name: str) -> None:
    """See that there is an executor of that name.

    Raises:
        InputError: There is none.
    """
    if name not in ("", "inline", "processes", "ray") and not name.startswith("ray:"):
        raise InputError(
            f"there is no executor '{name}'",
            field="--executor",
            expected="inline, processes, ray, ray:auto or ray://HOST:PORT",
        )
