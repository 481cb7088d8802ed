"""Which record a reply gives a value to, against the records: v1 its own amount and status, each
deal its amount, each person their own title.

A value that is another record's, and not that of the one that it stands beside, leaves a reply
open. Where names are alike (the "v2" of several deals) either record's value will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

Span = tuple[int, int]
Rows = Iterable[Mapping[str, Any]]

_AMOUNTS = ("amount", "value")
_LINK = re.compile(
    r"[\s*\"'|(:,>-]*(?:(?:is|was|are|now|over|at|with|for|comes? to|came to|has|had|of|stands at|"
    r"the|our|their|as|who is|being|worth|amount|status|title|still|it's|which|shows?|an?|set to|"
    r"draft|sent|approved|rejected|cancell?ed|\$[\d,.]+\d|new|highest|lowest|latest)\b"
    r"[\s*\"'|(:,>-]*){0,5}"
)
"""Between a record and what it has: "v1 ($5,000)", "v1 is now Sent". Not: "v1, 6 % above"."""
_BESIDE = re.compile(r"[\s*\"'|(:-]*(?:(?:for|in|on|is|by|of) (?:the )?)?[\"'*(]*")
"""Between what a record has and the record: "$5,000 for v1", "Controller: Ida Ochoa"."""


class Holder(NamedTuple):
    """What some name stands for, and what it has, by kind of value."""

    kind: str
    own: dict[str, set[str]]


_VERSION = re.compile(r"\bv\d")
_TITLE = re.compile(
    r"\b(?:manager|director|officer|lead|head|planner|engineer|buyer|coordinator|analyst|clerk|"
    r"supervisor|controller|counsel|dispatcher|specialist|assistant|cfo|cto|ceo|coo|vp|owner|agent|"
    r"scientist|designer|architect|administrator|partner|president|purchaser|secretary)\b"
)
"""What of a title is enough to look for those of the people who are named."""


def may_be_misheld(reading: Reading) -> bool:
    """Whether a reply tells of anything that a record may hold for another one."""
    low = reading.low
    return "$" in low or _VERSION.search(low) is not None or _TITLE.search(low) is not None


def misheld(reading: Reading, holders: Mapping[str, Holder]) -> Iterator[str]:
    """A value that stands beside a record and is another one's, in words; at most one.

    Args:
        holders: What `holders_of` makes of the records of the turn.
    """
    for kind in ("quote", "deal", "person"):
        alike = {name: held for name, held in holders.items() if held.kind == kind}
        if len(alike) < 2:
            continue
        places = [(span, name) for name in alike for span in _spans(reading.low, name)]
        if not places:
            continue
        for column in ("amount", "status", "title"):
            why = _wrong(reading, alike, _longest(places), column)
            if why:
                yield why
                return


def holders_of(rows: Rows) -> dict[str, Holder]:
    """What the names in the records stand for, and what each has."""
    found: dict[str, Holder] = {}
    amounts: dict[str, set[str]] = {}
    listed = list(rows)
    for row in listed:
        amount = _amount(row)
        if amount and isinstance(row.get("opportunity_id"), str):
            amounts.setdefault(row["opportunity_id"], set()).add(amount)
    for row in listed:
        for kind, name in _names(row):
            own = found.setdefault(name, Holder(kind, {})).own
            _add(own, "amount", _amount(row))
            if kind == "deal":
                own.setdefault("amount", set()).update(
                    amounts.get(str(row.get("opportunity_id")), ())
                )
            if kind == "quote":
                _add(own, "status", fold(str(row.get("status") or "")))
            if kind == "person":
                _add(own, "title", fold(str(row.get("title") or "")))
    return found


def _add(own: dict[str, set[str]], column: str, value: str) -> None:
    if value:
        own.setdefault(column, set()).add(value)


def _amount(row: Mapping[str, Any]) -> str:
    for column in _AMOUNTS:
        value = row.get(column)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:.2f}"
    return ""


def _names(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    version, name = row.get("version"), row.get("name")
    if isinstance(version, str):
        yield "quote", fold(version)
    elif isinstance(name, str) and "stage" in row:
        yield "deal", fold(name)
        if " - " in name:
            yield "deal", fold(name.partition(" - ")[2])
    elif isinstance(row.get("first_name"), str) and isinstance(row.get("last_name"), str):
        yield "person", fold(f"{row['first_name']} {row['last_name']}")


def _spans(low: str, name: str) -> Iterator[Span]:
    at = low.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and low[at - 1].isalnum()) and not low[end : end + 1].isalnum():
            yield at, end
        at = low.find(name, end)


def _longest(places: list[tuple[Span, str]]) -> list[tuple[Span, str]]:
    """Those that stand within no longer one: "v1" of "Dock Scheduling v1" is one of its own."""
    kept = []
    for span, name in places:
        inside = any(a <= span[0] and span[1] <= b and (a, b) != span for (a, b), _ in places)
        if not inside:
            kept.append((span, name))
    return sorted(kept)


def _wrong(
    reading: Reading, holders: Mapping[str, Holder], places: list[tuple[Span, str]], column: str
) -> str:
    known = {value for held in holders.values() for value in held.own.get(column, ())}
    if len(known) < 2:
        return ""
    told = list(_told(reading, known, column))
    taken: set[int] = set()
    for forward in (True, False):
        for (start, end), name in places:
            for first, last, value in told:
                near = (
                    _LINK.fullmatch(reading.low, end, first)
                    if forward and end <= first
                    else _BESIDE.fullmatch(reading.low, last, start)
                    if not forward and last <= start and first not in taken
                    else None
                )
                if near is None or reading.is_asked(first):
                    continue
                taken.add(first)
                own = holders[name].own.get(column)
                if own and value not in own and not _is_earlier(reading, first, last):
                    return f"{reading.text[first:last]!r} is not that of {name!r}"
    return ""


_EARLIER_BEFORE = re.compile(r"\b(?:was|were|from|not|formerly|previously|until|before)\W*$")
_EARLIER_AFTER = re.compile(r"[\s*\")]*(?:->|=>|until|before|\(?(?:before|old)\b)")


def _is_earlier(reading: Reading, first: int, last: int) -> bool:
    """Whether a value is told as what was before."""
    before = reading.low[max(0, first - 14) : first]
    return bool(_EARLIER_BEFORE.search(before) or _EARLIER_AFTER.match(reading.low, last))


def _told(reading: Reading, known: set[str], column: str) -> Iterator[tuple[int, int, str]]:
    if column == "amount":
        for amount in reading.numbers:
            value = f"{amount.value:.2f}"
            if value in known and (amount.currency or amount.value >= 1000):
                yield amount.start, amount.end, value
        return
    for value in sorted(known):
        for start, end in _spans(reading.low, value):
            yield start, end, value
    if column == "status":
        for start, end in _spans(reading.low, "cancelled"):
            yield start, end, "canceled"
