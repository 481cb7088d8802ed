"""The figures of a run: everything that its report, its tables and ``--json`` show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from crmbench.core.trace import TokenUsage
from crmbench.grading import metrics
from crmbench.grading.metrics import Interval
from crmbench.report.answers import AnswerFigures
from crmbench.report.exclusions import NotCounted
from crmbench.report.role_figures import JudgeFigures, UserFigures
from crmbench.report.timings import CategoryEffort


@dataclass(frozen=True)
class ToolErrors:
    """How often a tool refused, and why."""

    tool: str
    calls: int
    errors: int
    kinds: dict[str, int]


@dataclass(frozen=True)
class ArcMetrics:
    """Arc's figures under Arc's names."""

    strict_success: float | None
    """Share of conversations all of whose turns succeeded; None, like every share here, where
    nothing counts."""
    tool_success: float | None
    """Share with at least one turn whose tool call was right."""
    response_success: float | None
    """Share with at least one right reply; None where nothing says what is right."""
    turn_tool_accuracy: float | None
    turn_response_accuracy: float | None
    exact_match: float | None
    """Share of turns whose tool and arguments match exactly."""
    chain_success: float | None
    """Share of chained conversations all of whose segments succeeded; None: none is chained."""
    segment_success: float | None
    """Share of their segments, those that were never reached included."""


@dataclass(frozen=True)
class Passed:
    """A task that the agent passed, and why doing little can be enough."""

    conversation_id: str
    reason: str


_UNKNOWN = Interval(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Summary:
    """The figures of one run."""

    conversations: int
    trials: int
    """Episodes that count, all trials together."""
    turns: int
    succeeded: int
    """Episodes that succeeded."""
    success: Interval
    method: str
    pass_hat: dict[int, float]
    pass_at: dict[int, float]
    not_counted: NotCounted
    """Episodes that do not count, by who failed."""
    slices: dict[str, dict[str, metrics.Summary]]
    by_turn: dict[int, tuple[int, int]]
    """Turn number to how many such turns succeeded, of how many."""
    arc: ArcMetrics
    tool_errors: tuple[ToolErrors, ...]
    reasons: dict[str, int]
    """Why conversations failed: the kinds of first faults."""
    calls: float
    """Tool calls a conversation."""
    usage: TokenUsage
    """Of the agent alone, episodes that do not count included."""
    missing: int
    """Episodes that were never played, as the run was stopped; 0 if the trials are not known."""
    passed: tuple[Passed, ...]
    """What was passed although the ground truth asks for next to nothing."""
    undecided: int = 0
    """Episodes that only readings that are not certain keep from succeeding."""
    at_most: Interval = _UNKNOWN
    """The success with every undecided episode taken to succeed; `success` takes them to fail."""
    pass_hat_at_most: dict[int, float] = field(default_factory=dict)
    pass_at_at_most: dict[int, float] = field(default_factory=dict)
    undecided_why: dict[str, int] = field(default_factory=dict)
    """The kinds of readings that leave episodes undecided."""
    misreports: dict[str, int] = field(default_factory=dict)
    """Turns whose reply certainly tells the opposite of what was written, by kind."""
    answers: AnswerFigures | None = None
    """How right the answers are; None where no turn asks for one."""
    user: UserFigures | None = None
    """The model that played the users; None if they were scripted."""
    judge: JudgeFigures | None = None
    """None if nobody judged."""
    effort: dict[str, CategoryEffort] = field(default_factory=dict)
    """By category, what a conversation took."""

    @property
    def infrastructure_failures(self) -> int:
        """Episodes whose agent or simulated user had a model or server that could not be used."""
        return self.not_counted.agent + self.not_counted.user

    @property
    def total_usage(self) -> TokenUsage:
        """Of the agent, the user and the judge; the cost is None if that of a part is unknown."""
        parts = [self.usage, *(part.usage for part in (self.user, self.judge) if part)]
        whole = sum(parts, TokenUsage())
        unknown = any(part.model_calls and part.cost is None for part in parts)
        return replace(whole, cost=None) if unknown else whole

    def to_data(self) -> dict[str, Any]:
        """A JSON object."""
        data = asdict(self)
        data["success"] = self.success._asdict()
        data["at_most"] = self.at_most._asdict()
        data["infrastructure_failures"] = self.infrastructure_failures
        data["not_counted"]["total"] = self.not_counted.total
        data["total_usage"] = asdict(self.total_usage)
        data["slices"] = {
            name: {value: _slice_data(found) for value, found in groups.items()}
            for name, groups in self.slices.items()
        }
        return data


def _slice_data(found: metrics.Summary) -> dict[str, Any]:
    return {"tasks": found.tasks, "trials": found.trials, **found.success._asdict()}
