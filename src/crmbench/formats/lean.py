"""Outlines for figures: a hundred thousand of them at once in memory.

Figures count calls by tool and error, and look at what a tool was called with only where an answer
was submitted. Without other arguments most calls and most verdicts on turns are the same few, of
which one object each is kept.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, get_type_hints

import msgspec

from crmbench.core.record import ParticipantRecords
from crmbench.core.trace import CallRecord, EpisodeTrace, Message, TurnTrace
from crmbench.formats.episode_store import outline
from crmbench.formats.fields import replacer_of
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict

KEPT = 50_000
"""Objects of each kind that are remembered; others are kept as they come."""
RECENT = 1_000
"""Episodes whose turns are known again by their bytes, some kB each. Trials follow one another."""

_trace = replacer_of(EpisodeTrace, "task_id", "turns")
_verdict = replacer_of(EpisodeVerdict, "task_id", "turns", "reason")
_turn = replacer_of(TurnTrace, "messages", "calls")
_bare_verdict = replacer_of(TurnVerdict, "tool", "expected_arguments")
_verdict_key = attrgetter(
    "turn_id", "success", "state", "facts", "expected_tool", "answer", "mismatches", "unsaid",
    "undecided", "misreport", "wrong_records",
    "tool.tool", "tool.arguments", "tool.outcome", "tool.reason",
)  # fmt: skip


def _with_raw_turns(kind: type[Any]) -> type[Any]:
    """What reads a kind from JSON with its turns left as the bytes that they are there."""
    types = get_type_hints(kind) | {"turns": msgspec.Raw}
    return msgspec.defstruct(
        kind.__name__,
        [
            (field.name, types[field.name])
            if field.default is MISSING
            else (field.name, types[field.name], field.default)
            for field in fields(kind)
        ],
    )


if TYPE_CHECKING:
    _RawTrace: TypeAlias = Any
    _RawVerdict: TypeAlias = Any
else:
    _RawTrace, _RawVerdict = _with_raw_turns(EpisodeTrace), _with_raw_turns(EpisodeVerdict)


class _RawLine(msgspec.Struct):
    """A line of ``episodes.jsonl`` whose turns are not read."""

    trace: _RawTrace
    verdict: _RawVerdict
    aside: ParticipantRecords | None = None


_read_line = msgspec.json.Decoder(_RawLine).decode
_read_turns = msgspec.json.Decoder(tuple[TurnTrace, ...]).decode
_read_verdicts = msgspec.json.Decoder(tuple[TurnVerdict, ...]).decode


class Lean:
    """Reads lean outlines. Those read by one of these share what they have in common."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}
        self._turns_of = lru_cache(RECENT)(self._lean_turns)
        self._verdicts_of = lru_cache(RECENT)(self._lean_verdicts)

    def read(self, line: bytes, seconds: float = 0.0) -> EpisodeRecord:
        """The episode of a line of ``episodes.jsonl``, without what its tools were called with
        unless that was an answer.

        Raises:
            msgspec.DecodeError: It is no stored episode; the text names the place.
        """
        try:
            found = _read_line(line)
            turns = self._turns_of(bytes(found.trace.turns))
            judged = self._verdicts_of(bytes(found.verdict.turns))
        except msgspec.DecodeError:
            outline(line)  # which names the place from the beginning of the line
            raise
        return self._episode(found.trace, turns, found.verdict, judged, seconds, found.aside)

    def shorten(self, record: EpisodeRecord, seconds: float) -> EpisodeRecord:
        """What `read` gives of the line of an episode, where the episode itself is at hand."""
        trace, verdict = record.trace, record.verdict
        turns = tuple(map(self._turn, trace.turns))
        judged = tuple(map(self._verdict, verdict.turns))
        return self._episode(trace, turns, verdict, judged, seconds, record.participants)

    def _episode(
        self,
        trace: EpisodeTrace | _RawTrace,
        turns: tuple[TurnTrace, ...],
        verdict: EpisodeVerdict | _RawVerdict,
        judged: tuple[TurnVerdict, ...],
        seconds: float,
        participants: ParticipantRecords | None,
    ) -> EpisodeRecord:
        task_id = self._same(trace.task_id)
        return EpisodeRecord(
            _trace(trace, task_id, turns),
            _verdict(verdict, task_id, judged, self._same(verdict.reason)),
            seconds,
            participants,
        )

    def _lean_turns(self, data: bytes) -> tuple[TurnTrace, ...]:
        return tuple(map(self._turn, _read_turns(data)))

    def _lean_verdicts(self, data: bytes) -> tuple[TurnVerdict, ...]:
        return tuple(map(self._verdict, _read_verdicts(data)))

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
