"""Every gate passes on valid tasks and fails on tasks with that one fault."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from crmbench.core.masking import mask
from crmbench.core.score.facts import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Path, Task, Turn
from crmbench.harness.dataset import load_named
from crmbench.validity import contents, episodes, language
from crmbench.validity.audit import evaluator_on, mutant_gate
from crmbench.validity.replies import results_of

SQLITE = partial(evaluator_on, "sqlite")


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_named("demo").tasks()


def with_turn(task: Task, index: int, **changes: Any) -> Task:
    """The task with a gold turn changed."""
    turns = list(task.gold.turns)
    turns[index] = replace(turns[index], **changes)
    return replace(task, gold=replace(task.gold, turns=tuple(turns)))


def saying(task: Task, text: str) -> Task:
    """The task with its first utterance changed."""
    return replace(task, turns=(replace(task.turns[0], utterance=text), *task.turns[1:]))


def test_the_oracle_passes_valid_tasks(tasks: list[Task]) -> None:
    gate, traces = episodes.oracle_gate(tasks, SQLITE, "sqlite")
    assert gate.passed
    assert gate.figure == 0
    assert len(traces) == len(tasks)


def test_the_oracle_fails_a_task_whose_answer_it_is_told_to_hide(tasks: list[Task]) -> None:
    task = tasks[0]
    amount = task.gold.turns[0].facts[1]
    contradictory = with_turn(task, 0, forbidden=(amount,))
    gate, _ = episodes.oracle_gate([contradictory], SQLITE, "sqlite")
    assert not gate.passed
    assert "must not" in gate.offenders[0].reason


def test_trivial_agents_pass_no_valid_task(tasks: list[Task]) -> None:
    for gate in episodes.trivial_gates(tasks, episodes.trivial_passes(tasks, SQLITE)):
        assert gate.passed, gate.offenders


def test_a_task_that_requires_nothing_is_passed_by_doing_nothing(tasks: list[Task]) -> None:
    empty = replace(tasks[0], gold=Gold((GoldTurn(), GoldTurn())))
    noop = episodes.trivial_gates([empty], episodes.trivial_passes([empty], SQLITE))[0]
    assert not noop.passed
    assert not contents.criteria_test_something([empty]).passed
    assert contents.criteria_test_something(tasks).passed


def test_other_paths_pass_and_a_wrong_one_is_named(tasks: list[Task]) -> None:
    assert episodes.path_gate(tasks, episodes.path_problems(tasks, SQLITE)).passed
    task = next(t for t in tasks if t.gold.paths)
    lazy = Path(tuple(() for _ in task.turns), "does nothing")
    wrong = replace(task, gold=replace(task.gold, paths=(lazy,)))
    gate = episodes.path_gate([wrong], episodes.path_problems([wrong], SQLITE))
    assert not gate.passed
    assert "does nothing" in gate.offenders[0].reason


def test_no_mutant_of_a_valid_task_survives(tasks: list[Task]) -> None:
    gate = mutant_gate(tasks, processes=1)
    assert gate.offenders == ()
    assert gate.of is not None
    assert gate.of > 60


def test_a_note_that_nobody_checks_lets_mutants_through(tasks: list[Task]) -> None:
    place = next(
        (t, i) for t in tasks for i, g in enumerate(t.gold.turns) if g.note_facts
    )  # fmt: skip
    careless = with_turn(*place, note_facts=())
    gate = mutant_gate([careless], processes=1)
    assert any("content" in offender.reason for offender in gate.offenders)


def test_right_replies_pass_and_wrong_ones_fail(tasks: list[Task]) -> None:
    for task, result in zip(tasks, results_of(tasks), strict=True):
        assert result.accepted == result.right, (task.task_id, result.refused)
        assert result.killed == result.wrong, (task.task_id, result.survivors)


def test_a_canary_in_the_users_words_is_a_leak(tasks: list[Task]) -> None:
    assert episodes.leak_gate(tasks, episodes.leaks_of(tasks, SQLITE)).passed
    canary = tasks[0].gold.canary
    assert canary
    leaking = saying(tasks[0], f"Hello {canary}")
    gate = episodes.leak_gate([leaking], episodes.leaks_of([leaking], SQLITE))
    assert [o.reason for o in gate.offenders] == ["the agent is shown the canary"]


def test_episodes_do_not_touch_each_other(tasks: list[Task]) -> None:
    assert episodes.isolation_gate(tasks, SQLITE).passed


@pytest.mark.parametrize("slot", ["{stage}", "{{client_name}}", "<CLIENT_NAME>", "[client_name]"])
def test_placeholders_are_found(tasks: list[Task], slot: str) -> None:
    assert language.placeholders(tasks).passed
    gate = language.placeholders([saying(tasks[0], f"Find deals in {slot}")])
    assert gate.figure == 1
    assert slot.strip("{}") in gate.offenders[0].reason


def test_masking_leaves_the_way_of_speaking() -> None:
    one = mask("Move the Alpine Optics deal to $125,000 by May 3, 2026 please")
    two = mask("Move the Verde Foods deal to $9,500 by June 12, 2025 please")
    assert one == two
    assert one != mask("Please raise the Verde Foods deal to $9,500 by June 12, 2025")


def test_echoes_are_counted(tasks: list[Task]) -> None:
    assert language.distinct_turns(tasks).passed
    echo = [saying(task, "Same words") for task in tasks]
    assert not language.distinct_turns(echo).passed
    assert language.commonest_phrasing(echo).offenders[0].reason == "12 times: same words"


def test_values_never_said_are_found() -> None:
    turn = GoldTurn(calls=(GoldCall("client_search", {"name": "Acme", "limit": 7}),))
    task = Task("t", "sales", "empty", (Turn(1, "Find acme"),), Gold((turn,), "tool_match"))
    assert language.never_said(task) == (["turn 1: client_search 7"], 2)


def test_a_constant_that_is_right_too_often_is_found(tasks: list[Task]) -> None:
    status = Fact("choice", "Draft", "status")
    gate = contents.answers_balanced([with_turn(tasks[0], 0, facts=(status,))] * 30)
    assert not gate.passed
    assert gate.figure == 1.0
    # With an amount beside it, the status alone is no longer the answer.
    both = with_turn(tasks[0], 0, facts=(status, Fact("money", 5.0, "amount")))
    assert contents.answers_balanced([both] * 30).passed
    assert not contents.answers_balanced([tasks[0]]).applies
