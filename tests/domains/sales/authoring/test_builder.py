"""The builder of conversations: what it picks, what it records, and what it refuses to write."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from crmbench.authoring.calls import JUST_MADE
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, Task
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    Derived,
    NoCandidate,
    SalesOrg,
    call,
    load_families,
    references,
)
from crmbench.domains.sales.authoring.follow_ups import FOLLOW_UPS, add_follow_ups
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.phrases import Wording, load_bank, money, plain
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.world import STANDARD_WORLDS
from crmbench.errors import HarnessError
from crmbench.grading.gold import execute_gold

WORLD = "harbour-01"
FAMILIES = load_families()


@cache
def org(name: str = WORLD) -> SalesOrg:
    world = standard_world(name)
    return SalesOrg(name, world.today, world.owners, world.stream())


@pytest.fixture(scope="module")
def backend() -> SqliteBackend:
    return SqliteBackend(SCHEMA)


@contextmanager
def talking(
    backend: SqliteBackend, seed: str = "1", world: str = WORLD
) -> Iterator[ConversationBuilder]:
    """A conversation that has not begun."""
    place = org(world)
    rng = random.Random(seed)
    wording = Wording(load_bank(), "chatty", place.today, "Ines", rng)
    with Sandbox(SALES, SALES.world(world), backend, seed="t") as sandbox:
        yield ConversationBuilder(place, sandbox, wording, place.owners[1], rng)


@pytest.fixture
def builder(backend: SqliteBackend) -> Iterator[ConversationBuilder]:
    with talking(backend) as builder:
        yield builder


def open_deal(builder: ConversationBuilder) -> Row:
    deal = builder.pick(builder.org.open_deals)
    builder.turn_to(deal)
    return deal


def as_task(builder: ConversationBuilder) -> Task:
    written = builder.written
    return Task("t", "sales", builder.org.name, tuple(written.turns), Gold(tuple(written.gold)))


# --- picking --------------------------------------------------------------------------------------


def test_what_is_picked_fits(builder: ConversationBuilder) -> None:
    for _ in range(50):
        assert (
            builder.pick(builder.org.deals, lambda d: d["stage"] == "Proposal")["stage"]
            == "Proposal"
        )
    with pytest.raises(NoCandidate):
        builder.pick(builder.org.deals, lambda d: d["amount"] < 0)


def test_a_client_is_talked_about_once(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    spent = deal["client_id"]
    for rows in (
        builder.org.deals,
        builder.org.contacts,
        builder.org.contracts,
        builder.org.clients,
    ):
        assert all(builder.pick(rows)["client_id"] != spent for _ in range(80))
    assert all(
        builder.org.client_of(builder.pick(builder.org.quotes)) is not None for _ in range(5)
    )
    of_client = [q for q in builder.org.quotes if builder.org.client_of(q)["client_id"] == spent]
    with pytest.raises(NoCandidate):
        builder.pick(of_client)


def test_turning_to_a_quote_turns_to_its_deal_and_client(builder: ConversationBuilder) -> None:
    quote = builder.pick(builder.org.quotes)
    deal = builder.org.deal_of(quote)
    builder.turn_to(quote)
    assert builder.focus.quote == quote["quote_id"]
    assert builder.focus.deal == builder.deal["opportunity_id"] == deal["opportunity_id"]
    assert builder.focus.client == builder.client["client_id"] == deal["client_id"]
    assert ("Quote", quote["quote_id"]) in builder.records


def test_without_a_deal_there_is_nothing_to_ask_about(builder: ConversationBuilder) -> None:
    for about in ("deal", "client"):
        with pytest.raises(NoCandidate):
            getattr(builder, about)


# --- writing turns --------------------------------------------------------------------------------


def test_a_turn_is_done_and_recorded(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    amount = deal["amount"] + 5000
    key = deal["opportunity_id"]
    builder.turn(
        "do.set_amount",
        {"amount": money(amount)},
        calls=[call("modify_opportunity", opportunity_id=key, amount=amount)],
        rules=("DEAL-7",),
        tags=("correction",),
    )
    assert builder.deal["amount"] == amount
    assert deal["amount"] != amount, "the org stays as it was before anybody acted"
    assert builder.written.tags == {"correction"}
    assert builder.written.rules == {"DEAL-7"}
    change = builder.last_change
    assert change is not None
    assert (change[0]["amount"], change[1]["amount"]) == (deal["amount"], amount)


def test_computed_values_keep_their_formula(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    amount = Derived(f"round({deal['amount']!r} * 110 / 100)")
    builder.turn(
        "do.set_amount",
        {"amount": money(amount.value)},
        calls=[call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)],
    )
    gold = builder.written.gold[0]
    assert gold.calls[0].arguments["amount"] == round(deal["amount"] * 1.1, 2)
    assert gold.derivations == {"1.amount": amount.formula}
    assert builder.written.tags == {"computed_value"}


def test_ids_of_created_records_are_kept_as_references(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    copied = call("clone_opportunity", opportunity_id=deal["opportunity_id"])
    named = call("modify_opportunity", opportunity_id=JUST_MADE, name="A copy")
    builder.turn("do.set_amount", {"amount": money(1.0)}, calls=[copied, named])
    stored = builder.written.gold[0].calls[1]
    assert stored.arguments["opportunity_id"] == "{{turn_1.call_1.opportunity_id}}"
    run = execute_gold(SALES, as_task(builder), SqliteBackend(SCHEMA))
    assert run.faults == ()
    assert run.calls[0][1].changes[0].after is not None


def test_an_answer_to_a_question_is_kept_apart_from_the_utterance(
    builder: ConversationBuilder,
) -> None:
    deal = open_deal(builder)
    key = deal["opportunity_id"]
    reason = "the roof of their warehouse fell in"
    builder.turn(
        "stage.lost",
        {"deal": references.deal(builder, deal).slot},
        calls=[call("modify_opportunity", opportunity_id=key, stage="Closed-Lost", probability=1)],
        asks=("answer.reason", {"reason": plain(reason)}, ("why",)),
    )
    turn = builder.written.turns[0]
    assert turn.clarification is not None
    assert reason in turn.clarification.answer.casefold()
    assert reason not in turn.utterance
    assert turn.clarification.about == ("why",)
    assert "missing_detail" in builder.written.tags


def test_gold_that_the_crm_refuses_is_a_fault(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    below = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=-5.0)
    slots = {"amount": money(5.0)}
    with pytest.raises(HarnessError, match=r"is refused: .*greater than zero"):
        builder.turn("do.set_amount", slots, calls=[below])
    wrong = "must not be purple"
    with pytest.raises(HarnessError, match=r"as it should be: .*greater than zero"):
        builder.rejected("do.set_amount", slots, calls=[below], error=wrong, category="validation")
    builder.rejected(
        "do.set_amount", slots, calls=[below], error="greater than zero", category="validation"
    )
    assert builder.written.tags == {"api_refusal"}
    assert not builder.written.gold[0].expect_success


def test_gold_that_must_be_refused_and_is_not_is_a_fault(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    fine = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=5.0)
    with pytest.raises(HarnessError, match="is not refused as it should be"):
        builder.rejected(
            "do.set_amount", {"amount": money(5.0)}, calls=[fine], error="", category="validation"
        )


def test_a_house_rule_that_forbids_leaves_no_trace(builder: ConversationBuilder) -> None:
    deal = open_deal(builder)
    look = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    builder.refused(
        "do.set_amount", {"amount": money(5.0)}, calls=[look], rules=("DISC-2",), reasons=("30",)
    )
    gold = builder.written.gold[0]
    assert (gold.expect_success, gold.failure_category) == (False, "policy")
    assert gold.rules == ("DISC-2",)
    assert builder.last_change is None
    assert builder.written.tags == {"policy_refusal"}


def test_todays_date_is_no_fact(builder: ConversationBuilder) -> None:
    with pytest.raises(NoCandidate):
        builder.fact("date", builder.today)
    assert builder.fact("date", "2031-01-01").today == builder.today


# --- follow-up turns ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOLLOW_UPS)
def test_a_move_follows_some_family_and_its_gold_is_right(
    name: str, backend: SqliteBackend
) -> None:
    made = 0
    for attempt in range(400):
        family = list(FAMILIES.values())[attempt % len(FAMILIES)]
        world = list(STANDARD_WORLDS)[attempt % len(STANDARD_WORLDS)]
        made += moved(name, family.name, world, backend)
        if made == 3:
            return
    raise AssertionError(f"{name} fits {made} times only")


def moved(name: str, family: str, world: str, backend: SqliteBackend) -> bool:
    """Whether a move fits after that family; what they make together is walked."""
    with talking(backend, f"{name}/{family}", world) as builder:
        try:
            FAMILIES[family].write(builder)
            before = builder.length
            FOLLOW_UPS[name].write(builder)
        except NoCandidate:
            return False
    assert builder.length > before
    assert execute_gold(SALES, as_task(builder), backend).faults == ()
    return True


def test_no_move_is_used_twice(builder: ConversationBuilder) -> None:
    open_deal(builder)
    with pytest.raises(NoCandidate):
        add_follow_ups(builder, 200)
    assert len(builder.memory["follow_ups"]) <= len(FOLLOW_UPS)
