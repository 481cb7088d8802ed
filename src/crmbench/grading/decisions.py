"""Readings that the grader is not certain of, for a person to decide, and what was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crmbench.core.trace import Decision, EpisodeTrace
from crmbench.errors import InputError
from crmbench.grading.record import EpisodeRecord


@dataclass(frozen=True, slots=True)
class OpenReading:
    """One reading that leaves a turn open."""

    task_id: str
    trial: int
    turn: int
    reading: str
    """What may be wrong, in the grader's words."""
    question: str
    reply: str


def open_readings(episodes: Sequence[EpisodeRecord]) -> Iterator[OpenReading]:
    """Every reading that would decide an undecided episode, in order."""
    for episode in episodes:
        if not episode.verdict.undecided:
            continue
        for turn, verdict in zip(episode.trace.turns, episode.verdict.turns, strict=True):
            for why in verdict.undecided:
                yield OpenReading(
                    episode.verdict.task_id,
                    episode.verdict.trial,
                    turn.turn_id,
                    why,
                    turn.utterance,
                    turn.reply,
                )


def without_decisions_by(trace: EpisodeTrace, name: str) -> EpisodeTrace:
    """The trace without what this judge or person decided."""
    turns = (
        replace(turn, decisions=tuple(each for each in turn.decisions if each.by != name))
        for turn in trace.turns
    )
    return replace(trace, turns=tuple(turns))


def decision_from(data: Mapping[str, Any], line: int) -> tuple[tuple[str, int, int], Decision]:
    """A line of a file of decisions: the turn that it is about, and the decision.

    Raises:
        InputError: A field is missing or of the wrong type.
    """
    wanted = {"task_id": str, "trial": int, "turn": int, "reading": str, "right": bool, "by": str}
    for name, kind in wanted.items():
        if not isinstance(data.get(name), kind):
            raise InputError(f"no usable '{name}'", line=line, field=name, expected=kind.__name__)
    decision = Decision(data["reading"], data["right"], data["by"], str(data.get("reply", "")))
    return (data["task_id"], data["trial"], data["turn"]), decision


def with_decisions(
    trace: EpisodeTrace, decisions: Mapping[tuple[str, int, int], Sequence[Decision]]
) -> EpisodeTrace:
    """The trace with what was decided of its turns, each with the reply that was read."""
    turns = []
    for turn in trace.turns:
        new = decisions.get((trace.task_id, trace.trial, turn.turn_id), ())
        kept = [old for old in turn.decisions if old.reading not in {each.reading for each in new}]
        made = (replace(each, text=turn.reply) for each in new)
        turns.append(replace(turn, decisions=(*kept, *made)))
    return replace(trace, turns=tuple(turns))
