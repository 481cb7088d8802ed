"""Whether the reply that a turn expects is a real one: our own reading has to accept it."""

from __future__ import annotations

from collections.abc import Sequence

from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.grader import Grader
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.validity.gate import GateResult, Offender, none_wrong
from crmbench.validity.tellings import gold_submission


def expected_tried(tasks: Sequence[Task], grader: Grader) -> list[tuple[int, tuple[str, ...]]]:
    """For each task how many replies it expects, and which of them are not accepted."""
    return [_result(task, grader) for task in tasks]


def expected_gate(
    tasks: Sequence[Task], found: Sequence[tuple[int, tuple[str, ...]]]
) -> GateResult:
    """Every expected reply is accepted; sets of strangers need not have any.

    Args:
        found: What `expected_tried` found.
    """
    offenders = [
        Offender(task.task_id, text)
        for task, (_, texts) in zip(tasks, found, strict=True)
        for text in texts
    ]
    total = sum(count for count, _ in found)
    question = "Which expected replies are not accepted as the reply of a good agent?"
    return none_wrong("expected replies", question, offenders, total, applies=total > 0)


def _result(task: Task, grader: Grader) -> tuple[int, tuple[str, ...]]:
    domain, gold = load_domain(task.domain), grader.gold_runs(task)[0]
    count, refused = 0, []
    for index, turn in enumerate(task.gold.turns):
        reply = (turn.response or {}).get("text")
        if not isinstance(reply, str):
            continue
        count += 1
        words = TurnWords.of_gold(domain, task, gold, index, gold_submission(gold, index))
        problem = next(iter(judge_words(words, reply)), None)
        if problem is not None:
            refused.append(f"turn {index + 1}: {reply!r} {problem.why}")
    return count, tuple(refused)
