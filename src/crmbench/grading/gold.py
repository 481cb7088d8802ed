"""Following the gold: filling in references to earlier results, and the effect it leads to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.journal import Change, Effect, fold
from crmbench.core.task import GoldCall, Path, Task
from crmbench.core.trace import CallRecord, EpisodeTrace
from crmbench.core.world import Backend
from crmbench.errors import CrmbenchError
from crmbench.grading.facts.context import Context
from crmbench.grading.reports.sources import Sources

REFERENCE = re.compile(r"\{\{\s*turn_(\d+)(?:\.call_(\d+))?\.([A-Za-z0-9_.]+)\s*\}\}")
"""``{{turn_2.client_id}}``: that field of what turn 2 gave; ``{{turn_2.call_1.client_id}}``: of
what its first call gave."""


class ReferenceFault(CrmbenchError):
    """A reference to an earlier turn cannot be filled in: the ground truth is at fault."""


def resolve_references(arguments: Any, turns: Sequence[Sequence[CallRecord]]) -> Any:
    """`arguments` with every reference replaced by the value that the earlier calls gave.

    Args:
        turns: The calls made so far, one sequence a turn.

    Raises:
        ReferenceFault: A reference points to a call that was not made, failed, or gave no such
            field.
    """
    if isinstance(arguments, str):
        return _resolve_text(arguments, turns) if "{{" in arguments else arguments
    # Most are dictionaries, and whether one is a mapping takes as long to ask as to fill it in.
    if type(arguments) is dict or isinstance(arguments, Mapping):
        return {
            name: value if _is_plain(value) else resolve_references(value, turns)
            for name, value in arguments.items()
        }
    if isinstance(arguments, list | tuple):
        return [resolve_references(value, turns) for value in arguments]
    return arguments


def _is_plain(value: Any) -> bool:
    """Whether it holds no reference for certain; so with nearly all arguments."""
    kind = type(value)
    return "{{" not in value if kind is str else kind in _SCALARS


_SCALARS = frozenset((int, float, bool, type(None)))


def _resolve_text(text: str, turns: Sequence[Sequence[CallRecord]]) -> Any:
    whole = REFERENCE.fullmatch(text)
    if whole:
        return _value(whole, turns)
    return REFERENCE.sub(lambda match: str(_value(match, turns)), text)


def _value(reference: re.Match[str], turns: Sequence[Sequence[CallRecord]]) -> Any:
    turn, call, path = int(reference[1]), reference[2], reference[3]
    calls = turns[turn - 1] if 1 <= turn <= len(turns) else ()
    index = int(call) - 1 if call else len(calls) - 1
    if not 0 <= index < len(calls) or not calls[index].ok:
        raise ReferenceFault(f"{reference[0]} refers to a call that gave no result")
    value = first_record(calls[index].result)
    for step in path.split("."):
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            raise ReferenceFault(f"{reference[0]} refers to a field that the result lacks")
    return value


def first_record(result: Any) -> Any:
    """A result itself, or the first record of a search that found one."""
    if isinstance(result, Mapping) and isinstance(result.get("records"), list):
        records = result["records"]
        return {**result, **records[0]} if records else result
    return result


@dataclass(frozen=True)
class GoldRun:
    """One right path, walked."""

    effects: tuple[Effect, ...]
    """After each turn: all that changed since the start."""
    calls: tuple[tuple[CallRecord, ...], ...]
    faults: tuple[str, ...]
    """Where the ground truth contradicts itself: what a call gave against what it should."""
    kept: dict[int, tuple[Task, Context]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By turn, what a reader knows beside a reply to it; made when first needed."""
    kept_sources: dict[int, Sources] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By turn, what reports of the deeds last met there may draw on."""


def execute_gold(domain: Domain, task: Task, backend: Backend, path: Path | None = None) -> GoldRun:
    """Execute the gold calls of a task (or another path of it) on a copy of its world."""
    turns = path.turns if path else tuple(turn.calls for turn in task.gold.turns)
    done: list[tuple[CallRecord, ...]] = []
    effects: list[Effect] = []
    faults: list[str] = []
    changes: list[Change] = []
    with Episode(domain, task, backend) as episode:
        for number, calls in enumerate(turns, start=1):
            made = _execute_turn(episode, calls, done, faults, number)
            _check_turn(task, number, made, faults)
            done.append(made)
            changes += [change for call in made for change in call.changes]
            effects.append(fold(changes))
    return GoldRun(tuple(effects), tuple(done), tuple(faults))


def run_of_trace(task: Task, trace: EpisodeTrace) -> GoldRun | None:
    """What `execute_gold` would give, read off a trace whose calls are exactly the gold's.

    The same calls in the same world give the same, so nothing need be executed. Only for episodes
    in which nothing was laid over the task. None: other calls were made, or not all of them.
    """
    if trace.outcome != "finished" or len(trace.turns) != len(task.gold.turns):
        return None
    done: list[tuple[CallRecord, ...]] = []
    effects: list[Effect] = []
    faults: list[str] = []
    changes: list[Change] = []
    for number, (gold, turn) in enumerate(zip(task.gold.turns, trace.turns, strict=True), start=1):
        if not _follows(turn.calls, gold.calls, done, faults, number):
            return None
        _check_turn(task, number, turn.calls, faults)
        done.append(turn.calls)
        written = [change for call in turn.calls for change in call.changes]
        changes += written
        effects.append(fold(changes) if written or not effects else effects[-1])
    return GoldRun(tuple(effects), tuple(done), tuple(faults))


def _follows(
    made: Sequence[CallRecord],
    calls: Sequence[GoldCall],
    done: list[tuple[CallRecord, ...]],
    faults: list[str],
    number: int,
) -> bool:
    """Whether the calls of a turn are those that `_execute_turn` would make."""
    place = 0
    for call in calls:
        try:
            arguments = resolve_references(call.arguments, [*done, made[:place]])
        except ReferenceFault as fault:
            faults.append(f"turn {number}: {fault}")
            continue
        if place == len(made) or (made[place].tool, made[place].arguments) != (
            call.tool,
            arguments,
        ):
            return False
        place += 1
    return place == len(made) and not any(call.error_kind == "limit" for call in made)


def _execute_turn(
    episode: Episode,
    calls: Sequence[GoldCall],
    done: list[tuple[CallRecord, ...]],
    faults: list[str],
    number: int,
) -> tuple[CallRecord, ...]:
    made: list[CallRecord] = []
    for call in calls:
        try:
            arguments = resolve_references(call.arguments, [*done, made])
        except ReferenceFault as fault:
            faults.append(f"turn {number}: {fault}")
            continue
        made.append(episode.execute(call.tool, arguments))
    return tuple(made)


def _check_turn(task: Task, number: int, made: tuple[CallRecord, ...], faults: list[str]) -> None:
    gold = task.gold.turns[number - 1]
    for position, call in enumerate(made, start=1):
        must_fail = not gold.expect_success and position == len(made)
        if call.ok and must_fail and gold.error_substring is not None:
            faults.append(f"turn {number}: {call.tool} should be refused and is not")
        elif not call.ok and not must_fail:
            faults.append(f"turn {number}: {call.tool}: {call.error}")
        elif not call.ok and not error_matches(gold.error_substring, call.error):
            faults.append(
                f"turn {number}: {call.tool} fails with {call.error!r}, "
                f"which lacks {gold.error_substring!r}"
            )


def error_matches(expected: str | None, error: str | None) -> bool:
    """Whether an error holds the text that was expected, in any case; None expects any error."""
    return expected is None or expected.casefold() in (error or "").casefold()
