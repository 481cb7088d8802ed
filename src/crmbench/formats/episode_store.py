"""How an episode is kept: a line to read and to search, and apart from it what its tools gave back.

What tools gave back and changed is nine tenths of an episode, and no figure needs it. So the line
of ``episodes.jsonl`` leaves it out, and ``traces.jsonl.zst`` holds it, one compressed frame an
episode. Before each frame stands a skippable one (RFC 8878, section 3.1.2) that names the episode
and the frame's sizes: one episode is found without unpacking another, and ``zstdcat`` gives the
whole file as JSON Lines.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from crmbench.core.journal import Change
from crmbench.core.record import ParticipantRecords
from crmbench.core.trace import CallRecord, EpisodeTrace, Message, TokenUsage, TurnTrace
from crmbench.formats.fields import reader_of
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict

Key = tuple[str, int]
"""Task and trial."""

_MAGIC = 0x184D2A50
_HEAD = struct.Struct("<II")
_SIZES = struct.Struct("<III")
"""Bytes of the packed frame, bytes of the JSON in it, and the trial; the task's id follows."""
_LEVEL = 1
"""Higher levels make the frames 2 to 6 per cent smaller and take up to six times as long."""


class StoredCall(msgspec.Struct):
    """What a tool call gave back and changed."""

    result: Any
    changes: tuple[Change, ...]


class StoredTrace(msgspec.Struct):
    """A line of ``traces.jsonl.zst``: what the line of the episode leaves out."""

    task_id: str
    trial: int
    calls: tuple[tuple[StoredCall, ...], ...]
    """By turn and call."""
    compared: tuple[int | None, ...]
    """By turn, which of its calls the verdict's tool match is about, counted from 0."""


class EncodedEpisode(NamedTuple):
    """An episode as it is written, and the little that a run must know of it while it goes on."""

    task_id: str
    trial: int
    seconds: float
    turns: int
    usage: TokenUsage
    line: bytes
    """With its line end."""
    frame: bytes
    """The frame, and the skippable one before it."""
    result: bytes = b""
    """Its line of ``results.jsonl``, with its line end; empty where none is kept."""


class Frame(NamedTuple):
    """Where an episode's frame is in its file."""

    key: Key
    start: int
    """Of the skippable frame."""
    head: int
    """Bytes of the skippable frame."""
    packed: int
    size: int

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + self.head + self.packed


class _Line(msgspec.Struct):
    """A line of ``episodes.jsonl``."""

    trace: EpisodeTrace
    verdict: EpisodeVerdict
    aside: ParticipantRecords | None = None


_read_line = msgspec.json.Decoder(_Line).decode
_read_trace = msgspec.json.Decoder(StoredTrace).decode


@cache
def _codec() -> Any:
    # Imported with the first episode that is written or read as a whole: it takes 0.1 s.
    import pyarrow as pa

    return pa.Codec("zstd", compression_level=_LEVEL)


def encode(record: EpisodeRecord, result: bytes = b"") -> EncodedEpisode:
    """An episode as it is kept.

    Args:
        result: Its line of ``results.jsonl``.
    """
    trace, verdict = record.trace, record.verdict
    compared = _compared(trace, verdict)
    # Dictionaries, not records with other values: to make one of those takes three times as long.
    judged = [
        found if place is None else _judged_data(found, _tool_data(found.tool, None))
        for found, place in zip(verdict.turns, compared, strict=True)
    ]
    line: dict[str, Any] = {
        "trace": _trace_data(trace, [_turn_data(turn) for turn in trace.turns]),
        "verdict": _verdict_data(verdict, judged),
    }
    if record.participants is not None:
        line["aside"] = record.participants
    rest = {
        "task_id": trace.task_id,
        "trial": trace.trial,
        "calls": [
            [{"result": call.result, "changes": call.changes} for call in turn.calls]
            for turn in trace.turns
        ],
        "compared": compared,
    }
    return EncodedEpisode(
        trace.task_id,
        trace.trial,
        record.seconds,
        len(trace.turns),
        record.usage,
        orjson.dumps(line) + b"\n",
        pack(trace.task_id, trace.trial, orjson.dumps(rest) + b"\n"),
        result,
    )


_trace_data = reader_of(EpisodeTrace, "turns")
_verdict_data = reader_of(EpisodeVerdict, "turns")
_judged_data = reader_of(TurnVerdict, "tool")
_tool_data = reader_of(ToolMatch, "call")
_bare_turn = reader_of(TurnTrace, "messages", "calls")
_message_data = reader_of(Message)
_call_data = reader_of(CallRecord, "result", "changes")


def _turn_data(turn: TurnTrace) -> dict[str, Any]:
    return _bare_turn(
        turn,
        [_message_data(message) for message in turn.messages],
        [_call_data(call, None, ()) for call in turn.calls],
    )


def pack(task_id: str, trial: int, data: bytes) -> bytes:
    """A frame with `data`, and before it the skippable one that says what it is."""
    packed = _codec().compress(data, asbytes=True)
    head = _SIZES.pack(len(packed), len(data), trial) + task_id.encode()
    return b"".join((_HEAD.pack(_MAGIC, len(head)), head, packed))


