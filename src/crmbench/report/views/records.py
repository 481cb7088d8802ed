"""What an episode left in the records, before and after, beside what should be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from crmbench.core.journal import Change, Effect, fold
from crmbench.core.schema import Row, Schema
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.errors import InputError
from crmbench.grading.grader import Grader
from crmbench.grading.state import Mismatch, compare_effects
from crmbench.report.views.episode import ORDER_COLUMN

Right = Literal["right", "wrong", "missing", "unasked", "unknown"]


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field of a record."""

    name: str
    before: Any
    after: Any
    expected: Any
    standing: Right


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record that was written, or should have been."""

    table: str
    key: str
    name: str
    what: str
    standing: Right
    fields: tuple[FieldView, ...]


def effect_of(trace: EpisodeTrace) -> Effect:
    """All that the calls of an episode changed."""
    return fold(change for turn in trace.turns for call in turn.calls for change in call.changes)


def written_records(effect: Effect) -> tuple[RecordView, ...]:
    """The records before and after, where nothing is known of what should be there."""
    return tuple(_view(change, {}, "unknown", known=False) for change in effect)


def expected_records(grader: Grader, task: Task, trace: EpisodeTrace) -> tuple[RecordView, ...]:
    """The records before and after an episode beside what is right: the gold is executed for it.

    Raises:
        CrmbenchError: The gold fails, or the run is of another schema.
    """
    runs = grader.gold_runs(task)
    last = len(trace.turns) - 1
    accepted = [run.effects[last] for run in runs] if last >= 0 else [()]
    schema = grader.backends.domain(task.domain).schema
    effect = effect_of(trace)
    strange = {change.table for change in effect} - schema.tables.keys()
    if strange:
        raise InputError(f"the run wrote into {min(strange)!r}, which its domain no longer has")
    return judged_records(schema, accepted, effect)


def judged_records(
    schema: Schema, accepted: Sequence[Effect], effect: Effect
) -> tuple[RecordView, ...]:
    """The records before and after beside what should be there; those that are wrong first.

    Args:
        accepted: The effects that are right; the one that is nearest is shown.
    """
    compared = [(compare_effects(schema, gold, effect), gold) for gold in accepted]
    wrong, gold = min(compared, key=lambda each: len(each[0]))
    by_place: dict[tuple[str, str], list[Mismatch]] = {}
    for each in wrong:
        by_place.setdefault((each.table, each.key), []).append(each)
    views = []
    for change in effect:
        found = by_place.pop((change.table, change.key), [])
        views.append(_judged(change, found))
    right = {(change.table, change.key): change for change in gold}
    for place, found in by_place.items():
        if place in right and found[0].kind == "missing_write":
            views.append(_missing(right[place]))
    order = {"missing": 0, "wrong": 1, "unasked": 2, "right": 3, "unknown": 4}
    return tuple(sorted(views, key=lambda view: (order[view.standing], view.table, view.key)))


def _judged(change: Change, found: Sequence[Mismatch]) -> RecordView:
    if not found:
        return _view(change, {}, "right")
    if found[0].kind in ("extra_write", "wrong_record"):
        return _view(change, {}, "unasked")
    if found[0].kind == "missing_write":  # deleted or changed otherwise than asked
        return _view(change, {}, "wrong")
    return _view(change, {str(each.field): each for each in found}, "wrong")


def _view(
    change: Change, wrong: Mapping[str, Mismatch], standing: Right, *, known: bool = True
) -> RecordView:
    before, after = change.before or {}, change.after or {}
    names = [n for n in {**before, **after} if n != ORDER_COLUMN]
    fields = []
    for name in names:
        old, new = before.get(name), after.get(name)
        if name in wrong:
            fields.append(FieldView(name, old, new, wrong[name].expected, "wrong"))
        elif old != new:
            right: Right = "unknown" if not known else "right" if standing == "wrong" else standing
            fields.append(FieldView(name, old, new, new if right == "right" else None, right))
    what = "created" if change.before is None else "deleted" if change.after is None else "changed"
    name = name_of(after) or name_of(before)
    return RecordView(change.table, change.key, name, what, standing, tuple(fields))


def _missing(change: Change) -> RecordView:
    """A record that the right way writes and this one did not."""
    before, after = change.before or {}, change.after or {}
    names = [n for n in {**before, **after} if n != ORDER_COLUMN]
    fields = tuple(
        FieldView(name, before.get(name), before.get(name), after.get(name), "missing")
        for name in names
        if before.get(name) != after.get(name)
    )
    what = (
        "to be created"
        if change.before is None
        else "to be deleted"
        if change.after is None
        else "to be changed"
    )
    name = name_of(after) or name_of(before)
    return RecordView(change.table, change.key, name, what, "missing", fields)


NAMES = ("name", "Name", "title", "Title", "subject", "Subject", "CaseNumber", "product_name")


def name_of(row: Row) -> str:
    """What a person knows a record by; empty if nothing says so."""
    if row.get("first_name"):
        return f"{row['first_name']} {row.get('last_name') or ''}".strip()
    return next((str(row[name]) for name in NAMES if row.get(name)), "")
