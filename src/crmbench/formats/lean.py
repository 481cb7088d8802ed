"""Outlines for figures: a hundred thousand of them at once in memory.

Figures count calls by tool and error, and look at what a tool was called with only where an answer
was submitted. Without other arguments most calls and most verdicts on turns are the same few, of
which one object each is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crmbench.core.trace import CallRecord, Message, TurnTrace
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import TurnVerdict

KEPT = 50_000
"""Objects of each kind that are remembered; others are kept as they come."""


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
        return replace(
            outline,
            trace=replace(trace, task_id=task_id, turns=turns),
            verdict=replace(
                verdict, task_id=task_id, turns=judged, reason=self._same(verdict.reason)
            ),
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
        return replace(
            turn,
            messages=tuple(map(self._message, turn.messages)),
            calls=self._same_calls(turn.calls),
        )

    def _message(self, message: Message) -> Message:
        # Users say the same in every trial; what agents say is rarely said twice.
        return self._same(message) if message.role == "user" else message

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
        tool = turn.tool
        key = (
            turn.turn_id, turn.success, turn.state, turn.facts, turn.expected_tool, turn.answer,
            turn.mismatches, turn.unsaid, turn.undecided, turn.misreport,
            turn.wrong_records,
            tool.tool, tool.arguments, tool.outcome, tool.reason,
        )  # fmt: skip
        found: TurnVerdict | None = self._kept.get(key)
        if found is None:
            bare = ToolMatch(None, tool.tool, tool.arguments, tool.outcome, tool.reason)
            found = replace(turn, tool=bare, expected_arguments=_NONE)
            if len(self._kept) < KEPT:
                self._kept[key] = found
        return found


def _answer(call: CallRecord) -> str | None:
    """What was submitted, which figures of answers are made from; None for other calls."""
    given = call.arguments.get(ANSWER_ARGUMENT) if call.tool == ANSWER_TOOL else None
    return None if given is None else str(given)


_NONE: dict[str, Any] = {}
