"""Conversations as a person reads them: nothing of what is right is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crmbench.core.fact import Fact
from crmbench.core.task import Clarification, Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.formats.readable import read_aloud
from crmbench.runner.task_sets import load_named


def task(turn: Turn, gold: GoldTurn) -> Task:
    return Task("crm-0001", "sales", "harbour-01", (turn,), Gold((gold,)), tags=("multi_hop",))


def test_a_turn_shows_words_calls_facts_formula_and_rules() -> None:
    turn = Turn(1, "Hello,\nraise it.\n\nInes", Clarification("By 8 %", ("much",)))
    gold = GoldTurn(
        calls=(GoldCall("modify_opportunity", {"amount": 125280.0}),),
        facts=(Fact("money", 125280.0, "amount"),),
        note_facts=(Fact("text", "wet cellar", "reason"),),
        forbidden=(Fact("text", "pat@other.example", "another client's e-mail"),),
        rules=("MONEY-1", "DEAL-7"),
        derivations={"1.amount": "round(116000 * (100 + 8) / 100)"},
    )
    text = read_aloud(task(turn, gold))
    for line in (
        "> Hello,",
        "> raise it.",
        ">",
        "> Ines",
        "When asked about it: “By 8 %”",
        "- does `modify_opportunity(amount=125280.0)`",
        "- tells amount: 125,280.0",
        "- writes into the note reason: wet cellar",
        "- does not mention another client's e-mail: pat@other.example",
        "- computes amount as `round(116000 * (100 + 8) / 100)`",
        "- obeys MONEY-1, DEAL-7",
        "Hard because of: multi hop.",
    ):
        assert line in text.splitlines(), line


@pytest.mark.parametrize(
    ("gold", "line"),
    [
        (GoldTurn(expect_success=False, error_substring="too long"), "(too long)"),
        (GoldTurn(expect_success=False, rules=("DISC-2",)), "(a house rule)"),
    ],
)
def test_a_turn_that_must_fail_says_why(gold: GoldTurn, line: str) -> None:
    assert f"- says that it was not done {line}" in read_aloud(task(Turn(1, "Do it"), gold))


def test_lists_show_their_items() -> None:
    items = Fact("list", [{"kind": "text", "value": name} for name in ("Ada", "Bo")], "people")
    none = Fact("list", [], "people")
    assert "- tells people: Ada, Bo" in read_aloud(task(Turn(1, "Who?"), GoldTurn(facts=(items,))))
    shown = read_aloud(task(Turn(1, "Who?"), GoldTurn(facts=(none,))))
    assert "- tells people: that there are none" in shown


def test_every_bundled_conversation_is_read_with_all_its_words() -> None:
    for one in load_named("demo").tasks():
        text = read_aloud(one)
        assert text.startswith(f"### {one.task_id}: ")
        for turn in one.turns:
            assert all(f"> {line}".rstrip() in text for line in turn.utterance.splitlines())
        calls = sum(len(gold.calls) for gold in one.gold.turns)
        assert text.count("\n- does `") == calls


def test_a_world_without_records_is_said_to_be_one() -> None:
    empty = replace(task(Turn(1, "Hi"), GoldTurn()), world="empty")
    assert "an empty CRM with its own records" in read_aloud(empty)
    assert "Speaking: not said." in read_aloud(empty)
