"""A generated world is whole, the same each time, and of the size it was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest

from crmbench.core.schema import Row
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.world import WorldSource
from crmbench.domains.service.schema import OBJECTS, PICKLISTS, SCHEMA
from crmbench.domains.service.world import (
    LATENTS,
    NOW_TIME,
    ServiceWorld,
    generate,
    world_from_name,
)
from crmbench.domains.service.world.people import make_people
from crmbench.domains.service.world.seeds import Seeds
from crmbench.errors import InputError
from crmbench.salesforce import ids

Rows = dict[str, list[Row]]
PUBLISHED = {
    "User": 152,
    "Account": 201,
    "Contact": 208,
    "Case": 977,
    "CaseHistory__c": 2983,
    "Knowledge__kav": 45,
    "Product2": 501,
    "Order": 2069,
    "OrderItem": 7100,
    "PricebookEntry": 22_000,
    "EmailMessage": 3241,
    "LiveChatTranscript": 774,
    "Issue__c": 10,
}
EXACT = {"User", "Account", "Contact", "Case", "Knowledge__kav", "Product2", "Order", "OrderItem"}


def collect(world: WorldSource) -> Rows:
    rows: Rows = {name: [] for name in OBJECTS}
    for table, some in world.stream():
        rows[table].extend(some)
    return rows


@cache
def default() -> Rows:
    return collect(generate())


@pytest.fixture(scope="module")
def org() -> Rows:
    return default()


def by_id(rows: list[Row]) -> dict[str, Row]:
    return {row["Id"]: row for row in rows}


def test_sizes_are_the_published_ones(org: Rows) -> None:
    for name, count in PUBLISHED.items():
        tolerance = 0 if name in EXACT | {"Issue__c"} else 0.05 * count
        assert abs(len(org[name]) - count) <= tolerance, (name, len(org[name]))


@pytest.mark.parametrize("factor", [0.05, 0.3, 3.0])
def test_sizes_follow_the_factor(factor: float) -> None:
    rows = collect(generate(5, factor))
    for name in ("User", "Account", "Product2", "Order", "OrderItem", "Case"):
        assert len(rows[name]) == round(PUBLISHED[name] * factor)
    assert len(rows["Knowledge__kav"]) == 45
    check_references(rows)
    check_history(rows)


def test_columns_are_those_of_the_schema(org: Rows) -> None:
    for name, rows in org.items():
        for row in rows[:3]:
            assert tuple(row) == SCHEMA[name].columns


def test_ids_are_valid_distinct_and_ascending(org: Rows) -> None:
    for name, rows in org.items():
        keys = [row["Id"] for row in rows]
        assert keys == sorted(set(keys)), name
        assert all(ids.is_id(key, name) for key in keys)


def check_references(rows: Rows) -> None:
    keys = {name: {row["Id"] for row in found} for name, found in rows.items()}
    for name, found in rows.items():
        for column, target in SCHEMA[name].references.items():
            for row in found:
                assert row[column] is None or row[column] in keys[target], (name, column)


def test_references_lead_somewhere(org: Rows) -> None:
    check_references(org)


def test_rows_come_after_those_that_they_refer_to() -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    for table, rows in generate(8, 0.3).stream():
        for row in rows:
            for column, target in SCHEMA[table].references.items():
                assert row[column] in seen[target]
            seen[table].add(row["Id"])


def test_values_are_of_the_picklists(org: Rows) -> None:
    for (table, field), values in PICKLISTS.items():
        assert {row[field] for row in org[table]} <= set(values)


def test_nothing_lies_after_now(org: Rows) -> None:
    now = NOW_TIME.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
    for name, column in (
        ("Case", "CreatedDate"),
        ("Case", "ClosedDate"),
        ("CaseHistory__c", "CreatedDate"),
        ("EmailMessage", "MessageDate"),
        ("LiveChatTranscript", "EndTime"),
        ("Order", "EffectiveDate"),
        ("Account", "CreatedDate"),
    ):
        assert max(row[column] or "" for row in org[name]) < now


def test_orders_are_priced_from_the_book_of_their_month(org: Rows) -> None:
    entries, orders = by_id(org["PricebookEntry"]), by_id(org["Order"])
    books, accounts = by_id(org["Pricebook2"]), by_id(org["Account"])
    for item in org["OrderItem"]:
        entry, order = entries[item["PriceBookEntryId"]], orders[item["OrderId"]]
        assert entry["Product2Id"] == item["Product2Id"]
        assert entry["UnitPrice"] == item["UnitPrice"] > 0
        assert entry["Pricebook2Id"] == order["Pricebook2Id"]
    for order in orders.values():
        book = books[order["Pricebook2Id"]]
        assert book["ValidFrom"] <= order["EffectiveDate"] <= book["ValidTo"]
        assert accounts[order["AccountId"]]["CreatedDate"][:10] <= order["EffectiveDate"]


def test_an_order_has_lines_and_none_twice(org: Rows) -> None:
    lines = Counter((item["OrderId"], item["Product2Id"]) for item in org["OrderItem"])
    assert max(lines.values()) == 1
    assert {order for order, _ in lines} == {row["Id"] for row in org["Order"]}


def test_a_case_is_about_what_its_customer_ordered_before(org: Rows) -> None:
    items, orders, contacts = (by_id(org[n]) for n in ("OrderItem", "Order", "Contact"))
    for case in org["Case"]:
        order = orders[items[case["OrderItemId__c"]]["OrderId"]]
        assert order["AccountId"] == case["AccountId"]
        assert contacts[case["ContactId"]]["AccountId"] == case["AccountId"]
        assert order["EffectiveDate"] < case["CreatedDate"][:10]


def check_history(rows: Rows) -> None:
    events = defaultdict(list)
    for event in rows["CaseHistory__c"]:
        events[event["CaseId__c"]].append(event)
    assert set(events) == {case["Id"] for case in rows["Case"]}
    for case in rows["Case"]:
        first, *assigned = events[case["Id"]]
        assert (first["Field__c"], first["CreatedDate"]) == ("Case Creation", case["CreatedDate"])
        if case["ClosedDate"] is not None:
            last = assigned.pop()
            assert (last["Field__c"], last["CreatedDate"]) == ("Case Closed", case["ClosedDate"])
        owner = None
        for event in assigned:
            assert event["Field__c"] == "Owner Assignment"
            assert event["OldValue__c"] == owner != event["NewValue__c"]
            owner = event["NewValue__c"]
        assert owner == case["OwnerId"]
        moments = [event["CreatedDate"] for event in events[case["Id"]]]
        assert moments == sorted(moments)


def test_history_tells_how_each_case_went(org: Rows) -> None:
    check_history(org)


def test_cases_are_mostly_closed_and_the_open_ones_mostly_young(org: Rows) -> None:
    still = [case for case in org["Case"] if case["ClosedDate"] is None]
    assert 0.08 < len(still) / len(org["Case"]) < 0.17
    young = sum(case["CreatedDate"] > "2025-12-01" for case in still)
    every = sum(case["CreatedDate"] > "2025-12-01" for case in org["Case"])
    assert young / every > 1.7 * len(still) / len(org["Case"])


def test_messages_lie_within_their_case_and_name_its_people(org: Rows) -> None:
    cases, users, contacts = (by_id(org[n]) for n in ("Case", "User", "Contact"))
    written = set()
    for email in org["EmailMessage"]:
        case = cases[email["ParentId"]]
        customer = contacts[case["ContactId"]]
        agent = users[case["OwnerId"]]
        assert case["CreatedDate"] <= email["MessageDate"]
        assert email["MessageDate"] <= (case["ClosedDate"] or email["MessageDate"])
        sender = (email["FromAddress"], email["ToIds"])
        assert sender in ((customer["Email"], agent["Id"]), (agent["Email"], customer["Id"]))
        written.add(case["Id"])
    for chat in org["LiveChatTranscript"]:
        case = cases[chat["CaseId"]]
        assert chat["OwnerId"] == case["OwnerId"]
        assert case["CreatedDate"] <= chat["EndTime"] <= (case["ClosedDate"] or chat["EndTime"])
        written.add(case["Id"])
    closed = {case["Id"] for case in org["Case"] if case["Status"] == "Closed"}
    assert closed <= written


def test_replies_come_after_the_last_transfer(org: Rows) -> None:
    handed: dict[str, str] = {}
    for event in org["CaseHistory__c"]:
        if event["Field__c"] == "Owner Assignment":
            handed[event["CaseId__c"]] = event["CreatedDate"]
    for email in org["EmailMessage"]:
        if email["ToIds"].startswith("003"):
            assert email["MessageDate"] >= handed[email["ParentId"]]


def test_names_and_addresses(org: Rows) -> None:
    for table, column in (
        ("User", "Email"),
        ("Account", "PersonEmail"),
        ("Product2", "Name"),
        ("Product2", "External_ID__c"),
        ("Knowledge__kav", "UrlName"),
    ):
        values = [row[column] for row in org[table]]
        assert len(set(values)) == len(values), (table, column)
    assert all(row["PersonEmail"].endswith(".example") for row in org["Account"])
    assert len({row["ShippingState"] for row in org["Account"]}) == 14


def test_products_have_near_duplicates(org: Rows) -> None:
    families = Counter(
        row["Name"].split()[0] + row["Name"].split(" in ")[0] for row in org["Product2"]
    )
    assert sum(count > 1 for count in families.values()) > 60


def test_equal_seeds_give_equal_rows_and_others_do_not(org: Rows) -> None:
    assert collect(generate()) == org
    other = collect(generate(43))
    for name in ("Account", "Product2", "OrderItem", "Case", "EmailMessage"):
        assert other[name] != org[name]


def test_rows_do_not_depend_on_how_python_hashes() -> None:
    program = (
        "import hashlib; from crmbench.domains.service.world import generate; "
        "rows = [(t, list(r)) for t, r in generate(3, 0.2).stream()]; "
        "print(hashlib.sha256(repr(rows).encode()).hexdigest())"
    )
    digests = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        digests.add(subprocess.check_output([sys.executable, "-c", program], env=environment))
    assert len(digests) == 1


def test_it_loads_and_is_searched() -> None:
    backend = SqliteBackend(SCHEMA)
    database = backend.acquire(generate(4, 0.2))
    execute = database.connection.execute
    assert execute("PRAGMA foreign_key_check", ()) == []
    assert execute("PRAGMA integrity_check", ()) == [("ok",)]
    found = execute('SELECT count(*) FROM "Product2__fts" WHERE "Product2__fts" MATCH ?', ("tent",))
    assert found[0][0] > 0
    plan = str(execute('EXPLAIN QUERY PLAN SELECT * FROM "Case" WHERE "OwnerId" = ?', ("x",)))
    assert "ix_Case_OwnerId" in plan
    backend.close()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "org-42"),
        ({"seed": 7, "factor": 10}, "org-7-x10"),
        ({"factor": 0.5}, "org-42-x0.5"),
        ({"without": frozenset({"agent_skill"})}, "org-42-without-agent_skill"),
        (
            {"factor": 2, "without": frozenset({"region_effects", "agent_skill"})},
            "org-42-x2-without-agent_skill+region_effects",
        ),
        ({"without": frozenset(LATENTS)}, f"org-42-without-{'+'.join(LATENTS)}"),
    ],
)
def test_a_name_says_all(options: dict[str, Any], name: str) -> None:
    world = generate(**options)
    assert world.name == name
    assert world_from_name(name) == world
    assert isinstance(world, ServiceWorld)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("org", "has no world 'org'"),
        ("org-x", "has no world"),
        ("org-42-x1e3", "has no world"),
        ("org-42-x101", "101 times the usual size"),
        ("org-42-x0.01", "0.01 times"),
        ("org-42-without-mood", "no latent variable 'mood'"),
        ("org-42-without-agent_skill+", "no latent variable ''"),
    ],
)
def test_other_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        world_from_name(name)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError, match="expected 0 to 999999999"):
        generate(-1)


def test_contacts_of_a_house_without_others() -> None:
    people = make_people(Seeds(1), 10, 8, 8)
    accounts = people.contact_account[:3]
    assert people.contacts_of(accounts, np.zeros(3)).tolist() == accounts.tolist()
