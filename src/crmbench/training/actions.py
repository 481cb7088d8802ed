"""What a policy does in one step, in the forms in which trainers have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crmbench.errors import InputError
from crmbench.models.base import ToolCall
from crmbench.models.encoding import read_call


class CallRequest(NamedTuple):
    """A tool call."""

    name: str
    arguments: Any
    """An object of names and values, or its JSON text."""
    id: str = ""
    """What the result is told under; made up if empty."""


Action = str | CallRequest | Mapping[str, Any] | Sequence["CallRequest | Mapping[str, Any]"]
"""One step:

- a text, which is the reply to the user;
- a `CallRequest`, or ``{"name": …, "arguments": …}``, or a list of them;
- an assistant's message of a chat, ``{"role": "assistant", "content": …, "tool_calls": […]}``:
  its calls if it has any (the words beside them are not heard), else its content as the reply."""
_EXPECTED = "a text, a call, a list of calls, or an assistant's message"


def read_action(action: Action, made: int = 0) -> tuple[ToolCall, ...] | str:
    """The calls of an action, or the reply that it is.

    What a model wrote wrongly within a call (arguments that are no JSON, a missing name) is in the
    `ToolCall`'s ``error``; the model is told of it.

    Args:
        made: Calls made before, for the ids of calls that have none.

    Raises:
        InputError: It is of none of the forms of `Action`: the caller's mistake, not a model's.
    """
    if isinstance(action, str):
        return action
    if isinstance(action, CallRequest):
        return (_call(action, made),)
    if isinstance(action, Mapping):
        if "name" in action or "function" in action:
            return (_call(action, made),)
        calls = action.get("tool_calls")
        if calls:
            return _calls(calls, made)
        content = action.get("content")
        if "content" in action and (content is None or isinstance(content, str)):
            return content or ""
    elif isinstance(action, list | tuple) and action:
        return _calls(action, made)
    raise InputError(f"{str(action)[:80]!r} is no step", field="action", expected=_EXPECTED)


def _calls(calls: Any, made: int) -> tuple[ToolCall, ...]:
    if isinstance(calls, str) or not isinstance(calls, Sequence):
        raise InputError("is no list", field="action.tool_calls", expected="a list of calls")
    return tuple(_call(call, made + place) for place, call in enumerate(calls))


def _call(call: Any, number: int) -> ToolCall:
    fallback = f"call_{number}"
    if isinstance(call, CallRequest):
        if isinstance(call.arguments, dict):
            # The usual way of a trainer: nothing is parsed that is parsed already.
            return ToolCall(call.id or fallback, call.name, call.arguments)
        return read_call(call.id, call.name, call.arguments, fallback_id=fallback)
    if not isinstance(call, Mapping):
        raise InputError(f"{str(call)[:80]!r} is no call", field="action", expected=_EXPECTED)
    said = call.get("function", call)
    if not isinstance(said, Mapping):
        raise InputError("is no object", field="action.function", expected="name and arguments")
    return read_call(call.get("id"), said.get("name"), said.get("arguments"), fallback_id=fallback)
