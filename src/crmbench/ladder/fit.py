"""The point at which an agent passes half: a logistic curve in the logarithm of size or budget.

    P(pass | x) = 1 / (1 + (x / x50) ** s)

with s > 0 where more is harder (size) and s < 0 where more is easier (budget). For an agent that
slips each of n items with probability p, (1 - p) ** n, the half is at ln 2 / p and the slope there
is that of |s| = 2 ln 2 = 1.39, which is where the prior of |s| stands. x50 has a flat prior in its
logarithm.

Episodes are few and often all on one side, so the interval is that of the profile likelihood (with
the prior of the slope): all x50 whose best fit is at most 1.92 below the best of all, half of the
95 % point of chi-squared with one degree of freedom. It is open where the data bound only one side.
See Wichmann and Hill, "The psychometric function", Perception & Psychophysics 63 (2001), and, for
sampling, Kontsevich and Tyler, "Bayesian adaptive estimation", Vision Research 39 (1999).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Literal

DROP = 1.92
"""Half the 95 % point of chi-squared with one degree of freedom."""
SLOPE = 1.39
SLOPE_SPREAD = 0.5
"""Standard deviation of the logarithm of the slope, before any data."""
STEPS = 240
"""Values of x50 that are looked at; their logarithms are evenly spaced."""
SLOPES = tuple(SLOPE * 2 ** (step / 4) for step in range(-8, 9))
"""From a quarter of the usual slope to four times it."""

Harder = Literal["more", "less"]


@dataclass(frozen=True)
class Trial:
    """How many episodes at one size passed."""

    x: float
    passed: int
    played: int


@dataclass(frozen=True)
class Half:
    """Where an agent passes half."""

    value: float | None
    """None: nothing was played."""
    low: float | None
    """None: the data do not bound it from below."""
    high: float | None
    """None: the data do not bound it from above."""
    slope: float
    played: int

    def ratio(self) -> float | None:
        """The width of the interval as a ratio; None while a side is open."""
        return None if self.low is None or self.high is None else self.high / self.low

    def described(self) -> str:
        """In words, for people."""
        if self.value is None:
            return "not measured"
        if self.low is None and self.high is None:
            return "anywhere"
        if self.high is None:
            return f"above {self.low:.3g}"
        if self.low is None:
            return f"below {self.high:.3g}"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


def trials_of(outcomes: Iterable[tuple[float, bool]]) -> tuple[Trial, ...]:
    """Outcomes counted by size, the smallest size first."""
    counts: dict[float, list[int]] = {}
    for x, passed in outcomes:
        count = counts.setdefault(x, [0, 0])
        count[0] += passed
        count[1] += 1
    return tuple(Trial(x, *counts[x]) for x in sorted(counts))


@dataclass(frozen=True)
class Curve:
    """All that the data say of x50 and the slope: a grid of likelihoods.

    Args:
        trials: What was played.
        lowest, highest: The range of sizes that there are; x50 is looked for from a tenth of the
            lowest to ten times the highest.
        harder: Whether more of x makes it harder to pass, or less.
    """

    trials: tuple[Trial, ...]
    lowest: float
    highest: float
    harder: Harder = "more"

    @cached_property
    def places(self) -> tuple[float, ...]:
        """The values of x50 that are looked at."""
        low, high = log(self.lowest / 10), log(self.highest * 10)
        return tuple(exp(low + (high - low) * step / (STEPS - 1)) for step in range(STEPS))

    @cached_property
    def logs(self) -> tuple[tuple[float, ...], ...]:
        """For each x50 and slope the log-likelihood, with the slope's prior."""
        return tuple(
            tuple(self._log(place, slope) + _prior(slope) for slope in SLOPES)
            for place in self.places
        )

    @cached_property
    def weights(self) -> tuple[tuple[float, ...], ...]:
        """The posterior over x50 and slope; sums to 1."""
        best = max(map(max, self.logs))
        raw = [[exp(value - best) for value in row] for row in self.logs]
        total = sum(map(sum, raw))
        return tuple(tuple(value / total for value in row) for row in raw)

    def half(self) -> Half:
        """Where half is passed, with its interval."""
        played = sum(trial.played for trial in self.trials)
        if not played:
            return Half(None, None, None, SLOPE, 0)
        profile = [max(row) for row in self.logs]
        best = max(profile)
        # The middle of all places that fit best: with all passed or all failed there are many.
        top = [place for place, value in enumerate(profile) if value > best - 1e-9]
        place = top[len(top) // 2]
        near = [place for place, value in enumerate(profile) if value >= best - DROP]
        low = None if near[0] == 0 else self.places[near[0]]
        high = None if near[-1] == STEPS - 1 else self.places[near[-1]]
        slope = SLOPES[max(range(len(SLOPES)), key=lambda i: self.logs[place][i])]
        return Half(self.places[place], low, high, slope, played)

    def chance(self, x: float, place: float, slope: float) -> float:
        """Of passing at `x`, if half is passed at `place`."""
        steep = slope if self.harder == "more" else -slope
        return 1 / (1 + exp(max(-500.0, min(500.0, steep * log(x / place)))))

    def information(self, x: float) -> float:
        """Bits that one more episode at `x` is expected to tell of x50, whatever the slope."""
        expected = within = 0.0
        for place, row in zip(self.places, self.weights, strict=True):
            weight = sum(row)
            if weight < 1e-12:
                continue
            chances = (self.chance(x, place, slope) for slope in SLOPES)
            chance = sum(w * c for w, c in zip(row, chances, strict=True)) / weight
            expected += weight * chance
            within += weight * _entropy(chance)
        return _entropy(expected) - within

    def _log(self, place: float, slope: float) -> float:
        total = 0.0
        for trial in self.trials:
            chance = min(max(self.chance(trial.x, place, slope), 1e-12), 1 - 1e-12)
            total += trial.passed * log(chance) + (trial.played - trial.passed) * log(1 - chance)
        return total


def half_of(
    outcomes: Iterable[tuple[float, bool]],
    sizes: Sequence[float] = (),
    harder: Harder = "more",
) -> Half:
    """Where half is passed, from the outcomes of episodes.

    Args:
        outcomes: Size (or budget) of each episode, and whether it passed.
        sizes: All that there are, where not all were played.
    """
    trials = trials_of(outcomes)
    known = [*sizes, *(trial.x for trial in trials)]
    if not known:
        return Half(None, None, None, SLOPE, 0)
    return Curve(trials, min(known), max(known), harder).half()


def _prior(slope: float) -> float:
    return -0.5 * (log(slope / SLOPE) / SLOPE_SPREAD) ** 2


def _entropy(chance: float) -> float:
    if not 0 < chance < 1:
        return 0.0
    return -(chance * log(chance, 2) + (1 - chance) * log(1 - chance, 2))
