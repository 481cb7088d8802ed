"""Chance, ids and amounts: the few draws that every record is made of.

Everything builds on `random.Random.random`, whose values are the same in every Python version, and
on tables rounded to a few digits, so that a world has the same bytes on every machine.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from statistics import NormalDist
from typing import Generic, TypeVar

T = TypeVar("T")

_IDS_AT_ONCE = 256
_BLANK_ID = b"00000000-0000-0000-0000-000000000000"
_DIGIT_COLUMNS = tuple(i for i, c in enumerate(_BLANK_ID) if c != ord("-"))
_VARIANT = bytes.maketrans(b"0123456789abcdef", b"89ab" * 4)
_QUANTILES = 512
FACTORS = tuple(
    round(2.0 ** (0.9 * NormalDist().inv_cdf((i + 0.5) / _QUANTILES)), 3) for i in range(_QUANTILES)
)
"""Equally likely values of a log-normal distribution: median 1, standard deviation of ln 0.62."""


class Weighted(Generic[T]):
    """Things with their share of the draws."""

    __slots__ = ("sums", "things", "total")

    def __init__(self, things: Iterable[T], weights: Iterable[float]) -> None:
        self.things = tuple(things)
        self.sums = tuple(accumulate(weights))
        self.total = self.sums[-1]


class SeededChoices:
    """A seeded source of choices."""

    __slots__ = ("random",)

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.random() < probability

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included; `low` where `high` is below it."""
        return low + int(self.random() * (high - low + 1)) if high > low else low

    def pick(self, things: Sequence[T]) -> T:
        """One of the things, each as likely."""
        return things[int(self.random() * len(things))]

    def pick_weighted(self, weighted: Weighted[T]) -> T:
        """One of the things, by weight."""
        return weighted.things[bisect_right(weighted.sums, self.random() * weighted.total)]

    def sample(self, things: Sequence[T], number: int) -> list[T]:
        """Different things in random order; all of them where `number` is more than there are."""
        pool = list(things)
        count = len(pool)
        for i in range(min(number, count)):
            j = i + int(self.random() * (count - i))
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:number]


def new_ids(seed: str, prefix: str = "") -> Iterator[str]:
    """Ids in the form of version 4 UUIDs, without end.

    Args:
        prefix: At most 8 hexadecimal digits that all of them begin with.
    """
    source = random.Random(seed)
    while True:
        # Column by column, which takes a fraction of the time of putting each id together.
        digits = source.randbytes(16 * _IDS_AT_ONCE).hex().encode()
        text = bytearray(_BLANK_ID * _IDS_AT_ONCE)
        for place, column in enumerate(_DIGIT_COLUMNS):
            text[column::36] = digits[place::32]
        text[14::36] = b"4" * _IDS_AT_ONCE
        text[19::36] = digits[16::32].translate(_VARIANT)
        for column, digit in enumerate(prefix.encode()):
            text[column::36] = bytes([digit]) * _IDS_AT_ONCE
        ids = text.decode()
        for i in range(0, len(ids), 36):
            yield ids[i : i + 36]


def round_figure(rng: SeededChoices, value: float) -> float:
    """An amount as people put it into a CRM: rounder the larger it is, now and then exact."""
    if rng.random() < 0.08:
        return float(int(value))
    step = 100 if value < 20_000 else 500 if value < 100_000 else 2_500
    if rng.random() < 0.4:
        step *= 2
    return float(max(1, int(value / step + 0.5)) * step)
