"""Right replies by writers who never saw the grader, where the audited set has their turn.

``python -m crmbench.validity.strangers FOLDER`` stores those of a folder of replies in the package.
A reply belongs to a turn by what was said and what is right there, not by the task's id: it counts
for any set that has the very turn, and for none in which the turn has changed.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Any

import orjson

from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.grader import Grader
from crmbench.grading.replies import Reply
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, outcome_of
from crmbench.validity.gate import GateResult, Offender, at_least

NOT_REJECTED = 0.99
DECIDED = 0.90
FAR_FETCHED = "4"
"""The style of replies as far from the usual words as a person could think of; they may well be
left undecided."""


@dataclass(frozen=True)
class StrangersResult:
    """What became of the strangers' replies to one task."""

    tried: int
    rejected: tuple[str, ...]
    usual: int
    """Those in usual styles."""
    undecided: tuple[str, ...]
    """Of the usual ones."""


def strangers_tried(tasks: Sequence[Task], grader: Grader) -> list[StrangersResult]:
    """Judge the strangers' replies to the turns of each task; nothing is played anew."""
    return [_result(task, grader) for task in tasks]


def stranger_gates(tasks: Sequence[Task], found: Sequence[StrangersResult]) -> list[GateResult]:
    """No right reply is rejected, and few are left undecided.

    Args:
        found: What `strangers_tried` found.
    """
    pairs = list(zip(tasks, found, strict=True))
    rejected = [Offender(task.task_id, text) for task, result in pairs for text in result.rejected]
    still_open = [
        Offender(task.task_id, text) for task, result in pairs for text in result.undecided
    ]
    tried = sum(result.tried for result in found)
    usual = sum(result.usual for result in found)
    return [
        at_least(
            "strangers' replies not rejected",
            "How many right replies by writers who never saw the grader are not rejected?",
            tried - len(rejected),
            tried,
            NOT_REJECTED,
            rejected,
        ),
        at_least(
            "strangers' replies decided",
            "How many of those in usual styles are decided?",
            usual - len(still_open),
            usual,
            DECIDED,
            still_open,
        ),
    ]


def _result(task: Task, grader: Grader) -> StrangersResult:
    domain = load_domain(task.domain)
    tried = usual = 0
    rejected, undecided = [], []
    for index in range(len(task.turns)):
        for reply in corpus().get(turn_digest(task, index), ()):
            run = grader.gold_runs(task)[0]
            words = TurnWords.of_gold(domain, task, run, index, reply.submitted)
            problems = list(judge_words(words, reply.text))
            told = f"turn {index + 1}: {reply.text!r} {problems[0].why if problems else ''}"
            outcome = outcome_of(problems)
            tried += 1
            usual += reply.style != FAR_FETCHED
            if outcome is Outcome.FAILS:
                rejected.append(told)
            elif outcome is Outcome.UNDECIDED and reply.style != FAR_FETCHED:
                undecided.append(told)
    return StrangersResult(tried, tuple(rejected), usual, tuple(undecided))


def turn_digest(task: Task, index: int) -> str:
    """What identifies a turn with all that was said before it and all that is right in it."""
    gold = task.gold.turns[index]
    data = [
        task.domain,
        task.persona,
        [turn.utterance for turn in task.turns[: index + 1]],
        [[call.tool, call.arguments] for call in gold.calls],
        gold.expect_success,
        [fact.to_json() for fact in (*gold.facts, *gold.forbidden)],
        None if gold.answer is None else [gold.answer.kind, gold.answer.values, gold.answer.facts],
    ]
    return blake2b(orjson.dumps(data, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


@cache
def corpus() -> Mapping[str, Sequence[Reply]]:
    """The stored replies by the digest of their turn."""
    found: dict[str, list[Reply]] = {}
    for line in lzma.decompress(_stored().read_bytes()).splitlines():
        data = orjson.loads(line)
        found.setdefault(data["turn_digest"], []).append(Reply.from_data(data, 0))
    return found


def _stored() -> Any:
    return resources.files("crmbench") / "data" / "replies.jsonl.xz"


def collected(folder: Path) -> Iterator[dict[str, Any]]:
    """The right replies of a folder, each with the digest of its turn.

    Args:
        folder: Holds files ``NAME.jsonl.xz`` of replies and beside each ``NAME_tasks.jsonl.xz``.
    """
    from crmbench.runner.task_sets import load_named

    for path in sorted(folder.glob("*_tasks.jsonl.xz")):
        tasks = {task.task_id: task for task in load_named(str(path)).tasks()}
        replies = path.with_name(path.name.replace("_tasks", ""))
        for line in lzma.decompress(replies.read_bytes()).splitlines():
            data = orjson.loads(line)
            if data["right"]:
                digest = turn_digest(tasks[data["task_id"]], data["turn"] - 1)
                kept = ("task_id", "turn", "reply", "right", "respond", "style")
                yield {"turn_digest": digest, **{k: data[k] for k in kept if k in data}}


def main(folder: Path) -> None:
    """Store the right replies of a folder in the package."""
    lines = b"\n".join(orjson.dumps(line) for line in collected(folder))
    path = Path(str(_stored()))
    path.write_bytes(lzma.compress(lines, preset=9))
    sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
