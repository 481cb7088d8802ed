"""How long the episodes of a run took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.grading.record import EpisodeRecord


@dataclass(frozen=True)
class Timings:
    """What a clock measured; differs from run to run."""

    seconds: float
    """Of all episodes, added up."""
    seconds_a_conversation: float
    seconds_a_success: float | None


def timings(episodes: Sequence[EpisodeRecord]) -> Timings:
    """How long the episodes took."""
    total = sum(episode.seconds for episode in episodes)
    wins = sum(episode.verdict.success for episode in episodes)
    mean = total / len(episodes) if episodes else 0.0
    return Timings(round(total, 3), round(mean, 4), round(total / wins, 4) if wins else None)


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
