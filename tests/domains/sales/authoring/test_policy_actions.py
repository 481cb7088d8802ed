"""House rules as calls: each rule's additions, at the borders that the rule draws."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import ConversationBuilder, Derived, SalesOrg, policy_actions
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.phrases import Wording, load_bank
from crmbench.domains.sales.policy import rules
from crmbench.domains.sales.schema import SCHEMA
from crmbench.grading.facts import mentions

WORLD = "harbour-01"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def org() -> SalesOrg:
    world = standard_world(WORLD)
    return SalesOrg(WORLD, world.today, world.owners, world.stream())


@pytest.fixture
def builder(org: SalesOrg) -> Iterator[ConversationBuilder]:
    rng = random.Random(1)
    wording = Wording(load_bank(), "formal", org.today, "Ines", rng)
    backend = SqliteBackend(SCHEMA)
    with Sandbox(SALES, SALES.world(WORLD), backend, seed="t") as sandbox:
        yield ConversationBuilder(org, sandbox, wording, org.owners[1], rng)


def plainly(made: GoldCall) -> Row:
    """The arguments of a call, computed ones as values."""
    return {
        name: value.value if isinstance(value, Derived) else value
        for name, value in made.arguments.items()
    }


def deal_with(org: SalesOrg, *statuses: str) -> Row:
    """An open deal that has quotes of just these statuses."""
    wanted = sorted(statuses)
    fits = (d for d in org.open_deals if sorted(q["status"] for q in org.quotes_of(d)) == wanted)
    return next(fits)


def test_probabilities_are_those_of_the_policy() -> None:
    said = rules()["DEAL-2"]
    assert all(f"{stage} {chance}" in said for stage, chance in policy_actions.PROBABILITY.items())
    assert f"more than {policy_actions.NOTE_LIMIT:.0%}".replace("%", " %") in rules()["DEAL-7"]
    assert f"more than {policy_actions.FREE_DISCOUNT} %" in rules()["DISC-1"]
    assert f"more than {policy_actions.MOST_DISCOUNT} %" in rules()["DISC-2"]


def test_a_stage_brings_its_probability_unless_one_is_named(org: SalesOrg) -> None:
    deal = org.open_deals[0]
    for stage, chance in policy_actions.PROBABILITY.items():
        assert plainly(policy_actions.set_stage(deal, stage).calls[0])["probability"] == chance
    assert plainly(policy_actions.set_stage(deal, "Proposal", 65).calls[0])["probability"] == 65


@pytest.mark.parametrize(("share", "noted"), [(1.25, False), (1.2501, True), (0.75, False)])
def test_a_change_of_more_than_a_quarter_is_noted(
    builder: ConversationBuilder, share: float, noted: bool
) -> None:
    deal = {**builder.org.open_deals[0], "amount": 100_000.0}
    plan = policy_actions.change_amount(builder, deal, 100_000.0 * share)
    assert [made.tool for made in plan.calls] == ["modify_opportunity", "add_note"][: 1 + noted]
    assert len(plan.note_facts) == 2 * noted
    if noted:
        written = plan.calls[1].arguments
        assert written["created_by"] == builder.speaker
        assert all(mentions(written["content"], fact).ok for fact in plan.note_facts)


def test_a_new_quote_gets_the_next_version_and_thirty_days(builder: ConversationBuilder) -> None:
    deal = max(builder.org.open_deals, key=lambda d: len(builder.org.quotes_of(d)))
    highest = max(int(q["version"][1:]) for q in builder.org.quotes_of(deal))
    made = plainly(policy_actions.new_quote(builder, deal).calls[0])
    assert made["version"] == f"v{highest + 1}"
    assert made["name"] == f"{deal['name']} v{highest + 1}"
    assert made["valid_until"] == (builder.org.today + timedelta(days=30)).isoformat()
    assert (made["status"], made["amount"]) == ("Draft", deal["amount"])
    given = plainly(policy_actions.new_quote(builder, deal, amount=5.0, status="Sent").calls[0])
    assert (given["status"], given["amount"]) == ("Sent", 5.0)


def test_winning_takes_the_approved_amount_and_cancels_what_is_pending(
    builder: ConversationBuilder,
) -> None:
    deal = next(
        d
        for d in builder.org.open_deals
        if {"Draft", "Sent"} & {q["status"] for q in builder.org.quotes_of(d)}
    )
    pending = {
        q["quote_id"] for q in builder.org.quotes_of(deal) if q["status"] in ("Draft", "Sent")
    }
    plan = policy_actions.win(builder, deal, {"amount": 4321.0})
    changed = plan.calls[0].arguments
    assert (changed["stage"], changed["amount"], changed["probability"]) == (
        "Closed-Won",
        4321.0,
        99,
    )
    assert {made.arguments["quote_id"] for made in plan.calls[1:]} == pending
    assert {made.tool for made in plan.calls[1:]} == {"cancel_quote"}


def test_losing_cancels_what_is_pending_and_notes_the_reason(builder: ConversationBuilder) -> None:
    deal = deal_with(builder.org, "Draft")
    for loss in policy_actions.LOSSES:
        plan = policy_actions.lose(builder, deal, loss)
        assert mentions(plan.calls[2].arguments["content"], plan.note_facts[0]).ok, loss
    assert [made.tool for made in plan.calls] == [
        "modify_opportunity",
        "cancel_quote",
        "add_note",
    ]
    assert plan.calls[0].arguments["probability"] == 1


@pytest.mark.parametrize(("left", "renewed"), [(-3, True), (6, True), (7, False), (40, False)])
def test_sending_renews_what_is_valid_for_less_than_a_week(
    builder: ConversationBuilder, left: int, renewed: bool
) -> None:
    deal = deal_with(builder.org, "Draft")
    day = builder.org.today + timedelta(days=left)
    quote = {**builder.org.quotes_of(deal)[0], "valid_until": day.isoformat()}
    sent = plainly(policy_actions.send(builder, deal, quote).calls[0])
    month_on = (builder.org.today + timedelta(days=30)).isoformat()
    assert sent.get("valid_until") == (month_on if renewed else None)


@pytest.mark.parametrize("stage", ["Prospecting", "Qualification", "Proposal", "Negotiation"])
def test_sending_moves_an_early_deal_to_proposal(builder: ConversationBuilder, stage: str) -> None:
    deal = {**deal_with(builder.org, "Draft"), "stage": stage}
    calls = policy_actions.send(builder, deal, builder.org.quotes_of(deal)[0]).calls
    moved = [made.arguments for made in calls if made.tool == "modify_opportunity"]
    early = stage in ("Prospecting", "Qualification")
    assert [(m["stage"], m["probability"]) for m in moved] == [("Proposal", 50)] * early


def test_a_new_deal_belongs_to_the_clients_owner_for_ninety_days(
    builder: ConversationBuilder,
) -> None:
    client = builder.org.clients[0]
    made = plainly(policy_actions.new_deal(builder, client, "Planner", 9000.0).calls[0])
    assert made["name"] == f"{client['name']} - Planner"
    assert (made["stage"], made["probability"]) == ("Prospecting", 10)
    assert made["owner"] == client["owner"]
    assert made["close_date"] == (builder.org.today + timedelta(days=90)).isoformat()
    given = plainly(
        policy_actions.new_deal(builder, client, "Planner", 9000.0, stage="Proposal").calls[0]
    )
    assert given["probability"] == 50


def test_a_contract_starts_next_month_for_a_year_and_is_pending_till_then(
    builder: ConversationBuilder,
) -> None:
    deal = next(d for d in builder.org.deals if d["stage"] == "Closed-Won")
    made = plainly(policy_actions.new_contract(builder, deal).calls[0])
    start, end = date.fromisoformat(made["start_date"]), date.fromisoformat(made["end_date"])
    assert (start.day, start > builder.org.today) == (1, True)
    assert (start - builder.org.today).days <= 31
    assert end + timedelta(days=1) == start.replace(year=start.year + 1)
    assert (made["status"], made["value"]) == ("Pending", deal["amount"])
    running = plainly(
        policy_actions.new_contract(builder, deal, start_date=builder.today, months=6).calls[0]
    )
    assert running["status"] == "Active"
    assert (date.fromisoformat(running["end_date"]) - builder.org.today).days in range(179, 185)


@pytest.mark.parametrize(("rate", "amount"), [(10, 90_000), (15, 85_000), (30, 70_000)])
def test_discounts_are_taken_of_the_deals_amount(rate: int, amount: float) -> None:
    deal = {"amount": 100_000.0}
    assert policy_actions.under(deal, rate).value == amount
    assert policy_actions.discount(deal, amount) == rate
