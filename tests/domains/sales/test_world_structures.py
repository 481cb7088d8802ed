"""What the task families look for is there, several times, in every standard world."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import pytest

from crmbench.domains.sales.enums import CLOSED_STAGES
from crmbench.domains.sales.world import STANDARD_WORLDS, generate, rows
from crmbench.domains.sales.world.banks import banks

Row = dict[str, Any]
USUAL = {"Prospecting": 10, "Qualification": 25, "Proposal": 50, "Negotiation": 75}


class SalesOrg:
    """A standard world, indexed."""

    def __init__(self, name: str) -> None:
        self.world = generate(name)
        self.tables: dict[str, list[Row]] = rows(self.world)
        self.manager = self.world.owners[0]

    @cached_property
    def clients(self) -> dict[str, Row]:
        return {row["client_id"]: row for row in self.tables["Client"]}

    @property
    def deals(self) -> list[Row]:
        return self.tables["Opportunity"]

    @cached_property
    def open_deals(self) -> list[Row]:
        return [deal for deal in self.deals if deal["stage"] not in CLOSED_STAGES]

    @cached_property
    def _attached(self) -> dict[tuple[str, str], list[Row]]:
        found = defaultdict(list)
        for table, column in (
            *(("Quote", "opportunity_id"), ("Contract", "opportunity_id")),
            *(("Note", "entity_id"), ("Document", "entity_id")),
            *(("Contact", "client_id"), ("Opportunity", "client_id")),
        ):
            for row in self.tables[table]:
                found[table, row[column]].append(row)
        return found

    def of(self, table: str, row: Row) -> list[Row]:
        key = row["opportunity_id"] if "opportunity_id" in row else row["client_id"]
        return self._attached.get((table, key), [])

    def statuses(self, deal: Row) -> list[str]:
        return [quote["status"] for quote in self.of("Quote", deal)]

    def notes(self, deal: Row) -> list[str]:
        return [note["content"] for note in self.of("Note", deal)]


@pytest.fixture(scope="module", params=STANDARD_WORLDS)
def org(request: pytest.FixtureRequest) -> SalesOrg:
    return SalesOrg(str(request.param))


def count(deals: list[Row], fits: Callable[[Row], bool]) -> int:
    return sum(1 for deal in deals if fits(deal))


# --- clients, contacts and companies --------------------------------------------------------------


def test_clients_share_leading_words_in_other_trades(org: SalesOrg) -> None:
    groups = defaultdict(list)
    for client in org.clients.values():
        groups[client["name"].split()[0]].append(client)
    alike = [group for group in groups.values() if len(group) >= 2]
    assert sum(len({c["industry"] for c in group}) == len(group) for group in alike) >= 3
    assert any(len(group) >= 3 for group in alike)


def test_people_of_one_name_work_for_different_clients(org: SalesOrg) -> None:
    places = defaultdict(list)
    for row in org.tables["Contact"]:
        places[row["first_name"], row["last_name"]].append(row["client_id"])
    shared = [clients for clients in places.values() if len(clients) > 1]
    assert len(shared) >= 4
    assert all(len(set(clients)) == len(clients) for clients in shared)


def test_clients_of_every_status(org: SalesOrg) -> None:
    statuses = Counter(row["status"] for row in org.clients.values())
    assert statuses["Inactive"] >= 5
    assert statuses["Prospect"] >= 8
    assert statuses["Active"] > statuses["Prospect"]
    for client in org.clients.values():
        if client["status"] == "Inactive":
            assert all(deal["stage"] in CLOSED_STAGES for deal in org.of("Opportunity", client))
        if client["status"] == "Prospect":
            assert all(deal["stage"] != "Closed-Won" for deal in org.of("Opportunity", client))


def test_some_details_are_missing_and_some_must_not_be_shared(org: SalesOrg) -> None:
    contacts, clients = org.tables["Contact"], list(org.clients.values())
    secret = [row for row in contacts if "do not share" in str(row["notes"]).lower()]
    assert len(secret) >= 6
    assert all(row["phone"] and row["email"] for row in secret)
    assert sum(row["phone"] is None for row in contacts) >= 4
    assert sum(row["phone"] is None for row in clients) >= 1
    assert sum(row["address"] is None for row in clients) >= 1
    assert len({row["title"] for row in contacts}) >= 12
    assert all(row["title"] for row in contacts)


def test_companies_of_every_type_and_no_client_among_them(org: SalesOrg) -> None:
    companies = org.tables["Company"]
    kinds = Counter(row["type"] for row in companies)
    assert min(kinds[kind] for kind in ("Partner", "Vendor", "Competitor")) >= 6
    names = {row["name"] for row in org.clients.values()}
    assert not names & {row["name"] for row in companies}
    leads = {name.split()[0] for name in names}
    rivals = [row["name"].split()[0] for row in companies if row["type"] == "Competitor"]
    assert sum(lead in leads for lead in rivals) == 2


def test_few_clients_have_many_deals(org: SalesOrg) -> None:
    sizes = sorted(len(org.of("Opportunity", client)) for client in org.clients.values())
    assert sizes[-1] >= 6
    assert sum(size <= 1 for size in sizes) >= len(sizes) // 4
    owners = Counter(deal["owner"] for deal in org.deals)
    assert owners.most_common(1)[0][1] >= 3 * sorted(owners.values())[1]


# --- deals and quotes -----------------------------------------------------------------------------


def test_open_deals_of_every_stage(org: SalesOrg) -> None:
    stages = Counter(deal["stage"] for deal in org.open_deals)
    assert min(stages[stage] for stage in USUAL) >= 6


def test_deals_that_may_be_deleted(org: SalesOrg) -> None:
    def untouched(deal: Row) -> bool:
        hanging = ("Quote", "Contract", "Note", "Document")
        return deal["stage"] == "Prospecting" and not any(org.of(t, deal) for t in hanging)

    assert count(org.deals, untouched) >= 6


def test_quotes_in_the_states_that_tasks_need(org: SalesOrg) -> None:
    late = [d for d in org.open_deals if d["stage"] in ("Proposal", "Negotiation")]
    assert count(late, lambda d: org.statuses(d).count("Approved") == 1) >= 6
    assert count(late, lambda d: {"Sent", "Draft"} <= set(org.statuses(d))) >= 6
    assert count(org.deals, lambda d: len(org.of("Quote", d)) >= 3) >= 6
    early = [d for d in org.open_deals if d["stage"] in ("Qualification", "Proposal")]
    assert count(early, lambda d: not org.of("Quote", d)) >= 8


def test_quotes_follow_the_house_rules(org: SalesOrg) -> None:
    for deal in org.deals:
        quotes = org.of("Quote", deal)
        assert [q["version"] for q in quotes] == [f"v{i + 1}" for i in range(len(quotes))]
        assert all(q["name"] == f"{deal['name']} {q['version']}" for q in quotes)
        assert org.statuses(deal).count("Sent") <= 1
        assert org.statuses(deal).count("Approved") <= 1
        if deal["stage"] in CLOSED_STAGES:
            assert not {"Draft", "Sent"} & set(org.statuses(deal))
        if "Sent" in org.statuses(deal):
            assert deal["stage"] in ("Proposal", "Negotiation")
        if deal["stage"] == "Closed-Won":
            (approved,) = (q for q in quotes if q["status"] == "Approved")
            assert approved["amount"] == deal["amount"]


def test_no_quote_is_far_below_its_deal_without_leave(org: SalesOrg) -> None:
    for deal in org.deals:
        allowed = [int(p) for n in org.notes(deal) for p in re.findall(r"up to (\d+) % on", n)]
        least = deal["amount"] * (1 - max([10, *allowed]) / 100)
        for quote in org.of("Quote", deal):
            assert least <= quote["amount"] <= 1.7 * deal["amount"]


def test_some_quotes_of_one_deal_are_hard_to_tell_apart_by_amount(org: SalesOrg) -> None:
    def near(deal: Row) -> bool:
        amounts = sorted(quote["amount"] for quote in org.of("Quote", deal))
        return any(0 < b - a < 0.02 * a for a, b in pairwise(amounts))

    assert count(org.open_deals, near) >= 3


def test_clients_with_two_open_deals_for_one_product(org: SalesOrg) -> None:
    products = list(banks().products["Freight"].things)
    seen = Counter(
        (deal["client_id"], product.name)
        for deal in org.open_deals
        for product in products
        if f" - {product.name}" in deal["name"]
    )
    assert sum(number >= 2 for number in seen.values()) >= 4


def test_deal_names_begin_with_the_client(org: SalesOrg) -> None:
    for deal in org.deals:
        client, dash, product = deal["name"].rpartition(" - ")
        assert dash
        assert product
        assert org.clients[deal["client_id"]]["name"].startswith(client)


def test_won_and_lost_deals(org: SalesOrg) -> None:
    won = [deal for deal in org.deals if deal["stage"] == "Closed-Won"]
    assert count(won, lambda d: bool(org.of("Contract", d))) >= 8
    assert count(won, lambda d: not org.of("Contract", d)) >= 6
    lost = [deal for deal in org.deals if deal["stage"] == "Closed-Lost"]
    assert len(lost) >= 8
    assert all(any(note.startswith("Lost") for note in org.notes(deal)) for deal in lost)
    assert {deal["probability"] for deal in won} == {99}
    assert {deal["probability"] for deal in lost} == {1}


def test_contracts_follow_the_house_rules(org: SalesOrg) -> None:
    deals = {deal["opportunity_id"]: deal for deal in org.deals}
    contracts = org.tables["Contract"]
    linked = [deals[row["opportunity_id"]] for row in contracts if row["opportunity_id"]]
    assert all(deal["stage"] == "Closed-Won" for deal in linked)
    assert len({deal["opportunity_id"] for deal in linked}) == len(linked)
    for row in contracts:
        if row["opportunity_id"]:
            deal = deals[row["opportunity_id"]]
            assert row["value"] == deal["amount"]
            assert row["client_id"] == deal["client_id"]
    statuses = Counter(row["status"] for row in contracts)
    assert min(statuses[status] for status in ("Active", "Pending", "Expired")) >= 3


def test_most_open_deals_are_due_and_have_the_usual_probability(org: SalesOrg) -> None:
    overdue = [deal for deal in org.open_deals if deal["close_date"] < org.world.today]
    assert 3 <= len(overdue) <= len(org.open_deals) // 6
    own = [deal for deal in org.open_deals if deal["probability"] != USUAL[deal["stage"]]]
    assert 3 <= len(own) <= len(org.open_deals) // 3
    same = count(org.deals, lambda d: d["owner"] == org.clients[d["client_id"]]["owner"])
    assert 0.75 < same / len(org.deals) < 0.97


# --- notes and documents --------------------------------------------------------------------------


def test_discounts_are_approved_by_the_manager_alone(org: SalesOrg) -> None:
    found = []
    for deal in org.deals:
        for note in org.of("Note", deal):
            if "discount approved" in note["content"].lower():
                pattern = r"Discount approved: up to (\d+) % on this deal\."
                match = re.fullmatch(pattern, note["content"])
                assert match
                assert note["created_by"] == org.manager
                assert 12 <= int(match[1]) <= 24
                found.append(deal)
    assert len(found) >= 8
    assert all(deal["stage"] not in CLOSED_STAGES for deal in found)


def matches(sentences: list[str], text: str) -> bool:
    """Whether the text is one of the bank's sentences with its braces filled."""
    patterns = (re.sub(r"\\{\w+\\}", "(.+?)", re.escape(sentence)) for sentence in sentences)
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def test_some_notes_are_stale(org: SalesOrg) -> None:
    stale = {kind: lines for kind, lines in banks().notes["stale"].items() if kind != "moved_on"}
    found = Counter[str]()
    for deal in org.open_deals:
        for text in org.notes(deal):
            found.update(kind for kind, lines in stale.items() if matches(lines, text))
            if matches(stale["amount"], text):
                assert f"${deal['amount']:,.0f}" not in text
            if matches(stale["owner"], text):
                assert deal["owner"] not in text
    assert found.total() >= 8
    assert min(found[kind] for kind in stale) >= 1


