"""Replies by writers who never saw the grader: how often its reading is certain and wrong.

Every set has the conversations that its replies belong to beside it. `play` and `second_play` are
what agents wrote that played blind, right replies alone, the second under conditions (calls that
time out, colleagues who write), the third in shifts of up to 160 messages; `sessions` is of level 5
of `service/hard`, where three replies count what they did wrongly; `own` was written by
the reader's author while mending, `held_out` by the same, before, and looked at only when the
reader was done.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crmbench.core.backends import backend_maker
from crmbench.domains.registry import load_domain
from crmbench.grading.replies import Judged, Reply, check_replies
from crmbench.grading.words import Outcome
from crmbench.runner.task_sets import load_named

FOLDER = Path(__file__).parents[1] / "data" / "replies"


@cache
def judged(name: str) -> tuple[Judged, ...]:
    """What the grader makes of a set of replies."""
    lines = lzma.decompress((FOLDER / f"{name}.jsonl.xz").read_bytes()).splitlines()
    replies = [Reply.from_data(json.loads(line), n) for n, line in enumerate(lines, start=1)]
    tasks = load_named(str(FOLDER / f"{name}_tasks.jsonl.xz")).tasks()
    found: list[Judged] = []
    for domain_name in sorted({task.domain for task in tasks}):
        domain = load_domain(domain_name)
        own = [task for task in tasks if task.domain == domain_name]
        ids = {task.task_id for task in own}
        backend = backend_maker("sqlite")(domain)
        found += check_replies(domain, own, [r for r in replies if r.task_id in ids], backend)
        backend.close()
    assert len(found) == len(replies)
    return tuple(found)


def share(part: list[Judged], outcome: Outcome) -> float:
    return sum(each.outcome is outcome for each in part) / len(part)


def named(part: list[Judged], outcome: Outcome) -> list[tuple[str, Any]]:
    return [
        (f"{each.reply.task_id} turn {each.reply.turn}: {each.reply.text}", each.problems)
        for each in part
        if each.outcome is outcome
    ]


class Limits(NamedTuple):
    """The highest shares that are allowed. Where they are above the targets (0.3 %, 4 %, 1 % and
    0.5 %), the reader misses them, and they hold what it reaches.
    """

    rejected: float
    undecided: float
    far_rejected: float
    accepted: float


SETS = {
    "sales": Limits(0.003, 0.04, 0.01, 0.005),
    "service": Limits(0.003, 0.04, 0.01, 0.005),
    "second": Limits(0.003, 0.01, 0.025, 0.01),
    "own": Limits(0.003, 0.02, 0.0, 0.035),
    "held_out": Limits(0.006, 0.04, 0.0, 0.02),
    "play": Limits(0.003, 0.01, 0.0, 0.0),
    "second_play": Limits(0.003, 0.01, 0.0, 0.0),
    "third_play": Limits(0.0, 0.02, 0.0, 0.0),
    "third": Limits(0.003, 0.04, 0.015, 0.005),
    "fourth": Limits(0.003, 0.04, 0.01, 0.005),
    "fifth": Limits(0.003, 0.01, 0.01, 0.005),
    # No reply of it was mended; checks were dropped that leave as many right ones open as wrong
    # ones, counted over five sets that were met unseen, this one among them.
    "sixth": Limits(0.0, 0.097, 0.06, 0.117),
}
FAR = ("sales", "service", "second", "third", "fourth", "fifth", "sixth")
"""The sets that have right replies in far-fetched words."""
WRONG = ("sales", "service", "second", "own", "held_out", "third", "fourth", "fifth", "sixth")


@pytest.mark.parametrize("name", SETS)
def test_right_replies_as_agents_write_them_are_accepted(name: str) -> None:
    usual = [each for each in judged(name) if each.reply.right and each.reply.style != "4"]
    assert len(usual) >= 96
    assert share(usual, Outcome.FAILS) <= SETS[name].rejected, named(usual, Outcome.FAILS)
    still_open = named(usual, Outcome.UNDECIDED)
    assert share(usual, Outcome.UNDECIDED) <= SETS[name].undecided, still_open


@pytest.mark.parametrize("name", FAR)
def test_right_replies_in_far_fetched_words_are_seldom_rejected(name: str) -> None:
    far = [each for each in judged(name) if each.reply.right and each.reply.style == "4"]
    assert len(far) >= 32
    assert share(far, Outcome.FAILS) <= SETS[name].far_rejected, named(far, Outcome.FAILS)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_replies_are_not_accepted(name: str) -> None:
    wrong = [each for each in judged(name) if not each.reply.right]
    assert len(wrong) >= 128
    assert share(wrong, Outcome.SUCCEEDS) <= SETS[name].accepted, named(wrong, Outcome.SUCCEEDS)


def test_replies_on_hundreds_of_records_are_read() -> None:
    found = list(judged("sessions"))
    right = [each for each in found if each.reply.right]
    assert len(right) == 11
    assert named(right, Outcome.FAILS) == []
    # One tells what a customer had been told, which no record and no write has.
    assert len(named(right, Outcome.UNDECIDED)) <= 1, named(right, Outcome.UNDECIDED)
    wrong = [each for each in found if not each.reply.right]
    assert len(wrong) == 3
    assert named(wrong, Outcome.SUCCEEDS) == []
