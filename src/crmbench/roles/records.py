"""Who takes part in an episode beside the agent: a model as the user, a model as the judge.

What they said, found and cost is kept with the episode and apart from the agent's own record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Literal, NamedTuple

from crmbench.core.trace import EpisodeTrace, Judgement, TokenUsage

if TYPE_CHECKING:
    from crmbench.models import Message, Model, Reply
    from crmbench.models.prices import Prices

MAX_MESSAGES = 6
"""Messages that a model as the user may send for one turn of the task."""

Why = Literal["call", "text", "agreement"]
"""Why a judge was asked: the call ran and is not the expected one; the text is held to nothing;
only to compare judge and checks."""


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


@dataclass(frozen=True, slots=True)
class Judging:
    """All that a judge said about one episode."""

    model: str
    turns: tuple[TurnJudgement, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)

    @property
    def failed(self) -> bool:
        """Whether a turn got no usable answer."""
        return any(turn.passed is None for turn in self.turns)

    def granting(self) -> Judging:
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
class Aside:
    """Who took part in an episode beside the agent."""

    user: UserRecord | None = None
    judge: Judging | None = None

    @property
    def usage(self) -> TokenUsage:
        """Tokens of both."""
        usage = TokenUsage()
        for part in (self.user, self.judge):
            usage = usage + part.usage if part else usage
        return usage


def with_judgements(trace: EpisodeTrace, judging: Judging | None) -> EpisodeTrace:
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
            judgement = Judgement(judging.model, said.passed, said.score or 0.0, said.rationale)
        turns.append(replace(turn, judgement=judgement))
    return replace(trace, turns=tuple(turns))


class Answer(NamedTuple):
    """A reply and what it took."""

    reply: Reply
    usage: TokenUsage


@dataclass(frozen=True)
class Helper:
    """A model that plays a part in a run without being what is evaluated."""

    model: Model
    prices: Prices | None = None
    max_tokens: int | None = 2048
    temperature: float | None = None

    async def ask(self, messages: Sequence[Message], tag: str) -> Answer:
        """The model's next message.

        Args:
            tag: Whose call it is, in the log of raw requests.

        Raises:
            ModelError: The model failed, retries included.
        """
        reply = await self.model.complete(
            messages, max_tokens=self.max_tokens, temperature=self.temperature, tag=tag
        )
        usage = reply.usage
        counted = TokenUsage(
            usage.prompt or 0,
            usage.completion or 0,
            usage.cached or 0,
            usage.reasoning or 0,
            1,
            self.prices.cost(self.model.name, usage) if self.prices else None,
        )
        return Answer(reply, counted)


@cache
def prompt_text(name: str) -> str:
    """A prompt file of a role, as it is."""
    return (resources.files("crmbench.roles") / "prompts" / f"{name}.md").read_text("utf-8")


def prompt_digest(name: str) -> str:
    """SHA-256 of a prompt file, for a run's record."""
    return sha256(prompt_text(name).encode()).hexdigest()
