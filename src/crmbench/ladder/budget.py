"""Tasks at several budgets, to find b50: the budget of calls at which an agent passes half.

Each task of one level is there once for every budget, with the number of calls in it and told. A
budget is a multiple of the calls that the task allows by itself, and that is a multiple of what a
careful agent without gold needed on that very task; where a task allows any number, of its gold's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil

from crmbench.core.conditions.lay import budget_calls
from crmbench.core.task import Task

SHARES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
"""Multiples of what a task allows."""


def with_budgets(tasks: Iterable[Task], shares: Sequence[float] = SHARES) -> list[Task]:
    """Every task at every budget; with tags of its mechanism, its budget and no level of its own.

    What a task says of its calls in its words says the new number.
    """
    return [_with_budget(task, share) for task in tasks for share in shares]


def _with_budget(task: Task, share: float) -> Task:
    own = task.budget or task.call_limit
    calls = budget_calls(task, share) if own is None else max(1, ceil(share * own))
    level, mechanism = task.tag("level"), task.tag("mechanism") or task.family or task.domain
    kept = [tag for tag in task.tags if not tag.startswith(("level:", "mechanism:"))]
    name = f"{mechanism} {level}" if level else mechanism
    turns = task.turns
    if own is not None:
        # "You have 370 tool calls for this."
        old, new = f"{own} tool calls", f"{calls} tool calls"
        turns = tuple(replace(turn, utterance=turn.utterance.replace(old, new)) for turn in turns)
    return replace(
        task,
        task_id=f"{task.task_id}@{share:g}",
        turns=turns,
        tags=(f"level:x{share:g}", f"mechanism:{name}", f"budget:{share:g}", *kept),
        call_limit=calls if task.budget is None and own is not None else task.call_limit,
        budget=calls if task.budget is not None or own is None else None,
    )
