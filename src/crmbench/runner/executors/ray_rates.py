"""Rates that the nodes of a Ray cluster share: one actor hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crmbench.models.limits import Bucket, SystemClock
from crmbench.runner.executors.ray_cluster import join_cluster


class _Limiter:
    """The actor: a bucket for each name."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._buckets: dict[str, Bucket] = {}

    def take(self, name: str, per_minute: float, amount: float) -> float:
        return self._bucket(name, per_minute).reserve(amount)

    def correct(self, name: str, per_minute: float, amount: float) -> None:
        self._bucket(name, per_minute).correct(amount)

    def _bucket(self, name: str, per_minute: float) -> Bucket:
        if name not in self._buckets:
            self._buckets[name] = Bucket(per_minute, self._clock)
        return self._buckets[name]


class RayRates:
    """Rates that an actor keeps. Implements `crmbench.models.limits.RateSource`."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor

    def rate(self, name: str, per_minute: float) -> RayRate:
        """The rate of that name."""
        return RayRate(self.actor, name, per_minute)


class RayRate:
    """A rate that an actor keeps. Implements `crmbench.models.limits.RateLimit`."""

    def __init__(self, actor: Any, name: str, per_minute: float) -> None:
        self._actor = actor
        self._of = (name, per_minute)

    async def take(self, amount: float) -> float:
        wait: float = await self._actor.take.remote(*self._of, amount)
        return wait

    async def correct(self, amount: float) -> None:
        # Nothing follows from it for this call, so it is not waited for.
        self._actor.correct.remote(*self._of, amount)


@contextmanager
def ray_rates(executor: str) -> Iterator[RayRates]:
    """An actor that keeps rates, for as long as this lasts.

    Args:
        executor: See `crmbench.runner.executors.spread.open_executor`.

    Raises:
        InfrastructureError: The cluster cannot be reached.
        MissingExtraError: Ray is not installed.
    """
    with join_cluster(executor) as ray:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # On the driver's own node, without which there is no run either; it takes no CPU from work.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
        made = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Limiter)
        actor = made.options(scheduling_strategy=here).remote()
        try:
            yield RayRates(actor)
        finally:
            ray.kill(actor)
