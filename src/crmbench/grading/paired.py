"""Two runs over the same tasks: is one better, and could this many tasks have shown it?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from crmbench.grading.metrics import Interval, bootstrap_means, cluster_totals


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from the first run to the second, over the tasks that both played."""

    tasks: int
    """How many tasks both runs played; the rest is left out."""
    only_first: int
    only_second: int
    """Tasks that only one of the runs played."""
    first: float
    second: float
    """Mean over the paired tasks of the share of trials that succeeded."""
    difference: Interval
    """Second minus first, with a bootstrap interval over clusters of paired differences."""
    better: int
    worse: int
    """Tasks that succeed more (less) often in the second run; the rest are ties."""
    p_value: float
    """Of the exact two-sided sign test over the tasks that are not ties."""
    standard_error: float
    """Of the difference, robust to clusters."""
    detectable: float
    """The smallest difference that this many tasks show with the power asked for."""

    @property
    def significant(self) -> bool:
        """Whether the interval of the difference leaves zero out."""
        return self.difference.low > 0 or self.difference.high < 0


def compare(
    first: Mapping[str, Sequence[bool]],
    second: Mapping[str, Sequence[bool]],
    clusters: Mapping[str, str] | None = None,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare two runs task by task.

    Args:
        first: Task to one outcome a trial; the run that the other is held to.
        second: Likewise; trials need not be as many.
        clusters: Task to family; a task without one is its own cluster.
        confidence: Of the interval; its complement is the level of the detectable difference.
        power: The chance with which the detectable difference would be seen.

    Raises:
        ValueError: No task was played in both runs.
    """
    paired = [task for task in first if first[task] and second.get(task)]
    if not paired:
        raise ValueError("the runs have no task in common")
    before = [sum(first[task]) / len(first[task]) for task in paired]
    after = [sum(second[task]) / len(second[task]) for task in paired]
    deltas = [new - old for old, new in zip(before, after, strict=True)]
    families = [(clusters or {}).get(task) or f"\0{task}" for task in paired]
    error = clustered_standard_error(deltas, families)
    better, worse = sum(delta > 0 for delta in deltas), sum(delta < 0 for delta in deltas)
    return Comparison(
        tasks=len(paired),
        only_first=_played(first) - len(paired),
        only_second=_played(second) - len(paired),
        first=math.fsum(before) / len(paired),
        second=math.fsum(after) / len(paired),
        difference=_interval(deltas, families, confidence, resamples, seed),
        better=better,
        worse=worse,
        p_value=sign_test(better, worse),
        standard_error=error,
        detectable=detectable_difference(error, level=1 - confidence, power=power),
    )


def _played(run: Mapping[str, Sequence[bool]]) -> int:
    return sum(bool(trials) for trials in run.values())


def _interval(
    deltas: Sequence[float],
    families: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> Interval:
    draws = bootstrap_means(deltas, families, resamples=resamples, seed=seed)
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(math.fsum(deltas) / len(deltas), float(low), float(high))


def sign_test(better: int, worse: int) -> float:
    """The exact two-sided p-value that ups and downs are equally likely, ties left out.

    With one trial a task this is McNemar's test in its exact form: McNemar, "Note on the
    Sampling Error of the Difference Between Correlated Proportions", Psychometrika 12 (1947).

    Raises:
        ValueError: A negative count.
    """
    if better < 0 or worse < 0:
        raise ValueError("counts cannot be negative")
    total, fewer = better + worse, min(better, worse)
    tail = sum(math.comb(total, count) for count in range(fewer + 1))
    # Integers throughout: 2.0**-total would underflow for the numbers of tasks that we run.
    return min(1.0, 2 * tail / 2**total) if total else 1.0


def clustered_standard_error(values: Sequence[float], clusters: Sequence[str]) -> float:
    """The standard error of a mean whose values are correlated within clusters.

    ``sqrt(G / (G - 1) * sum_g (sum_{i in g} (x_i - mean))^2) / n`` over G clusters: Miller,
    "Adding Error Bars to Evals" (2024), section 2.2, with the usual correction for few clusters.
    With a cluster for each value it is the ordinary standard error.

    Returns:
        NaN with fewer than two clusters, as nothing can then be said.
    """
    sums, sizes = cluster_totals(values, clusters)
    if len(sums) < 2:
        return math.nan
    residuals = sums - sizes * (sums.sum() / sizes.sum())
    factor = len(sums) / (len(sums) - 1)
    return float(math.sqrt(factor * float(residuals @ residuals)) / float(sizes.sum()))


def detectable_difference(
    standard_error: float, *, level: float = 0.05, power: float = 0.8
) -> float:
    """The smallest true difference that a two-sided test at `level` finds with chance `power`.

    ``(z_{1 - level / 2} + z_power) * standard_error``: the normal approximation, as in Bloom,
    "Minimum Detectable Effects", Evaluation Review 19 (1995); 2.80 standard errors at 5 % and
    80 %.
    """
    normal = NormalDist()
    return (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * standard_error
