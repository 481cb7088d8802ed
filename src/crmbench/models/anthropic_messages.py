"""Anthropic messages: tools, prompt caching and thinking.

Three places are marked for the provider's prompt cache: the last tool, the last system block and
the last block of the conversation. A conversation that goes on then pays full price only for
what is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    read_call,
    sent_arguments,
    sent_name,
    unique_ids,
)
from crmbench.models.http_model import HttpModel, Sampling, join_body, merged
from crmbench.models.limits import Clock, Limits
from crmbench.models.request_log import RawLog
from crmbench.models.transport import Endpoint

WIRE = "anthropic"
DEFAULT_MAX_TOKENS = 4096
"""The format demands a limit; this one holds for every model that has tools."""
_MARK = b',"cache_control":{"type":"ephemeral"}}'
_EMPTY = "(empty)"
"""Stands for a text that is blank, which the provider refuses."""

_STOP: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def messages_endpoint(base_url: str, key: str = "") -> Endpoint:
    """The endpoint below a base URL, with or without ``/v1`` at its end."""
    base = base_url.rstrip("/").removesuffix("/v1")
    headers = {"anthropic-version": "2023-06-01"}
    if key:
        headers["x-api-key"] = key
    return Endpoint(f"{base}/v1/messages", headers, key)


class AnthropicMessages(HttpModel):
    """A model behind Anthropic messages.

    With a thinking budget the provider takes no temperature, so none is sent, and the limit of
    the reply is counted on top of the budget. A reasoning effort asks for adaptive thinking,
    which newer models take in place of a budget.

    Args:
        name: How the model is called in reports.
        model_id: The model's name on the server.
        endpoint: From `messages_endpoint`.
        settings: `Settings.seed` is not part of this format and not sent.
        limits: Concurrency, rates, retries and time-out.
        raw: Where to keep requests and replies.
        clock: Where time comes from.
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
    ) -> None:
        super().__init__(name, endpoint, settings=settings, limits=limits, raw=raw, clock=clock)
        self._model = dumps(model_id)
        self._options: dict[tuple[Sampling, bool], bytes | None] = {}

    def encode(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling
    ) -> bytes:
        """The body of a request, from the bytes that messages and tools keep."""
        system = [encode_blocks(message) for message in messages if message.role == "system"]
        offered = [encode_tool(tool) for tool in tools]
        body = join_body(
            (b"model", self._model),
            (b"tools", _marked_list(offered)),
            (b"system", _marked_list(system)),
            (b"messages", _conversation(messages)),
        )
        options = self._encoded_options(sampling, bool(tools))
        return body if options is None else body[:-1] + b"," + options + b"}"

    def _encoded_options(self, sampling: Sampling, with_tools: bool) -> bytes | None:
        key = (sampling, with_tools)
        if key not in self._options:
            self._options[key] = merged(self._fields(sampling, with_tools), self._settings.extra)
        return self._options[key]

    def _fields(self, sampling: Sampling, with_tools: bool) -> dict[str, Any]:
        budget, effort = self._settings.thinking_budget, self._settings.reasoning_effort
        limit = DEFAULT_MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens
        fields: dict[str, Any] = {
            "max_tokens": limit + (budget or 0),
            "temperature": None if budget or effort else sampling.temperature,
        }
        if effort:
            fields["thinking"] = {"type": "adaptive"}
            fields["output_config"] = {"effort": effort}
        elif budget:
            fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
        if with_tools and sampling.tool_choice:
            choice = "any" if sampling.tool_choice == "required" else sampling.tool_choice
            fields["tool_choice"] = {"type": choice}
        return fields

    def decode(self, payload: dict[str, Any], turn: int) -> Reply | None:
        """The content blocks of a message."""
        content = payload.get("content")
        if not isinstance(content, list):
            return None
        blocks = [block for block in content if isinstance(block, dict)]
        stop = _STOP.get(str(payload.get("stop_reason")), "other")
        model = payload.get("model")
        calls = _calls(blocks, f"call_{turn}")
        return Reply(
            _joined(blocks, "text"),
            calls,
            read_usage(payload.get("usage")),
            stop,
            _joined(blocks, "thinking"),
            stop == "refusal",
            model if isinstance(model, str) else "",
            carried=_carried(blocks, calls),
        )


