from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.grading.metrics import (
    answer_set,
    cluster_bootstrap,
    cohen_kappa,
    exact_set_match,
    mean_over_tasks,
    normalise_answer,
    pass_at_k,
    pass_hat_k,
    summarise,
    summarise_by,
    token_f1,
    wilson_interval,
)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_k_equals_its_definition_over_all_subsets(
    trials: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(trials)))
    subsets = list(combinations(trials, k))
    every = Fraction(sum(all(subset) for subset in subsets), len(subsets))
    some = Fraction(sum(any(subset) for subset in subsets), len(subsets))
    assert pass_hat_k(sum(trials), len(trials), k) == pytest.approx(float(every))
    assert pass_at_k(sum(trials), len(trials), k) == pytest.approx(float(some))


def test_pass_k_at_one_is_the_rate() -> None:
    assert pass_hat_k(3, 8, 1) == pass_at_k(3, 8, 1) == 3 / 8


@pytest.mark.parametrize(
    ("successes", "trials", "k"), [(1, 2, 3), (1, 2, 0), (3, 2, 1), (-1, 2, 1)]
)
def test_pass_k_refuses_what_makes_no_sense(successes: int, trials: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        pass_hat_k(successes, trials, k)
    with pytest.raises(ValueError, match=r"\d"):
        pass_at_k(successes, trials, k)


def test_mean_over_tasks_leaves_out_tasks_with_too_few_trials() -> None:
    outcomes = {"a": [True, True], "b": [True, False], "c": [True]}
    assert mean_over_tasks(outcomes, 1) == pytest.approx((1 + 0.5 + 1) / 3)
    assert mean_over_tasks(outcomes, 2) == pytest.approx(0.5)
    assert mean_over_tasks(outcomes, 2, pass_at_k) == pytest.approx(1.0)
    assert mean_over_tasks(outcomes, 3) is None


def test_wilson_interval_agrees_with_published_figures() -> None:
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
    assert wilson_interval(81, 263)[1:] == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson_interval(15, 148)[1:] == pytest.approx((0.0624, 0.1605), abs=1e-4)
    assert wilson_interval(0, 20)[1:] == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert wilson_interval(1, 29)[1:] == pytest.approx((0.0061, 0.1718), abs=1e-4)


@given(st.integers(1, 500), st.data())
def test_wilson_interval_holds_the_share(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    value, low, high = wilson_interval(successes, trials)
    assert 0 <= low <= value <= high <= 1
    assert (low == 0) == (successes == 0)
    mirrored = wilson_interval(trials - successes, trials)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high))


def test_wilson_interval_needs_a_trial() -> None:
    with pytest.raises(ValueError, match="0 trials"):
        wilson_interval(0, 0)


