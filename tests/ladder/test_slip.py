"""A simulated agent fails a task exactly if it slips one of its items, in every hard mechanism."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from crmbench.agents.slip import SlipFactory, Slipping
from crmbench.core.task import GoldCall, Task
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.task_sets import load_named

RATE = 0.06


def of_family(file: str, family: str) -> list[Task]:
    """Tasks of a family: one that is flawless at this rate, and two that are not."""
    tasks = [task for task in load_named(file).tasks() if task.family.startswith(family)]
    flawless = [task for task in tasks if not slipped(task)]
    return [*flawless[:1], *(task for task in tasks if slipped(task))][:3]


def slipped(task: Task) -> list[str]:
    agent = Slipping(task, RATE)
    return [item.key for item in task.gold.items if agent._slips(item.key)]


def passed(grader: Grader, task: Task) -> bool:
    factory = SlipFactory(str(RATE))
    return asyncio.run(Evaluator(factory, grader).play(Job(task, 0))).verdict.success


@pytest.mark.parametrize(
    ("file", "family"),
    [
        ("service/L2", "duplicate_cases"),
        ("service/L2", "queue_routing"),
        ("service/L2", "credit_review"),
        ("sales/L2", "handbook_review"),
        ("sales/L2", "handbook_worklist"),
    ],
)
def test_a_task_is_failed_exactly_if_one_of_its_items_is_slipped(file: str, family: str) -> None:
    tasks = of_family(file, family)
    assert {bool(slipped(task)) for task in tasks} == {True, False}
    with closing(grader_on("sqlite")) as grader:
        for task in tasks:
            assert passed(grader, task) == (not slipped(task)), (task.task_id, slipped(task))


def test_a_case_that_is_merged_is_an_item_that_its_call_is_on() -> None:
    task = of_family("service/L2", "duplicate_cases")[-1]
    agent = Slipping(task, RATE)
    keys = {item.key for item in task.gold.items}
    for call in task.gold.turns[0].calls:
        if call.tool == "merge_cases":
            named = [call.arguments["master_id"], *call.arguments["duplicate_ids"]]
            assert [item.key for item in agent._of(call)] == [key for key in named if key in keys]
    assert agent._of(GoldCall("merge_cases", {"duplicate_ids": []})) == []
