"""Gates on tasks of many decisions: what they add to, and replace of, the gates on conversations.

Such a task says its items. The domain that it plays in checks it: an independent reader of the
stored rows has to reach the gold (which replaces the tracing of single values), what is said to be
irrelevant has to be so, and a careful path has to fit well into the calls that are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.grader import Grader
from crmbench.validity.gate import GateResult, Offender, none_wrong

Found = Mapping[str, Sequence[str]]
QUESTIONS: Mapping[str, str] = {
    "two truths": "Where does a reader of the stored rows alone reach another gold?",
    "irrelevance": "Where does leaving out what is said to be irrelevant change the gold?",
    "necessity": "Which article that is said to decide an item could be left out?",
    "readings": "Which other reading of an item is ruled out by no words that an agent can read?",
    "prepared": "Which wrong record that somebody prepared is not what a missed article gives?",
    "budget": "Where does a careful path take most of the calls that are allowed?",
}
"""Check to what it asks."""


@runtime_checkable
class CheckedDomain(Protocol):
    """A domain that checks its own hard tasks."""

    def problems(self, task: Task) -> Found:
        """For each check (a key of `QUESTIONS`) what is wrong with a task."""


def of_many(task: Task) -> bool:
    """Whether it is a task of many decisions."""
    return bool(task.gold.items)


def hard_problems(tasks: Sequence[Task], grader: Grader | None = None) -> list[Found]:
    """What the tasks' domains find wrong with each; nothing where a domain checks nothing."""
    del grader
    found: list[Found] = []
    for task in tasks:
        domain = load_domain(task.domain)
        found.append(domain.problems(task) if isinstance(domain, CheckedDomain) else {})
    return found


def hard_gates(tasks: Sequence[Task], found: Sequence[Found]) -> list[GateResult]:
    """A gate for each check."""
    gates = []
    for check, question in QUESTIONS.items():
        asked = [
            (task, problems[check])
            for task, problems in zip(tasks, found, strict=True)
            if check in problems
        ]
        offenders = [Offender(task.task_id, text) for task, texts in asked for text in texts]
        gates.append(none_wrong(check, question, offenders, len(asked), applies=bool(asked)))
    items = [item for task in tasks for item in task.gold.items]
    twice = [
        Offender(task.task_id, f"{table} {key} belongs to two items")
        for task in tasks
        for table, key in _repeated(task)
    ]
    gates.append(none_wrong("items apart", "Which records belong to two items?", twice, len(items)))
    return gates


def _repeated(task: Task) -> list[tuple[str, str]]:
    records = [record for item in task.gold.items for record in item.records]
    return sorted({record for record in records if records.count(record) > 1})
