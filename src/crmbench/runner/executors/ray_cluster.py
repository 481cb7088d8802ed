"""Work spread over a Ray cluster: an actor a CPU, each of which keeps its worlds between items.

Ray's own retries are not used: an actor that is lost with its node is replaced by another as soon
as a CPU is free, and what it had goes to those that are left. Results are given by the number of
their item, once each, so nothing is lost or doubled whatever dies.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from crmbench.errors import HarnessError, InfrastructureError, MissingExtraError
from crmbench.runner.executors.spread import AHEAD, Step, collect_rarely

Item = TypeVar("Item")
Result = TypeVar("Result")

IN_FLIGHT = 2
"""Items that an actor has at once: one it works on, and one that waits."""
TRIES = 6
"""How often an item is begun whose actor is lost: nodes come and go, some with every hour."""
PATIENCE = 300.0
"""Seconds that are waited for a first CPU, or for another once all actors were lost."""
NAMESPACE = "crmbench"


class _Actor:
    """What runs on a node. Made remote where it is needed, since Ray is not imported before."""

    def __init__(self, start: tuple[Step, tuple[Any, ...], Step]) -> None:
        initializer, initargs, self._finalizer = start
        initializer(*initargs)
        collect_rarely()

    def ready(self) -> None:
        """Answer once everything is made ready."""

    def do(self, job: Callable[[Any], Any], item: Any) -> Any:
        return job(item)

    def finish(self) -> None:
        self._finalizer()


@dataclass
class _Held(Generic[Item]):
    """An item that is not done, and how often it was begun."""

    number: int
    item: Item
    tries: int = 0


@dataclass
class _Work(Generic[Item]):
    """The items of one call of `map` or `stream`."""

    job: Callable[[Item], Any]
    rest: Iterator[Item]
    fixed: bool
    """Whether item n is best done by actor n modulo their number."""
    begun: int = 0
    given: int = 0
    over: bool = False
    waiting: deque[_Held[Item]] = field(default_factory=deque)
    flying: dict[Any, tuple[_Held[Item], int]] = field(default_factory=dict)
    """By Ray's reference: the item, and the slot of the actor that has it."""
    done: dict[int, Any] = field(default_factory=dict)

    def read_on(self, most: int | None) -> None:
        """Have items wait, up to `most` beyond the last result that was given."""
        room = None if most is None else max(0, self.given + most - self.begun)
        for item in islice(self.rest, room):
            self.waiting.append(_Held(self.begun, item))
            self.begun += 1
            room = None if room is None else room - 1
        self.over = self.over or room is None or room > 0

    def next_for(self, slot: int, slots: int, live: Iterable[int]) -> _Held[Item] | None:
        """The next item for an actor."""
        for held in self.waiting:
            best = held.number % slots
            if not self.fixed or best == slot or best not in live:
                self.waiting.remove(held)
                return held
        return None


