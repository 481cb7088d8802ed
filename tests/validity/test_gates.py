"""Every gate passes on valid tasks and fails on tasks with that one fault."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.conftest import NORTHGATE

from crmbench.agents.baselines.heuristic import HEURISTIC
from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AnyFactory
from crmbench.authoring.masking import mask
from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Path, Task, Turn
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.task_sets import load_named
from crmbench.validity import contents, episodes, language
from crmbench.validity.audit import audit
from crmbench.validity.gate import GateResult
from crmbench.validity.mutants import MOST, Mutant, drawn, mutant_gate, mutants_tried
from crmbench.validity.page import figure
from crmbench.validity.replies import replies_tried
from crmbench.validity.work import Question, Work, answers


def asked(work: Work[Any], tasks: Sequence[Task], processes: int = 1) -> list[Any]:
    """What some work finds out of tasks."""
    (found,) = answers(tasks, [Question(work)], processes)
    return found


def oracle(tasks: list[Task]) -> GateResult:
    return episodes.oracle_gate(tasks, asked(episodes.oracle_results, tasks), "sqlite")


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_named(NORTHGATE).tasks()


def with_turn(task: Task, index: int, **changes: Any) -> Task:
    """The task with a gold turn changed."""
    turns = list(task.gold.turns)
    turns[index] = replace(turns[index], **changes)
    return replace(task, gold=replace(task.gold, turns=tuple(turns)))


def saying(task: Task, text: str) -> Task:
    """The task with its first utterance changed."""
    return replace(task, turns=(replace(task.turns[0], utterance=text), *task.turns[1:]))


def test_the_oracle_passes_valid_tasks(tasks: list[Task]) -> None:
    gate = oracle(tasks)
    assert gate.passed
    assert gate.figure == 0
    assert gate.of == len(tasks)


def test_the_oracle_fails_a_task_whose_answer_it_is_told_to_hide(tasks: list[Task]) -> None:
    task = tasks[0]
    amount = task.gold.turns[0].facts[1]
    contradictory = with_turn(task, 0, forbidden=(amount,))
    gate = oracle([contradictory])
    assert not gate.passed
    assert "must not" in gate.offenders[0].reason


def test_a_task_that_cannot_be_set_up_is_named_and_the_others_are_asked(tasks: list[Task]) -> None:
    seed = {"Opportunity": {"o-1": {"name": "Deal"}}}
    orphan = replace(tasks[0], task_id="orphan", world="empty", seed_data=seed)
    report = audit([orphan, *tasks[:2]], "file", backends=("sqlite",), workers=1)
    set_up, oracle = report.gates[:2]
    assert [(o.task_id, set_up.of) for o in set_up.offenders] == [("orphan", 3)]
    assert "client_id" in set_up.offenders[0].reason
    assert (oracle.passed, oracle.figure, oracle.of) == (True, 0, 2)
    assert not report.passed
    assert figure(set_up) == "1 of 3 fail"
    assert figure(oracle) == "0 of 2 fail"


def test_trivial_agents_pass_no_valid_task(tasks: list[Task]) -> None:
    for gate in episodes.trivial_gates(tasks, asked(episodes.trivial_passes, tasks)):
        assert gate.passed, gate.offenders


def test_a_task_that_requires_nothing_is_passed_by_doing_nothing(tasks: list[Task]) -> None:
    empty = replace(tasks[0], gold=Gold((GoldTurn(), GoldTurn())))
    noop = episodes.trivial_gates([empty], asked(episodes.trivial_passes, [empty]))[0]
    assert not noop.passed
    assert not contents.criteria_test_something([empty]).passed
    assert contents.criteria_test_something(tasks).passed


def test_other_paths_pass_and_a_wrong_one_is_named(tasks: list[Task]) -> None:
    assert episodes.path_gate(tasks, asked(episodes.path_problems, tasks)).passed
    task = next(t for t in tasks if t.gold.paths)
    lazy = Path(tuple(() for _ in task.turns), "does nothing")
    wrong = replace(task, gold=replace(task.gold, paths=(lazy,)))
    gate = episodes.path_gate([wrong], asked(episodes.path_problems, [wrong]))
    assert not gate.passed
    assert "does nothing" in gate.offenders[0].reason


def test_no_mutant_of_a_valid_task_survives(tasks: list[Task]) -> None:
    gate = mutant_gate(tasks, asked(mutants_tried, tasks))
    assert gate.offenders == ()
    assert gate.of is not None
    assert gate.of > 60


def test_a_note_that_nobody_checks_lets_mutants_through(tasks: list[Task]) -> None:
    place = next(
        (t, i) for t in tasks for i, g in enumerate(t.gold.turns) if g.note_facts
    )  # fmt: skip
    careless = with_turn(*place, note_facts=())
    gate = mutant_gate([careless], asked(mutants_tried, [careless]))
    assert any("content" in offender.reason for offender in gate.offenders)


def test_right_replies_pass_and_wrong_ones_fail(tasks: list[Task]) -> None:
    for task, result in zip(tasks, replies_tried(tasks), strict=True):
        assert result.accepted == result.right, (task.task_id, result.refused)
        assert result.killed == result.wrong, (task.task_id, result.survivors)


def test_a_canary_in_the_users_words_is_a_leak(tasks: list[Task]) -> None:
    assert episodes.leak_gate(tasks, asked(episodes.leaks_of, tasks)).passed
    canary = tasks[0].gold.canary
    assert canary
    leaking = saying(tasks[0], f"Hello {canary}")
    gate = episodes.leak_gate([leaking], asked(episodes.leaks_of, [leaking]))
    assert [o.reason for o in gate.offenders] == ["the agent is shown the canary"]


def test_episodes_do_not_touch_each_other(tasks: list[Task]) -> None:
    alone = asked(episodes.oracle_results, tasks)
    crowd = asked(episodes.isolation_results, tasks)
    assert episodes.isolation_gate(tasks, alone, crowd).passed
    spoilt = [crowd[0]._replace(trace=b""), *crowd[1:-1], crowd[-1]._replace(world_kept=False)]
    gate = episodes.isolation_gate(tasks, alone, spoilt)
    assert [o.task_id for o in gate.offenders] == [tasks[0].task_id, ""]


def test_traces_of_two_databases_are_compared(tasks: list[Task]) -> None:
    one = asked(episodes.oracle_results, tasks)
    assert episodes.backends_agree(tasks, one, one).passed
    other = [*one[:-1], one[-1]._replace(trace=b"")]
    offenders = episodes.backends_agree(tasks, one, other).offenders
    assert [o.task_id for o in offenders] == [tasks[-1].task_id]


def test_what_passes_is_what_succeeds(tasks: list[Task]) -> None:
    """The short way to whether an episode succeeds says what the verdict says."""

    async def both(agent: AnyFactory) -> list[tuple[bool, bool]]:
        evaluator = Evaluator(agent, grader_on("sqlite"))
        try:
            jobs = [Job(task, 0) for task in tasks]
            return [
                (await evaluator.succeeds(job), (await evaluator.play(job)).verdict.success)
                for job in jobs
            ]
        finally:
            evaluator.grader.close()

    outcomes = [pair for agent in (OracleFactory(), HEURISTIC) for pair in asyncio.run(both(agent))]
    assert all(short == long for short, long in outcomes)
    assert {short for short, _ in outcomes} == {True, False}


def test_many_processes_find_what_one_finds(tasks: list[Task]) -> None:
    many = [replace(t, task_id=f"{t.task_id}-{n}") for n in range(6) for t in tasks]
    assert asked(mutants_tried, many, 2) == asked(mutants_tried, many, 1)


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
    # Nor is it where a record has to be changed too.
    status_set = GoldCall("modify_client", {"client_id": "c-1", "updates": {"status": "Active"}})
    with_write = with_turn(tasks[0], 0, facts=(status,), calls=(status_set,))
    assert not contents.answers_balanced([with_write] * 30).applies
    assert not contents.answers_balanced([tasks[0]]).applies


def test_of_a_path_with_hundreds_of_writes_some_mutants_are_drawn() -> None:
    every = [Mutant("long", "drop", str(n), (), 0) for n in range(4 * MOST)]
    some = drawn(every, "long")
    assert some == drawn(every, "long") != drawn(every, "other")
    assert [every.index(each) for each in some] == sorted({every.index(each) for each in some})
    assert len(some) == MOST
    assert drawn(every[:MOST], "long") == every[:MOST]