def outline(line: bytes, seconds: float = 0.0) -> EpisodeRecord:
    """The episode of a line, without what the line leaves out.

    Raises:
        msgspec.DecodeError: It is no stored episode; the text names the place.
    """
    found = _read_line(line)
    return EpisodeRecord(found.trace, found.verdict, seconds, found.aside)


def whole(outlined: EpisodeRecord, packed: bytes, size: int) -> EpisodeRecord:
    """The episode of an outline and its frame, without the skippable one.

    Args:
        size: Bytes of the JSON in the frame.

    Raises:
        ValueError: The frame is damaged, or another episode's.
    """
    try:
        kept = _read_trace(_codec().decompress(packed, size, asbytes=True))
    except (OSError, msgspec.DecodeError) as error:
        raise ValueError(f"the frame is damaged: {error}") from error
    trace, verdict = outlined.trace, outlined.verdict
    if [len(turn.calls) for turn in trace.turns] != [len(calls) for calls in kept.calls]:
        raise ValueError("the frame holds other calls than the episode's line")
    pairs = zip(trace.turns, kept.calls, strict=True)
    turns = tuple(
        replace(turn, calls=tuple(map(_with_result, turn.calls, calls))) for turn, calls in pairs
    )
    found = zip(verdict.turns, turns, kept.compared, strict=True)
    judged = tuple(_with_call(verdict, turn.calls, place) for verdict, turn, place in found)
    return replace(
        outlined, trace=replace(trace, turns=turns), verdict=replace(verdict, turns=judged)
    )


def holds_results(record: EpisodeRecord) -> bool:
    """Whether a line holds all of its episode, as lines did before there were frames."""
    return any(found.tool.call is not None for found in record.verdict.turns) or any(
        call.result is not None or call.changes
        for turn in record.trace.turns
        for call in turn.calls
    )


def decode(episode: EncodedEpisode) -> EpisodeRecord:
    """The episode that was encoded."""
    _, length = _HEAD.unpack_from(episode.frame)
    _, size, _ = _SIZES.unpack_from(episode.frame, _HEAD.size)
    packed = episode.frame[_HEAD.size + length :]
    return whole(outline(episode.line, episode.seconds), packed, size)


def shortened(record: EpisodeRecord) -> EpisodeRecord:
    """The outline of a whole episode."""
    trace, verdict = record.trace, record.verdict
    turns = tuple(map(_without_results, trace.turns))
    bare = _without_calls(
        verdict, [None if turn.tool.call is None else 0 for turn in verdict.turns]
    )
    return replace(record, trace=replace(trace, turns=turns), verdict=bare)


def frames(path: Path) -> Iterator[Frame]:
    """The frames of a file in their order; what a kill left half-written at its end is left out.

    Raises:
        ValueError: Something else stands where a frame should.
    """
    if not path.exists():
        return
    with path.open("rb", buffering=0) as file:
        descriptor, end, start = file.fileno(), os.fstat(file.fileno()).st_size, 0
        while start + _HEAD.size + _SIZES.size < end:
            begin = os.pread(descriptor, 512, start)
            magic, length = _HEAD.unpack_from(begin)
            if magic != _MAGIC or length < _SIZES.size:
                raise ValueError(f"no frame of an episode at byte {start}")
            head = _HEAD.size + length
            if head > len(begin):
                begin = os.pread(descriptor, head, start)
            packed, size, trial = _SIZES.unpack_from(begin, _HEAD.size)
            task_id = begin[_HEAD.size + _SIZES.size : head].decode(errors="replace")
            found = Frame((task_id, trial), start, head, packed, size)
            if found.end > end:
                return
            yield found
            start = found.end


def _compared(trace: EpisodeTrace, verdict: EpisodeVerdict) -> list[int | None]:
    pairs = zip(trace.turns, verdict.turns, strict=True)
    return [_place(turn.calls, found.tool.call) for turn, found in pairs]


def _place(calls: Sequence[CallRecord], call: CallRecord | None) -> int | None:
    if call is None:
        return None
    # Nearly always the very object; an equal one where a verdict was read from a file.
    same = (place for place, each in enumerate(calls) if each is call)
    place = next(same, None)
    return place if place is not None else next((n for n, c in enumerate(calls) if c == call), None)


def _without_results(turn: TurnTrace) -> TurnTrace:
    calls = tuple(
        CallRecord(call.tool, call.arguments, call.ok, None, call.error, call.error_kind)
        for call in turn.calls
    )
    return replace(turn, calls=calls)


def _without_calls(verdict: EpisodeVerdict, compared: Sequence[int | None]) -> EpisodeVerdict:
    """Without calls that stand in the trace as well; one that does not stays."""
    turns = tuple(
        found if place is None else replace(found, tool=replace(found.tool, call=None))
        for found, place in zip(verdict.turns, compared, strict=True)
    )
    return replace(verdict, turns=turns)


def _with_result(call: CallRecord, kept: StoredCall) -> CallRecord:
    return CallRecord(
        call.tool, call.arguments, call.ok, kept.result, call.error, call.error_kind, kept.changes
    )


def _with_call(verdict: TurnVerdict, calls: Sequence[CallRecord], place: int | None) -> TurnVerdict:
    if place is None:
        return verdict
    return replace(verdict, tool=replace(verdict.tool, call=calls[place]))
