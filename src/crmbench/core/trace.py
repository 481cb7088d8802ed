"""What happened in an episode, as frozen records that JSON can carry there and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import msgspec
import orjson

from crmbench.core.journal import Change

Outcome = Literal["finished", "agent_error", "infrastructure", "timeout", "user_error"]


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One tool call and what it did."""

    tool: str
    arguments: dict[str, Any]
    ok: bool
    result: Any = None
    error: str | None = None
    error_kind: str | None = None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """Something said aloud."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on one turn, kept as data."""

    model: str
    passed: bool
    score: float
    rationale: str
    response: float | None = None
    """The part of the score that is the reply's, where a reply was expected and judged."""
    response_passed: bool | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a model or a person decided of a reading that the grader is not certain of."""

    reading: str
    """The open reading, in the grader's words."""
    right: bool
    """Whether the reply is right there."""
    by: str
    """The name of who decided."""
    text: str
    """The reply that was read."""


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """One turn: what was said and done until the agent gave it back."""

    turn_id: int
    messages: tuple[Message, ...]
    """User and agent in turn; more than one pair when the agent asked back."""
    calls: tuple[CallRecord, ...]
    error: str | None = None
    """What the agent raised, if it did."""
    judgement: Judgement | None = None
    decisions: tuple[Decision, ...] = ()
    """How readings that the grader is not certain of were settled."""
    usage: TokenUsage | None = None
    """What the agent's model took in this turn; None where it spent nothing."""

    @property
    def utterance(self) -> str:
        """The user's first words."""
        return self.messages[0].text

    @property
    def reply(self) -> str:
        """The agent's last words, "" if it said none."""
        last = self.messages[-1]
        return last.text if last.role == "assistant" else ""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the provider counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    model_calls: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""

    @property
    def total_tokens(self) -> int:
        """Prompt and completion."""
        return self.prompt_tokens + self.completion_tokens

    def since(self, earlier: TokenUsage) -> TokenUsage | None:
        """What was spent after `earlier`, of which this is the sum so far; None if nothing was."""
        if self is earlier or self == earlier:
            return None
        # The difference of two sums has digits that no price has.
        cost = None if self.cost is None else round(self.cost - (earlier.cost or 0.0), 9)
        return TokenUsage(
            self.prompt_tokens - earlier.prompt_tokens,
            self.completion_tokens - earlier.completion_tokens,
            self.cached_tokens - earlier.cached_tokens,
            self.reasoning_tokens - earlier.reasoning_tokens,
            self.model_calls - earlier.model_calls,
            cost,
        )

    def __add__(self, other: TokenUsage) -> TokenUsage:
        # Equal, not the same, where it comes from another process.
        if other is NO_USAGE or other == NO_USAGE:
            return self
        costs = [u.cost for u in (self, other) if u.cost is not None]
        return TokenUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.model_calls + other.model_calls,
            sum(costs) if costs else None,
        )


NO_USAGE = TokenUsage()
"""Of those who ask no model."""


@dataclass(frozen=True, slots=True)
class EpisodeTrace:
    """One run of one task."""

    task_id: str
    trial: int
    """Counted from 0."""
    turns: tuple[TurnTrace, ...]
    outcome: Outcome = "finished"
    error: str | None = None
    usage: TokenUsage = NO_USAGE

    def to_json(self) -> bytes:
        """The bytes of one line of a run's episodes."""
        return orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS)

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> EpisodeTrace:
        """Read what `to_json` wrote, once parsed.

        Raises:
            msgspec.ValidationError: It is no trace; the text names the place.
        """
        return msgspec.convert(data, EpisodeTrace)


def json_safe(value: Any) -> Any:
    """`value` if JSON can carry it, else the nearest thing that it can, for a record of it."""
    try:
        orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return _reduced(value, 0)
    return value


def _reduced(value: Any, depth: int) -> Any:
    # Arguments can be nested as deep as a model likes; a record of a refused call need not be.
    if depth > 20:
        return "..."
    if isinstance(value, Mapping):
        return {_text(k): _reduced(v, depth + 1) for k, v in list(value.items())[:1000]}
    if isinstance(value, list | tuple):
        return [_reduced(item, depth + 1) for item in value[:1000]]
    if value is None or isinstance(value, bool | float):
        return value
    # What orjson can write; a longer number is kept as text.
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    return _text(value)


def _text(value: object) -> str:
    return plain_text(value if isinstance(value, str) else repr(value)[:1000])


def plain_text(text: str) -> str:
    """The text with a question mark for each lone surrogate, which no file could hold."""
    return (
        text if type(text) is str and text.isascii() else text.encode("utf-8", "replace").decode()
    )


def usage_data(usage: TokenUsage) -> dict[str, Any]:
    """The usage under Arc's names."""
    # Every episode's line has one: `asdict`, which copies deeply, takes ten times as long.
    found: dict[str, Any] = {name: getattr(usage, name) for name in _USAGE}
    return {**found, "total_tokens": usage.total_tokens}


_USAGE = tuple(each.name for each in fields(TokenUsage))
