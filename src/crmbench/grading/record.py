"""What came of an episode: the one record that runs keep, reports read and agents may hear."""

from __future__ import annotations

from dataclasses import dataclass

from crmbench.core.record import ParticipantRecords
from crmbench.core.trace import EpisodeTrace, TokenUsage
from crmbench.grading.verdict import EpisodeVerdict


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One episode, played and graded."""

    trace: EpisodeTrace
    """All that was said and done."""
    verdict: EpisodeVerdict
    """What it is worth."""
    seconds: float = 0.0
    """Wall time of playing it."""
    participants: ParticipantRecords | None = None
    """What came of those who took part beside the agent; None if nobody did."""

    @property
    def task_id(self) -> str:
        """The task that was played."""
        return self.trace.task_id

    @property
    def trial(self) -> int:
        """Which time the task was played, counted from 0."""
        return self.trace.trial

    @property
    def key(self) -> tuple[str, int]:
        """Task and trial: what names an episode within its run."""
        return self.trace.task_id, self.trace.trial

    @property
    def usage(self) -> TokenUsage:
        """Tokens of all who took part."""
        usage = self.trace.usage
        return usage + self.participants.usage if self.participants else usage
