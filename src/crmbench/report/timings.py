"""How long the episodes of a run took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.outline import part_folders, stored_seconds
from crmbench.runner.run_dir import RunDir


def mean_seconds(run_dir: RunDir) -> float:
    """Seconds a conversation of a stored run; no episode is read."""
    folders = part_folders(run_dir.path) or [run_dir.path]
    total, episodes = 0.0, 0
    for folder in folders:
        found = stored_seconds(folder)
        total += sum(found.values())
        episodes += len(found)
    return round(total / episodes, 4) if episodes else 0.0


@dataclass(frozen=True)
class CategoryEffort:
    """Means over the episodes that count, of the agent alone."""

    episodes: int
    turns: float
    """Turns played."""
    calls: float
    """Tool calls."""
    model_calls: float
    """Calls of the model: what papers on agents call turns."""
    tokens: float
    cost: float | None
    """US dollars; None where a price is unknown, or no model was asked."""


def effort_by_category(
    tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]
) -> dict[str, CategoryEffort]:
    """Category to what its episodes took.

    Args:
        episodes: Those that count.
    """
    category = {task.task_id: task.category for task in tasks}
    grouped: defaultdict[str, EffortTotal] = defaultdict(EffortTotal)
    for episode in episodes:
        effort = grouped[category[episode.task_id]]
        effort.add(len(episode.trace.turns), episode.verdict.calls, episode.trace.usage)
    return {name: grouped[name].figures() for name in sorted(grouped)}


class EffortTotal:
    """What the episodes of a category took, added up."""

    def __init__(self) -> None:
        self._episodes = self._turns = self._calls = 0
        self._usage = TokenUsage()
        self._asked = False
        self._priced = True

    def add(self, turns: int, calls: int, usage: TokenUsage) -> None:
        """Take the next episode."""
        self._episodes += 1
        self._turns += turns
        self._calls += calls
        if usage.model_calls:
            self._usage = self._usage + usage
            self._asked = True
            # A sum passes over what is unknown, which a mean must not.
            self._priced = self._priced and usage.cost is not None

    def figures(self) -> CategoryEffort:
        """The means over what was taken."""
        count, usage = self._episodes, self._usage
        known = self._asked and self._priced
        return CategoryEffort(
            episodes=count,
            turns=round(self._turns / count, 2),
            calls=round(self._calls / count, 2),
            model_calls=round(usage.model_calls / count, 2),
            tokens=round(usage.total_tokens / count, 1),
            cost=round((usage.cost or 0.0) / count, 6) if known else None,
        )
