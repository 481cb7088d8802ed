"""Worlds of any size to measure in, and how to take turns at measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from time import perf_counter
from typing import Any

from crmbench.core.clock import uuid_text
from crmbench.core.database import Database
from crmbench.core.domain import Domain, SeedData
from crmbench.core.schema import Row
from crmbench.core.task import Gold, Task
from crmbench.core.world import WorldSource

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class BenchWorld:
    """An org with so many clients, and a few records of other kinds with the first of them."""

    clients: int
    deals: int = 0
    """Opportunities, each with a quote, a contact and a contract."""
    about = ""

    @property
    def name(self) -> str:
        return f"bench-{self.clients}-{self.deals}"

    @property
    def now(self) -> datetime:
        return NOW

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        yield "Client", (client(number) for number in range(self.clients))
        for number in range(self.deals):
            yield from _deal(number)

    def after_load(self, dialect: str) -> Sequence[str]:
        del dialect
        return ()


def key(kind: str, number: int) -> str:
    """The id of a record of a `BenchWorld`."""
    return uuid_text(f"bench/{kind}", number)


def client(number: int) -> Row:
    """A client; its e-mail and the number in its name are its own."""
    return {
        "client_id": key("client", number),
        "name": f"Client {number:06d} Trading",
        "industry": ("Retail", "Energy", "Logistics")[number % 3],
        "email": f"office{number:06d}@client.example",
        "status": ("Active", "Prospect", "Inactive")[number % 3],
        "created_date": "2026-01-15",
        "owner": f"owner{number % 20}",
    }


def _deal(number: int) -> Iterator[tuple[str, Iterable[Row]]]:
    owner = {"client_id": key("client", number)}
    deal = {"opportunity_id": key("opportunity", number)}
    yield (
        "Opportunity",
        [
            {
                **deal,
                **owner,
                "name": f"Deal {number:04d}",
                "stage": ("Prospecting", "Proposal", "Negotiation")[number % 3],
                "amount": 1000.0 + number,
                "close_date": "2026-09-30",
                "owner": f"owner{number % 20}",
                "probability": 1 + number % 99,
                "created_at": "2026-01-15T09:00:00Z",
            }
        ],
    )
    yield "Quote", [{**deal, "quote_id": key("quote", number), "amount": 900.0, "status": "Draft"}]
    yield (
        "Contact",
        [
            {
                **owner,
                "contact_id": key("contact", number),
                "first_name": "Ada",
                "last_name": f"Number{number:04d}",
            }
        ],
    )
    yield "Contract", [{**owner, "contract_id": key("contract", number), "status": "Active"}]


class BenchDomain:
    """A domain that has more worlds than its own. Implements `Domain`."""

    def __init__(self, base: Domain, worlds: Iterable[BenchWorld]) -> None:
        self.base = base
        self.name, self.schema, self.toolbox = base.name, base.schema, base.toolbox
        self.tool_sets, self.latents = base.tool_sets, base.latents
        self.default_world = base.default_world
        self.worlds = {world.name: world for world in worlds}

    @property
    def policy(self) -> str:
        return self.base.policy

    def world(self, name: str) -> WorldSource:
        return self.worlds[name] if name in self.worlds else self.base.world(name)

    def handle(self, database: Database) -> Any:
        return self.base.handle(database)

    def with_tools(self, tool_set: str) -> Domain:
        return BenchDomain(self.base.with_tools(tool_set), self.worlds.values())

    def seed(self, database: Database, data: SeedData) -> None:
        self.base.seed(database, data)


def task_in(world: BenchWorld) -> Task:
    """A task without turns, to open an episode in a world."""
    return Task("bench", "sales", world.name, (), Gold(()))


@dataclass(frozen=True, slots=True)
class Timing:
    """What the rounds of one measurement gave, in seconds."""

    middle: float
    low: float
    high: float


def interleaved(
    measurements: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, list[float]]:
    """Take every measurement once a round, so that a slow moment of the machine hits them all.

    Args:
        measurements: Each returns the seconds of one unit of its work.
        rounds: How often; one more goes before, to warm up, and is thrown away.
    """
    taken: dict[str, list[float]] = {name: [] for name in measurements}
    for number in range(rounds + 1):
        for name, measure in measurements.items():
            seconds = measure()
            if number:
                taken[name].append(seconds)
    return taken


def timing(seconds: Sequence[float]) -> Timing:
    """The median and the range."""
    return Timing(median(seconds), min(seconds), max(seconds))


def ratio(first: Sequence[float], second: Sequence[float]) -> float:
    """The median over rounds of the first measurement's time divided by the second's."""
    return median(one / two for one, two in zip(first, second, strict=True))


def seconds_of(action: Callable[[], object]) -> float:
    """How long an action takes."""
    started = perf_counter()
    action()
    return perf_counter() - started
