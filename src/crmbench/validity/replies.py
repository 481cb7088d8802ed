"""Replies: right ones in other words must pass, wrong ones must fail.

The variants are written by a generator that shares no code with the matchers, so that the two check
each other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn, Task
from crmbench.grading.grader import Grader
from crmbench.grading.phrasing.variants import (
    STYLES,
    false_success,
    near_misses,
    realise,
    refusal,
    wrap,
)
from crmbench.grading.verdict import describe, reply_problems
from crmbench.validity.gate import GateResult, Offender, at_least

ACCEPTED = 0.995
KILLED = 0.995


@dataclass(frozen=True)
class ReplyResult:
    """What became of one task's replies."""

    right: int
    wrong: int
    refused: tuple[str, ...]
    """Right replies that were not accepted."""
    survivors: tuple[str, ...]
    """Wrong replies that were."""

    @property
    def accepted(self) -> int:
        return self.right - len(self.refused)

    @property
    def killed(self) -> int:
        return self.wrong - len(self.survivors)


def replies_tried(tasks: Sequence[Task], grader: Grader | None = None) -> list[ReplyResult]:
    """Try the replies of every task; nothing is played."""
    del grader
    return [_result(task) for task in tasks]


def reply_gates(tasks: Sequence[Task], results: Sequence[ReplyResult]) -> list[GateResult]:
    """The two gates on replies.

    Args:
        results: What `replies_tried` found.
    """
    wrong = "off by a digit, another's, negated, missing, claiming?"
    return gates_on("replies", wrong, tasks, results)


def gates_on(
    what: str, wrong: str, tasks: Sequence[Task], results: Sequence[ReplyResult]
) -> list[GateResult]:
    """The gates on right and on wrong texts of some kind.

    Args:
        wrong: What is wrong with the wrong ones, in words.
    """
    pairs = list(zip(tasks, results, strict=True))
    return [
        at_least(
            f"right {what} accepted",
            f"How many right {what} pass, written in other ways?",
            sum(r.accepted for r in results),
            sum(r.right for r in results),
            ACCEPTED,
            [Offender(task.task_id, text) for task, result in pairs for text in result.refused],
        ),
        at_least(
            f"wrong {what} killed",
            f"How many wrong {what} fail: {wrong}",
            sum(r.killed for r in results),
            sum(r.wrong for r in results),
            KILLED,
            [Offender(task.task_id, text) for task, result in pairs for text in result.survivors],
        ),
    ]


def _result(task: Task) -> ReplyResult:
    rng = random.Random(crc32(task.task_id.encode()))
    right = wrong = 0
    refused: list[str] = []
    survivors: list[str] = []
    for number, gold in enumerate(task.gold.turns, start=1):
        # Notes are judged with the state; here the reply alone is on trial.
        bare = replace(gold, note_facts=())
        for reply in right_replies(bare, rng):
            right += 1
            problems = reply_problems(bare, reply, ())
            if problems:
                refused.append(f"turn {number}: {reply!r} {problems[0]}")
        for what, reply in wrong_replies(bare, rng):
            wrong += 1
            if not reply_problems(bare, reply, ()):
                survivors.append(f"turn {number}: {what}: {reply!r}")
    return ReplyResult(right, wrong, tuple(refused), tuple(survivors))


def right_replies(gold: GoldTurn, rng: random.Random) -> list[str]:
    """A right reply in every style."""
    if not gold.facts and gold.expect_success:
        return []
    return [_reply(gold, gold.facts, style, rng) for style in STYLES]


def wrong_replies(gold: GoldTurn, rng: random.Random) -> list[tuple[str, str]]:
    """Replies with one thing wrong, each with what that is."""
    replies = []
    for index, fact in enumerate(gold.facts):
        others = (*gold.facts[:index], *gold.facts[index + 1 :])
        style = rng.choice(STYLES)
        replies.append((f"{describe(fact)} missing", _reply(gold, others, style, rng)))
        for text in near_misses(fact, rng):
            if not any(other.value == fact.value for other in others):
                told = [realise(other, rng, style) for other in others]
                replies.append((f"{describe(fact)} wrong", wrap([*told, text], style, rng)))
    if not gold.expect_success:
        claim = false_success(rng)
        told = [realise(fact, rng, "terse") for fact in gold.facts]
        replies.append(("claims success after a refusal", wrap([claim, *told], "terse", rng)))
    return replies


def _reply(gold: GoldTurn, facts: Sequence[Fact], style: str, rng: random.Random) -> str:
    told = [realise(fact, rng, style) for fact in facts]
    if not gold.expect_success:
        reason = rng.choice(gold.refusal_reasons) if gold.refusal_reasons else None
        told.insert(0, refusal(rng, reason))
    return wrap(told, style, rng)
