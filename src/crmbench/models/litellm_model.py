"""Models that only litellm reaches (extra ``litellm``).

Slower than the wire formats of our own by an order of magnitude; meant for providers that speak
neither. litellm's own retries are switched off, ours take their place. Raw requests are not kept,
as litellm does not show them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from crmbench.errors import MissingExtraError
from crmbench.models.base import Message, Reply, Settings, ToolChoice, ToolSpec, Usage
from crmbench.models.errors import FinalModelError, ModelError, TransientModelError
from crmbench.models.http_model import final_kind, transient_kind
from crmbench.models.limits import Clock, Gate, Limits, SystemClock
from crmbench.models.openai_chat import message_fields, read_completion
from crmbench.models.transport import retry_after

Completion = Callable[..., Awaitable[Any]]


class LitellmModel:
    """A model behind litellm.

    Args:
        name: How the model is called in reports.
        model_id: The name that litellm knows it by.
        settings: For every call.
        limits: Concurrency, rates, retries and time-out.
        completion: What is called; litellm's ``acompletion`` by default.
        clock: Where time comes from.

    Raises:
        MissingExtraError: litellm is not installed.
    """

    def __init__(
        self,
        name: str,
        model_id: str,
        *,
        settings: Settings | None = None,
        limits: Limits | None = None,
        completion: Completion | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._name = name
        self._model_id = model_id
        self._settings = settings or Settings()
        self._limits = limits or Limits()
        self._completion = completion or _acompletion()
        self._clock = clock or SystemClock()
        self._gate = Gate(self._limits, self._clock)

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return self._name

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
        """Ask for the next message; see `Model.complete`."""
        settings = self._settings
        arguments: dict[str, Any] = {
            "max_tokens": settings.max_tokens if max_tokens is None else max_tokens,
            "temperature": settings.temperature if temperature is None else temperature,
            "tool_choice": tool_choice if tools else None,
            "seed": settings.seed,
            "reasoning_effort": settings.reasoning_effort,
            "tools": [_tool(tool) for tool in tools] or None,
        }
        given = {name: value for name, value in arguments.items() if value is not None}
        if settings.thinking_budget:
            given["thinking"] = {"type": "enabled", "budget_tokens": settings.thinking_budget}
        given |= settings.extra
        sent = [message_fields(message) for message in messages]
        started = self._clock.now()
        estimate = sum(len(message.text) for message in messages) // 4
        granted = await self._gate.run(lambda: self._attempt(sent, given), estimate)
        seconds = self._clock.now() - started
        return replace(granted.reply, attempts=granted.attempts, seconds=seconds)

    async def _attempt(self, messages: list[dict[str, Any]], given: dict[str, Any]) -> Reply:
        try:
            answer = await self._completion(
                model=self._model_id,
                messages=messages,
                num_retries=0,
                timeout=self._limits.timeout,
                **given,
            )
        except Exception as error:
            # litellm raises errors of many packages; what they share is a status, or none.
            raise _failure(error) from error
        reply = read_completion(_lifted(answer.model_dump()), len(messages))
        if reply is None:
            raise TransientModelError("The reply is without a message.", kind="bad_reply")
        # litellm writes zeros where the provider says nothing, and no prompt has no tokens.
        return reply if reply.usage.prompt else replace(reply, usage=Usage())

    async def close(self) -> None:
        """litellm keeps its own connections."""


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _lifted(body: dict[str, Any]) -> dict[str, Any]:
    """A completion with the refusal where the format has it; litellm moves it aside."""
    for choice in body.get("choices") or ():
        message = choice.get("message") or {}
        aside = message.get("provider_specific_fields") or {}
        if aside.get("refusal"):
            message["refusal"] = aside["refusal"]
    return body


def _failure(error: Exception) -> ModelError:
    status = getattr(error, "status_code", None)
    text = f"{type(error).__name__}: {str(error)[:500]}"
    if not isinstance(status, int):
        return TransientModelError(text, kind="connection")
    headers = getattr(error, "litellm_response_headers", None) or {}
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    transient = transient_kind(status, str(code))
    if transient:
        wait = retry_after(headers)
        return TransientModelError(text, kind=transient, status=status, retry_after=wait)
    return FinalModelError(text, kind=final_kind(status, str(code), text), status=status)


def _acompletion() -> Completion:
    # Or importing litellm asks the network for a table of prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        module: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise MissingExtraError("litellm", "litellm/<model>") from error
    module.suppress_debug_info = True
    found: Completion = module.acompletion
    return found
