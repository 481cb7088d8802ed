"""A list in sessions: which renewals come when, and what a careful agent can keep between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any, TypeVar

from crmbench.core.task import Task

T = TypeVar("T")
ROOM = 1.25
"""Characters that the notebook holds, as a multiple of the careful agent's longest notes."""


def in_sessions(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """The items of each of some sessions, as evenly as they go, in their order."""
    ends = [len(items) * place // count for place in range(count + 1)]
    return [items[start:end] for start, end in pairwise(ends)]


def notebook(kept: int) -> int | None:
    """Characters that the notebook holds where a careful agent keeps so many; full hundreds."""
    return ceil(kept * ROOM / 100) * 100 if kept else None


def listed(names: Sequence[str]) -> str:
    """Names in a row: "Ash renewal, Birch renewal and Cedar renewal"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def sessions_of(task: Task, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[list[str]]:
    """The names of the renewals that each session of a task asks about."""
    names = {row["opportunity_id"]: row["name"] for row in tables["Opportunity"]}
    return [
        [names[item.key] for item in task.gold.items if item.turn == turn.turn_id]
        for turn in task.turns
    ]
