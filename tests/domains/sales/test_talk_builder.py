"""The builder of conversations: what it picks, what it records, and what it refuses to write."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from crmbench.core.episode import Episode
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, Task
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.phrases import Wording, load_bank, money, plain
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.talk import Derived, NoFit, Org, Talk, call, describe, load_families
from crmbench.domains.sales.talk.moves import MOVES, follow
from crmbench.domains.sales.talk.org import Row
from crmbench.domains.sales.talk.talk import JUST_MADE
from crmbench.domains.sales.world import STANDARD_WORLDS
from crmbench.errors import HarnessError
from crmbench.grading.gold import walk

WORLD = "harbour-01"
FAMILIES = load_families()


@cache
def org(name: str = WORLD) -> Org:
    world = standard_world(name)
    return Org(name, world.today, world.owners, world.stream())


@pytest.fixture(scope="module")
def backend() -> SqliteBackend:
    return SqliteBackend(SCHEMA)


@contextmanager
def talking(backend: SqliteBackend, seed: str = "1", world: str = WORLD) -> Iterator[Talk]:
    """A conversation that has not begun."""
    place = org(world)
    rng = random.Random(seed)
    wording = Wording(load_bank(), "chatty", place.today, "Ines", rng)
    with Episode(SALES, Task("t", "sales", world, (), Gold(())), backend) as episode:
        yield Talk(place, episode, wording, place.owners[1], rng)


@pytest.fixture
def talk(backend: SqliteBackend) -> Iterator[Talk]:
    with talking(backend) as talk:
        yield talk


def open_deal(talk: Talk) -> Row:
    deal = talk.pick(talk.org.open_deals)
    talk.turn_to(deal)
    return deal


def as_task(talk: Talk) -> Task:
    written = talk.written
    return Task("t", "sales", talk.org.name, tuple(written.turns), Gold(tuple(written.gold)))


# --- picking --------------------------------------------------------------------------------------


def test_what_is_picked_fits(talk: Talk) -> None:
    for _ in range(50):
        assert talk.pick(talk.org.deals, lambda d: d["stage"] == "Proposal")["stage"] == "Proposal"
    with pytest.raises(NoFit):
        talk.pick(talk.org.deals, lambda d: d["amount"] < 0)


def test_a_client_is_talked_about_once(talk: Talk) -> None:
    deal = open_deal(talk)
    spent = deal["client_id"]
    for rows in (talk.org.deals, talk.org.contacts, talk.org.contracts, talk.org.clients):
        assert all(talk.pick(rows)["client_id"] != spent for _ in range(80))
    assert all(talk.org.client_of(talk.pick(talk.org.quotes)) is not None for _ in range(5))
    of_client = [q for q in talk.org.quotes if talk.org.client_of(q)["client_id"] == spent]
    with pytest.raises(NoFit):
        talk.pick(of_client)


def test_turning_to_a_quote_turns_to_its_deal_and_client(talk: Talk) -> None:
    quote = talk.pick(talk.org.quotes)
    deal = talk.org.deal_of(quote)
    talk.turn_to(quote)
    assert talk.focus.quote == quote["quote_id"]
    assert talk.focus.deal == talk.deal["opportunity_id"] == deal["opportunity_id"]
    assert talk.focus.client == talk.client["client_id"] == deal["client_id"]
    assert ("Quote", quote["quote_id"]) in talk.written.records


def test_without_a_deal_there_is_nothing_to_ask_about(talk: Talk) -> None:
    for about in ("deal", "client"):
        with pytest.raises(NoFit):
            getattr(talk, about)


# --- writing turns --------------------------------------------------------------------------------


def test_a_turn_is_done_and_recorded(talk: Talk) -> None:
    deal = open_deal(talk)
    amount = deal["amount"] + 5000
    key = deal["opportunity_id"]
    talk.turn(
        "do.set_amount",
        {"amount": money(amount)},
        calls=[call("modify_opportunity", opportunity_id=key, amount=amount)],
        rules=("DEAL-7",),
        tags=("correction",),
    )
    assert talk.deal["amount"] == amount
    assert deal["amount"] != amount, "the org stays as it was before anybody acted"
    assert talk.written.tags == {"correction"}
    assert talk.written.rules == {"DEAL-7"}
    change = talk.last_change
    assert change is not None
    assert (change[0]["amount"], change[1]["amount"]) == (deal["amount"], amount)


def test_computed_values_keep_their_formula(talk: Talk) -> None:
    deal = open_deal(talk)
    amount = Derived(f"round({deal['amount']!r} * 110 / 100)")
    talk.turn(
        "do.set_amount",
        {"amount": money(amount.value)},
        calls=[call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)],
    )
    gold = talk.written.gold[0]
    assert gold.calls[0].arguments["amount"] == round(deal["amount"] * 1.1, 2)
    assert gold.derivations == {"1.amount": amount.formula}
    assert talk.written.tags == {"computed_value"}


def test_ids_of_created_records_are_kept_as_references(talk: Talk) -> None:
    deal = open_deal(talk)
    copied = call("clone_opportunity", opportunity_id=deal["opportunity_id"])
    named = call("modify_opportunity", opportunity_id=JUST_MADE, name="A copy")
    talk.turn("do.set_amount", {"amount": money(1.0)}, calls=[copied, named])
    stored = talk.written.gold[0].calls[1]
    assert stored.arguments["opportunity_id"] == "{{turn_1.call_1.opportunity_id}}"
    run = walk(SALES, as_task(talk), SqliteBackend(SCHEMA))
    assert run.faults == ()
    assert run.calls[0][1].changes[0].after is not None


def test_an_answer_to_a_question_is_kept_apart_from_the_utterance(talk: Talk) -> None:
    deal = open_deal(talk)
    key = deal["opportunity_id"]
    reason = "the roof of their warehouse fell in"
    talk.turn(
        "stage.lost",
        {"deal": describe.deal(talk, deal).slot},
        calls=[call("modify_opportunity", opportunity_id=key, stage="Closed-Lost", probability=1)],
        asks=("answer.reason", {"reason": plain(reason)}, ("why",)),
    )
    turn = talk.written.turns[0]
    assert turn.clarification is not None
    assert reason in turn.clarification.answer.casefold()
    assert reason not in turn.utterance
    assert turn.clarification.about == ("why",)
    assert "missing_detail" in talk.written.tags


def test_gold_that_the_crm_refuses_is_a_fault(talk: Talk) -> None:
    deal = open_deal(talk)
    below = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=-5.0)
    slots = {"amount": money(5.0)}
    with pytest.raises(HarnessError, match=r"is refused: .*greater than zero"):
        talk.turn("do.set_amount", slots, calls=[below])
    wrong = "must not be purple"
    with pytest.raises(HarnessError, match=r"as it should be: .*greater than zero"):
        talk.rejected("do.set_amount", slots, calls=[below], error=wrong, category="validation")
    talk.rejected(
        "do.set_amount", slots, calls=[below], error="greater than zero", category="validation"
    )
    assert talk.written.tags == {"api_refusal"}
    assert not talk.written.gold[0].expect_success


def test_gold_that_must_be_refused_and_is_not_is_a_fault(talk: Talk) -> None:
    deal = open_deal(talk)
    fine = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=5.0)
    with pytest.raises(HarnessError, match="is not refused as it should be"):
        talk.rejected(
            "do.set_amount", {"amount": money(5.0)}, calls=[fine], error="", category="validation"
        )


def test_a_house_rule_that_forbids_leaves_no_trace(talk: Talk) -> None:
    deal = open_deal(talk)
    look = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    talk.refused(
        "do.set_amount", {"amount": money(5.0)}, calls=[look], rules=("DISC-2",), reasons=("30",)
    )
    gold = talk.written.gold[0]
    assert (gold.expect_success, gold.failure_category) == (False, "policy")
    assert gold.rules == ("DISC-2",)
    assert talk.last_change is None
    assert talk.written.tags == {"policy_refusal"}


def test_todays_date_is_no_fact(talk: Talk) -> None:
    with pytest.raises(NoFit):
        talk.fact("date", talk.today)
    assert talk.fact("date", "2031-01-01").today == talk.today


# --- follow-up turns ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MOVES)
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
    with talking(backend, f"{name}/{family}", world) as talk:
        try:
            FAMILIES[family].write(talk)
            before = talk.length
            MOVES[name].write(talk)
        except NoFit:
            return False
    assert talk.length > before
    assert walk(SALES, as_task(talk), backend).faults == ()
    return True


def test_no_move_is_used_twice(talk: Talk) -> None:
    open_deal(talk)
    with pytest.raises(NoFit):
        follow(talk, 200)
    assert len(talk.memory["moves"]) <= len(MOVES)
