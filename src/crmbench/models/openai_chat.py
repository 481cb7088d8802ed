"""OpenAI-compatible chat completions: OpenAI, Azure, vLLM, Ollama, OpenRouter and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crmbench.errors import InputError
from crmbench.models.base import (
    Carried,
    Message,
    Reply,
    Settings,
    StopReason,
    ToolCall,
    ToolSpec,
    Usage,
)
from crmbench.models.encoding import (
    count,
    dumps,
    dumps_to_keep,
    loads,
    read_call,
    sent_arguments,
    sent_name,
    unique_ids,
)
from crmbench.models.http_model import HttpModel, Sampling, join_body, merged
from crmbench.models.limits import Clock, Limits
from crmbench.models.request_log import RawLog
from crmbench.models.transport import Endpoint

WIRE = "openai"

_SIGNED = ("reasoning_details", "thinking_blocks")
"""Fields of a message that routers want back as they sent them."""
_STOP: dict[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refusal",
}


def base_endpoint(base_url: str, key: str = "") -> Endpoint:
    """The endpoint below a base URL such as ``https://api.openai.com/v1``."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Endpoint(f"{base_url.rstrip('/')}/chat/completions", headers, key)


def azure_endpoint(resource: str, deployment: str, api_version: str, key: str) -> Endpoint:
    """The endpoint of a deployment in Azure.

    Args:
        resource: ``https://NAME.openai.azure.com``.
        deployment: The deployment's name.
        api_version: A date, as Azure names its versions.
        key: Sent as ``api-key``.
    """
    url = f"{resource.rstrip('/')}/openai/deployments/{deployment}/chat/completions"
    return Endpoint(f"{url}?api-version={api_version}", {"api-key": key}, key)


class OpenAIChat(HttpModel):
    """A model behind chat completions.

    Args:
        name: How the model is called in reports.
        model_id: The model's name on the server.
        endpoint: From `base_endpoint` or `azure_endpoint`.
        settings: `Settings.thinking_budget` is not part of this format.
        limits: Concurrency, rates, retries and time-out.
        raw: Where to keep requests and replies.
        clock: Where time comes from.
        completion_limit: The field that limits the reply. OpenAI and Azure want
            ``max_completion_tokens``; other servers know ``max_tokens``.

    Raises:
        InputError: The settings hold a thinking budget.
    """

    def __init__(
        self,
        name: str,
        model_id: str,
        endpoint: Endpoint,
        *,
        settings: Settings | None = None,
        limits: Limits | None = None,
        raw: RawLog | None = None,
        clock: Clock | None = None,
        completion_limit: str = "max_tokens",
    ) -> None:
        super().__init__(name, endpoint, settings=settings, limits=limits, raw=raw, clock=clock)
        if self._settings.thinking_budget is not None:
            raise InputError(f"{name} takes a reasoning effort, not a thinking budget")
        self._model = dumps(model_id)
        self._completion_limit = completion_limit
        self._options: dict[tuple[Sampling, bool], bytes | None] = {}

    def encode(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling
    ) -> bytes:
        """The body of a request, from the bytes that messages and tools keep."""
        sent = b",".join([encode_message(message) for message in messages])
        offered = b"[" + b",".join([encode_tool(tool) for tool in tools]) + b"]" if tools else None
        body = join_body(
            (b"model", self._model), (b"messages", b"[" + sent + b"]"), (b"tools", offered)
        )
        options = self._encoded_options(sampling, bool(tools))
        return body if options is None else body[:-1] + b"," + options + b"}"

    def _encoded_options(self, sampling: Sampling, with_tools: bool) -> bytes | None:
        key = (sampling, with_tools)
        if key not in self._options:
            settings = self._settings
            fields = {
                self._completion_limit: sampling.max_tokens,
                "temperature": sampling.temperature,
                "seed": settings.seed,
                "reasoning_effort": settings.reasoning_effort,
                "tool_choice": sampling.tool_choice if with_tools else None,
            }
            self._options[key] = merged(fields, settings.extra)
        return self._options[key]

    def decode(self, payload: dict[str, Any], turn: int) -> Reply | None:
        """The first choice of a completion."""
        return read_completion(payload, turn)


