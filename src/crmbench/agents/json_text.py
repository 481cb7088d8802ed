"""The one-JSON-object text protocol: a model's reply is an object with a tool's name and arguments.

Models wrap the object in code fences, explain it before and after, or leave a comma too many; the
object is found all the same. What is not there is never made up: a reply without a tool's name
names no tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crmbench.errors import AgentError

_FENCE = re.compile(r"```(?:json|JSON)?\s*\n(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_TOOL_NAMES = ("tool_name", "tool", "name", "action")
_ARGUMENT_NAMES = ("arguments", "args", "parameters", "tool_arguments", "input")
_REPLY_NAMES = ("reply", "response", "answer", "message", "respond")


@dataclass(frozen=True, slots=True)
class TextStep:
    """What a model's text asks for: a tool call, or a reply that ends the turn."""

    tool: str | None
    arguments: dict[str, Any]
    reply: str | None
    reasoning: str | None = None


def parse(text: str) -> TextStep:
    """The step that a model's text holds.

    Raises:
        AgentError: It holds no JSON object, or the object names neither a tool nor a reply.
    """
    problem = "it holds no JSON object"
    for found in _objects(text):
        tool = _first_text(found, _TOOL_NAMES)
        reply = _first_text(found, _REPLY_NAMES)
        arguments: Any = next((found[n] for n in _ARGUMENT_NAMES if n in found), {})
        if tool and tool.casefold() in ("none", "respond", "reply", "null"):
            tool, reply = None, reply or ""
        if tool and not isinstance(arguments, Mapping):
            problem = f"the arguments of '{tool}' are no JSON object"
        elif tool or reply is not None:
            reasoning = _first_text(found, ("reasoning", "thought"))
            return TextStep(tool, dict(arguments) if tool else {}, reply, reasoning)
        else:
            problem = "its JSON object names neither a tool nor a reply"
    raise AgentError(f"the model's text cannot be used: {problem}: {text[:200]!r}")


def _first_text(found: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((found[n] for n in names if isinstance(found.get(n), str)), None)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in the text, those in code fences first."""
    for source in (*_FENCE.findall(text), text):
        decoder = json.JSONDecoder(strict=False)
        position = source.find("{")
        while position != -1:
            value, end = _decode(decoder, source, position)
            if isinstance(value, dict):
                yield value
            position = source.find("{", max(end, position + 1))


def _decode(decoder: json.JSONDecoder, source: str, position: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(source, position)
    except (json.JSONDecodeError, RecursionError):
        pass
    mended = _TRAILING_COMMA.sub(r"\1", source[position:])
    try:
        return decoder.raw_decode(mended)[0], len(source)
    except (json.JSONDecodeError, RecursionError):
        return None, position + 1
