"""A task in sessions: what comes in which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def in_sessions(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """The items of each of some sessions, as evenly as they go, in their order."""
    ends = [len(items) * place // count for place in range(count + 1)]
    return [items[start:end] for start, end in pairwise(ends)]


def listed(names: Sequence[str]) -> str:
    """Names in a row: "Ash renewal, Birch renewal and Cedar renewal"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
