"""Two arms held to each other: paired by task, or, where they answer other questions, unpaired."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crmbench.grading import metrics, paired
from crmbench.grading.metrics import Interval

Outcomes = Mapping[str, Sequence[bool]]
"""Task to one outcome a trial."""


@dataclass(frozen=True)
class Consistency:
    """The difference of pass^k between two arms over the tasks that both played k times."""

    k: int
    first: float
    second: float
    difference: Interval
    """Second minus first, with a bootstrap interval over clusters of paired differences."""
    detectable: float
    """The smallest difference that this many tasks show at 5 % with 80 % power; NaN if unknown."""


@dataclass(frozen=True)
class Independent:
    """The difference between two arms that were asked different questions of the same kinds."""

    tasks_first: int
    tasks_second: int
    first: float
    second: float
    """Mean over tasks of the share of trials that succeeded."""
    difference: Interval
    """Second minus first."""
    detectable: float
    """The smallest difference that so many tasks show at 5 % with 80 % power."""

    @property
    def significant(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.difference.low > 0 or self.difference.high < 0


def consistency(
    first: Outcomes, second: Outcomes, clusters: Mapping[str, str]
) -> Consistency | None:
    """Compare pass^k for the greatest k that all tasks of both arms have; None if that is 1."""
    both = [task for task in first if first[task] and second.get(task)]
    k = min((min(len(first[task]), len(second[task])) for task in both), default=0)
    if k < 2:
        return None
    before = [metrics.pass_hat_k(sum(first[t]), len(first[t]), k) for t in both]
    after = [metrics.pass_hat_k(sum(second[t]), len(second[t]), k) for t in both]
    deltas = [new - old for old, new in zip(before, after, strict=True)]
    families = [clusters.get(task) or f"\0{task}" for task in both]
    draws = metrics.bootstrap_means(deltas, families, resamples=2000, seed=0)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Consistency(
        k,
        math.fsum(before) / len(both),
        math.fsum(after) / len(both),
        Interval(math.fsum(deltas) / len(both), float(low), float(high)),
        paired.detectable_difference(paired.clustered_standard_error(deltas, families)),
    )


def independent(first: Outcomes, second: Outcomes) -> Independent:
    """Compare two arms whose tasks are not the same.

    The interval is made of those of the two rates by the method of variance estimates recovery:
    Zou and Donner, "Construction of confidence limits about effect measures", Statistics in
    Medicine 27 (2008); with one trial a task that is Newcombe's hybrid score interval (1998).
    Families are not clusters here: both arms have as many tasks of each, so what makes a family
    easy or hard is the same on both sides.

    Raises:
        ValueError: An arm has no task.
    """
    one, two = metrics.summarise(first), metrics.summarise(second)
    p, q = one.success, two.success
    difference = q.value - p.value
    low = difference - math.hypot(q.value - q.low, p.high - p.value)
    high = difference + math.hypot(q.high - q.value, p.value - p.low)
    error = math.sqrt(_variance(first) + _variance(second))
    return Independent(
        one.tasks,
        two.tasks,
        p.value,
        q.value,
        Interval(difference, max(low, -1.0), min(high, 1.0)),
        paired.detectable_difference(error),
    )


def _variance(outcomes: Outcomes) -> float:
    """The squared standard error of a rate, a success and a failure added.

    Without them a rate of 0 or 1 would seem to be known for sure: Agresti and Caffo, "Simple and
    effective confidence intervals for proportions and differences of proportions", The American
    Statistician 54 (2000).
    """
    shares = [sum(trials) / len(trials) for trials in outcomes.values() if trials]
    return float(np.var([*shares, 0.0, 1.0])) / (len(shares) + 2)
