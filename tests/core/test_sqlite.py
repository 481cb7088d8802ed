"""How worlds are built and lent in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crmbench.core import sqlite
from crmbench.core.clock import WorldClock
from crmbench.core.schema import Row
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.statements import ConstraintViolation
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.errors import HarnessError, ToolError

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
    about: str = ""

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


def test_worlds_of_somebody_else_are_not_kept_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRMBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sqlite, "COPIES_SIZE", 0)
    world = OneDeal(with_client=True)
    for _ in range(2):
        # Its sources may have changed since, which no digest of this package's could tell.
        made = SqliteBackend(SALES.schema)
        made.release(world, made.acquire(world))
        made.close()
    with pytest.raises(ConstraintViolation):
        SqliteBackend(SALES.schema).acquire(OneDeal(with_client=False))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [sqlite.COPIES_SIZE, 0])
def test_every_copy_checks_references(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(sqlite, "COPIES_SIZE", size)
    world = OneDeal(with_client=True)
    for copy in (backend.acquire(world), backend.acquire(world)):
        copy.start(WorldClock(NOW, "a"))
        with pytest.raises(ToolError):
            copy.insert("Opportunity", deal("o2", "c9"))
        copy.reset()
        backend.release(world, copy)


@pytest.mark.parametrize(("copies", "size"), [(64, 0), (2, 2**30), (1, 2**30), (64, 2**30)])
def test_episodes_that_share_copies_do_not_meet(
    monkeypatch: pytest.MonkeyPatch, copies: int, size: int
) -> None:
    """Six episodes in two worlds, turn and turn about, whatever number of copies there is."""
    monkeypatch.setattr(sqlite, "COPIES", copies)
    monkeypatch.setattr(sqlite, "COPIES_SIZE", size)
    monkeypatch.setattr(sqlite, "WORLDS_SIZE", size)
    backend = SqliteBackend(SALES.schema)
    worlds = [standard_world(name) for name in ("harbour-01", "orchard-02")] * 3
    pristine = {world.name: backend.acquire(world) for world in worlds[:2]}
    digests = {name: database.digest() for name, database in pristine.items()}
    episodes = [backend.acquire(world) for world in worlds]
    for number, episode in enumerate(episodes):
        episode.start(WorldClock(NOW, f"episode {number}"))
    for turn in range(3):
        for number, (world, episode) in enumerate(zip(worlds, episodes, strict=True)):
            client = min(episode.snapshot()["Client"])
            episode.begin_call()
            episode.insert("Opportunity", deal(f"new {number} {turn}", client))
            episode.end_call()
            episode.begin_call()
            episode.insert("Opportunity", deal(f"undone {number} {turn}", client))
            episode.undo_call()
            assert pristine[world.name].digest() == digests[world.name]
    for number, (world, episode) in enumerate(zip(worlds, episodes, strict=True)):
        made = {key for key in episode.snapshot()["Opportunity"] if " " in key}
        assert made == {f"new {number} {turn}" for turn in range(3)}
        episode.reset()
        backend.release(world, episode)
        with pytest.raises(HarnessError, match="given back"):
            episode.digest()
    fresh = [backend.acquire(world) for world in worlds]
    assert [copy.digest() for copy in fresh] == [digests[world.name] for world in worlds]
    backend.close()


def test_an_episode_in_the_middle_of_a_call_keeps_its_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "COPIES", 1)
    backend = SqliteBackend(SALES.schema)
    world = OneDeal(with_client=True)
    one = backend.acquire(world)
    one.start(WorldClock(NOW, "one"))
    one.begin_call()
    one.insert("Opportunity", deal("o2", "c1"))
    connection = one.connection
    two = backend.acquire(world)
    assert two.connection is not connection
    assert one.connection is connection
    assert len(one.end_call()) == 1


def test_worlds_that_nobody_plays_in_are_dropped_for_new_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite, "WORLDS_SIZE", 0)
    monkeypatch.setattr(sqlite, "COPIES", 2)
    built: list[str] = []
    build = SqliteBackend._build

    def counted(self: SqliteBackend, world: OneDeal) -> object:
        built.append(world.name)
        return build(self, world)

    monkeypatch.setattr(SqliteBackend, "_build", counted)
    backend = SqliteBackend(SALES.schema)
    first, second, third = (OneDeal(with_client=True, name=name) for name in "abc")
    parked = backend.acquire(first)
    parked.start(WorldClock(NOW, "parked"))
    parked.begin_call()
    parked.insert("Opportunity", deal("o2", "c1"))
    parked.end_call()
    over = backend.acquire(second)
    digest = over.digest()
    over.reset()
    backend.release(second, over)
    third_database = backend.acquire(third)
    assert sorted(parked.snapshot()["Opportunity"]) == ["o1", "o2"]
    assert built == ["a", "b", "c"]  # an open episode keeps its world, parked or not
    again = backend.acquire(second)
    assert again.digest() == digest
    assert built == ["a", "b", "c", "b"]  # that of an episode given back was dropped
    for world, database in ((first, parked), (second, again), (third, third_database)):
        database.reset()
        backend.release(world, database)
    backend.close()
