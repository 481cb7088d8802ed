"""The grader holds the gold and grades any trace, a partial one too, with no agent in sight."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest

from crmbench.agents.oracle import OracleFactory
from crmbench.core.backends import Backends
from crmbench.core.domain import Domain
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.core.trace import EpisodeTrace
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.grading.grader import Grader, TaskError
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.task_sets import load_named


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    made = grader_on("sqlite")
    yield made
    made.close()


@pytest.fixture(scope="module")
def task() -> Task:
    return next(t for t in load_named("demo").tasks() if len(t.turns) > 2)


@pytest.fixture(scope="module")
def trace(grader: Grader, task: Task) -> EpisodeTrace:
    return asyncio.run(Evaluator(OracleFactory(), grader).play(Job(task, 0))).trace


def test_a_partial_trace_gets_a_verdict_on_each_turn_it_has(
    grader: Grader, task: Task, trace: EpisodeTrace
) -> None:
    whole = grader.grade(task, trace)
    assert whole.success
    for done in range(len(trace.turns) + 1):
        partial = replace(trace, turns=trace.turns[:done])
        assert grader.grade_turns(task, partial) == whole.turns[:done]
        assert grader.grade(task, partial).success == (done == len(trace.turns))
    silent = replace(trace.turns[0], calls=(), messages=trace.turns[0].messages[:1])
    (verdict,) = grader.grade_turns(task, replace(trace, turns=(silent,)))
    assert not verdict.success


def test_gold_that_was_executed_elsewhere_needs_no_database(
    grader: Grader, task: Task, trace: EpisodeTrace
) -> None:
    def no_database(domain: Domain) -> Backend:
        raise AssertionError(f"a database was opened for {domain.name}")

    held = Grader(Backends(load_domain, no_database), [(task, grader.gold_runs(task))])
    assert held.grade(task, trace) == grader.grade(task, trace)
    assert held.passes(task, trace)
    with pytest.raises(AssertionError, match="for sales"):
        held.grade(replace(task, task_id="another"), trace)


def test_tasks_of_one_id_keep_their_own_gold(grader: Grader) -> None:
    """Two sets may share ids."""
    asked = [
        Task(
            "twin",
            "sales",
            "empty",
            (Turn(1, "x"),),
            Gold((GoldTurn((GoldCall("create_new_client", _client(name)),)),)),
        )
        for name in ("Ada Ltd", "Bob Ltd", "Cyd Ltd", "Dee Ltd", "Eve Ltd", "Ada Ltd")
    ]
    for task in (*asked, *asked):
        (run,) = grader.gold_runs(task)
        (change,) = run.effects[-1]
        assert change.after is not None
        assert change.after["name"] == task.gold.turns[0].calls[0].arguments["name"]
    assert grader.gold_runs(asked[-2]) is grader.gold_runs(asked[-2])
    again = replace(asked[-1], turns=(Turn(1, "in other words"),))
    assert grader.gold_runs(again) is grader.gold_runs(asked[-1])


def _client(name: str) -> dict[str, str]:
    return {"name": name, "email": "info@example.com", "status": "Active"}


def test_a_task_whose_gold_fails_or_cannot_be_set_up_is_named(grader: Grader, task: Task) -> None:
    call = GoldCall("client_search", {"colour": "blue"})
    broken = Task("b-1", "sales", "empty", (Turn(1, "x"),), Gold((GoldTurn((call,)),)))
    with pytest.raises(TaskError, match=r"task b-1: the gold fails: turn 1: client_search: .*colo"):
        grader.gold_runs(broken)
    assert grader.fault_of(task) is None
    fault = grader.fault_of(broken)
    assert fault is not None
    assert fault.conversation_id == "b-1"
    orphan = replace(broken, seed_data={"Opportunity": {"o-1": {"name": "Deal"}}})
    with pytest.raises(TaskError, match="task b-1 cannot be set up: seed_data"):
        grader.gold_runs(orphan)
    found = grader.fault_of(orphan)
    assert found is not None
    assert found.reason.startswith("cannot be set up: seed_data.Opportunity.o-1")


def test_a_task_error_survives_the_way_between_processes() -> None:
    error = TaskError("t-1", ": the gold fails: it does")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.fault) == (str(error), error.fault)
    assert error.fault.reason == "the gold fails: it does"
