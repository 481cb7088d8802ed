"""One stream of chance for each concern, so that changing one leaves the others as they were."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Seeds:
    """The chance of one world."""

    seed: int

    def of(self, concern: str) -> np.random.Generator:
        """A generator for one concern; each call begins it anew."""
        return np.random.default_rng([self.seed, crc32(concern.encode())])


def pick(weights: Floats, uniform: Floats) -> Ints:
    """An index for each number in [0, 1), in proportion to the weights.

    The same numbers give nearly the same indices for nearly the same weights: chance is drawn
    first and independently of what it decides.
    """
    steps = np.cumsum(weights)
    found = np.searchsorted(steps, uniform * steps[-1], side="right")
    indices: Ints = np.minimum(found, len(weights) - 1).astype(np.int64)
    return indices


def spread(chance: np.random.Generator, sigma: float, count: int) -> Floats:
    """Positive factors around 1: lognormal with mean 1."""
    return np.exp(chance.normal(-sigma * sigma / 2, sigma, count))
