"""A list in sessions: which renewals come when, and what a careful agent can keep between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from crmbench.core.task import Task

ROOM = 1.25
"""Characters that the notebook holds, as a multiple of the careful agent's longest notes."""


def notebook(kept: int) -> int | None:
    """Characters that the notebook holds where a careful agent keeps so many; full hundreds."""
    return ceil(kept * ROOM / 100) * 100 if kept else None


def sessions_of(task: Task, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[list[str]]:
    """The names of the renewals that each session of a task asks about."""
    names = {row["opportunity_id"]: row["name"] for row in tables["Opportunity"]}
    return [
        [names[item.key] for item in task.gold.items if item.turn == turn.turn_id]
        for turn in task.turns
    ]