def test_some_notes_contradict_each_other(org: SalesOrg) -> None:
    pairs = banks().notes["against"]["pairs"]
    found = 0
    for deal in org.open_deals:
        texts = org.notes(deal)
        for pair in pairs:
            first, second = ([i for i, t in enumerate(texts) if matches([s], t)] for s in pair)
            found += bool(first and second and first[0] < second[-1])
    assert found >= 4


def test_notes_do_not_read_alike(org: SalesOrg) -> None:
    texts = [note["content"] for note in org.tables["Note"]]
    told = [text for text in texts if not text.startswith("Discount approved")]
    assert len(set(told)) > 0.85 * len(told)
    assert not any("{" in str(text) or "None" in str(text) for text in texts)


def test_notes_and_documents_are_on_all_kinds_of_records(org: SalesOrg) -> None:
    notes = Counter(row["entity_type"] for row in org.tables["Note"])
    assert set(notes) == {"Opportunity", "Client", "Contact", "Quote", "Contract"}
    files = Counter(row["entity_type"] for row in org.tables["Document"])
    assert set(files) == {"Opportunity", "Client", "Quote", "Contract"}


def test_the_bank_of_sentences_is_large() -> None:
    def size(bank: Any) -> int:
        if isinstance(bank, str):
            return 1
        return sum(map(size, bank.values() if isinstance(bank, dict) else bank))

    assert size(banks().notes) >= 250
