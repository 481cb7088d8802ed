"""JSON as models send and take it: fast for what is right, patient with what is not."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from crmbench.models.base import ToolCall

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")


def dumps(value: Any) -> bytes:
    """Compact JSON. Half surrogate pairs, which UTF-8 cannot hold, become question marks."""
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def dumps_to_keep(value: Any) -> bytes:
    """Compact JSON that stays in memory.

    What orjson returns lies in a buffer of 16 KiB and more, however short it is; a copy does not.
    """
    return bytes(memoryview(dumps(value)))


def loads(raw: bytes) -> Any:
    """Read JSON; a reply cut within a surrogate pair or with stray bytes is still read.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        value = json.loads(raw.decode("utf-8", "replace"))
        return orjson.loads(dumps(value))


def read_call(call_id: object, name: object, arguments: object, *, fallback_id: str) -> ToolCall:
    """A tool call from what a provider sent, whatever that was.

    No arguments at all (absent, null or an empty text) are read as an empty object, as several
    servers send that for tools without arguments.
    """
    identity = call_id if isinstance(call_id, str) and call_id else fallback_id
    raw = arguments if isinstance(arguments, str) else _text(arguments)
    parsed, error = _arguments(raw)
    if not isinstance(name, str) or not name.strip():
        return ToolCall(identity, "", parsed, raw, "The tool call has no tool name.")
    return ToolCall(identity, name, parsed, raw, error)


def _text(arguments: object) -> str:
    return "" if arguments is None else dumps(arguments).decode()


def _arguments(raw: str) -> tuple[dict[str, Any] | None, str | None]:
    if not raw.strip():
        return {}, None
    try:
        value = loads(raw.encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return None, f"The arguments of the tool call are not valid JSON: {error}."
    if not isinstance(value, dict):
        kind = "null" if value is None else type(value).__name__
        return None, f"The arguments of the tool call must be a JSON object, not {kind}."
    return value, None


def sent_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as they go back to the model: always an object.

    Several servers refuse a conversation that holds anything else, which would end the episode
    for a slip that the model could have repaired.
    """
    return {"invalid_arguments": call.raw_arguments} if call.arguments is None else call.arguments


def sent_name(name: str) -> str:
    """A tool's name as it goes back to the model: providers refuse other characters."""
    if _NAME.fullmatch(name):
        return name
    return _NOT_NAME.sub("_", name)[:64] or "unnamed"


def unique_ids(calls: Sequence[ToolCall], prefix: str) -> tuple[ToolCall, ...]:
    """The calls, those whose id repeats an earlier one with a new id."""
    seen: set[str] = set()
    result = []
    for call in calls:
        if call.id in seen:
            free = (f"{prefix}_{n}" for n in itertools.count())
            call = replace(call, id=next(name for name in free if name not in seen))
        seen.add(call.id)
        result.append(call)
    return tuple(result)


def count(value: object) -> int | None:
    """A number of tokens, or None for whatever else stands there."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
