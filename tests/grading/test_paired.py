from __future__ import annotations

import math

import numpy as np
import pytest

from crmbench.grading.metrics import Interval
from crmbench.grading.paired import (
    clustered_standard_error,
    compare,
    detectable_difference,
    sign_test,
)


def outcomes(*rates: float, trials: int = 1) -> dict[str, list[bool]]:
    return {
        f"t{i}": [trial < round(rate * trials) for trial in range(trials)]
        for i, rate in enumerate(rates)
    }


def test_equal_runs_do_not_differ() -> None:
    run = outcomes(*[1, 0] * 20)
    result = compare(run, run)
    assert result.difference == Interval(0, 0, 0)
    assert (result.better, result.worse, result.p_value) == (0, 0, 1.0)
    assert not result.significant
    assert result.tasks == 40


def test_a_clear_difference_is_found() -> None:
    result = compare(outcomes(*[0] * 30, *[1] * 10), outcomes(*[1] * 25, *[0] * 5, *[1] * 10))
    assert result.difference.value == pytest.approx(25 / 40)
    assert result.first == pytest.approx(0.25)
    assert result.second == pytest.approx(0.875)
    assert (result.better, result.worse) == (25, 0)
    assert result.p_value == pytest.approx(2 / 2**25)
    assert result.significant
    assert result.difference.low > 0


def test_only_tasks_of_both_runs_are_compared() -> None:
    first = {"a": [True], "b": [True], "c": [False], "e": []}
    second = {"b": [False], "c": [False], "d": [True]}
    result = compare(first, second)
    assert (result.tasks, result.only_first, result.only_second) == (2, 1, 1)
    assert result.difference.value == -0.5


def test_runs_without_a_common_task_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="no task in common"):
        compare({"a": [True]}, {"b": [True]})


def test_trials_need_not_be_as_many() -> None:
    result = compare({"a": [True, False], "b": [True]}, {"a": [True], "b": [True, True, False]})
    assert result.difference.value == pytest.approx((0.5 - 1 / 3) / 2)
    assert (result.better, result.worse) == (1, 1)


def test_comparisons_are_deterministic_and_mirror() -> None:
    first, second = outcomes(*[0, 1, 1] * 10), outcomes(*[1, 0, 1, 1, 1] * 6)
    families = {f"t{i}": f"f{i // 3}" for i in range(30)}
    forth, back = compare(first, second, families), compare(second, first, families)
    assert forth == compare(first, second, families)
    assert back.difference.value == -forth.difference.value
    assert back.p_value == forth.p_value
    assert back.standard_error == pytest.approx(forth.standard_error)


def test_families_widen_the_interval() -> None:
    first, second = outcomes(*[0] * 40), outcomes(*[1] * 20, *[0] * 20)
    alone = compare(first, second)
    together = compare(first, second, {f"t{i}": f"f{i // 10}" for i in range(40)})
    assert together.standard_error > 2 * alone.standard_error
    assert together.detectable > 2 * alone.detectable
    assert together.difference.high - together.difference.low > (
        alone.difference.high - alone.difference.low
    )


@pytest.mark.parametrize(
    ("better", "worse", "p_value"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (8, 2, 0.109375), (10, 10, 1.0)],
)
def test_sign_test(better: int, worse: int, p_value: float) -> None:
    assert sign_test(better, worse) == pytest.approx(p_value)
    assert sign_test(worse, better) == sign_test(better, worse)


def test_sign_test_of_thousands_of_tasks() -> None:
    assert 0 < sign_test(2100, 1900) < 0.002
    with pytest.raises(ValueError, match="negative"):
        sign_test(-1, 2)


def test_standard_error_of_single_clusters_is_the_usual_one() -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.0, 0.25]
    error = clustered_standard_error(values, list("abcdef"))
    assert error == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)))
    assert math.isnan(clustered_standard_error([1.0, 0.0], ["a", "a"]))


def test_copies_of_a_task_add_no_information() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    once = clustered_standard_error(values, list("abcde"))
    thrice = clustered_standard_error(values * 3, list("abcde") * 3)
    assert thrice == pytest.approx(once)


def test_detectable_difference_is_found_with_the_power_it_says() -> None:
    assert detectable_difference(1.0) == pytest.approx(2.8016, abs=1e-4)
    error = 0.04
    size = detectable_difference(error)
    draws = np.random.default_rng(1).normal(size, error, 20000)
    assert float(np.mean(np.abs(draws) > 1.95996 * error)) == pytest.approx(0.8, abs=0.01)
