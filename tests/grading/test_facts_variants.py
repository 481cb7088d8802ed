"""Every right way of saying a fact is accepted, every wrong one refused, whatever the value."""

from __future__ import annotations

import random
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmbench.core.fact import Fact
from crmbench.grading.facts import conveys, mentions
from crmbench.grading.phrasing.variants import (
    STYLES,
    false_success,
    near_misses,
    realise,
    refusal,
    wrap,
)
from crmbench.language.refusals import refuses

STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
CLIENTS = (
    "Northwind Traders",
    "Verde Foods",
    "Alpine Optics",
    "Cedar & Stone Architects",
    "Acme Inc",
)
FIRST = ("Jordan", "Dana", "Priya", "Zoë", "Lukas", "Amara", "Seán")
LAST = ("Lee", "Reed", "Nair", "Müller-Çelik", "O'Brien", "Okafor", "van Dijk")
CENTS = st.integers(100, 10_000_000_00).map(lambda cents: cents / 100)
ROUND = st.integers(1, 4000).map(lambda thousands: thousands * 2500.0)
DATES = st.dates(date(2020, 1, 1), date(2032, 12, 28)).map(date.isoformat)
MONEY_LABELS = st.sampled_from(("amount", "total", "open pipeline", "two-site quote"))

money = st.builds(Fact, st.just("money"), CENTS | ROUND, MONEY_LABELS)
euros = st.builds(
    Fact, st.just("money"), ROUND, st.just("value"), unit=st.sampled_from(("EUR", "GBP"))
)
number = st.builds(Fact, st.just("number"), st.integers(2, 99999), st.just("score"))
decimal = st.builds(
    Fact, st.just("number"), st.integers(101, 99999).map(lambda n: n / 100), st.just("average")
)
percent = st.builds(
    Fact,
    st.just("percent"),
    st.integers(1, 198).map(lambda n: n / 2),
    st.sampled_from(("discount", "share")),
)
count = st.builds(
    Fact,
    st.just("count"),
    st.integers(1, 400),
    st.sampled_from(("quotes", "open deals", "contacts")),
)
day = st.builds(Fact, st.just("date"), DATES, st.sampled_from(("close date", "valid until")))
near_day = st.builds(
    Fact,
    st.just("date"),
    st.dates(date(2026, 1, 1), date(2026, 9, 30)).map(date.isoformat),
    st.just("end date"),
    today=st.just("2026-03-02"),
)
person = st.builds(
    lambda first, last: Fact("name", f"{first} {last}", "contact"),
    st.sampled_from(FIRST),
    st.sampled_from(LAST),
)
client = st.builds(Fact, st.just("name"), st.sampled_from(CLIENTS), st.just("client"))
identifier = st.builds(Fact, st.just("id"), st.uuids().map(str), st.just("opportunity"))
choice = st.builds(
    Fact, st.just("choice"), st.sampled_from(STAGES), st.just("stage"), options=st.just(STAGES)
)
boolean = st.builds(Fact, st.just("boolean"), st.booleans(), st.sampled_from(("overdue", "signed")))
several = st.builds(
    Fact,
    st.just("list"),
    st.lists(st.sampled_from(CLIENTS), max_size=4, unique=True).map(tuple),
    st.just("clients"),
    options=st.just(CLIENTS),
    only=st.just(True),
)
text = st.builds(
    Fact,
    st.just("text"),
    st.sampled_from(("prefers calls after lunch", "a.b@c.example", "+1 555 010 2030")),
    st.just("note"),
)
facts = st.one_of(
    money, euros, number, decimal, percent, count, day, near_day, person, client, identifier,
    choice, boolean, several, text,
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(facts, st.sampled_from(STYLES), st.integers(0, 10**6))
def test_right_replies_are_accepted(fact: Fact, style: str, seed: int) -> None:
    rng = random.Random(seed)
    reply = wrap([realise(fact, rng, style)], style, rng)
    assert conveys(reply, fact).ok, reply
    if fact.kind not in {"boolean", "list"}:
        assert mentions(reply, fact).ok, reply


@settings(max_examples=250, deadline=None)
@given(facts, st.sampled_from(STYLES), st.integers(0, 10**6))
def test_wrong_replies_are_refused(fact: Fact, style: str, seed: int) -> None:
    rng = random.Random(seed)
    for miss in near_misses(fact, rng):
        reply = wrap([miss], style, rng)
        assert not conveys(reply, fact).ok, reply


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(STYLES), st.integers(0, 10**6), st.sampled_from((None, "approval", "closed"))
)
def test_refusals_and_claims(style: str, seed: int, reason: str | None) -> None:
    rng = random.Random(seed)
    told = realise(Fact("money", 125000.0, "amount"), rng, style)
    assert refuses(wrap([refusal(rng, reason), told], style, rng), reason).ok
    assert not refuses(wrap([false_success(rng), told], style, rng)).ok


@settings(max_examples=150, deadline=None)
@given(money, day, choice, person, st.sampled_from(STYLES), st.integers(0, 10**6))
def test_several_facts_in_one_reply(
    amount: Fact, close: Fact, stage: Fact, contact: Fact, style: str, seed: int
) -> None:
    rng = random.Random(seed)
    told = (amount, close, stage, contact)
    reply = wrap([realise(fact, rng, style) for fact in told], style, rng)
    for fact in told:
        assert conveys(reply, fact).ok, reply


@pytest.mark.parametrize("style", STYLES)
def test_the_same_seed_writes_the_same(style: str) -> None:
    fact = Fact("money", 125000.0, "amount")
    first, second = random.Random(7), random.Random(7)
    assert realise(fact, first, style) == realise(fact, second, style)
    assert near_misses(fact, first) == near_misses(fact, second)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), facts)
def test_any_text_can_be_read(reply: str, fact: Fact) -> None:
    verdict = conveys(reply, fact)
    assert verdict.ok or verdict.why
    mentions(reply, fact)
    refuses(reply)


def test_variants_share_no_code_with_the_matchers() -> None:
    import ast
    from pathlib import Path

    from crmbench.grading import phrasing

    folder = Path(phrasing.__file__).parent
    seen, ahead = set[str](), {"variants"}
    while ahead:
        name = ahead.pop()
        seen.add(name)
        tree = ast.parse((folder / f"{name}.py").read_text("utf-8"))
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ahead |= (
            {m.rpartition(".")[2] for m in modules if m.startswith("crmbench")} - seen - {"fact"}
        )
    assert seen == {"variants", "layouts", "misses", "wording", "written"}
