"""The server's side of both wire formats: reading requests, writing answers.

Used by `crmbench.models.testing.server` only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

Wire = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """What a client asked, whichever format it spoke."""

    wire: Wire
    model: str
    body: Mapping[str, Any]
    """As it was sent."""
    size: int
    """Bytes of the body."""
    tools: tuple[Mapping[str, Any], ...]
    """Name, description and ``parameters`` of each tool."""
    texts: tuple[tuple[str, str], ...]
    """Role and text of each message; ``tool`` for a tool's result."""

    @property
    def results(self) -> int:
        """Tool results since the user last spoke."""
        number = 0
        for role, _ in reversed(self.texts):
            if role == "user":
                break
            number += role == "tool"
        return number


@dataclass(frozen=True, slots=True)
class FakeCall:
    """A tool call to answer with."""

    name: str
    arguments: Mapping[str, Any] | str
    """A text is written as it is, be it JSON or not; the Anthropic format has no place for
    such a text and sends it as a JSON string.
    """


@dataclass(frozen=True, slots=True)
class FakeAnswer:
    """What to answer with."""

    text: str = ""
    calls: tuple[FakeCall, ...] = ()
    thinking: str = ""
    refusal: bool = False
    usage: bool = True
    """Whether to say how many tokens it took."""


def read_request(wire: Wire, raw: bytes) -> FakeRequest:
    """Read a body.

    Raises:
        ValueError: It is not a request of this format.
    """
    body = orjson.loads(raw)
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise ValueError("you must provide a model parameter")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages must be an array of at least one message")
    if wire == "anthropic" and not isinstance(body.get("max_tokens"), int):
        raise ValueError("max_tokens: Field required")
    read = _anthropic_texts if wire == "anthropic" else _openai_texts
    tools = tuple(_tool(wire, tool) for tool in body.get("tools") or ())
    texts = tuple(read(messages))
    return FakeRequest(wire, body["model"], body, len(raw), tools, texts)


def _tool(wire: Wire, tool: Mapping[str, Any]) -> Mapping[str, Any]:
    if wire == "openai":
        function: Mapping[str, Any] = tool["function"]
        return function
    return {**tool, "parameters": tool["input_schema"]}


def _openai_texts(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(message["role"], _plain(message.get("content"))) for message in messages]


def _anthropic_texts(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    texts = []
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            texts.append((message["role"], content))
            continue
        for block in content:
            if block["type"] == "tool_result":
                texts.append(("tool", _plain(block.get("content"))))
            elif block["type"] == "text":
                texts.append((message["role"], block["text"]))
    return texts


def _plain(content: object) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def write_answer(request: FakeRequest, answer: FakeAnswer) -> dict[str, Any]:
    """The body of a reply."""
    if request.wire == "anthropic":
        return _anthropic_answer(request, answer)
    return _openai_answer(request, answer)


def _tokens(request: FakeRequest, answer: FakeAnswer) -> tuple[int, int, int, int]:
    """Prompt, cached, completion and reasoning tokens: made up, the same every time."""
    prompt = request.size // 4 + 1
    cached = prompt // 2 if len(request.texts) > 2 else 0
    reasoning = len(answer.thinking) // 4
    completion = len(answer.text) // 4 + 12 * len(answer.calls) + reasoning + 1
    return prompt, cached, completion, reasoning


def _openai_answer(request: FakeRequest, answer: FakeAnswer) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if answer.refusal else answer.text or None,
        "refusal": answer.text if answer.refusal else None,
    }
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        place = len(request.texts)
        message["tool_calls"] = [
            {
                "id": f"call_{place:04d}{index:02d}",
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments_text(call)},
            }
            for index, call in enumerate(answer.calls)
        ]
    body: dict[str, Any] = {
        "id": f"chatcmpl-{request.size}",
        "object": "chat.completion",
        "created": 1767225600,
        "model": request.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "tool_calls" if answer.calls else "stop",
            }
        ],
    }
    if answer.usage:
        prompt, cached, completion, reasoning = _tokens(request, answer)
        body["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
    return body


def _arguments_text(call: FakeCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return orjson.dumps(dict(call.arguments)).decode()


def _anthropic_answer(request: FakeRequest, answer: FakeAnswer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": "c2lnbmVk"})
    if answer.text:
        content.append({"type": "text", "text": answer.text, "citations": None})
    place = len(request.texts)
    for index, call in enumerate(answer.calls):
        arguments = call.arguments
        value = arguments if isinstance(arguments, str) else dict(arguments)
        identity = f"toolu_{place:04d}{index:02d}"
        content.append({"type": "tool_use", "id": identity, "name": call.name, "input": value})
    stop = "refusal" if answer.refusal else "tool_use" if answer.calls else "end_turn"
    body: dict[str, Any] = {
        "id": f"msg_{request.size}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
    }
    if answer.usage:
        prompt, cached, completion, _ = _tokens(request, answer)
        body["usage"] = {
            "input_tokens": prompt - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": completion,
        }
    return body


def write_error(wire: Wire, kind: str, message: str, code: str | None = None) -> dict[str, Any]:
    """The body of an error."""
    if wire == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def example(schema: Mapping[str, Any]) -> Any:
    """A value that a JSON schema takes: its first enum value, or the plainest of its type."""
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return example(schema[key][0])
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: example(properties[name]) for name in schema.get("required", ())}
    if kind == "integer":
        return int(schema.get("minimum", 1))
    plain: dict[str, Any] = {"string": "x", "number": 1.5, "boolean": True, "array": []}
    return plain.get(kind)