def encode_tool(tool: ToolSpec) -> bytes:
    """A tool in this format; made once."""
    known = tool.encoded.get(WIRE)
    if known is None:
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        }
        known = tool.encoded[WIRE] = dumps_to_keep({"type": "function", "function": function})
    return known


def encode_message(message: Message) -> bytes:
    """A message in this format; made once."""
    known = message.encoded.get(WIRE)
    if known is None:
        known = message.encoded[WIRE] = dumps_to_keep(message_fields(message))
    return known


def message_fields(message: Message) -> dict[str, Any]:
    """A message in this format, as an object."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    if message.role != "assistant":
        return {"role": message.role, "content": message.text}
    carried: dict[str, Any] = {}
    if message.carried and message.carried.wire == WIRE:
        carried = loads(message.carried.json)
    fields: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    fields.update(carried.get("message", {}))
    if message.tool_calls:
        extra = carried.get("calls", {})
        fields["tool_calls"] = [_call(call) | extra.get(call.id, {}) for call in message.tool_calls]
    elif not message.text:
        # Servers refuse an assistant's message with neither text nor calls.
        fields["content"] = ""
    return fields


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": sent_name(call.name), "arguments": dumps(sent_arguments(call)).decode()}
    return {"id": call.id, "type": "function", "function": function}


def read_completion(payload: Mapping[str, Any], turn: int) -> Reply | None:
    """The first choice of a completion; None if there is none."""
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return None
    calls = _calls(message, f"call_{turn}")
    declined = message.get("refusal")
    stop = _STOP.get(str(choice.get("finish_reason")), "other")
    refusal = bool(declined) or stop == "refusal"
    text = _text(message.get("content")) or (declined if isinstance(declined, str) else "")
    thinking = message.get("reasoning_content") or message.get("reasoning")
    model = payload.get("model")
    return Reply(
        text,
        calls,
        read_usage(payload.get("usage")),
        "refusal" if refusal else stop,
        thinking if isinstance(thinking, str) else "",
        refusal,
        model if isinstance(model, str) else "",
        carried=_carried(message, calls),
    )


def _text(content: object) -> str:
    """Content is a text, or for some servers a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _calls(message: Mapping[str, Any], prefix: str) -> tuple[ToolCall, ...]:
    sent = message.get("tool_calls")
    if not sent:
        return ()
    if not isinstance(sent, list):
        sent = [sent]
    calls = []
    for index, item in enumerate(sent):
        call = item if isinstance(item, dict) else {}
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        identity = f"{prefix}_{index}"
        calls.append(
            read_call(
                call.get("id"),
                function.get("name"),
                function.get("arguments"),
                fallback_id=identity,
            )
        )
    return unique_ids(calls, prefix)


def _carried(message: Mapping[str, Any], calls: Sequence[ToolCall]) -> Carried | None:
    """What has to go back: reasoning that a router signs, signatures that ride on calls."""
    kept: dict[str, Any] = {}
    signed = {name: message[name] for name in _SIGNED if message.get(name)}
    if signed:
        kept["message"] = signed
    sent = message.get("tool_calls")
    if isinstance(sent, list):
        extra = {
            call.id: {"extra_content": item["extra_content"]}
            for call, item in zip(calls, sent, strict=False)
            if isinstance(item, dict) and item.get("extra_content")
        }
        if extra:
            kept["calls"] = extra
    return Carried(WIRE, dumps(kept)) if kept else None


def read_usage(usage: object) -> Usage:
    """Tokens of a completion. Prompt tokens hold the cached ones in this format."""
    if not isinstance(usage, dict):
        return Usage()
    prompt, completion = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    read = usage.get("prompt_tokens_details")
    written = usage.get("completion_tokens_details")
    cached = count(read.get("cached_tokens")) if isinstance(read, dict) else None
    stored = count(read.get("cache_write_tokens")) if isinstance(read, dict) else None
    reasoning = count(written.get("reasoning_tokens")) if isinstance(written, dict) else None
    total = count(usage.get("total_tokens"))
    # Some providers count reasoning beside the completion; only the total shows it.
    if reasoning and prompt is not None and completion is not None:
        beside = total == prompt + completion + reasoning
        completion += reasoning if beside else 0
    return Usage(prompt, completion, cached, reasoning, stored)
