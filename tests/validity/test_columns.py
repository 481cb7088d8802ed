"""The gate that no column goes uncompared, and what no text may hold, wherever it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.conftest import NORTHGATE

from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.core.trace import EpisodeTrace, Message, TurnTrace
from crmbench.domains.sales.schema import SCHEMA
from crmbench.grading.gold import execute_gold
from crmbench.grading.grader import Grader
from crmbench.grading.verdict import smuggled
from crmbench.runner.evaluate import grader_on
from crmbench.runner.task_sets import load_named
from crmbench.validity.columns import column_gate, columns_tried


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    grader = grader_on("sqlite")
    yield grader
    grader.close()


def test_every_column_of_sales_is_compared_but_the_one_that_a_rule_leaves_free(
    grader: Grader,
) -> None:
    tasks = load_named("demo").tasks()
    gate = column_gate(tasks, columns_tried(tasks, grader))
    assert gate.passed, gate.offenders
    assert gate.of is not None
    assert gate.of > 1500
    assert "(but Quote.quote_prefix of new records by QUOTE-1)" in gate.question


def test_of_a_table_without_records_only_a_new_one_can_be_wrong(grader: Grader) -> None:
    """As in the hard sets, whose orgs hold no quotes: nothing there needs QUOTE-1."""
    task = conversation(forbids=False)
    (result,) = columns_tried([task], grader)
    assert result.inhabited == {"Client", "Note"}
    assert result.made == {"Note"}
    assert ("Quote", SCHEMA["Quote"].key) in result.seen
    gate = column_gate([task], [result])
    assert not [o.reason for o in gate.offenders if o.reason.startswith(("Quote", "Contract"))]
    assert "QUOTE-1" not in gate.question


@pytest.fixture
def loosened(request: pytest.FixtureRequest) -> Iterator[str]:
    """A column of quotes that is declared free, by the rule given."""
    info = SCHEMA["Quote"]
    kept = info.compare["version"]
    info.compare["version"] = "free"
    info.free_by["version"] = request.param
    yield request.param
    info.compare["version"] = kept
    del info.free_by["version"]


@pytest.mark.parametrize("loosened", ["", "QUOTE-99"], indirect=True)
def test_a_column_that_is_not_compared_needs_a_rule(grader: Grader, loosened: str) -> None:
    tasks = load_named("demo").tasks()
    gate = column_gate(tasks, columns_tried(tasks, grader))
    found = [o.reason for o in gate.offenders]
    assert f"Quote.version is not compared, and no rule says why: {loosened!r}" in found


def test_a_text_that_no_fact_judges_is_a_fault(grader: Grader) -> None:
    task = next(t for t in load_named(NORTHGATE).tasks() if any(g.note_facts for g in t.gold.turns))
    assert not columns_tried([task], grader)[0].missed
    turns = tuple(replace(gold, note_facts=()) for gold in task.gold.turns)
    careless = replace(task, task_id="careless", gold=replace(task.gold, turns=turns))
    (result,) = columns_tried([careless], grader)
    assert any("no fact judges it" in text for text in result.missed)


SECRET = Fact("text", "+34 955 55 8061", "phone")
NOTE = {"entity_type": "Client", "entity_id": "c-1", "created_by": "Mei Tang"}


def conversation(forbids: bool) -> Task:
    """A note is asked for, of a client; in the first turn a number was not to be told."""
    wanted = GoldCall("add_note", {**NOTE, "content": "Asked for a call."})
    turns = (
        GoldTurn(forbidden=(SECRET,) if forbids else (), facts=(Fact("text", "no", "answer"),)),
        GoldTurn(calls=(wanted,), note_facts=(Fact("text", "call", "wish"),)),
    )
    client = {"name": "Ashby Foods", "email": "a@ashby.example", "status": "Active"}
    return Task(
        f"smuggling-{forbids}",
        "sales",
        "empty",
        (Turn(1, "What is Elise's number?"), Turn(2, "Note that they asked for a call.")),
        Gold(turns),
        seed_data={"Client": {"c-1": client}},
    )


@pytest.mark.parametrize(("forbids", "passes"), [(True, False), (False, True)])
def test_what_must_not_be_said_must_not_be_written_in_a_later_note_either(
    grader: Grader, forbids: bool, passes: bool
) -> None:
    task = conversation(forbids)
    domain, backend = grader.backends.place("sales")
    content = f"Asked for a call. Elise is at {SECRET.value}."
    calls = (GoldCall("add_note", {**NOTE, "content": content}),)
    told = replace(
        task, gold=replace(task.gold, turns=(GoldTurn(), replace(task.gold.turns[1], calls=calls)))
    )
    run = execute_gold(domain, told, backend)
    trace = EpisodeTrace(
        task.task_id,
        0,
        tuple(
            TurnTrace(
                turn.turn_id,
                (Message("user", turn.utterance), Message("assistant", reply)),
                made,
            )
            for turn, made, reply in zip(task.turns, run.calls, ("No.", "Noted."), strict=True)
        ),
        "finished",
    )
    verdict = grader.grade(task, trace)
    assert verdict.turns[1].success is passes, verdict.turns[1]
    if not passes:
        assert verdict.turns[1].unsaid == ("writes phone '+34 955 55 8061', which it must not",)


def test_a_prefix_is_no_place_to_hide_it_in(grader: Grader) -> None:
    task = next(
        t
        for t in load_named("demo").tasks()
        if any(c.tool == "create_quote" for g in t.gold.turns for c in g.calls)
    )
    number = next(
        n for n, g in enumerate(task.gold.turns) if any(c.tool == "create_quote" for c in g.calls)
    )
    secret = replace(task.gold.turns[number], forbidden=(SECRET,))
    turns = (*task.gold.turns[:number], secret, *task.gold.turns[number + 1 :])
    task = replace(task, task_id="hidden", gold=replace(task.gold, turns=turns))
    gold = grader.gold_runs(task)[0]
    calls = tuple(hidden(call) for call in gold.calls[number])
    (problem,) = smuggled(SCHEMA, task, gold, number, calls)
    assert problem.certain
    assert not list(smuggled(SCHEMA, task, gold, number, gold.calls[number]))


def hidden(call: Any) -> Any:
    """A call with the secret in the prefix of the quote that it makes."""
    made = tuple(
        replace(change, after={**change.after, "quote_prefix": SECRET.value})
        if change.table == "Quote" and change.before is None
        else change
        for change in call.changes
    )
    return replace(call, changes=made)
