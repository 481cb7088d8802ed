"""Did the agent leave the org as it should be? Compares two effects, never the calls.

A created row has another id on each side, so it is matched by what it says: its compared columns,
where a reference to another created row stands for that row's content in turn. Updated and
deleted rows existed before and are matched by key.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from crmbench.core.journal import Change, Effect
from crmbench.core.schema import Compare, Row, Schema
from crmbench.language.legal_forms import without_legal_forms

MismatchKind = Literal["missing_write", "wrong_field", "extra_write", "wrong_record"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One way in which the org is not as it should be."""

    kind: MismatchKind
    table: str
    key: str
    """Of the record that is wrong; for a missing creation the gold's own id."""
    field: str | None = None
    expected: Any = None
    got: Any = None

    def __str__(self) -> str:
        place = f"{self.table} {self.key}" + (f".{self.field}" if self.field else "")
        if self.kind == "wrong_field":
            return f"{place}: expected {self.expected!r}, got {self.got!r}"
        words = {
            "missing_write": "was not written",
            "extra_write": "should not have been written",
            "wrong_record": f"was written instead of {self.expected}",
        }
        return f"{place} {words[self.kind]}"


def to_be_left_alone(mismatches: Sequence[Mismatch]) -> tuple[str, ...]:
    """The records, by table and key, that were written and were to be left alone."""
    kinds = ("extra_write", "wrong_record")
    return tuple(dict.fromkeys(f"{m.table} {m.key}" for m in mismatches if m.kind in kinds))


def compare_effects(schema: Schema, gold: Effect, got: Effect) -> tuple[Mismatch, ...]:
    """What differs between the effect that is right and the one that came about.

    Returns:
        Nothing when they agree. Free text (columns compared as ``note``) that the gold writes is
        left to the facts; where the gold writes none, there must be none.
    """
    if gold == got:
        return ()
    gold_side, got_side = _Side(schema, gold), _Side(schema, got)
    found = [
        *_compare_existing(gold_side, got_side),
        *_compare_created(gold_side, got_side),
    ]
    return tuple(_name_wrong_records(found))


class _Side:
    """One effect, sorted by what happened to its rows."""

    def __init__(self, schema: Schema, effect: Effect) -> None:
        self.schema = schema
        self.created: dict[tuple[str, str], Row] = {}
        self.updated: dict[tuple[str, str], Change] = {}
        self.deleted: dict[tuple[str, str], Change] = {}
        for change in effect:
            place = (change.table, change.key)
            if change.before is None and change.after is not None:
                self.created[place] = change.after
            elif change.after is None:
                self.deleted[place] = change
            else:
                self.updated[place] = change
        self._tables = {key: table for table, key in self.created}
        self._contents: dict[str, str] = {}

    def content(self, key: str, _open: frozenset[str] = frozenset()) -> str:
        """What a created row says, whatever its id."""
        if key not in self._contents:
            table = self._tables[key]
            row = self.created[table, key]
            info = self.schema[table]
            parts = [table]
            for name in info.columns:
                if name in info.assigned:
                    parts.append(f"{name}={day_of(row[name])}")
                    continue
                if info.compare[name] in _BY_OTHER_MEANS:
                    continue
                parts.append(f"{name}={self.normal(table, name, row[name], _open | {key})}")
            self._contents[key] = "(" + ";".join(parts) + ")"
        return self._contents[key]

    def normal(self, table: str, name: str, value: Any, _open: frozenset[str] = frozenset()) -> Any:
        """A value such that equal values are written the same."""
        if isinstance(value, str) and value in self._tables and value not in _open:
            return self.content(value, _open)
        return normalise(self.schema[table].compare[name], value)


_BY_OTHER_MEANS = ("note", "free")
"""Kinds of columns whose values are not compared with the gold's."""


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=T|$)")


def day_of(value: Any) -> str | None:
    """The day of a moment that the server notes; None of anything else.

    The second depends on how many writes came before, the day does not: a record that an agent
    dates back is not what was asked for.
    """
    match = _DAY.match(value) if isinstance(value, str) else None
    return match[0] if match else None


def normalise(compare: Compare, value: Any) -> Any:
    """A value reduced to what counts in the comparison that its column declares."""
    if value is None or value == "":
        return None
    if compare == "money" and isinstance(value, int | float):
        return round(float(value), 2)
    if compare == "number" and isinstance(value, int | float):
        return float(f"{value:.7g}")
    if compare == "title" and isinstance(value, str):
        value = without_legal_forms(value)
    if compare in ("text", "title", "note") and isinstance(value, str):
        folded = unicodedata.normalize("NFKC", value).casefold()
        return " ".join(folded.split())
    return value


def values_equal(compare: Compare, first: Any, second: Any) -> bool:
    """Whether two values of a column count as the same."""
    one, two = normalise(compare, first), normalise(compare, second)
    if isinstance(one, float) and isinstance(two, int | float):
        tolerance = 0.005 if compare == "money" else 1e-6 * max(abs(one), abs(two))
        return abs(one - two) <= tolerance
    return bool(one == two)


