"""What a judge is shown of an episode: words, calls and their results, cut to a length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from crmbench.core.trace import CallRecord, TurnTrace

RESULT_LIMIT = 6_000
"""Characters of a tool's result that the judge reads."""


def shown_turns(turns: Sequence[TurnTrace], place: int) -> dict[str, Any]:
    """A turn with its results, and the turns before it without theirs.

    Args:
        place: Of the turn, from 0.
    """
    return {
        "earlier": [_shown(turn, results=False) for turn in turns[:place]],
        "turn": _shown(turns[place], results=True),
    }


def _shown(turn: TurnTrace, *, results: bool) -> dict[str, Any]:
    return {
        "messages": [{"from": _WHO[m.role], "text": m.text} for m in turn.messages],
        "calls": [_call(call, results=results) for call in turn.calls],
    }


_WHO = {"user": "person", "assistant": "assistant"}


def _call(call: CallRecord, *, results: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"tool": call.tool, "arguments": call.arguments}
    if not call.ok:
        return {**shown, "error": call.error}
    return {**shown, "result": _cut(call.result)} if results else shown


def _cut(result: Any) -> Any:
    text = orjson.dumps(result).decode()
    if len(text) <= RESULT_LIMIT:
        return result
    return f"{text[:RESULT_LIMIT]} … ({len(text) - RESULT_LIMIT:,} more characters)"
