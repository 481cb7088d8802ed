"""What a learner is: it is asked before a conversation, and told afterwards.

    class MyLearner:
        def reset(self, seed): self.rules = []
        async def recall(self, view, budget): return "\\n".join(self.rules)
        async def observe(self, experience): self.rules.append(...)
        def snapshot(self): return {"rules": self.rules}
        def restore(self, state): self.rules = list(state["rules"])
        def freeze(self): ...

What it recalls joins the house rules of the next conversation. It meets neither tasks nor verdicts:
what it is told of an episode is an `Experience`, which has no field that holds more than the level
of feedback allows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import orjson

from crmbench.core.trace import Message, TokenUsage
from crmbench.grading.record import EpisodeRecord
from crmbench.learning.asker import Asker
from crmbench.models.prompt_files import OURS, PromptFiles

Feedback = Literal["none", "binary", "message", "gold"]
LEVELS: tuple[Feedback, ...] = ("none", "binary", "message", "gold")
ON_BOARDS: tuple[Feedback, ...] = ("none", "binary", "message")
"""Levels whose results may be ranked; one that was told the gold is an upper bound."""

Attempt = Callable[[str], Awaitable[EpisodeRecord]]
"""Plays a fresh episode of the conversation, with a text told to the agent."""
CLIPPED = 300
"""Characters of a tool's result that a transcript shows."""


@dataclass(frozen=True, slots=True)
class RecallView:
    """What is known of a conversation when a learner is asked: what its agent knows too."""

    domain: str
    today: str
    """ISO date of the world's clock."""
    persona: str
    """Who the user is, where the task says so."""
    first_words: str
    """What the user says first."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A tool call as the agent saw it."""

    tool: str
    arguments: Mapping[str, Any]
    ok: bool
    result: Any
    """What came back; the error's text of a refused call."""


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """A turn as the agent saw it."""

    messages: tuple[Message, ...]
    calls: tuple[SeenCall, ...]


@dataclass(frozen=True, slots=True)
class Experience:
    """An episode as its learner is told of it."""

    view: RecallView
    recalled: str
    """What the learner had recalled for it."""
    turns: tuple[SeenTurn, ...]
    success: bool | None = None
    """Whether it succeeded; None at the level ``none``."""
    message: str | None = None
    """What the verifier found wrong, without what would have been right; "" if nothing was."""
    gold: str | None = None
    """The right path and what had to be said; at the level ``gold`` alone."""

    def transcript(self) -> str:
        """The episode as text, with the feedback at its end."""
        lines = [f"({self.view.persona or 'A colleague'}, {self.view.today})"]
        for turn in self.turns:
            lines.append(f"User: {turn.messages[0].text}")
            lines += [call_line(call) for call in turn.calls]
            for message in turn.messages[1:]:
                lines.append(f"{'User' if message.role == 'user' else 'You'}: {message.text}")
        lines += self.feedback_lines()
        return "\n".join(lines)

    def feedback_lines(self) -> list[str]:
        """What came of it, a line each; nothing at the level ``none``."""
        lines = []
        if self.success is not None:
            lines.append(f"Outcome: {'right' if self.success else 'wrong'}.")
        if self.message:
            lines.append(f"The checker says: {self.message}")
        if self.gold:
            lines.append(f"What would have been right:\n{self.gold}")
        return lines


def call_line(call: SeenCall) -> str:
    """A call and what came back, shortened, as a line of a transcript."""
    arguments = orjson.dumps(dict(call.arguments)).decode()
    result = orjson.dumps(call.result).decode() if call.ok else f"refused: {call.result}"
    shown = result if len(result) <= CLIPPED else result[:CLIPPED] + "…"
    return f"Call: {call.tool} {arguments} -> {shown}"


@dataclass
class LearnerContext:
    """What a learner is made with."""

    argument: str = ""
    """What stood after its name, as in ``retrieval:5``."""
    ask: Asker | None = None
    """Asks the learner's model and counts; None where no model is named."""
    feedback: Feedback = "binary"
    model: str | None = None
    """Name of the learner's model."""
    folder: Path | None = None
    """A directory of its own, for what is no part of its state."""
    key: str = "learn"
    """Names the chain of conversations that it learns from; two chains never share one."""
    lengths: Callable[[int], int] | None = None
    """For a placebo: tokens that the paired learner recalled in a step."""
    prompts: PromptFiles = OURS
    teach: Asker | None = None
    """Asks a teacher's model, for learners that have one; None: as `ask`."""


@runtime_checkable
class Learner(Protocol):
    """Learns from a stream of conversations, one after the other."""

    def reset(self, seed: int) -> None:
        """Forget everything.

        Args:
            seed: For whatever it does at random; that of the stream.
        """

    async def recall(self, view: RecallView, budget: int) -> str:
        """What the agent is to be told before a conversation; may be empty.

        Args:
            budget: Tokens that the text may have, as `crmbench.learning.tokens` counts them; what
                is longer is cut off.
        """

    async def observe(self, experience: Experience) -> None:
        """Learn from an episode. Once frozen it learns nothing."""

    def snapshot(self) -> dict[str, Any]:
        """All that it knows, as JSON can carry it."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Know what a snapshot held, and be frozen no longer."""

    def freeze(self) -> None:
        """Learn nothing from now on, until `restore` or `reset`."""


@runtime_checkable
class Conductor(Protocol):
    """A learner that leads the conversation itself: it may reject an attempt and have another."""

    async def conduct(self, view: RecallView, budget: int, attempt: Attempt) -> EpisodeRecord:
        """Play a conversation in one or more attempts, each a fresh episode.

        Returns:
            The record of the attempt that counts.

        Raises:
            InfrastructureError: A model that takes part failed; the conversation does not count.
        """


async def close_learner(learner: object) -> None:
    """Close a learner that has a coroutine `close`, which few need."""
    close = getattr(learner, "close", None)
    if close is not None:
        await close()


def spent_by(learner: object, ask: Asker | None) -> dict[str, TokenUsage]:
    """Tokens of a learner's own model calls so far, by role.

    Through its `Asker`, or as a learner that asks elsewhere says in ``spent``.
    """
    spent = dict(ask.spent) if ask else {}
    own = getattr(learner, "spent", None)
    for role, usage in (own or {}).items():
        spent[role] = spent.get(role, TokenUsage()) + usage
    return spent
