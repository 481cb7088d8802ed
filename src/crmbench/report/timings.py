"""How long the episodes of a run took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
