"""Shares and samples that add up, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def apportion(weights: Mapping[str, float], seats: int) -> dict[str, int]:
    """Seats by weight, largest remainders first."""
    total = sum(weights.values())
    exact = {name: seats * weight / total for name, weight in weights.items()}
    given = {name: int(share) for name, share in exact.items()}
    rest = sorted(exact, key=lambda name: (given[name] - exact[name], name))
    for name in rest[: seats - sum(given.values())]:
        given[name] += 1
    return given


def stratified(
    things: Sequence[T], size: int, stratum: Callable[[T], str], rng: random.Random
) -> list[T]:
    """A sample in which every stratum has its share, in the order of `things`."""
    strata: dict[str, list[int]] = {}
    for place, thing in enumerate(things):
        strata.setdefault(stratum(thing), []).append(place)
    counts = apportion({name: len(places) for name, places in sorted(strata.items())}, size)
    chosen = {
        place
        for name in sorted(strata)
        for place in rng.sample(strata[name], min(counts[name], len(strata[name])))
    }
    return [thing for place, thing in enumerate(things) if place in chosen]


def spread(things: Sequence[T], count: int) -> list[T]:
    """So many of the things, evenly spaced over their order."""
    step = len(things) / count
    return [things[int((i + 0.5) * step)] for i in range(count)]
