"""A learner's own model calls, counted by role."""

from __future__ import annotations

from collections.abc import Sequence

from crmbench.core.trace import TokenUsage
from crmbench.models.base import Message, Model, Reply, system, user
from crmbench.models.prices import Prices
from crmbench.roles.role_model import RoleModel


class Asker:
    """Asks a model for a learner, and keeps what it took.

    Args:
        model: Shared; the asker does not close it.
        prices: For the cost; without a table no cost is known.
    """

    def __init__(
        self,
        model: Model,
        prices: Prices | None = None,
        *,
        max_tokens: int | None = 2048,
        temperature: float | None = None,
    ) -> None:
        self._model = RoleModel(model, prices, max_tokens, temperature)
        self.spent: dict[str, TokenUsage] = {}
        """By role, such as ``reflection``."""

    async def ask(self, role: str, instructions: str, text: str) -> str:
        """The model's answer.

        Args:
            role: What the call is for; tokens are counted by it.

        Raises:
            ModelError: The model failed, retries included.
        """
        return (await self.complete(role, [system(instructions), user(text)])).text

    async def complete(self, role: str, messages: Sequence[Message]) -> Reply:
        """The model's next message.

        Raises:
            ModelError: The model failed, retries included.
        """
        reply, usage = await self._model.ask(messages, role)
        self.spent[role] = self.spent.get(role, TokenUsage()) + usage
        return reply
