"""The replies that turns expect: real ones, that our own reading accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from crmbench.authoring.expected import UNCHANGED, criteria, expected_response
from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn, Task
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import grader_on
from crmbench.runner.task_sets import load_named
from crmbench.validity.expected import expected_gate, expected_tried


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    grader = grader_on("sqlite")
    yield grader
    grader.close()


def replies(tasks: list[Task]) -> list[str]:
    return [str((g.response or {}).get("text")) for t in tasks for g in t.gold.turns]


@pytest.mark.parametrize(("name", "step"), [("sales", 25), ("service", 50)])
def test_every_turn_expects_a_reply_that_is_accepted(grader: Grader, name: str, step: int) -> None:
    tasks = load_named(name).tasks()[::step]
    found = expected_tried(tasks, grader)
    gate = expected_gate(tasks, found)
    assert gate.of == sum(len(task.turns) for task in tasks)
    assert gate.passed, gate.offenders


def test_no_expected_reply_is_a_stand_in() -> None:
    told = replies(load_named("sales").tasks())
    assert not [text for text in told if "Confirms what was done" in text or "Tells the" in text]
    assert len(set(told)) > 0.6 * len(told)
    assert told.count(UNCHANGED) < 0.01 * len(told)


def test_a_reply_that_is_not_accepted_is_named(grader: Grader) -> None:
    task = load_named("sales").tasks()[0]
    turns = list(task.gold.turns)
    turns[0] = replace(turns[0], response={"text": "I could not do it."})
    spoilt = replace(task, task_id="spoilt", gold=replace(task.gold, turns=tuple(turns)))
    gate = expected_gate([spoilt], expected_tried([spoilt], grader))
    assert not gate.passed
    assert gate.offenders[0].reason.startswith("turn 1: 'I could not do it.'")


def test_criteria_say_what_counts() -> None:
    amount = Fact("money", 9950, "difference")
    secret = Fact("text", "+34 955", "phone")
    assert criteria(GoldTurn(facts=(amount,), forbidden=(secret,))) == (
        "The reply tells: difference 9,950. It does not tell phone."
    )
    refused = GoldTurn(expect_success=False, rules=("NOTE-2",))
    assert "not done, and why (NOTE-2)" in criteria(refused)
    reply = expected_response(refused, reasons={"NOTE-2": "health is private"})["text"]
    assert reply == "I can't do that: health is private (NOTE-2). Nothing was changed."
    assert expected_response(GoldTurn())["text"] == UNCHANGED
