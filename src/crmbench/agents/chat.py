"""What all model agents share: a conversation with a model, tokens spent, a limit of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from crmbench.agents.protocol import Agent, Session
from crmbench.core.episode import ToolResult
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage
from crmbench.errors import AgentError
from crmbench.models import Message, Model, ModelError, RawLog, Reply, ToolSpec, user
from crmbench.models.base import ToolChoice
from crmbench.models.prices import Prices
from crmbench.models.prompt_files import OURS, PromptFiles

MAX_STEPS = 20
"""Tool calls a turn after which the model has to answer the user."""


@dataclass(frozen=True)
class ModelSettings:
    """How a model agent is run."""

    max_steps: int = MAX_STEPS
    temperature: float | None = None
    max_tokens: int | None = 2048
    prices: Prices | None = None
    prompts: PromptFiles = OURS


class ChatAgent:
    """A model and its conversation. The frameworks differ in `turn`."""

    def __init__(self, model: Model, settings: ModelSettings) -> None:
        self.model = model
        self.settings = settings
        self.messages: list[Message] = []

    async def ask(
        self,
        session: Session,
        tools: Sequence[ToolSpec] = (),
        tool_choice: ToolChoice | None = None,
    ) -> Reply:
        """The model's next message; it joins the conversation and its tokens are counted.

        Raises:
            ModelError: The model failed, retries included.
            AgentError: The conversation has grown longer than the model reads.
        """
        try:
            reply = await self.model.complete(
                self.messages,
                tools,
                max_tokens=self.settings.max_tokens,
                temperature=self.settings.temperature,
                tool_choice=tool_choice,
            )
        except ModelError as error:
            if error.kind == "context_length":
                # The conversation is the agent's to keep short; asking again cannot help.
                raise AgentError(str(error)) from error
            raise
        self.messages.append(reply.message())
        session.spend(self._usage(reply))
        return reply

    def hear(self, text: str) -> None:
        """What the user, or a tool through a text protocol, says."""
        self.messages.append(user(text))

    def _usage(self, reply: Reply) -> TokenUsage:
        usage, prices = reply.usage, self.settings.prices
        return TokenUsage(
            usage.prompt or 0,
            usage.completion or 0,
            usage.cached or 0,
            usage.reasoning or 0,
            1,
            prices.cost(self.model.name, usage) if prices else None,
        )


def result_text(result: ToolResult) -> str:
    """A tool's result as a model reads it."""
    return value_text(result.ok, result.value)


def value_text(ok: bool, value: object) -> str:
    """A tool's JSON value as a model reads it; for a refused call the text of the error."""
    return orjson.dumps(value).decode() if ok else f"Error: {value}"


class Framework(Protocol):
    """Makes an agent of one framework."""

    def __call__(self, model: Model, settings: ModelSettings, view: TaskView) -> Agent: ...


class ModelAgentFactory:
    """Agents that run a model in a framework. Implements `AgentFactory`."""

    def __init__(
        self,
        name: str,
        model: Model,
        framework: Framework,
        settings: ModelSettings,
        raw: RawLog | None = None,
    ) -> None:
        self.name = name
        self._model = model
        self._framework = framework
        self._settings = settings
        self._raw = raw

    def start(self, task: TaskView, seed: int) -> Agent:
        del seed
        return self._framework(self._model, self._settings, task)

    async def close(self) -> None:
        await self._model.close()
        if self._raw is not None:
            self._raw.close()
