"""Models that play a part in a run without being what is evaluated, and their prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crmbench.core.trace import TokenUsage
from crmbench.models.prompt_files import OURS, PromptFiles

if TYPE_CHECKING:
    from crmbench.models import Message, Model, Reply
    from crmbench.models.prices import Prices

PROMPTS = {"user": ("user",), "judge": ("judge", "reading", "response")}
"""The prompts of each part that a model plays."""
MAX_MESSAGES = 6
"""Messages that a model as the user may send for one turn of the task."""


class RoleReply(NamedTuple):
    """A reply and what it took."""

    reply: Reply
    usage: TokenUsage


@dataclass(frozen=True)
class RoleModel:
    """A model that plays a part in a run without being what is evaluated."""

    model: Model
    prices: Prices | None = None
    max_tokens: int | None = 2048
    temperature: float | None = None
    prompts: PromptFiles = OURS

    async def ask(self, messages: Sequence[Message], tag: str) -> RoleReply:
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
        return RoleReply(reply, counted)
