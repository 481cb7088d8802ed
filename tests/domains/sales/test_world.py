"""Generated sales worlds: valid rows, the same every time, at any size."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import date
from hashlib import sha256
from typing import Any

import orjson
import pytest

from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.sales import rules
from crmbench.domains.sales.enums import CLOSED_STAGES
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.world import (
    STANDARD_WORLDS,
    TABLES,
    SalesWorld,
    WorldSpec,
    generate,
    rows,
)
from crmbench.domains.sales.world.setting import setting
from crmbench.errors import InputError

Row = dict[str, Any]
Tables = dict[str, list[Row]]
KEYS = {table: SCHEMA[table].key for table in TABLES}


@pytest.fixture(scope="module", params=STANDARD_WORLDS)
def world(request: pytest.FixtureRequest) -> SalesWorld:
    return generate(str(request.param))


@pytest.fixture(scope="module")
def tables(world: SalesWorld) -> Tables:
    return rows(world)


def digest(world: SalesWorld) -> str:
    return sha256(orjson.dumps(list(world.stream()))).hexdigest()


def by_key(tables: Tables, table: str) -> dict[str, Row]:
    return {row[KEYS[table]]: row for row in tables[table]}


# --- the interface --------------------------------------------------------------------------------


def test_there_are_twelve_standard_worlds_on_working_days() -> None:
    specs = STANDARD_WORLDS.values()
    assert len(specs) == len({spec.seed for spec in specs}) == 12
    assert [spec.name for spec in specs] == list(STANDARD_WORLDS)
    assert all("2025-02" <= spec.today < "2026-12" for spec in specs)
    assert all(date.fromisoformat(spec.today).weekday() < 5 for spec in specs)
    assert len({spec.today for spec in specs}) == 12


def test_the_episode_begins_at_nine(world: SalesWorld) -> None:
    assert world.now.isoformat() == f"{world.spec.today}T09:00:00+00:00"
    assert world.today == world.spec.today
    assert world.name == world.spec.name
    assert list(world.after_load("sqlite")) == []


def test_the_team_is_a_manager_and_ten_reps_of_different_names(world: SalesWorld) -> None:
    assert len(world.owners) == 11
    assert len({name.split()[0] for name in world.owners}) == 11
    assert all(len(name.split()) >= 2 for name in world.owners)


def test_tables_come_in_foreign_key_order_in_bounded_chunks(world: SalesWorld) -> None:
    chunks = list(world.stream())
    assert tuple(table for table, _ in chunks) == TABLES
    assert all(0 < len(chunk) <= 5_000 for _, chunk in chunks)


def test_a_world_has_about_600_records(tables: Tables) -> None:
    assert 560 <= sum(map(len, tables.values())) <= 760


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="no sales world named 'atlantis'"):
        generate("atlantis")
    with pytest.raises(InputError, match="has no records"):
        generate("harbour-01", scale=0)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("region", "moon", "no region 'moon'"),
        ("industries", ("Toys", "Magic"), r"no trade \['Magic'\]"),
        ("industries", (), "no trades"),
        ("today", "2026-03-01", "no working day"),
        ("today", "soon", "no working day"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(field: str, value: Any, text: str) -> None:
    spec = WorldSpec("mine", 7, "2027-01-04", ("Toys",), "nordic")
    with pytest.raises(InputError, match=text) as caught:
        generate(replace(spec, **{field: value}))
    assert caught.value.field == field


def test_a_spec_of_ones_own_makes_a_world() -> None:
    spec = WorldSpec("mine", 7, "2027-01-04", ("Toys",), "nordic")
    tables = rows(generate(spec))
    trades = Counter(row["industry"] for row in tables["Client"])
    assert trades.most_common(1)[0][0] == "Toys"
    assert max(str(row["created_at"]) for row in tables["Note"]) < "2027-01-04"


# --- the same every time --------------------------------------------------------------------------


def test_equal_specs_make_equal_rows(world: SalesWorld) -> None:
    assert digest(world) == digest(generate(world.name))


def test_rows_do_not_depend_on_the_process() -> None:
    script = (
        "import orjson; from hashlib import sha256;"
        "from crmbench.domains.sales.world import generate;"
        "print(sha256(orjson.dumps(list(generate('canal-08', 2).stream()))).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == digest(generate("canal-08", 2))


def test_worlds_differ() -> None:
    worlds = [rows(generate(name)) for name in STANDARD_WORLDS]
    assert len({id_of for world in worlds for id_of in by_key(world, "Client")}) == sum(
        len(world["Client"]) for world in worlds
    )
    assert len({tuple(row["name"] for row in world["Client"]) for world in worlds}) == 12


# --- constraints ----------------------------------------------------------------------------------


def test_every_row_has_every_column_and_passes_the_rules(tables: Tables) -> None:
    for table, found in tables.items():
        columns = set(SCHEMA[table].visible)
        required = [c.name for c in SCHEMA[table].table.c if not c.nullable and c.name in columns]
        for row in found:
            assert set(row) == columns
            assert all(row[name] is not None for name in required)
            assert rules.clean(table, row) == row


def test_ids_are_unique_and_look_like_uuids(tables: Tables) -> None:
    ids = [row[KEYS[table]] for table in TABLES for row in tables[table]]
    assert len(set(ids)) == len(ids)
    for text in ids:
        assert [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]
        assert text[14] == "4"
        assert text[19] in "89ab"
        assert set(text) <= set("0123456789abcdef-")


def test_references_hold(tables: Tables) -> None:
    ids = {table: set(by_key(tables, table)) for table in TABLES}
    for table, found in tables.items():
        for column, target in SCHEMA[table].references.items():
            for row in found:
                optional = table == "Contract" and column == "opportunity_id"
                assert row[column] in ids[target] or (optional and row[column] is None)
    for row in tables["Document"] + tables["Note"]:
        assert row["entity_id"] in ids[row["entity_type"]]


def test_addresses_and_names_are_unique(tables: Tables) -> None:
    emails = [row["email"].lower() for row in tables["Client"]]
    assert len(set(emails)) == len(emails)
    deals = [row["name"] for row in tables["Opportunity"]]
    assert len(set(deals)) == len(deals)
    names = [row["name"] for row in tables["Client"] + tables["Company"]]
    assert len(set(names)) == len(names)


def test_contacts_write_from_their_clients_domain(tables: Tables) -> None:
    clients = by_key(tables, "Client")
    for row in tables["Contact"]:
        domain = clients[row["client_id"]]["email"].partition("@")[2]
        assert row["email"] is None or row["email"].endswith(f"@{domain}")
        assert row["email"] is None or row["email"].isascii()


def test_dates_are_in_order(world: SalesWorld, tables: Tables) -> None:
    today = world.today
    clients, deals = by_key(tables, "Client"), by_key(tables, "Opportunity")
    born = {key: row["created_date"] for key, row in clients.items()}
    born |= {key: row["created_at"] for key, row in deals.items()}
    for row in deals.values():
        assert born[row["client_id"]] <= row["created_at"] < today
        if row["stage"] in CLOSED_STAGES:
            assert row["created_at"][:10] < row["close_date"] < today
    for row in tables["Quote"]:
        deal = deals[row["opportunity_id"]]
        assert deal["created_at"][:10] <= row["created_date"] < min(row["valid_until"], today)
        if deal["stage"] in CLOSED_STAGES:
            assert row["created_date"] <= deal["close_date"]
        born[row["quote_id"]] = row["created_date"]
    for row in tables["Note"] + tables["Document"]:
        moment = row.get("created_at") or row["uploaded_at"]
        assert born.get(row["entity_id"], "") <= moment < f"{today}T09:00:00Z"


def test_contracts_have_the_status_of_their_dates(world: SalesWorld, tables: Tables) -> None:
    for row in tables["Contract"]:
        assert row["start_date"] < row["end_date"]
        pending, expired = row["start_date"] > world.today, row["end_date"] < world.today
        assert row["status"] == ("Pending" if pending else "Expired" if expired else "Active")


def test_nothing_was_written_on_a_weekend(tables: Tables) -> None:
    moments = [row["created_at"] for row in tables["Opportunity"] + tables["Note"]]
    moments += [row["uploaded_at"] for row in tables["Document"]]
    assert {date.fromisoformat(text[:10]).weekday() for text in moments} <= {0, 1, 2, 3, 4}


def test_owners_and_authors_are_of_the_team(world: SalesWorld, tables: Tables) -> None:
    names = {row["owner"] for row in tables["Client"] + tables["Opportunity"]}
    names |= {row["created_by"] for row in tables["Note"]}
    names |= {row["uploaded_by"] for row in tables["Document"]}
    assert names <= set(world.owners)


# --- sizes ----------------------------------------------------------------------------------------


def test_sqlite_takes_every_world(world: SalesWorld, tables: Tables) -> None:
    backend = SqliteBackend(SCHEMA)
    database = backend.acquire(world)
    stored = database.snapshot()
    assert {table: len(found) for table, found in stored.items()} == {
        table: len(tables[table]) for table in SCHEMA.tables
    }
    for table in TABLES:
        expected = [{**row, "seq": i + 1} for i, row in enumerate(tables[table])]
        assert list(stored[table].values()) == sorted(
            expected, key=lambda row: list(stored[table]).index(row[KEYS[table]])
        )
    backend.close()


def test_twenty_times_the_scale_is_twenty_times_the_rows() -> None:
    small, large = rows(generate("mill-04")), rows(generate("mill-04", 20))
    for table in TABLES:
        assert 14 * len(small[table]) <= len(large[table]) <= 27 * len(small[table])
    for table in TABLES:
        assert len(by_key(large, table)) == len(large[table])
        assert large[table][: len(small[table])] == small[table]
    emails = {str(row["email"]).lower() for row in large["Client"]}
    assert len(emails) == len(large["Client"])
    names = {row["name"] for row in large["Client"]}
    assert len(names) == len(large["Client"])


def test_a_large_world_loads_with_all_constraints() -> None:
    backend = SqliteBackend(SCHEMA)
    world = generate("delta-05", 10)
    assert world.name == "delta-05-x10"
    database = backend.acquire(world)
    assert database.orders() == {table: len(found) for table, found in rows(world).items()}
    backend.close()


def test_a_large_world_is_streamed() -> None:
    stream = generate("delta-05", 1e6).stream()
    table, chunk = next(stream)
    assert table == "Client"
    assert len(chunk) <= 5_000


@pytest.mark.parametrize("scale", [0.02, 0.3, 1.5])
def test_worlds_of_odd_sizes_are_valid(scale: float) -> None:
    tables = rows(generate("island-10", scale))
    total = sum(map(len, tables.values()))
    assert 300 * scale < total < 1200 * scale + 40
    for table, found in tables.items():
        for row in found:
            assert rules.clean(table, row) == row


def test_a_name_is_different_in_every_block() -> None:
    spec = STANDARD_WORLDS["harbour-01"]
    names = [setting(spec, number, 1.0).apart("Northwind Foods") for number in range(2_000)]
    assert len(set(names)) == len(names)
    assert names[0] == "Northwind Foods"
    assert names[1].startswith("Northwind Foods ")
