"""The figures of a run, as frozen records that JSON can carry."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its 95 % interval, all between 0 and 1."""

    value: float
    low: float
    high: float
    method: str
    """``wilson`` or ``bootstrap``; ``none`` where nothing was played (0, from 0 to 1)."""


UNKNOWN = Estimate(0.0, 0.0, 1.0, "none")


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a run: a category, a tag, the third turns."""

    name: str
    conversations: int
    """Tasks in it; for a turn number the tasks that have such a turn."""
    episodes: int
    succeeded: int
    """Episodes (for a turn number: turns) that succeeded."""
    success: Estimate
    """Mean over tasks of the share of trials that succeeded."""
    pass_hat: tuple[float, ...]
    """pass^k for k = 1, 2, … up to the trials that each task has."""


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """How often a tool was called and what it refused."""

    tool: str
    calls: int
    errors: int
    kinds: dict[str, int]
    """Errors by kind."""


@dataclass(frozen=True, slots=True)
class ArcMetrics:
    """The Arc benchmark's metrics under its names; rates are over what counts."""

    strict_success: float
    """Share of conversations of which every turn succeeded."""
    tool_success: float
    """Share of conversations with at least one turn whose tool call was right."""
    response_success: float | None
    """Share with at least one turn whose reply was right; null where no reply is checked."""
    turn_tool_accuracy: float
    """Share of turns whose tool call was right."""
    turn_response_accuracy: float | None
    """Share of the turns whose reply is checked in which it was right."""
    exact_match_count: int
    judge_evaluated_count: int
    judge_approved_count: int
    verification: dict[str, int]
    """Turns by how they were decided."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money over all episodes, those that do not count included: they were spent."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    total_tokens: int
    model_calls: int
    cost: float | None
    """US dollars; null where no price is known."""
    tokens_per_conversation: float | None
    tokens_per_success: float | None
    cost_per_conversation: float | None
    cost_per_success: float | None


@dataclass(frozen=True, slots=True)
class PassedBy:
    """A conversation whose success may be worth nothing, and why."""

    conversation_id: str
    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall time; kept apart, as nothing else differs between two equal runs."""

    seconds: float
    """Sum over episodes, which may have been played at once."""
    per_conversation: float | None
    per_success: float | None
    median: float | None
    slowest: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. What `to_data` gives is the same for every run that did the same."""

    agent: str | None
    conversations: int
    """Tasks with at least one episode that counts."""
    trials: int
    """The most that a task was played."""
    episodes: int
    """Played conversations that count."""
    turns: int
    """Turns that those episodes have, whether they were reached or not."""
    turns_succeeded: int
    succeeded: int
    """Episodes that succeeded."""
    infrastructure_failures: int
    """Episodes that a model or server spoilt; they count nowhere else but in `usage`."""
    outcomes: dict[str, int]
    """All episodes by how they ended."""
    success: Estimate
    pass_hat: tuple[float, ...]
    """pass^k for k = 1, 2, …: the chance that k trials of a task all succeed."""
    pass_at: tuple[float, ...]
    """pass@k: the chance that at least one of k trials succeeds."""
    slices: dict[str, tuple[Slice, ...]]
    """By ``category``, ``complexity``, ``tag``, ``domain``, ``persona`` and ``turn``; a heading
    that no task has a value for is absent."""
    calls: int
    calls_per_conversation: float
    tool_errors: int
    tools: tuple[ToolFigures, ...]
    """By name."""
    failures: dict[str, int]
    """Episodes that failed, by what went wrong first."""
    arc: ArcMetrics
    usage: Usage
    passed: tuple[PassedBy, ...]
    """Successes that take no understanding, with the reason; of an agent that does no work, all."""
    timings: Timings

    def to_data(self) -> dict[str, Any]:
        """Everything but the timings."""
        data = asdict(self)
        del data["timings"]
        return data