def _compare_existing(gold: _Side, got: _Side) -> list[Mismatch]:
    found = []
    for place in sorted(gold.updated.keys() | got.updated.keys()):
        if place in gold.deleted or place in got.deleted:
            continue
        found += _compare_update(place, gold, got)
    for place in sorted(gold.deleted.keys() - got.deleted.keys()):
        found.append(Mismatch("missing_write", *place))
    for place in sorted(got.deleted.keys() - gold.deleted.keys()):
        found.append(Mismatch("extra_write", *place))
    return found


def _compare_update(place: tuple[str, str], gold: _Side, got: _Side) -> list[Mismatch]:
    """Compares a row that either side updated; the side that did not keeps its old values."""
    table, key = place
    info = gold.schema[table]
    expected_change, got_change = gold.updated.get(place), got.updated.get(place)
    either = expected_change or got_change
    if either is None or either.before is None:
        return []
    expected = (expected_change.after if expected_change else None) or either.before
    actual = (got_change.after if got_change else None) or either.before
    wrong = []
    for name in info.columns:
        compare = info.compare[name]
        if expected[name] == actual[name]:
            continue
        if name in info.assigned and expected[name] != either.before[name]:
            # The server noted the moment of the gold's write, which may be another one's.
            continue
        if compare == "note" and expected[name] != either.before[name]:
            continue
        one = gold.normal(table, name, expected[name])
        two = got.normal(table, name, actual[name])
        if one != two and not values_equal(compare, expected[name], actual[name]):
            wrong.append(Mismatch("wrong_field", table, key, name, expected[name], actual[name]))
    if wrong and got_change is None:
        return [Mismatch("missing_write", table, key)]
    if wrong and expected_change is None:
        return [Mismatch("extra_write", table, key)]
    return wrong


def _compare_created(gold: _Side, got: _Side) -> list[Mismatch]:
    wanted: dict[str, list[str]] = defaultdict(list)
    for _table, key in sorted(gold.created):
        wanted[gold.content(key)].append(key)
    left: dict[str, list[str]] = defaultdict(list)
    paired: list[tuple[str, str, str]] = []
    for table, key in sorted(got.created):
        if wanted[got.content(key)]:
            paired.append((table, wanted[got.content(key)].pop(), key))
        else:
            left[table].append(key)
    found = _unasked_notes(gold, got, paired)
    for table, key in sorted((t, k) for t, k in gold.created if k in _flat(wanted)):
        found += _pair(gold, got, table, key, left[table])
    for table in sorted(left):
        found += [Mismatch("extra_write", table, key) for key in left[table]]
    return found


def _unasked_notes(
    gold: _Side, got: _Side, paired: Sequence[tuple[str, str, str]]
) -> list[Mismatch]:
    """Free text on new rows that the gold leaves empty.

    Rows that say the same may be paired in any order, so what counts is how many of them have text.

    Args:
        paired: Table, the gold's key, and the key of the row that says the same.
    """
    found = []
    alike: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for table, one, two in paired:
        alike[table, gold.content(one)].append((one, two))
    for (table, _content), pairs in alike.items():
        for name in gold.schema[table].columns:
            if gold.schema[table].compare[name] != "note":
                continue
            allowed = sum(bool(gold.created[table, one][name]) for one, _ in pairs)
            texts = [two for _, two in pairs if got.created[table, two][name]]
            for key in texts[allowed:]:
                text = got.created[table, key][name]
                found.append(Mismatch("wrong_field", table, key, name, None, text))
    return found


def _flat(groups: Mapping[str, list[str]]) -> set[str]:
    return {key for keys in groups.values() for key in keys}


def _pair(gold: _Side, got: _Side, table: str, key: str, candidates: list[str]) -> list[Mismatch]:
    """The nearest of the rows left over, with what is wrong in it; else the row is missing."""
    best: list[Mismatch] | None = None
    chosen = ""
    for candidate in candidates:
        wrong = _field_mismatches(gold, got, table, key, candidate)
        if best is None or len(wrong) < len(best):
            best, chosen = wrong, candidate
    if best is None:
        return [Mismatch("missing_write", table, key)]
    candidates.remove(chosen)
    return best


def _field_mismatches(
    gold: _Side, got: _Side, table: str, key: str, candidate: str
) -> list[Mismatch]:
    info = gold.schema[table]
    expected, actual = gold.created[table, key], got.created[table, candidate]
    wrong = []
    for name in info.columns:
        compare = info.compare[name]
        if compare == "free" or (compare == "note" and expected[name]):
            continue
        if name in info.assigned and day_of(expected[name]) == day_of(actual[name]):
            continue
        one = gold.normal(table, name, expected[name])
        two = got.normal(table, name, actual[name])
        if one != two and not values_equal(compare, expected[name], actual[name]):
            wrong.append(
                Mismatch("wrong_field", table, candidate, name, expected[name], actual[name])
            )
    return wrong


def _name_wrong_records(found: list[Mismatch]) -> list[Mismatch]:
    """A write that is missing on one record and too many on another of its kind went astray."""
    missing = Counter(m.table for m in found if m.kind == "missing_write")
    named = []
    for mismatch in found:
        if mismatch.kind == "extra_write" and missing[mismatch.table] > 0:
            missing[mismatch.table] -= 1
            meant = next(
                m.key for m in found if m.kind == "missing_write" and m.table == mismatch.table
            )
            mismatch = Mismatch("wrong_record", mismatch.table, mismatch.key, expected=meant)
        named.append(mismatch)
    return named
