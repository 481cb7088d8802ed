"""Episodes that do not count, told apart by who failed in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from crmbench.core.trace import EpisodeTrace
from crmbench.grading.record import EpisodeRecord

Exclusion = Literal["agent", "user", "user_error", "judge"]


@dataclass(frozen=True, slots=True)
class NotCounted:
    """Episodes that do not count, by who failed."""

    agent: int = 0
    """The agent's model or server could not be used: out of reach, no credit, wrong key."""
    user: int = 0
    """The same of the model that plays the user."""
    user_error: int = 0
    """The model that plays the user did not keep to its part."""
    judge: int = 0
    """The judge gave no usable answer about an episode that it could have decided."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.agent + self.user + self.user_error + self.judge

    def described(self) -> str:
        """In words, as in "the agent's model or server failed in 3, the judge in 1"."""
        parts = {
            "the agent's model or server failed in {:,}": self.agent,
            "the user's model or server failed in {:,}": self.user,
            "the user's model did not keep to its part in {:,}": self.user_error,
            "the judge gave no usable answer in {:,}": self.judge,
        }
        return ", ".join(words.format(count) for words, count in parts.items() if count)


def count_exclusions(episodes: Iterable[EpisodeRecord]) -> NotCounted:
    """How many episodes do not count, by who failed."""
    return not_counted(Counter(excluded_for(episode) for episode in episodes))


def not_counted(found: Mapping[str | None, int]) -> NotCounted:
    """The episodes that do not count, by what `excluded_for` says of each."""
    names = ("agent", "user", "user_error", "judge")
    return NotCounted(*(found.get(name, 0) for name in names))


def excluded_for(episode: EpisodeRecord) -> Exclusion | None:
    """Who spoilt an episode; None if it counts."""
    trace, participants = episode.trace, episode.participants
    if episode.verdict.counted:
        return None
    if trace.outcome == "user_error":
        return "user_error"
    if trace.outcome == "finished" and participants is not None and participants.judge is not None:
        return "judge"
    if participants is not None and participants.user is not None and _user_was_waited_for(trace):
        return "user"
    return "agent"


def _user_was_waited_for(trace: EpisodeTrace) -> bool:
    """Whose move it was when a conversation broke off: the agent's after the user had spoken."""
    return not trace.turns or trace.turns[-1].messages[-1].role == "assistant"