def _marked_list(items: list[bytes]) -> bytes | None:
    """A JSON array whose last item is marked for the cache; None if it is empty."""
    if not items:
        return None
    return b"[" + b",".join(items)[:-1] + _MARK + b"]"


def _conversation(messages: Sequence[Message]) -> bytes:
    """Messages of one side that follow each other become one, as the format wants it."""
    parts: list[bytes] = []
    side = b""
    for message in messages:
        if message.role == "system":
            continue
        role = b"assistant" if message.role == "assistant" else b"user"
        if role == side:
            parts.append(b",")
        else:
            parts.append(b']},{"role":"' if parts else b'{"role":"')
            parts.append(role + b'","content":[')
        parts.append(encode_blocks(message))
        side = role
    if not parts:
        return b"[]"
    if side == b"user":
        # Thinking blocks may not be marked, so a conversation that ends with the model's own
        # words stays unmarked.
        parts[-1] = parts[-1][:-1] + _MARK
    return b"[" + b"".join(parts) + b"]}]"


def encode_tool(tool: ToolSpec) -> bytes:
    """A tool in this format; made once."""
    known = tool.encoded.get(WIRE)
    if known is None:
        fields = {
            "name": tool.name,
            "description": tool.description,
            "input_schema": dict(tool.parameters),
        }
        known = tool.encoded[WIRE] = dumps_to_keep(fields)
    return known


def encode_blocks(message: Message) -> bytes:
    """A message's content blocks, separated by commas; made once."""
    known = message.encoded.get(WIRE)
    if known is None:
        known = message.encoded[WIRE] = _blocks(message)
    return known


def _blocks(message: Message) -> bytes:
    if message.role == "tool":
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": message.tool_call_id,
            "content": message.text,
        }
        return dumps_to_keep(block | {"is_error": True} if message.is_error else block)
    if message.carried and message.carried.wire == WIRE:
        return message.carried.json
    blocks: list[dict[str, Any]] = []
    if message.text.strip() or not message.tool_calls:
        blocks.append({"type": "text", "text": message.text if message.text.strip() else _EMPTY})
    blocks += [
        {
            "type": "tool_use",
            "id": call.id,
            "name": sent_name(call.name),
            "input": sent_arguments(call),
        }
        for call in message.tool_calls
    ]
    return b",".join(map(dumps_to_keep, blocks))


def _joined(blocks: Sequence[Mapping[str, Any]], kind: str) -> str:
    texts = [block.get(kind) for block in blocks if block.get("type") == kind]
    return "".join(text for text in texts if isinstance(text, str))


def _calls(blocks: Sequence[Mapping[str, Any]], prefix: str) -> tuple[ToolCall, ...]:
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    calls = [
        read_call(use.get("id"), use.get("name"), use.get("input"), fallback_id=f"{prefix}_{index}")
        for index, use in enumerate(uses)
    ]
    return unique_ids(calls, prefix)


def _carried(blocks: Sequence[Mapping[str, Any]], calls: Sequence[ToolCall]) -> Carried | None:
    """All blocks as they came, if some are thinking: the provider checks its own signature.

    Blank texts are left out, as the provider sends but does not take them. Calls that had to be
    repaired cannot go back as they came, so then nothing is carried.
    """
    if not any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
        return None
    ids = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
    if ids != [call.id for call in calls] or any(call.error for call in calls):
        return None
    kept = [
        block
        for block in blocks
        if block.get("type") != "text" or str(block.get("text") or "").strip()
    ]
    return Carried(WIRE, b",".join(map(dumps, kept)))


def read_usage(usage: object) -> Usage:
    """Tokens of a message. Input tokens are without the cached ones here, so they are added.

    The format counts thinking as output and does not say how much of it there was, unless the
    output's details name it.
    """
    if not isinstance(usage, dict):
        return Usage()
    fresh = count(usage.get("input_tokens"))
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    prompt = None if fresh is None else fresh + (cached or 0) + (written or 0)
    details = usage.get("output_tokens_details")
    reasoning = count(details.get("thinking_tokens")) if isinstance(details, dict) else None
    return Usage(prompt, count(usage.get("output_tokens")), cached, reasoning, written)
