"""A played conversation for people: what was expected beside what was done, and what is wrong.

A verdict names a record by its id. Here it is named by what it says, as far as the episode holds
that: in what tools gave back, what calls wrote, and the arguments that were expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import CallRecord, TurnTrace
from crmbench.formats.readable import call_text, fact_text
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import TurnVerdict, describe
from crmbench.language.counts import counted

NAMES = ("name", "Name", "title", "Title", "subject", "Subject", "CaseNumber")
"""Fields that say what a record is called."""
MAX_VALUES = 5
_WORD = re.compile(r"[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*")
_UNWRITTEN = re.compile(r"(?P<table>\w+) (?P<key>\S+) was not written")
"""Matches "Contract c94013af was not written"; not "Contract c94013af.value: expected 5, got 6",
whose record is there."""


VARYING = re.compile(
    r" ?\([^)]*\)| ?“[^”]*”|'[^']*'| [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\$?\d[\d,.:-]*"
)
"""What tells two faults of one kind apart; see tests/report/faults.jsonl for what is taken out."""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ID = re.compile(rf"(?:(?<=\()|(?<=, )){_UUID}, |,? {_UUID}")
"""An id with the comma or space that goes with it; not one that a name has taken the place of."""


def render_played(task: Task, record: EpisodeRecord) -> str:
    """One episode as Markdown: the words, the calls with the expected ones, and what is wrong.

    It shows the ground truth.
    """
    verdict = record.verdict
    result = "passed" if verdict.success else "failed" if verdict.counted else "does not count"
    lines = [f"### {task.task_id}, trial {record.trace.trial + 1}: {result}"]
    if verdict.reason:
        lines += ["", verdict.reason]
    judged = {turn.turn_id: turn for turn in verdict.turns}
    turns = [turn.turn_id for turn in verdict.turns]
    problems = dict(zip(turns, problems_of(record), strict=True))
    for turn in record.trace.turns:
        gold = task.gold.turns[turn.turn_id - 1]
        found = problems.get(turn.turn_id, [])
        lines += ["", *_turn(turn, gold, judged.get(turn.turn_id), found)]
    left = len(task.turns) - len(record.trace.turns)
    if left:
        lines += ["", f"Not played: {left} of {counted(len(task.turns), 'turn')}."]
    return "\n".join(lines) + "\n"


def _turn(
    turn: TurnTrace, gold: GoldTurn, verdict: TurnVerdict | None, problems: Sequence[str]
) -> Iterator[str]:
    mark = "" if verdict is None else " (right)" if verdict.success else " (wrong)"
    yield f"**Turn {turn.turn_id}{mark}**"
    yield ""
    for message in turn.messages:
        who = "User" if message.role == "user" else "Agent"
        yield f"> {who}: " + message.text.replace("\n", "\n> ")
    if turn.error:
        yield f"- agent's error: {turn.error}"
    yield ""
    yield from (f"- expected `{call_text(call.tool, call.arguments)}`" for call in gold.calls)
    for done in turn.calls:
        yield f"- called   `{call_text(done.tool, done.arguments)}`{_end(done)}"
    if verdict is None:
        return
    for fact in gold.facts:
        missed = f"does not convey {describe(fact)}"
        lacking = any(said.startswith(missed) for said in verdict.unsaid)
        yield f"- {'[ ]' if lacking else '[x]'} tells {fact_text(fact)}"
    yield from (f"- wrong: {problem}" for problem in problems)


def _end(call: CallRecord) -> str:
    return "" if call.ok else f": refused, {call.error}"


# --- what is wrong ----------------------------------------------------------------------------


def commonest_faults(records: Iterable[EpisodeRecord]) -> list[tuple[int, str]]:
    """How many episodes have the same kind of first fault, and one of them in words.

    Args:
        records: Episodes that failed. Of those whose results were left out, some records have no
            name; their ids are left out too.

    Returns:
        The commonest first: the count, and the id, the turn and the fault of the first episode.
    """
    found: dict[str, list[str]] = {}
    for record in records:
        turns = zip(record.verdict.turns, problems_of(record), strict=True)
        first = next(((turn.turn_id, wrong[0]) for turn, wrong in turns if wrong), None)
        if first is None:
            place, fault = "", record.verdict.reason or "no reason is known"
        else:
            place, fault = f", turn {first[0]}", first[1]
        said = f"{record.task_id}{place}: {_ID.sub('', fault)}"
        found.setdefault(VARYING.sub("", fault), []).append(said)
    counts = [(len(examples), examples[0]) for examples in found.values()]
    return sorted(counts, key=lambda each: -each[0])


def problems_of(record: EpisodeRecord, known: Mapping[str, str] | None = None) -> list[list[str]]:
    """For each turn that was played what is wrong with the records, then with the reply.

    A record that is wrong since an earlier turn is not told again.

    Args:
        known: Ids with their names, where `names_in` was asked before.
    """
    names = names_in(record) if known is None else known
    told: dict[str, int] = {}
    found = []
    for verdict in record.verdict.turns:
        new = [each for each in verdict.mismatches if each not in told]
        lines = [_named(each, verdict, names) for each in new]
        if len(new) < len(verdict.mismatches):
            since = min(told[each] for each in verdict.mismatches if each in told)
            lines.append(f"still wrong since turn {since}")
        told |= dict.fromkeys(new, verdict.turn_id)
        found.append([*lines, *(resolved(each, names) for each in verdict.unsaid)])
    return found


def _named(mismatch: str, verdict: TurnVerdict, names: Mapping[str, str]) -> str:
    missing = _UNWRITTEN.fullmatch(mismatch)
    if missing and missing["key"] not in names and verdict.expected_arguments:
        return f"{missing['table']} ({_about(verdict.expected_arguments, names)}) was not written"
    return resolved(mismatch, names)


def resolved(text: str, names: Mapping[str, str]) -> str:
    """The text with every known id replaced by a name in quotes."""

    def name(match: re.Match[str]) -> str:
        known = names.get(match[0])
        return match[0] if known is None else f"“{known}”"

    return _WORD.sub(name, text)


def _about(arguments: Mapping[str, Any], names: Mapping[str, str]) -> str:
    values = [value for value in arguments.values() if isinstance(value, str | int | float)]
    shown = ", ".join(names.get(str(value), _shown(value)) for value in values[:MAX_VALUES])
    return shown + (", …" if len(values) > MAX_VALUES else "")


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def names_in(record: EpisodeRecord) -> dict[str, str]:
    """Ids that the episode holds a name for, and the names."""
    return dict(_names(record))


def _names(record: EpisodeRecord) -> Iterator[tuple[str, str]]:
    """Ids that the episode holds a name for."""
    for turn in record.trace.turns:
        for call in turn.calls:
            yield from _in_result(call.result)
            for change in call.changes:
                name = _name(change.after or change.before or {})
                if name:
                    yield change.key, name


def _in_result(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value:
            yield from _in_result(item)
    elif isinstance(value, Mapping):
        # A record's own id stands before those that it refers to.
        own = next((k for k in value if k == "Id" or k.endswith("_id")), None)
        name = _name(value)
        if own is not None and name and isinstance(value[own], str):
            yield value[own], name
        for item in value.values():
            yield from _in_result(item)


def _name(fields: Mapping[str, Any]) -> str | None:
    if fields.get("first_name"):
        return f"{fields['first_name']} {fields.get('last_name') or ''}".strip()
    found = next((fields[name] for name in NAMES if fields.get(name)), None)
    return found if isinstance(found, str) else None
