"""Creating and finding a client in orgs of growing size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from crmbench.bench.world import (
    NOW,
    BenchDomain,
    BenchWorld,
    interleaved,
    ratio,
    seconds_of,
    task_in,
    timing,
)
from crmbench.core.clock import WorldClock
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.world import Backend
from crmbench.errors import HarnessError

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Growth:
    """One tool in an org of one size."""

    backend: str
    tool: str
    records: int
    call_us: float
    low_us: float
    high_us: float
    """Microseconds a call: median and range over rounds."""
    ratio: float
    """To the smallest org, median over rounds."""


def measure_growth(
    domain: Domain, backend: Backend, sizes: Sequence[int], rounds: int, calls: int
) -> list[Growth]:
    """Time `create_new_client` and `client_search` in one org of each size, taking turns.

    The search asks for a part of an e-mail address that one client has, so that it looks at every
    record and returns one; in an empty org it returns none.
    """
    worlds = [BenchWorld(size) for size in sizes]
    bench = BenchDomain(domain, worlds)
    found: list[Growth] = []
    with ExitStack() as stack:
        episodes = {
            world.clients: stack.enter_context(Episode(bench, task_in(world), backend))
            for world in worlds
        }
        for tool, make in (("create_new_client", _creations), ("client_search", _searches)):
            taken = interleaved(
                {str(size): _timer(e, make(size, calls)) for size, e in episodes.items()}, rounds
            )
            smallest = taken[str(sizes[0])]
            for size in sizes:
                seconds = timing(taken[str(size)])
                found.append(
                    Growth(
                        backend.name,
                        tool,
                        size,
                        seconds.middle * 1e6,
                        seconds.low * 1e6,
                        seconds.high * 1e6,
                        ratio(taken[str(size)], smallest),
                    )
                )
    return found


def _creations(size: int, count: int) -> list[Call]:
    del size
    return [
        (
            "create_new_client",
            {"name": f"Grown {n}", "email": f"grown{n}@bench.example", "status": "Active"},
        )
        for n in range(count)
    ]


def _searches(size: int, count: int) -> list[Call]:
    spread = max(size, 1)
    return [
        ("client_search", {"email": f"OFFICE{n * 7919 % spread:06d}@client"}) for n in range(count)
    ]


def _timer(episode: Episode, calls: Sequence[Call]) -> Callable[[], float]:
    """A measurement of all `calls` in an org that is put back first; seconds a call."""

    def make() -> None:
        for name, arguments in calls:
            if not episode.execute(name, arguments).ok:
                raise HarnessError(f"{name} is refused in the benchmark")

    def measure() -> float:
        episode.database.reset()
        episode.database.start(WorldClock(NOW, "bench"))
        return seconds_of(make) / len(calls)

    return measure