class RayExecutor:
    """Actors on a Ray cluster. Implements `Executor`.

    Args:
        name: ``ray`` for RAY_ADDRESS or, without it, this machine alone; ``ray:auto`` for the
            cluster that runs on it; ``ray://HOST:PORT`` for another one.
        workers: How many actors, of a CPU each; 0: as many as the cluster has.
        initializer: Called with `initargs` in each actor, before its first item.
        finalizer: Called in each actor at the end.

    Raises:
        MissingExtraError: Ray is not installed.
        InfrastructureError: The cluster cannot be reached, or has no CPU free.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        initializer: Step,
        initargs: Sequence[Any],
        finalizer: Step,
    ) -> None:
        self._ray = _ray()
        self._opened = _connect(self._ray, name)
        cluster = int(self._ray.cluster_resources().get("CPU", 0)) or 1
        self.workers = workers or cluster
        # Once for all actors: each node fetches it once.
        self._start = self._ray.put((initializer, tuple(initargs), finalizer))
        self._remote = self._ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        self._live: dict[int, Any] = {}
        self._joining: dict[Any, tuple[int, Any]] = {}
        """By the reference to its answer: slot and actor."""
        self._made = 0
        for slot in range(self.workers):
            self._hire(slot)

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return self._results(_Work(job, iter(items), fixed=True), None)

    def stream(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return self._results(_Work(job, iter(items), fixed=False), AHEAD * self.workers)

    def _results(self, work: _Work[Any], most: int | None) -> Iterator[Any]:
        while True:
            work.read_on(most)
            self._hand_out(work)
            while work.given in work.done:
                # Before it is handed on, for whoever takes it may not come back for long.
                yield work.done.pop(work.given)
                work.given += 1
            if work.over and not (work.waiting or work.flying or work.done):
                return
            if work.flying or work.waiting:
                self._wait(work)

    def _hand_out(self, work: _Work[Any]) -> None:
        loads = Counter(slot for _, slot in work.flying.values())
        for slot in sorted(self._live, key=lambda slot: loads[slot]):
            while loads[slot] < IN_FLIGHT:
                held = work.next_for(slot, self.workers, self._live)
                if held is None:
                    break
                held.tries += 1
                if held.tries > TRIES:
                    raise HarnessError(
                        f"{TRIES} workers were lost over the same work; was memory too small?"
                    )
                reference = self._live[slot].do.remote(work.job, held.item)
                work.flying[reference] = (held, slot)
                loads[slot] += 1

    def _wait(self, work: _Work[Any]) -> None:
        """Until an item is done or an actor has joined."""
        ray = self._ray
        awaited = [*work.flying, *self._joining]
        ready, _ = ray.wait(awaited, num_returns=1, timeout=None if work.flying else PATIENCE)
        if not ready:
            raise InfrastructureError(
                f"no CPU of the Ray cluster was free for {PATIENCE:.0f} s; see `ray status`"
            )
        for reference in ready:
            if reference in self._joining:
                self._enlist(reference)
                continue
            held, slot = work.flying.pop(reference)
            try:
                work.done[held.number] = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from error
            except ray.exceptions.RayError:
                # The actor is gone, or the node that held its result.
                self._replace(slot)
                work.waiting.appendleft(held)

    def _hire(self, slot: int) -> None:
        actor = self._remote.options(
            name=f"crmbench-worker-{slot}-{self._made}-{os.getpid()}",
            scheduling_strategy="SPREAD",
            namespace=NAMESPACE,
        ).remote(self._start)
        self._made += 1
        self._joining[actor.ready.remote()] = (slot, actor)

    def _enlist(self, reference: Any) -> None:
        """Let an actor work once it has answered."""
        slot, actor = self._joining.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from error
        except self._ray.exceptions.RayError as error:
            if _cause_in_start(error):
                raise HarnessError(f"a worker could not be made ready: {error}") from error
            self._hire(slot)
        else:
            self._live[slot] = actor

    def _replace(self, slot: int) -> None:
        lost = self._live.pop(slot, None)
        if lost is not None:
            self._kill(lost)
            self._hire(slot)

    def _kill(self, actor: Any) -> None:
        self._ray.kill(actor, no_restart=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ray = self._ray
        if kind is None:
            last = [actor.finish.remote() for actor in self._live.values()]
            # What a lost actor would have cleaned up, its node's end has.
            ray.wait(last, num_returns=len(last), timeout=30) if last else None
        for actor in [*self._live.values(), *(actor for _, actor in self._joining.values())]:
            self._kill(actor)
        self._live.clear()
        self._joining.clear()
        if self._opened:
            ray.shutdown()


@contextmanager
def join_cluster(name: str) -> Iterator[Any]:
    """Ray, joined to the cluster of an executor's name; left at the end if it was joined here.

    Raises:
        MissingExtraError: Ray is not installed.
        InfrastructureError: The cluster cannot be reached.
    """
    ray = _ray()
    opened = _connect(ray, name)
    try:
        yield ray
    finally:
        if opened:
            ray.shutdown()


def _cause_in_start(error: Exception) -> bool:
    """Whether an actor died of its own initializer, which another one would do as well."""
    return "The actor died because of an error raised in its creation task" in str(error)


def _ray() -> Any:
    # Nothing is sent to anybody: the benchmark is offline.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingExtraError("ray", "the executor ray") from error
    return ray


def _connect(ray: Any, name: str) -> bool:
    """Join the cluster; whether it was this that did."""
    if ray.is_initialized():
        return False
    address = {"ray": os.environ.get("RAY_ADDRESS", "local"), "ray:auto": "auto"}.get(name, name)
    alone = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, **alone)
    except (ConnectionError, RuntimeError, ValueError) as error:
        python = ".".join(map(str, sys.version_info[:3]))
        raise InfrastructureError(
            f"the Ray cluster at '{address}' cannot be joined: {error}; Ray {ray.__version__} and "
            f"Python {python} have to be the cluster's own, and RAY_AUTH_MODE the same everywhere"
        ) from error
    return True
