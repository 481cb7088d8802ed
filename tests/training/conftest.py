"""What the tests of training share: right answers, played step by step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crmbench.agents.oracle import Oracle
from crmbench.core.task import Task
from crmbench.runner.task_sets import load_named
from crmbench.training.actions import Action, CallRequest
from crmbench.training.resources import SessionResources
from crmbench.training.session import StepResult, TrainingSession


@pytest.fixture(scope="module")
def shared() -> Iterator[SessionResources]:
    made = SessionResources()
    yield made
    made.close()


@pytest.fixture(scope="session")
def demo() -> list[Task]:
    return load_named("demo").tasks()


def right_actions(shared: SessionResources, task: Task) -> list[Action]:
    """The steps that the gold takes, one call a step."""
    oracle = Oracle(task)
    actions: list[Action] = []
    for calls, gold in zip(shared.grader.gold_runs(task)[0].calls, task.gold.turns, strict=True):
        actions += [CallRequest(call.tool, call.arguments) for call in calls]
        actions.append(oracle.answer(gold, []))
    return actions


def play(session: TrainingSession, task: Task, actions: list[Action]) -> list[StepResult]:
    """All steps of an episode."""
    session.reset(task)
    return [session.step(action) for action in actions]
