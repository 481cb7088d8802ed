"""Where written values come from: faults put in one at a time are found, and named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from crmbench.authoring.derive import evaluate
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Clarification, Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.domains.sales.authoring.family import load_families
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.generate import generate
from crmbench.domains.sales.schema import SCHEMA
from crmbench.grading.gold import execute_gold
from crmbench.validity.values import untraceable, values_traceable

WORLD = "harbour-01"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    """A small generated set."""
    return list(generate(size=2 * len(load_families())).tasks)


@pytest.fixture(scope="module")
def backend() -> SqliteBackend:
    return SqliteBackend(SCHEMA)


def lost(task: Task, backend: SqliteBackend) -> list[str]:
    """What the gate says of a task."""
    return untraceable(SALES, task, execute_gold(SALES, task, backend))[0]


def deal() -> Row:
    """An open deal that does not close soon."""
    rows = dict(standard_world(WORLD).stream())["Opportunity"]
    return next(dict(r) for r in rows if r["stage"] == "Proposal" and r["amount"])


def saying(words: str, *gold: GoldTurn, answer: str = "", persona: str = "") -> Task:
    """A task in which everything is said in the first turn."""
    asked = Clarification(answer, ("what",)) if answer else None
    turns = (Turn(1, words, asked), *(Turn(n + 2, "And on.") for n in range(len(gold) - 1)))
    return Task("t", "sales", WORLD, turns, Gold(gold), persona=persona)


def modify(
    *reads: GoldCall, rules: tuple[str, ...] = (), formula: str = "", **new: Any
) -> GoldTurn:
    """A turn that changes the deal, after looking something up."""
    call = GoldCall("modify_opportunity", {"opportunity_id": deal()["opportunity_id"], **new})
    place = f"{len(reads) + 1}.{next(iter(new))}"
    return GoldTurn((*reads, call), rules=rules, derivations={place: formula} if formula else {})


def details() -> GoldCall:
    return GoldCall("opportunity_details", {"opportunity_id": deal()["opportunity_id"]})


# --- valid tasks ----------------------------------------------------------------------------------


def test_generated_tasks_write_nothing_that_comes_from_nowhere(
    tasks: list[Task], backend: SqliteBackend
) -> None:
    found = [untraceable(SALES, task, execute_gold(SALES, task, backend)) for task in tasks]
    gate = values_traceable(tasks, found)
    assert gate.passed, gate.offenders
    assert gate.applies
    assert sum(total for _, total in found) > 500


# --- what the user says ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("Make it $7,321", {"amount": 7321.0}),
        ("make it 7.3k pls", {"amount": 7300.0}),
        ("Probability 42 percent", {"probability": 42}),
        ("Close on 3 May 2027", {"close_date": "2027-05-03"}),
        ("Rename it to Otter Crossing", {"name": "Otter Crossing"}),
        ("FollowUp it into Negotiation", {"stage": "Negotiation"}),
    ],
)
def test_what_was_said_is_known(words: str, new: Row, backend: SqliteBackend) -> None:
    assert lost(saying(words, modify(**new)), backend) == []
    (found,) = lost(saying("Do the usual", modify(**new)), backend)
    (name, value) = next(iter(new.items()))
    assert found.startswith(f"turn 1: modify_opportunity {name} = {value!r}")


def test_what_is_answered_to_a_question_is_said(backend: SqliteBackend) -> None:
    gold = modify(amount=7321.0)
    assert lost(saying("Change it", gold, answer="To $7,321"), backend) == []
    assert len(lost(saying("Change it", gold, answer="To $7,322"), backend)) == 1


def test_what_is_said_later_is_not_known_yet(backend: SqliteBackend) -> None:
    task = saying("Change it", modify(amount=7321.0), GoldTurn())
    later = replace(task, turns=(task.turns[0], Turn(2, "It was $7,321, wasn't it?")))
    assert len(lost(later, backend)) == 1
    earlier = saying("It is $7,321", GoldTurn(), modify(amount=7321.0))
    assert lost(earlier, backend) == []


def test_the_speaker_is_known(backend: SqliteBackend) -> None:
    owner = standard_world(WORLD).owners[1]
    mine = modify(owner=owner)
    assert lost(saying("It is mine now", mine, persona=f"{owner}, sales rep"), backend) == []
    assert len(lost(saying("It is mine now", mine), backend)) == 1


def test_days_said_in_relation_to_today_are_known(backend: SqliteBackend) -> None:
    today = standard_world(WORLD).now.date()
    two_weeks = evaluate(f"days('{today.isoformat()}', 14)")
    gold = modify(close_date=two_weeks)
    assert lost(saying("Close it two weeks from today", gold), backend) == []
    assert len(lost(saying("Close it three weeks from today", gold), backend)) == 1
    assert len(lost(saying("Close it soon", gold), backend)) == 1


# --- what is read ---------------------------------------------------------------------------------


def test_what_was_read_is_known(backend: SqliteBackend) -> None:
    other = next(
        dict(row)
        for row in dict(standard_world(WORLD).stream())["Opportunity"]
        if row["amount"] not in (None, deal()["amount"])
    )
    look = GoldCall("opportunity_details", {"opportunity_id": other["opportunity_id"]})
    gold = modify(look, amount=other["amount"])
    assert lost(saying("The same amount as the other", gold), backend) == []
    assert len(lost(saying("The same", modify(amount=other["amount"])), backend)) == 1


# --- what a rule fixes ----------------------------------------------------------------------------


def test_a_rule_counts_only_where_it_is_cited(backend: SqliteBackend) -> None:
    words = "FollowUp it into Negotiation"
    cited = modify(stage="Negotiation", probability=75, rules=("DEAL-2",))
    assert lost(saying(words, cited), backend) == []
    (found,) = lost(saying(words, replace(cited, rules=())), backend)
    assert "probability = 75" in found
    wrong = modify(stage="Negotiation", probability=61, rules=("DEAL-2",))
    assert "probability = 61" in lost(saying(words, wrong), backend)[0]


# --- what is computed -----------------------------------------------------------------------------


def formula_task(formula: str, amount: float, words: str = "Raise it by 8 %") -> Task:
    return saying(words, modify(details(), amount=amount, formula=formula))


def test_a_formula_over_known_values_is_followed(backend: SqliteBackend) -> None:
    formula = f"round({deal()['amount']!r} * (100 + 8) / 100)"
    assert lost(formula_task(formula, evaluate(formula)), backend) == []


@pytest.mark.parametrize(
    "tamper",
    [
        lambda formula, value: (formula, value + 1),
        lambda formula, value: (formula.replace("+ 8", "- 8"), value),
        lambda formula, _: (
            formula.replace("+ 8", "+ 883"),
            evaluate(formula.replace("+ 8", "+ 883")),
        ),
        lambda formula, value: (f"{formula} + 0 * 77", value),
        lambda _, value: (repr(value), value),
    ],
    ids=["value", "sign", "rate never said", "literal never said", "value as its own formula"],
)
def test_a_formula_that_was_tampered_with_is_found(
    tamper: Callable[[str, float], tuple[str, float]], backend: SqliteBackend
) -> None:
    right = f"round({deal()['amount']!r} * (100 + 8) / 100)"
    formula, value = tamper(right, evaluate(right))
    (found,) = lost(formula_task(formula, value), backend)
    assert formula in found


def test_a_formula_over_what_was_not_read_is_found(backend: SqliteBackend) -> None:
    formula = f"round({deal()['amount']!r} * (100 + 8) / 100)"
    blind = saying("Raise it by 8 %", modify(amount=evaluate(formula), formula=formula))
    assert len(lost(blind, backend)) == 1


def test_generated_formulas_are_found_when_their_value_is_changed(
    tasks: list[Task], backend: SqliteBackend
) -> None:
    computed = [t for t in tasks if any(g.derivations for g in t.gold.turns)]
    tried = 0
    for task in computed[:40]:
        place = next(i for i, g in enumerate(task.gold.turns) if g.derivations)
        gold = task.gold.turns[place]
        key, formula = next(iter(gold.derivations.items()))
        changed = replace(gold, derivations={**gold.derivations, key: f"join({formula}, 'x')"})
        turns = [*task.gold.turns[:place], changed, *task.gold.turns[place + 1 :]]
        broken = replace(task, gold=replace(task.gold, turns=tuple(turns)))
        assert any("join(" in text and "'x'" in text for text in lost(broken, backend))
        tried += 1
    assert tried == 40


# --- the gate -------------------------------------------------------------------------------------


def test_the_gate_names_the_task(backend: SqliteBackend) -> None:
    good, bad = saying("$7,321", modify(amount=7321.0)), saying("?", modify(amount=7321.0))
    both = [good, replace(bad, task_id="bad")]
    gate = values_traceable(
        both, [untraceable(SALES, t, execute_gold(SALES, t, backend)) for t in both]
    )
    assert not gate.passed
    assert [(o.task_id, "7321" in o.reason) for o in gate.offenders] == [("bad", True)]


def test_a_set_that_writes_nothing_has_nothing_to_trace(backend: SqliteBackend) -> None:
    idle = saying("What is it worth?", GoldTurn((details(),)))
    assert not values_traceable(
        [idle], [untraceable(SALES, idle, execute_gold(SALES, idle, backend))]
    ).applies
