"""Outlines for figures: a hundred thousand of them at once in memory.

Figures count calls by tool and error, and look at what a tool was called with only where an answer
was submitted. Without other arguments most calls and most verdicts on turns are the same few, of
which one object each is kept.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from crmbench.core.trace import CallRecord, EpisodeTrace, Message, TurnTrace
from crmbench.formats.fields import replacer_of
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict

KEPT = 50_000
"""Objects of each kind that are remembered; others are kept as they come."""

_outline = replacer_of(EpisodeRecord, "trace", "verdict")
_trace = replacer_of(EpisodeTrace, "task_id", "turns")
_verdict = replacer_of(EpisodeVerdict, "task_id", "turns", "reason")
_turn = replacer_of(TurnTrace, "messages", "calls")
_bare_verdict = replacer_of(TurnVerdict, "tool", "expected_arguments")
_verdict_key = attrgetter(
    "turn_id", "success", "state", "facts", "expected_tool", "answer", "mismatches", "unsaid",
    "undecided", "misreport", "wrong_records",
    "tool.tool", "tool.arguments", "tool.outcome", "tool.reason",
)  # fmt: skip


class Lean:
    """Makes outlines lean. Those made by one of these share what they have in common."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def __call__(self, outline: EpisodeRecord) -> EpisodeRecord:
        """The outline without what tools were called with, answers aside."""
        trace, verdict = outline.trace, outline.verdict
        task_id = self._same(trace.task_id)
        turns = tuple(map(self._turn, trace.turns))
        judged = tuple(map(self._verdict, verdict.turns))
        return _outline(
            outline,
            _trace(trace, task_id, turns),
            _verdict(verdict, task_id, judged, self._same(verdict.reason)),
        )

    def _same(self, value: Any) -> Any:
        """The first value equal to this one."""
        found = self._kept.get(value)
        if found is None:
            if len(self._kept) < KEPT:
                self._kept[value] = value
            return value
        return found

    def _turn(self, turn: TurnTrace) -> TurnTrace:
        messages = tuple(map(self._message, turn.messages))
        return _turn(turn, messages, self._same_calls(turn.calls))

    def _message(self, message: Message) -> Message:
        # Users say the same in every trial; what agents say is rarely said twice.
        if message.role != "user":
            return message
        key = (message.role, message.text)
        found: Message = self._kept.get(key, message)
        if found is message and len(self._kept) < KEPT:
            self._kept[key] = message
        return found

    def _same_calls(self, calls: tuple[CallRecord, ...]) -> tuple[CallRecord, ...]:
        key = tuple((c.tool, c.ok, c.error, c.error_kind, _answer(c)) for c in calls)
        found: tuple[CallRecord, ...] | None = self._kept.get(key)
        if found is None:
            found = tuple(
                CallRecord(tool, _NONE if a is None else {ANSWER_ARGUMENT: a}, ok, None, e, k)
                for tool, ok, e, k, a in key
            )
            if len(self._kept) < KEPT:
                self._kept[key] = found
        return found

    def _verdict(self, turn: TurnVerdict) -> TurnVerdict:
        key = _verdict_key(turn)
        found: TurnVerdict | None = self._kept.get(key)
        if found is None:
            tool = turn.tool
            bare = ToolMatch(None, tool.tool, tool.arguments, tool.outcome, tool.reason)
            found = _bare_verdict(turn, bare, _NONE)
            if len(self._kept) < KEPT:
                self._kept[key] = found
        return found


def _answer(call: CallRecord) -> str | None:
    """What was submitted, which figures of answers are made from; None for other calls."""
    given = call.arguments.get(ANSWER_ARGUMENT) if call.tool == ANSWER_TOOL else None
    return None if given is None else str(given)


_NONE: dict[str, Any] = {}
