"""What explains a wrong item: whoever leaves out one rule is told which."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from crmbench.agents.protocol import Session
from crmbench.core.task import GoldItem, Task
from crmbench.domains.service.hard import census
from crmbench.domains.service.hard.world import HardWorld
from crmbench.grading.items import judge_items
from crmbench.runner.evaluate import Evaluator, Job, grader_on


def _columns(item: GoldItem) -> Mapping[str, Any]:
    """What a case's review holds by the first reading that leaves out one rule."""
    [columns] = item.alternatives[0].outcome.values()
    return columns


class WithoutOneRule:
    """Reviews every case that a rule decides as if the first such rule were not there."""

    def __init__(self, task: Task) -> None:
        self._task = task

    async def turn(self, session: Session, utterance: str) -> str:
        items = {item.key: item for item in self._task.gold.items if item.alternatives}
        for call in self._task.gold.turns[0].calls:
            given = dict(call.arguments)
            if given.get("case_id") in items:
                columns = _columns(items[given["case_id"]])
                given["outcome"] = columns["ReviewOutcome__c"]
                given.pop("amount", None)
                if columns["ReviewAmount__c"] is not None:
                    given["amount"] = columns["ReviewAmount__c"]
            await session.call(call.tool, given)
        return "Done."


class _Factory:
    name = "without"

    def start_with_gold(self, task: Task) -> WithoutOneRule:
        return WithoutOneRule(task)

    async def close(self) -> None:
        return None


def test_a_review_that_leaves_out_one_rule_is_blamed_on_it() -> None:
    task = next(census.tasks(HardWorld(42), "L3", 42, "canary"))
    grader = grader_on("sqlite")
    record = asyncio.run(Evaluator(_Factory(), grader, max_calls=1000).play(Job(task, 0)))
    domain = grader.backends.domain(task.domain)
    verdicts = judge_items(domain, task, record.trace, grader.gold_runs(task)[0])
    grader.close()
    decided = {item.key: item for item in task.gold.items if item.alternatives}
    wrong = {verdict.key: verdict.blame for verdict in verdicts if not verdict.right}
    assert wrong == {key: item.alternatives[0].without for key, item in decided.items()}
    # Among them are reviews without an amount, which then stays as empty as it was.
    assert any(_columns(item)["ReviewAmount__c"] is None for item in decided.values())
