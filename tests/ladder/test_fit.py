"""n50 is found again where it is known."""

from __future__ import annotations

import random
from math import log

import pytest

from crmbench.ladder.fit import Curve, half_of, trials_of

SIZES = (3.0, 6.0, 12.0, 25.0, 50.0, 100.0, 200.0)


def slips(p: float, episodes: int, seed: int) -> list[tuple[float, bool]]:
    rng = random.Random(seed)
    return [(size, rng.random() < (1 - p) ** size) for size in SIZES for _ in range(episodes)]


@pytest.mark.parametrize("p", [0.01, 0.02, 0.05])
def test_the_half_of_a_known_slip_rate_is_found(p: float) -> None:
    half = half_of(slips(p, 60, seed=1))
    assert half.value is not None
    assert half.low is not None
    assert half.high is not None
    assert half.value == pytest.approx(log(2) / p, rel=0.25)
    assert half.high / half.low < 2


def test_the_interval_covers_as_often_as_it_says() -> None:
    p, hits, tries = 0.02, 0, 60
    for seed in range(tries):
        half = half_of(slips(p, 6, seed))
        hits += (half.low or 0.0) <= log(2) / p <= (half.high or 1e9)
    # 57 of 60 are expected; fewer than 52 would come about once in two hundred times.
    assert hits >= 52


def test_all_passed_bounds_it_from_below_only_and_all_failed_from_above() -> None:
    good = half_of([(size, True) for size in SIZES for _ in range(4)])
    bad = half_of([(size, False) for size in SIZES for _ in range(4)])
    assert good.high is None
    assert good.low is not None
    assert good.low > 100
    assert "above" in good.described()
    assert bad.low is None
    assert bad.high is not None
    assert bad.high < 10
    assert "below" in bad.described()


def test_nothing_played_says_nothing() -> None:
    assert half_of([]).described() == "not measured"
    assert Curve((), 3, 200).half().value is None


def test_of_a_budget_less_is_harder() -> None:
    rng = random.Random(3)
    outcomes = [
        (x, rng.random() < 1 / (1 + (1.5 / x) ** 3))
        for x in (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
        for _ in range(40)
    ]
    half = half_of(outcomes, harder="less")
    assert half.value == pytest.approx(1.5, rel=0.2)


def test_the_next_episode_tells_most_near_the_half() -> None:
    curve = Curve(trials_of(slips(0.02, 8, seed=5)), 3, 200)
    worth = {size: curve.information(size) for size in SIZES}
    assert max(worth, key=worth.__getitem__) in (25.0, 50.0)
    assert worth[3.0] < 0.6 * max(worth.values())
    assert worth[200.0] < 0.6 * max(worth.values())
    assert all(bits >= -1e-9 for bits in worth.values())


def test_the_same_outcomes_give_the_same_curve_in_any_order() -> None:
    outcomes = slips(0.02, 8, seed=5)
    assert half_of(outcomes) == half_of(reversed(outcomes))
