"""Gymnasium's own checker, and episodes through its wrappers. ``make test-rl`` runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crmbench.agents.oracle import Oracle
from crmbench.core.task import Task
from crmbench.runner.evaluate import grader_on
from crmbench.runner.task_sets import load_named
from crmbench.training.rewards import SHAPED
from crmbench.training.tasks import TaskPool

gymnasium = pytest.importorskip("gymnasium")


def environment(name: str = "sales", **options: Any) -> Any:
    return gymnasium.make(f"crmbench.integrations.gym:crmbench/{name}-v0", **options)


@pytest.fixture(scope="module")
def demo() -> TaskPool:
    return TaskPool(load_named("demo").tasks())


def actions_of(task: Task) -> list[str]:
    """The right steps as texts."""
    grader = grader_on("sqlite")
    oracle, actions = Oracle(task), []
    for calls, gold in zip(grader.gold_runs(task)[0].calls, task.gold.turns, strict=True):
        actions += [json.dumps({"name": c.tool, "arguments": c.arguments}) for c in calls]
        actions.append(oracle.answer(gold, []))
    grader.close()
    return actions


@pytest.mark.parametrize("name", ["sales", "service"])
def test_gymnasiums_checker_finds_nothing(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    env = environment(name)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_right_actions_are_paid_and_nothing_else_is(demo: TaskPool) -> None:
    env = environment(tasks=demo, rewards=SHAPED)
    for task in demo.tasks:
        observation, info = env.reset(options={"task": task.task_id})
        assert json.loads(observation)[1]["content"] == task.turns[0].utterance
        assert info["tools"][0]["type"] == "function"
        paid = []
        for action in actions_of(task):
            observation, reward, terminated, truncated, info = env.step(action)
            paid.append(reward)
        assert terminated
        assert not truncated
        assert sum(paid) == pytest.approx(2.0)
    env.close()


def test_the_same_seed_gives_the_same_episode(demo: TaskPool) -> None:
    one, two = (environment(tasks=demo) for _ in range(2))
    assert one.reset(seed=5)[0] == two.reset(seed=5)[0]
    assert [one.reset()[1]["task_id"] for _ in range(5)] == [
        two.reset()[1]["task_id"] for _ in range(5)
    ]
    texts = {one.reset(seed=number)[1]["task_id"] for number in range(20)}
    assert len(texts) > 5


def test_vectorised_by_gymnasium_past_the_end_of_episodes(demo: TaskPool) -> None:
    import crmbench.integrations.gym as registered

    assert registered.CrmEnv is not None
    many = gymnasium.make_vec("crmbench/sales-v0", num_envs=2, tasks=demo)
    many.reset(seed=1)
    ended = 0
    for _ in range(30):
        _, _, terminated, truncated, _ = many.step(("I do not know.", "I do not know."))
        ended += int(terminated.sum())
        assert not truncated.any()
    assert ended >= 4
    many.close()
