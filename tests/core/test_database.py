"""One org while an episode runs in it: isolation, undo, journal, deletes, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from crmbench.core.clock import WorldClock
from crmbench.core.database import Database
from crmbench.core.journal import diff, fold
from crmbench.core.postgres import PostgresBackend
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.world import Backend, EmptyWorld
from crmbench.domains.sales.domain import SALES
from crmbench.errors import ToolError

NOW = datetime(2025, 1, 6, 9, tzinfo=UTC)
WORLD = EmptyWorld(NOW)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    made: Backend
    made = (
        SqliteBackend(SALES.schema) if request.param == "sqlite" else PostgresBackend(SALES.schema)
    )
    yield made
    made.close()


@pytest.fixture
def database(backend: Backend) -> Iterator[Database]:
    lent = backend.acquire(WORLD)
    lent.start(WorldClock(NOW, "test"))
    yield lent
    lent.reset()
    backend.release(WORLD, lent)


def client(database: Database, number: int = 1) -> str:
    row = {"client_id": f"c{number}", "name": "Acme", "email": f"c{number}@x.example"}
    database.insert("Client", {**row, "status": "Active"})
    return f"c{number}"


def deal(database: Database, client_id: str, number: int = 1) -> str:
    key = f"o{number}"
    row = {"opportunity_id": key, "name": "Deal", "client_id": client_id, "stage": "Proposal"}
    database.insert("Opportunity", {**row, "amount": 10.0})
    return key


def test_a_reset_puts_everything_back(backend: Backend) -> None:
    lent = backend.acquire(WORLD)
    lent.start(WorldClock(NOW, "a"))
    before = lent.digest()
    deal(lent, client(lent))
    assert lent.digest() != before
    lent.reset()
    lent.start(WorldClock(NOW, "a"))
    assert lent.digest() == before
    assert lent.journal == []
    lent.reset()
    backend.release(WORLD, lent)


def test_two_copies_do_not_see_each_other(backend: Backend) -> None:
    one, two = backend.acquire(WORLD), backend.acquire(WORLD)
    for lent in (one, two):
        lent.start(WorldClock(NOW, "a"))
    client(one)
    assert two.get("Client", "c1") is None
    client(two)  # the same key and e-mail, without waiting for the other
    two.update("Client", two.find("Client", "client_id", "c1")[0], {"name": "Other"})
    found = one.get("Client", "c1")
    assert found is not None
    assert found["name"] == "Acme"
    for lent in (one, two):
        lent.reset()
        backend.release(WORLD, lent)


def test_sixteen_episodes_on_one_record_do_not_wait(backend: Backend) -> None:
    lent = [backend.acquire(WORLD) for _ in range(16)]
    for database in lent:
        database.start(WorldClock(NOW, "a"))
        client(database)
    for number, database in enumerate(lent):
        row = database.get("Client", "c1")
        assert row is not None
        database.update("Client", row, {"name": f"Name {number}"})
    names = {(database.get("Client", "c1") or {})["name"] for database in lent}
    assert len(names) == 16
    for database in lent:
        database.reset()
        backend.release(WORLD, database)


def test_a_failed_call_undoes_itself_and_nothing_else(database: Database) -> None:
    client(database)
    kept = database.snapshot()
    moment, ids, written = database.clock.now(), database.clock.created, list(database.journal)
    database.begin_call()
    client(database, 2)
    database.clock.next_id()
    with pytest.raises(ToolError, match="refused the change"):
        client(database, 2)
    database.undo_call()
    assert database.snapshot() == kept
    assert (database.clock.now(), database.clock.created) == (moment, ids)
    assert database.journal == written
    assert database.insert("Client", {**kept["Client"]["c1"], "client_id": "c3", "email": "n@x.y"})[
        "seq"
    ] == kept["Client"]["c1"]["seq"] + 1  # fmt: skip


def test_the_journal_folds_to_the_difference_of_snapshots(database: Database) -> None:
    before = database.snapshot()
    key = deal(database, client(database))
    row = database.get("Opportunity", key)
    assert row is not None
    row = database.update("Opportunity", row, {"amount": 20.0})
    database.update("Opportunity", row, {"amount": 10.0})
    client(database, 2)
    database.delete("Client", "c2")
    effect = fold(database.journal)
    assert effect == diff(SALES.schema.tables, before, database.snapshot())
    assert [(c.table, c.key) for c in effect] == [("Client", "c1"), ("Opportunity", "o1")]


def test_deletes_follow_the_foreign_keys_and_are_journaled_row_by_row(database: Database) -> None:
    key = deal(database, client(database))
    quote = {"quote_id": "q1", "opportunity_id": key, "amount": 5.0, "status": "Draft"}
    database.insert("Quote", quote)
    database.insert("Contract", {"contract_id": "k1", "client_id": "c1", "opportunity_id": key})
    for number, (kind, target) in enumerate(
        [("Opportunity", key), ("Quote", "q1"), ("Client", "c1")]
    ):
        note = {"note_id": f"n{number}", "entity_type": kind, "entity_id": target}
        database.insert("Note", {**note, "content": "x"})
    changes = database.delete("Opportunity", key)
    gone = {(c.table, c.key) for c in changes if c.after is None}
    assert gone == {("Opportunity", "o1"), ("Quote", "q1"), ("Note", "n0"), ("Note", "n1")}
    contract = database.get("Contract", "k1")
    assert contract is not None
    assert contract["opportunity_id"] is None
    assert [row["note_id"] for row in database.find("Note", "entity_id", "c1")] == ["n2"]
    database.delete("Client", "c1")
    assert all(not rows for rows in database.snapshot().values())


def test_every_write_takes_a_second_and_reads_take_none(database: Database) -> None:
    client(database)
    database.get("Client", "c1")
    database.snapshot()
    assert database.clock.timestamp() == "2025-01-06T09:00:01Z"


def test_json_comes_back_as_it_went_in(database: Database) -> None:
    contacts = ["Ines Moreau", "Zoë", 'quote " and \\']
    database.insert("Company", {"company_id": "p", "name": "P", "contacts": contacts})
    row = database.get("Company", "p")
    assert row is not None
    assert row["contacts"] == contacts


def test_both_backends_digest_equal_states_equally() -> None:
    digests = []
    for backend in (SqliteBackend(SALES.schema), PostgresBackend(SALES.schema)):
        database = backend.acquire(WORLD)
        database.start(WorldClock(NOW, "a"))
        deal(database, client(database))
        digests.append(database.digest())
        database.reset()
        backend.release(WORLD, database)
        backend.close()
    assert digests[0] == digests[1]
