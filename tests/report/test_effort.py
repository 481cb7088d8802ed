"""What conversations took, category by category."""

from __future__ import annotations

from dataclasses import replace

import pytest

import crmbench
from crmbench.core.trace import TokenUsage
from crmbench.grading.record import EpisodeRecord
from crmbench.report.summary import summarise
from crmbench.report.terminal import render_terminal
from crmbench.report.timings import effort_by_category

TASKS = crmbench.load("demo")[:2]


@pytest.fixture(scope="module")
def played() -> list[EpisodeRecord]:
    return list(crmbench.run(TASKS, "oracle"))


def spent(record: EpisodeRecord, usage: TokenUsage) -> EpisodeRecord:
    return replace(record, trace=replace(record.trace, usage=usage))


def test_means_are_of_the_category_alone(played: list[EpisodeRecord]) -> None:
    first = spent(played[0], TokenUsage(900, 100, model_calls=4, cost=0.5))
    second = spent(played[0], TokenUsage(300, 100, model_calls=2, cost=0.25))
    found = effort_by_category(TASKS, [first, second])
    assert list(found) == [TASKS[0].category]
    effort = found[TASKS[0].category]
    assert (effort.episodes, effort.model_calls, effort.tokens) == (2, 3.0, 700.0)
    assert effort.cost == pytest.approx(0.375)
    assert effort.turns == len(TASKS[0].turns)
    assert effort.calls == played[0].verdict.calls


def test_a_cost_that_is_unknown_once_is_unknown(played: list[EpisodeRecord]) -> None:
    known = spent(played[0], TokenUsage(10, 10, model_calls=1, cost=0.5))
    unknown = spent(played[0], TokenUsage(10, 10, model_calls=1))
    assert effort_by_category(TASKS, [known, unknown])[TASKS[0].category].cost is None
    assert effort_by_category(TASKS, played)[TASKS[0].category].cost is None
    assert effort_by_category(TASKS, []) == {}


def test_the_terminal_shows_it_where_a_model_was_asked(played: list[EpisodeRecord]) -> None:
    asked = [spent(each, TokenUsage(900, 100, model_calls=4, cost=0.5)) for each in played]
    assert "model calls" not in render_terminal(summarise(TASKS, played))
    shown = render_terminal(summarise(TASKS, asked))
    assert "$0.5000" in shown
    assert "1,000" in shown
