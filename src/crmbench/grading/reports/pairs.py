"""Which record a value is told of, where several were written.

"Case A went to Theo and case B to Cora" is wrong when it was the other way round. A value that was
written on one record and is told of another leaves a report open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from crmbench.core.journal import Change
from crmbench.grading.reports.roles import Span, phrases, role, spans
from crmbench.grading.reports.sources import Sources
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading
from crmbench.language.stance import stance

_VERSION = re.compile(r"\bv\d{1,2}\b")
_PART = re.compile(r"[.;:!?\n|()](?=\s|$)|,(?=\s)|\b(?:and|but|while|whereas)\b")
STATUS = re.compile(r"\b(?:(draft)|(sent)|(approved)|(rejected)|(cancel(?:l?ed)))\b")
"""Example: "set v1 to Sent". Not: "v1 will be resent"."""
_STATUSES = ("draft", "sent", "approved", "rejected", "canceled")


def misstated_versions(reading: Reading, sources: Sources) -> Iterator[str]:
    """A status is told of one version of a quote that another one was given."""
    held: dict[str, tuple[str, str]] = {}
    for change in sources.deeds.effect:
        row, before = change.after or {}, change.before or {}
        if isinstance(row.get("version"), str) and isinstance(row.get("status"), str):
            old = str(before.get("status") or "")
            held[fold(row["version"])] = (fold(row["status"]), fold(old))
    if len(held) < 2:
        return
    start = 0
    for end in (*(match.start() for match in _PART.finditer(reading.low)), len(reading.low)):
        versions = set(_VERSION.findall(reading.low, start, end))
        why = _misstated_amount(reading, (start, end), versions, sources)
        if why:
            yield why
            return
        told = list(STATUS.finditer(reading.low, start, end))
        start = end
        if len(versions) != 1 or len(told) != 1 or (version := versions.pop()) not in held:
            continue
        status = _STATUSES[(told[0].lastindex or 1) - 1]
        now, old = held[version]
        others = {other for key, (other, _) in held.items() if key != version}
        if status == now or status not in others or stance(reading, *told[0].span()):
            continue
        if status != old or role(reading, *told[0].span()) != "old":
            yield f"{told[0][0]!r} of {version} was written on another version"
            return


_REPLACED = re.compile(r"\b(?:replac\w+|new|instead of v\d+|successor|fresh|follow\w*|from|was)\b")


def _misstated_amount(reading: Reading, span: Span, versions: set[str], sources: Sources) -> str:
    """Why an amount is told of one version of a quote that another one was given; or nothing."""
    start, end = span
    if len(versions) != 1 or _REPLACED.search(reading.low, start, end):
        return ""
    rows = [change.after or {} for change in sources.deeds.effect if change.table == "Quote"]
    held = {fold(str(row.get("version"))): row.get("amount") for row in rows}
    own = held.get(next(iter(versions)))
    others = {amount for key, amount in held.items() if key not in versions} - {own}
    for amount in reading.numbers:
        if start <= amount.start < end and own is not None and amount.value in others:
            return f"{reading.text[amount.start : amount.end]!r} was written on another version"
    return ""


_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")


class _ChangedRow(NamedTuple):
    """A record that was written."""

    table: str
    called: frozenset[str]
    """What it is called, folded."""
    fresh: frozenset[str]
    """The values that were set, folded."""
    now: frozenset[str]
    """All that it holds."""
    replaced: frozenset[str]
    """What it held before."""


def mispaired(reading: Reading, sources: Sources) -> Iterator[str]:
    """A value that was written on one record and is told of another, in words."""
    tables = [change.table for change in sources.deeds.effect]
    if len(set(tables)) == len(tables):
        return
    written = [record for record in _written(sources) if record.called]
    if len(written) < 2:
        return
    for record, first, last in _told_of(reading, written):
        others = {value for other in _alike(record, written) for value in other.fresh}
        own = any(first <= at < last for value in record.fresh for at, _ in spans(reading, value))
        for value in sorted(others - record.now):
            replaced = value in record.replaced
            if (own and replaced) or (value in sources.context.said and not replaced):
                continue
            for start, end in spans(reading, value):
                if not first <= start < last or _in_a_name(start, reading, written):
                    continue
                if _of_another_version(reading, first, start, record):
                    continue
                if not (replaced and role(reading, start, end) == "old"):
                    yield f"{reading.text[start:end]!r} was written on another record"
                    return
    yield from _twice(reading, written)


_NEAR = 30
"""Characters at most between what a value was and what it is, where both are told in one go."""


def turned_round(reading: Reading, sources: Sources) -> Iterator[str]:
    """A change that is told the wrong way round, in words: "from Escalated to New", where all went
    from New to Escalated.
    """
    moves = {
        (old, new)
        for cell in sources.cells
        for old in cell.old
        for new in cell.new
        if old and new and old != new
    }
    for old, new in sorted(moves):
        if (new, old) in moves:  # of another record it is so
            continue
        for start, end in spans(reading, new):
            if role(reading, start, end) != "old":
                continue
            last = min(end + _NEAR + len(old), reading.sentence(start)[1])
            for first, till in spans(reading, old):
                if end <= first < last and role(reading, first, till) == "new":
                    yield f"it was changed from {old!r} to {new!r}, not the other way round"
                    return


def _of_another_version(reading: Reading, first: int, place: int, record: _ChangedRow) -> bool:
    """Whether the last version that is named before a value is not that of a record."""
    told = _VERSION.findall(reading.low, first, place)
    own = {version for name in record.called for version in _VERSION.findall(name)}
    return bool(told) and bool(own) and told[-1] not in own


def _alike(record: _ChangedRow, written: list[_ChangedRow]) -> list[_ChangedRow]:
    return [other for other in written if other is not record and other.table == record.table]


def _in_a_name(place: int, reading: Reading, written: list[_ChangedRow]) -> bool:
    return any(
        start <= place < end
        for record in written
        for name in record.called
        for start, end in phrases(reading.low, name)
    )


def _written(sources: Sources) -> Iterator[_ChangedRow]:
    for change in sources.deeds.effect:
        after, before = change.after or {}, change.before or {}
        now = {value for held in after.values() for value in sources.shown(held)}
        replaced = {value for held in before.values() for value in sources.shown(held)}
        fresh = {
            value
            for column, new in after.items()
            if new != before.get(column)
            for value in sources.shown(new)
            if len(value) > 2
        }
        yield _ChangedRow(
            change.table,
            frozenset(_called(change, sources)),
            frozenset(fresh),
            frozenset(now),
            frozenset(replaced - now),
        )


def _called(change: Change, sources: Sources) -> Iterator[str]:
    """The names of a record, and its id."""
    row = change.after or change.before or {}
    name = sources.deeds.directory.names.get(change.key) or row.get("name")
    if isinstance(name, str):
        yield fold(name)
    if any(character.isdigit() for character in change.key) and len(change.key) > 14:
        yield change.key.lower()


def _told_of(
    reading: Reading, written: list[_ChangedRow]
) -> Iterator[tuple[_ChangedRow, int, int]]:
    """The records that sentences name, each with the part of its sentence that is about it."""
    start = 0
    for end in reading.ends:
        named = sorted(_named(reading, start, end, written), key=_place)
        if len(named) == 1:
            record = named[0][0]
            headed = not _tells(reading, start, end, written)
            yield record, start, _block_end(reading, end, written) if headed else end
        for (record, (first, _)), (_, (following, _)) in pairwise(named):
            yield record, first, following
        if len(named) > 1:
            yield named[-1][0], named[-1][1][0], end
        start = end


def _tells(reading: Reading, first: int, last: int, written: list[_ChangedRow]) -> bool:
    """Whether a part tells a value that was written on any record."""
    return any(
        first <= at < last
        for record in written
        for value in (*record.fresh, *record.replaced)
        for at, _ in spans(reading, value)
        if not _in_a_name(at, reading, written)
    )


def _block_end(reading: Reading, place: int, written: list[_ChangedRow]) -> int:
    """Where the lines under a heading end: before the next record that is named."""
    following = [
        start
        for record in written
        for name in record.called
        for start, _ in phrases(reading.low, name)
        if start >= place
    ]
    end = min(following, default=len(reading.low))
    for match in _PARAGRAPH.finditer(reading.low, place, end):
        line = reading.low[slice(*reading.line(match.end()))]
        if "|" not in line and not line.lstrip().startswith("-"):
            return match.start()
    return reading.low.rfind("\n", place, end) + 1 or place if following else end


def _place(named: tuple[_ChangedRow, Span]) -> int:
    return named[1][0]


def _named(
    reading: Reading, first: int, last: int, written: list[_ChangedRow]
) -> Iterator[tuple[_ChangedRow, Span]]:
    """The records that a part names; where one name begins another, the longer one."""
    found = [
        (record, span)
        for record in written
        for name in record.called
        for span in phrases(reading.low, name)
        if first <= span[0] < last
    ]
    for record, span in found:
        if not any(a <= span[0] and span[1] <= b and (a, b) != span for _, (a, b) in found):
            yield record, span


def _twice(reading: Reading, written: list[_ChangedRow]) -> Iterator[str]:
    """The same is told of one record twice, and not of another of which it is true as well."""
    told = [
        (record, value)
        for record, first, last in _told_of(reading, written)
        for value in record.fresh
        if any(first <= start < last for start, _ in spans(reading, value))
    ]
    for record, value in told:
        if told.count((record, value)) < 2:
            continue
        alike = [other for other in _alike(record, written) if value in other.fresh]
        missing = [other for other in alike if (other, value) not in told]
        if missing:
            yield f"{value!r} is told twice of one record, and not of another"
            return
