"""How worlds are built in SQLite: checked references, and large ones held once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from crmbench.core import sqlite
from crmbench.core.clock import WorldClock
from crmbench.core.database import ConstraintViolation
from crmbench.core.schema import Row
from crmbench.core.sqlite import SqliteBackend
from crmbench.errors import ToolError
from crmbench.sales.domain import SALES, standard_world

NOW = datetime(2025, 1, 6, 9, tzinfo=UTC)


def deal(key: str, client: str) -> Row:
    about = {"name": "Deal", "stage": "Proposal", "amount": 10.0}
    return {"opportunity_id": key, "client_id": client, **about}


@dataclass(frozen=True)
class OneDeal:
    """An org with a deal of a client that may be missing."""

    with_client: bool
    now: datetime = NOW
    name: str = "one deal"

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        if self.with_client:
            row = {"client_id": "c1", "name": "Acme", "email": "c@x.example", "status": "Active"}
            yield "Client", [row]
        yield "Opportunity", [deal("o1", "c1")]

    def after_load(self, dialect: str) -> Sequence[str]:
        del dialect
        return ()


@pytest.fixture
def backend() -> Iterator[SqliteBackend]:
    made = SqliteBackend(SALES.schema)
    yield made
    made.close()


def test_a_world_that_refers_to_nothing_is_refused(backend: SqliteBackend) -> None:
    with pytest.raises(ConstraintViolation, match=r"Opportunity refers to no row of Client"):
        backend.acquire(OneDeal(with_client=False))


@pytest.mark.parametrize("large", [sqlite.LARGE, 0])
def test_every_copy_checks_references(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(sqlite, "LARGE", large)
    world = OneDeal(with_client=True)
    for copy in (backend.acquire(world), backend.acquire(world)):
        copy.start(WorldClock(NOW, "a"))
        with pytest.raises(ToolError):
            copy.insert("Opportunity", deal("o2", "c9"))
        copy.reset()
        copy.connection.close()


def test_a_large_world_is_the_same_world(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = standard_world("harbour-01")
    small = backend.acquire(world)
    monkeypatch.setattr(sqlite, "LARGE", 0)
    other = SqliteBackend(SALES.schema)
    try:
        one, two = other.acquire(world), other.acquire(world)
        assert one is not two
        assert one.digest() == two.digest() == small.digest()
        one.start(WorldClock(world.now, "a"))
        one.delete("Client", min(one.snapshot()["Client"]))
        assert one.digest() != two.digest()
        one.reset()
        other.release(world, one)
        assert other.acquire(world) is one
        assert one.digest() == two.digest()
        one.connection.close()
        two.connection.close()
    finally:
        other.close()
        small.connection.close()