def test_bootstrap_is_deterministic_and_holds_the_mean() -> None:
    values = [math.sin(i) ** 2 / 1.5 for i in range(60)]
    clusters = [i // 5 for i in range(60)]
    first = cluster_bootstrap(values, clusters, seed=3)
    assert first == cluster_bootstrap(values, clusters, seed=3)
    assert first != cluster_bootstrap(values, clusters, seed=4)
    assert first.low < first.value < first.high
    assert first.value == pytest.approx(1 / 3, abs=0.01)


def test_bootstrap_is_wider_when_clusters_go_together() -> None:
    values = [float(i < 30) for i in range(60)]
    alone = cluster_bootstrap(values, list(range(60)))
    together = cluster_bootstrap(values, [i // 10 for i in range(60)])
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_bootstrap_agrees_with_the_normal_interval() -> None:
    rng = np.random.default_rng(0)
    values = list(map(float, rng.random(400) < 0.4))
    interval = cluster_bootstrap(values, list(range(400)), resamples=4000)
    half = 1.96 * math.sqrt(interval.value * (1 - interval.value) / 400)
    assert (interval.high - interval.low) / 2 == pytest.approx(half, rel=0.08)


def test_bootstrap_weighs_clusters_by_their_size() -> None:
    assert cluster_bootstrap([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"]).value == 0.75


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([1.0], ["a", "b"])])
def test_bootstrap_needs_a_cluster_for_each_value(values: list[float], clusters: list[str]) -> None:
    with pytest.raises(ValueError, match="clusters"):
        cluster_bootstrap(values, clusters)


def test_summary_of_single_trials_without_families_is_wilson() -> None:
    summary = summarise({str(i): [i < 15] for i in range(148)})
    assert (summary.tasks, summary.trials, summary.method) == (148, 148, "wilson")
    assert summary.success == wilson_interval(15, 148)
    assert summary.pass_hat == {1: pytest.approx(15 / 148)}


def test_summary_over_families_is_bootstrapped() -> None:
    outcomes = {f"t{i}": [i % 2 == 0, i % 3 == 0] for i in range(30)}
    families = {f"t{i}": f"f{i % 6}" for i in range(30)}
    summary = summarise(outcomes, families)
    assert summary.method == "bootstrap"
    assert (summary.tasks, summary.trials) == (30, 60)
    assert summary.pass_hat[2] < summary.success.value < summary.pass_at[2]
    assert summary == summarise(outcomes, families)


def test_summary_of_a_clean_sweep_still_has_an_interval() -> None:
    summary = summarise({f"t{i}": [True] * 3 for i in range(20)}, {"t1": "f"})
    assert summary.success.high == 1.0
    assert 0.8 < summary.success.low < 1.0


def test_summary_leaves_out_tasks_that_were_not_played() -> None:
    assert summarise({"a": [True], "b": []}).tasks == 1
    with pytest.raises(ValueError, match="no task"):
        summarise({"a": []})


def test_summary_by_slice() -> None:
    outcomes = {"a": [True], "b": [False], "c": [True], "d": []}
    slices = {"a": ("undo", "batch"), "b": ("undo",), "d": ("batch",)}
    found = summarise_by(outcomes, slices)
    assert list(found) == ["batch", "undo"]
    assert found["undo"].success.value == 0.5
    assert found["batch"].tasks == 1


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Cat, sat.", "cat sat"),
        ("A man AND an ape", "man and ape"),
        ("“Zürich” – office", "zürich office"),
        ("", ""),
        ("the", ""),
    ],
)
def test_normalised_answers(text: str, normal: str) -> None:
    assert normalise_answer(text) == normal


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("the cat sat", "cat sat", 1.0),
        ("cat", "cat sat", 2 / 3),
        ("cat cat", "cat", 2 / 3),
        ("dog", "cat", 0.0),
        ("", "", 1.0),
        ("", "cat", 0.0),
    ],
)
def test_token_f1(answer: str, gold: str, score: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(score)


@given(st.text(max_size=40), st.text(max_size=40))
def test_token_f1_is_symmetric_and_bounded(first: str, second: str) -> None:
    assert token_f1(first, second) == token_f1(second, first)
    assert 0 <= token_f1(first, second) <= 1
    assert token_f1(first, first) == 1


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("A, B", ["b", "a"], True),
        ("A\nB", "B; A", True),
        ("'A'", "a", True),
        ("[A, B]", ["A", "B"], True),
        ("None", [], True),
        ("n/a", "None", True),
        ("", "None", True),
        ("A", ["A", "B"], False),
        ("A, B, C", ["A", "B"], False),
        ("AB", "A B", False),
    ],
)
def test_exact_set_match(answer: str, gold: str | list[str], same: bool) -> None:
    assert exact_set_match(answer, gold) is same


def test_answer_set_holds_no_empty_elements() -> None:
    assert answer_set("A,, B , ") == {"a", "b"}


def test_cohen_kappa_agrees_with_a_worked_example() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 0.7 observed, 0.5 by chance.
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa(first, first) == 1
    assert cohen_kappa([True, False], [False, True]) == -1
    assert math.isnan(cohen_kappa([True, True], [True, True]))
    with pytest.raises(ValueError, match="ratings"):
        cohen_kappa([True], [])
