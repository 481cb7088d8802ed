"""Descriptions fit one record: what the words say is asked of the whole world, over all worlds.

The conditions are written here a second time, from the words of the phrase bank, and not taken from
the code that chooses the words.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, SalesOrg, references
from crmbench.domains.sales.authoring.references import Reference
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.phrases import Wording, load_bank
from crmbench.domains.sales.phrases.values import Slot, month_of
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.world import STANDARD_WORLDS

Row = dict[str, Any]
CLOSED = ("Closed-Won", "Closed-Lost")


@cache
def org(name: str) -> SalesOrg:
    world = standard_world(name)
    return SalesOrg(name, world.today, world.owners, world.stream())


@pytest.fixture(scope="module")
def backend() -> SqliteBackend:
    return SqliteBackend(SCHEMA)


@pytest.fixture(params=STANDARD_WORLDS)
def builder(
    request: pytest.FixtureRequest, backend: SqliteBackend
) -> Iterator[ConversationBuilder]:
    """A conversation that has not begun, in each of the worlds."""
    place = org(str(request.param))
    rng = random.Random(place.name)
    wording = Wording(load_bank(), "formal", place.today, "Ines", rng)
    with Sandbox(SALES, SALES.world(place.name), backend, seed="t") as sandbox:
        yield ConversationBuilder(place, sandbox, wording, place.owners[1], rng)


# --- what the words of a description say, said again ----------------------------------------------


def text(slot: Slot) -> str:
    return str(slot.value).casefold()


def clients_meant(place: SalesOrg, slot: Slot) -> list[Row]:
    """The clients that the words fit."""
    if slot.value == "the.client.by_name":
        return clients_named(place, slot.slots["client"])
    assert slot.value == "the.client.by_contact"
    return employers(place, slot.slots["contact"])


def clients_named(place: SalesOrg, slot: Slot) -> list[Row]:
    return [c for c in place.clients if c["name"].casefold() == text(slot)]


def employers(place: SalesOrg, slot: Slot) -> list[Row]:
    people = [c for c in place.contacts if named(c) == text(slot)]
    ids = [person["client_id"] for person in people]
    return [c for one in ids for c in place.clients if c["client_id"] == one]


def named(person: Row) -> str:
    return f"{person['first_name']} {person['last_name']}".casefold()


def deals_meant(place: SalesOrg, slot: Slot) -> list[Row]:
    """The deals that the words fit."""
    how, slots = slot.value.removeprefix("the.deal."), slot.slots
    if how == "name":
        return [d for d in place.deals if text(slots["deal"]) in d["name"].casefold()]
    owners = employers if how == "contact" else clients_named
    found = owners(place, slots["contact" if how == "contact" else "client"])
    assert len(found) == 1
    deals = [d for d in place.deals if d["client_id"] == found[0]["client_id"]]
    still_open = [d for d in deals if d["stage"] not in CLOSED]
    if how in ("only_open", "owner", "month"):
        deals = still_open
    fits: dict[str, Callable[[Row], bool]] = {
        "contact": lambda d: text(slots["product"]) in d["name"].casefold(),
        "product": lambda d: text(slots["product"]) in d["name"].casefold(),
        "only_open": lambda _d: True,
        "stage": lambda d: d["stage"].casefold() == text(slots["stage"]),
        "biggest": lambda d: d in biggest(still_open),
        "owner": lambda d: str(d["owner"]).casefold() == text(slots["owner"]),
        "month": lambda d: (
            bool(d["close_date"]) and month_of(d["close_date"]) == slots["month"].value
        ),
        "amount": lambda d: d["amount"] == slots["amount"].value,
    }
    return [d for d in deals if fits[how](d)]


def biggest(deals: list[Row]) -> list[Row]:
    most = max((d["amount"] for d in deals), default=0.0)
    return [d for d in deals if d["amount"] == most]


def quotes_meant(place: SalesOrg, slot: Slot) -> list[Row]:
    """The quotes that the words fit."""
    how, slots = slot.value.removeprefix("the.quote."), slot.slots
    parents = deals_meant(place, slots["deal"])
    assert len(parents) == 1
    key = parents[0]["opportunity_id"]
    quotes = [q for q in place.quotes if q["opportunity_id"] == key]
    if how == "latest":
        newest = max(int(q["version"].removeprefix("v")) for q in quotes)
        return [q for q in quotes if q["version"] == f"v{newest}"]
    return [q for q in quotes if q[how] == slots[how].value]


def contacts_meant(place: SalesOrg, slot: Slot) -> list[Row]:
    """The contacts that the words fit."""
    how, slots = slot.value.removeprefix("the.contact."), slot.slots
    if how == "name":
        return [c for c in place.contacts if named(c) == text(slots["contact"])]
    found = clients_named(place, slots["client"])
    assert len(found) == 1
    people = [c for c in place.contacts if c["client_id"] == found[0]["client_id"]]
    if how == "title":
        return [c for c in people if c["title"] == slots["title"].value]
    return [c for c in people if named(c) == text(slots["contact"])]


def contracts_meant(place: SalesOrg, slot: Slot) -> list[Row]:
    """The contracts that the words fit."""
    how, slots = slot.value.removeprefix("the.contract."), slot.slots
    if how == "deal":
        parents = deals_meant(place, slots["deal"])
        assert len(parents) == 1
        key = parents[0]["opportunity_id"]
        return [c for c in place.contracts if c["opportunity_id"] == key]
    found = clients_named(place, slots["client"])
    assert len(found) == 1
    own = [c for c in place.contracts if c["client_id"] == found[0]["client_id"]]
    return own if how == "client" else [c for c in own if c["status"] == slots["status"].value]


def check_all(
    builder: ConversationBuilder,
    rows: list[Row],
    name: Callable[[ConversationBuilder, Row], Reference],
    meant: Callable[[SalesOrg, Slot], list[Row]],
) -> set[str]:
    """Name every record, three times; returns the ways that were used."""
    used = set()
    for row in rows * 3:
        try:
            found = name(builder, row)
        except NoCandidate:
            continue
        assert meant(builder.org, found.slot) == [row], found.slot
        used.add(str(found.slot.value).rpartition(".")[2])
    return used


def test_a_client_is_described_by_words_that_fit_no_other(builder: ConversationBuilder) -> None:
    used = check_all(builder, builder.org.clients, references.client, clients_meant)
    assert used == {"by_name", "by_contact"}


def test_a_deal_is_described_by_words_that_fit_no_other(builder: ConversationBuilder) -> None:
    used = check_all(builder, builder.org.deals, references.deal, deals_meant)
    assert used >= {"name", "product", "only_open", "stage", "biggest", "owner", "amount"}


def test_a_quote_is_described_by_words_that_fit_no_other(builder: ConversationBuilder) -> None:
    used = check_all(builder, builder.org.quotes, references.quote, quotes_meant)
    assert used == {"latest", "status", "version", "amount"}


def test_a_contact_is_described_by_words_that_fit_no_other(builder: ConversationBuilder) -> None:
    used = check_all(builder, builder.org.contacts, references.contact, contacts_meant)
    assert used == {"name", "at", "title"}


def test_a_contract_is_described_by_words_that_fit_no_other(builder: ConversationBuilder) -> None:
    used = check_all(builder, builder.org.contracts, references.contract, contracts_meant)
    assert {"client", "deal"} <= used <= {"client", "deal", "status"}


# --- the look-ups that go with them ---------------------------------------------------------------


def found_by(builder: ConversationBuilder, reads: tuple[GoldCall, ...]) -> set[str]:
    """All values of all records that the look-ups give."""
    values: set[str] = set()
    with Sandbox.open(SALES, builder.org.name) as sandbox:
        for read in reads:
            record = sandbox.call(read.tool, dict(read.arguments))
            assert record.ok, record.error
            assert isinstance(record.result, dict)
            for row in record.result["records"]:
                values |= {str(value) for value in row.values()}
    return values


def test_the_look_ups_lead_to_the_record(builder: ConversationBuilder) -> None:
    cases: list[tuple[Callable[[ConversationBuilder, Row], Reference], list[Row], str]] = [
        (references.client, builder.org.clients, "client_id"),
        (references.deal, builder.org.deals, "opportunity_id"),
        (references.quote, builder.org.quotes, "quote_id"),
        (references.contact, builder.org.contacts, "contact_id"),
        (references.contract, builder.org.contracts, "contract_id"),
    ]
    for name, rows, key in cases:
        row = builder.rng.choice(rows)
        try:
            found = name(builder, row)
        except NoCandidate:
            continue
        assert row[key] in found_by(builder, found.reads)


# --- what is asked of a description ---------------------------------------------------------------


def test_ways_to_avoid_are_not_used(builder: ConversationBuilder) -> None:
    avoid = ("amount", "stage", "name", "biggest")
    for row in builder.org.deals:
        try:
            how = str(references.deal(builder, row, avoid).slot.value).rpartition(".")[2]
        except NoCandidate:
            continue
        assert how not in avoid


def test_what_nothing_tells_apart_is_not_described(builder: ConversationBuilder) -> None:
    everything = ("name", "product", "only_open", "biggest", "stage", "amount", "contact")
    with pytest.raises(NoCandidate):
        references.deal(builder, builder.org.deals[0], (*everything, "owner", "month"))


def test_clients_that_begin_alike_are_tagged(builder: ConversationBuilder) -> None:
    firsts = [str(c["name"]).split()[0].casefold() for c in builder.org.clients]
    for row in builder.org.clients:
        found = references.client(builder, row)
        if found.slot.value == "the.client.by_name":
            alike = firsts.count(str(row["name"]).split()[0].casefold()) > 1
            assert found.tags == (("near_duplicate",) if alike else ())
        else:
            assert found.tags == ("by_description", "multi_hop")
