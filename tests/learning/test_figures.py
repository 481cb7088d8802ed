"""The figures: a known rate of learning is measured right, a placebo measures zero."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from crmbench.core.trace import TokenUsage
from crmbench.learning.figures import LearnerFigures, learning_figures, transfer_of
from crmbench.learning.record import StepRecord
from crmbench.learning.simulated import START, ability
from crmbench.report.learning.figures import LearningReport, render_learning
from crmbench.report.learning.page import write_learning


def step(place: int, success: bool, **others: object) -> StepRecord:
    values: dict[str, object] = {
        "phase": "online",
        "block": "all",
        "stage": 0,
        "group": "",
        "task_id": f"t{place}",
        "family": f"f{place % 30}",
        "undecided": False,
        "recalled": 0,
        "memory": 0,
        "calls": 0,
        "attempts": 1,
        "agent": TokenUsage(),
        "learner": {},
    }
    return StepRecord(step=place, success=success, **{**values, **others})  # type: ignore[arg-type]


def simulated(
    rate: float, chance: random.Random, seeds: int = 3, length: int = 60
) -> LearnerFigures:
    """A learner of a known rate beside the arm without a memory, each seed in its own order."""
    steps = {}
    for seed in range(seeds):
        order = list(range(length))
        chance.shuffle(order)
        for arm in ("none", "learner"):
            chances = [START if arm == "none" else ability(rate, n) for n in range(length)]
            steps[arm, seed] = [
                step(n, chance.random() < chances[n], task_id=f"t{task}", family=f"f{task % 30}")
                for n, task in enumerate(order)
            ]
    return learning_figures(steps)[1]


def true_gain(rate: float, length: int = 60) -> float:
    return sum(ability(rate, n) - START for n in range(length)) / length


@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_the_interval_of_a_gain_covers_the_truth_as_often_as_it_says(rate: float) -> None:
    chance = random.Random(7)
    covered, values = 0, []
    for _ in range(60):
        gain = simulated(rate, chance).gain
        values.append(gain.value)
        covered += gain.low <= true_gain(rate) <= gain.high
    # At a rate of zero this is the placebo: on average it gains nothing.
    assert abs(sum(values) / len(values) - true_gain(rate)) < 0.02
    # 95 % of 60 is 57; 51 is more than three standard errors below.
    assert 51 <= covered <= 60


def test_the_curve_follows_the_ability() -> None:
    chance = random.Random(1)
    figures = simulated(0.05, chance, seeds=40)
    assert len(figures.curve) == 12
    for point in figures.curve:
        expected = sum(ability(0.05, n - 1) for n in range(point.first, point.last + 1))
        assert abs(point.success.value - expected / (point.last - point.first + 1)) < 0.12
    assert figures.curve[-1].gain.low > 0


def test_transfer_is_what_its_formulas_say() -> None:
    matrix = [[0.1, 0.2, 0.3], [0.9, 0.4, 0.3], [0.7, 0.8, 0.5], [0.6, 0.7, 1.0]]
    acc, bwt, fwt, forgotten = transfer_of(matrix)
    assert acc == pytest.approx((0.6 + 0.7 + 1.0) / 3)
    assert bwt == pytest.approx(((0.6 - 0.9) + (0.7 - 0.8)) / 2)
    assert fwt == pytest.approx(((0.4 - 0.2) + (0.5 - 0.3)) / 2)
    assert forgotten == pytest.approx(((0.9 - 0.6) + (0.8 - 0.7)) / 2)


def probe(place: int, group: str, stage: int, success: bool) -> StepRecord:
    return step(place, success, phase="probe", group=group, stage=stage, block="b")


def test_a_blocked_stream_has_a_matrix_whose_first_row_is_the_stateless_arm() -> None:
    none = [probe(0, "one", 0, False), probe(1, "two", 0, True)]
    learner = [
        *(probe(0, "one", 1, True), probe(1, "two", 1, True)),
        *(probe(0, "one", 2, False), probe(1, "two", 2, True)),
    ]
    _, figures = learning_figures({("none", 0): none, ("learner", 0): learner})
    assert figures.transfer is not None
    assert figures.transfer.matrix == ((0.0, 1.0), (1.0, 1.0), (0.0, 1.0))
    assert figures.transfer.bwt.value == -1.0
    assert figures.transfer.forgetting == 1.0
    assert figures.held_out["one"].value == 0.0
    assert figures.held_out["two"].value == 0.0


def course(arm: str, outcomes: Sequence[bool], cost: float, extra: float) -> list[StepRecord]:
    learner = {"reflection": TokenUsage(10, 5, 0, 0, 1, extra)} if extra else {}
    return [
        step(n, outcome, agent=TokenUsage(100, 20, 0, 0, 1, cost), learner=learner)
        for n, outcome in enumerate(outcomes)
    ]


def test_a_learner_breaks_even_when_a_success_is_no_dearer_and_stays_so() -> None:
    none = course("none", [True, False, False, False, True, False], 1.0, 0.0)
    learner = course("learner", [True, False, True, True, True, True], 1.0, 0.5)
    _, figures = learning_figures({("none", 0): none, ("learner", 0): learner})
    found = figures.break_even
    assert found is not None
    assert (found.unit, found.stateless) == ("US dollars", 3.0)
    assert found.learner == pytest.approx(1.8)
    # After 3: 4.5 for 2, against 3.0 for 1. After 2: 3.0 for 1 against 2.0 for 1, dearer.
    assert found.after == 3
    assert figures.learner["reflection"].model_calls == 6
    assert figures.total.cost == pytest.approx(9.0)


def test_tokens_stand_for_money_where_a_price_is_not_known() -> None:
    none = [step(0, True, agent=TokenUsage(100, 20, 0, 0, 1))]
    learner = [step(0, True, agent=TokenUsage(200, 20, 0, 0, 1))]
    _, figures = learning_figures({("none", 0): none, ("learner", 0): learner})
    assert figures.break_even is not None
    assert (figures.break_even.unit, figures.break_even.after) == ("tokens", None)


def test_negative_transfer_counts_what_was_lost() -> None:
    none = course("none", [True, True, False, True], 1.0, 0.0)
    learner = course("learner", [True, False, True, False], 1.0, 0.0)
    _, figures = learning_figures({("none", 0): none, ("learner", 0): learner})
    assert figures.worse.value == pytest.approx(2 / 3)
    assert figures.gain.value == pytest.approx(-1 / 4)


def test_an_arm_of_which_nothing_was_played_is_left_out() -> None:
    (only,) = learning_figures({("none", 0): [step(0, True)], ("learner", 0): []})
    assert only.arm == "none"
    assert only.transfer is None
    assert not math.isnan(only.success.value)


def test_a_run_that_stopped_early_has_a_page(tmp_path: Path) -> None:
    arms = learning_figures({("none", 0): [], ("learner", 0): [step(0, True), step(1, False)]})
    assert [arm.arm for arm in arms] == ["learner"]
    assert math.isnan(arms[0].gain.value)
    plan = {"data": "d", "stream": "shuffled", "feedback": "binary", "seeds": 1, "model": None}
    report = LearningReport({**plan, "agent": "a", "memory": 9, "on_boards": True}, arms)
    write_learning(report, tmp_path / "page.html")
    assert "<td>learner</td>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "learner" in render_learning(report)
    assert report.to_data()["results"]["arms"][0]["gain"] == [None, None, None]
