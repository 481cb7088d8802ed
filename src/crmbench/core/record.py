"""What came of the models beside the agent: the one that plays the user, the one that judges.

What they said, found and cost is kept with the episode and apart from the agent's own record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from crmbench.core.trace import EpisodeTrace, Judgement, Message, TokenUsage, TurnTrace

Why = Literal["call", "text", "response", "agreement"]
"""Why a judge was asked: the call ran and is not the expected one; the text is held to nothing;
the file expects a reply; only to compare judge and checks."""


@dataclass(frozen=True, slots=True)
class TurnJudgement:
    """What a judge was asked about one turn, and what it answered."""

    turn_id: int
    why: Why
    checks: bool | None
    """What the deterministic checks say of the turn; None where they cannot decide."""
    passed: bool | None
    """None: the judge failed."""
    score: float | None = None
    """0 to 1: the goal and the process, weighted."""
    goal: float | None = None
    process: float | None = None
    rationale: str = ""
    """The judge's words, or why there are none."""
    response: float | None = None
    """0 to 1: the reply against the one that the file expects; then `goal` is how far the calls
    were right, and `process` is none."""
    response_passed: bool | None = None


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """All that a judge said about one episode."""

    model: str
    turns: tuple[TurnJudgement, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)

    @property
    def failed(self) -> bool:
        """Whether a turn got no usable answer."""
        return any(turn.passed is None for turn in self.turns)

    @property
    def left_open(self) -> bool:
        """Whether a turn that only a judge decides in full got no usable answer."""
        return any(turn.passed is None and turn.why == "response" for turn in self.turns)

    def granting(self) -> JudgeRecord:
        """The same with every missing verdict taken to be a pass."""
        turns = (t if t.passed is not None else replace(t, passed=True) for t in self.turns)
        return replace(self, turns=tuple(turns))


@dataclass(frozen=True, slots=True)
class UserRecord:
    """The model that played the user in an episode."""

    model: str
    messages: int
    """That it sent to the agent."""
    corrections: int
    """Messages of its that were sent back to it."""
    usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(frozen=True, slots=True)
class ParticipantRecords:
    """What came of those who took part in an episode beside the agent; stored as ``aside``."""

    user: UserRecord | None = None
    judge: JudgeRecord | None = None

    @property
    def usage(self) -> TokenUsage:
        """Tokens of both."""
        usage = TokenUsage()
        for part in (self.user, self.judge):
            usage = usage + part.usage if part else usage
        return usage


def with_judgements(trace: EpisodeTrace, judging: JudgeRecord | None) -> EpisodeTrace:
    """The trace with the verdicts that count: those on turns that the checks leave open."""
    found = {
        turn.turn_id: turn
        for turn in (judging.turns if judging else ())
        if turn.passed is not None and turn.why != "agreement"
    }
    turns = []
    for turn in trace.turns:
        said = found.get(turn.turn_id)
        judgement = None
        if judging and said and said.passed is not None:
            judgement = Judgement(
                judging.model,
                said.passed,
                said.score or 0.0,
                said.rationale,
                said.response,
                said.response_passed,
            )
        turns.append(replace(turn, judgement=judgement))
    return replace(trace, turns=tuple(turns))


def with_joined_replies(trace: EpisodeTrace) -> EpisodeTrace:
    """The trace as it is graded: each turn's last reply is all its replies, one after another."""
    return replace(trace, turns=tuple(map(_join, trace.turns)))


def _join(turn: TurnTrace) -> TurnTrace:
    replies = [message.text for message in turn.messages if message.role == "assistant"]
    if len(replies) < 2:
        return turn
    return replace(turn, messages=(*turn.messages, Message("assistant", "\n\n".join(replies))))
