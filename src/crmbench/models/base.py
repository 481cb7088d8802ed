"""What a conversation with a model is made of, and what a model is.

These types know no wire format. Each format writes a message or a tool once, and keeps the bytes
on the object itself (`Message.encoded`): a conversation of n messages is then encoded in n steps
in all rather than n steps at every call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant", "tool"]
StopReason = Literal["stop", "tool_calls", "length", "refusal", "other"]
ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object; not to be changed once a model has seen it."""
    encoded: dict[str, bytes] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )
    """Its bytes by wire format, filled by the models."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for."""

    id: str
    """As the model sent it; made up if it sent none."""
    name: str
    """Not checked against the tools that were offered; empty if the model gave none."""
    arguments: dict[str, Any] | None
    """None if what the model sent is not a JSON object."""
    raw_arguments: str = ""
    """The text of the arguments as the model wrote it."""
    error: str | None = None
    """Why the call cannot be made, in words that a model can act on; None if it can."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. None means that the provider did not say."""

    prompt: int | None = None
    """All tokens read, those from a cache or written to it included."""
    completion: int | None = None
    """All tokens written, reasoning included."""
    cached: int | None = None
    """The part of ``prompt`` that came from a cache."""
    reasoning: int | None = None
    """The part of ``completion`` that was reasoning."""
    cache_written: int | None = None
    """The part of ``prompt`` that was written to a cache at a price of its own."""

    def __add__(self, other: Usage) -> Usage:
        """Field by field; a sum with an unknown part is unknown."""
        return Usage(
            _sum(self.prompt, other.prompt),
            _sum(self.completion, other.completion),
            _sum(self.cached, other.cached),
            _sum(self.reasoning, other.reasoning),
            _sum(self.cache_written, other.cache_written),
        )


NO_TOKENS = Usage(0, 0, 0, 0, 0)
"""Where a sum of usages starts."""


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


@dataclass(frozen=True, slots=True)
class Carried:
    """What a provider wants back unchanged with the next call, such as signed thinking."""

    wire: str
    """The wire format that it belongs to; other formats leave it out."""
    json: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. Make them with `system`, `user`, `tool_result` and
    `Reply.message`.
    """

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message."""
    tool_call_id: str | None = None
    """Of a tool's message: the call that it answers."""
    is_error: bool = False
    """Of a tool's message: the tool refused. Only some formats carry it."""
    carried: Carried | None = None
    encoded: dict[str, bytes] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )
    """Its bytes by wire format, filled by the models."""


def system(text: str) -> Message:
    """Instructions, before the conversation."""
    return Message("system", text)


def user(text: str) -> Message:
    """What the user says."""
    return Message("user", text)


def tool_result(call: ToolCall, text: str, *, is_error: bool = False) -> Message:
    """The result of a call, for the model. Every call of a reply needs exactly one."""
    return Message("tool", text, tool_call_id=call.id, is_error=is_error)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    """May be empty, with or without tool calls. A refusal's text, if it has one."""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop_reason: StopReason = "stop"
    thinking: str = ""
    """Reasoning that the provider shows; empty if none."""
    refusal: bool = False
    """The model, or its provider's filter, declined to answer."""
    model: str = ""
    """The model's name as the provider reports it, often with a date."""
    attempts: int = field(default=1, compare=False)
    """Requests sent for this reply, failed ones included."""
    seconds: float = field(default=0.0, compare=False)
    """From the first request to the reply, waits included."""
    carried: Carried | None = None

    def message(self) -> Message:
        """The reply as a message of the conversation that goes on."""
        return Message("assistant", self.text, self.tool_calls, carried=self.carried)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is to be asked, for all calls alike. None leaves the choice to the provider."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    """Passed on where the format has it (OpenAI-compatible); few servers promise anything."""
    reasoning_effort: str | None = None
    """``low``, ``medium``, ``high`` or another word that the model takes."""
    thinking_budget: int | None = None
    """Tokens to think with (Anthropic models that take a budget rather than an effort)."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More fields of the request body, written as they are."""


@runtime_checkable
class Model(Protocol):
    """Something that continues a conversation. One object serves any number of calls at once."""

    @property
    def name(self) -> str:
        """The name it was opened by; never holds a key."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        tool_choice: ToolChoice | None = None,
        tag: str = "",
    ) -> Reply:
        """Ask for the next message.

        Args:
            messages: The conversation so far, system messages first.
            tools: What the model may call.
            max_tokens: Limit of the reply; else the model's settings.
            temperature: Else the model's settings.
            tool_choice: ``auto`` (the default), ``none`` or ``required``.
            tag: The caller's word for this call (an episode's id); only kept with raw requests.

        Raises:
            ModelError: It could not be asked; the retries are used up or cannot help.
        """
        ...

    async def close(self) -> None:
        """Close connections. The model may not be used afterwards."""
        ...
