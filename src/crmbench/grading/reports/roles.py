"""Whether a report gives a value as what is now or as what was before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from crmbench.grading.reports.sources import Cell
from crmbench.language.dates import DateMention
from crmbench.language.reading import Reading

_LISTED_AS = re.compile(
    r"\b(?:was|were|had been|used to be) (?:(?:on|in) (?:file|record|the system|the crm) )?"
    r"(?!(?:put|set|moved|entered|raised|lowered|brought) )(?:\w+ )?(?:as|at|with|in|on)\W*"
    r"(?:the |a |an )?$"
)
"""Example: "it was listed at". Not: "it was put at", which tells what was done."""
_PARTICIPLE = re.compile(r"\w+ed|sent|won|lost|closed-\w+")
_BECAME = re.compile(r"(?<!\()\b(?:was|were|had been)(?: then| also| therefore)?\W*$")
"""Before a participle "was" tells what became of a thing: "the quote was canceled"."""
Role = Literal["old", "new", ""]
Span = tuple[int, int]

_FILLER = r"[\s\"'*(:,|]*(?:(?:the|a|an|about|in|at|with|on|of|by) )*[\"'*($]*"
_OLD_BEFORE = re.compile(
    r"(?:\b(?:from|was|were|had been|formerly|former(?: \w+)?|previous(?:ly)?(?: \w+){0,2}|before|"
    r"until (?:now|then|today)|so far|instead of|rather than|used to (?:be|have|carry|say|read)|"
    r"ran (?:until|to)|stood at|no longer|not|isn't|replac\w+|originally|initially|old(?: "
    r"\w+){0,2}|had)"
    rf"(?: was| is| been)?\b){_FILLER}$"
)
_NEW_BEFORE = re.compile(
    r"(?:\b(?:to|is|are|now(?: [a-z]+){0,4}|becomes?|became|new(?: \w+){0,2}(?: is)?|says|reads|"
    rf"as)\b|->|=>){_FILLER}$"
)
_ARROW = r"[\s\"'*).,]*(?:->|=>|\bto\b(?! be\b))[\s\"'*($]*"
_LEADS_ON = re.compile(_ARROW)
_OLD_AFTER = re.compile(
    r"[\s\"'*)]*(?:\((?:before|old|until now)\)|(?:was |as )?(?:before|until (?:now|then|today)|"
    r"formerly|previously|so far)\b|(?:was|is) (?:the |its )?(?:\w+ )?(?:owner|agent|one)\b"
    r"[^.;,]{0,12}\b(?:before|until|so far|previously)\b|had (?:it|the case|this|that)\b|no "
    r"longer\b|'s before\b)"
)


def spans(reading: Reading, value: str) -> Iterator[Span]:
    """Where a value stands, as a date, a figure or a phrase."""
    if _ISO.fullmatch(value[:10]):
        month, day = int(value[5:7]), int(value[8:10])
        for date in reading.dates:
            if (date.month, date.day) == (month, day) and _year(date) in {None, int(value[:4])}:
                yield date.start, date.end
    elif _NUMBER.fullmatch(value):
        for amount in (*reading.numbers, *reading.number_words):
            if amount.value == float(value):
                yield amount.start, amount.end
    elif value:
        yield from phrases(reading.low, value)


def _year(date: DateMention) -> int | None:
    return date.year


_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def phrases(low: str, value: str) -> Iterator[Span]:
    """Where a phrase stands as whole words."""
    at = low.find(value)
    while at >= 0:
        end = at + len(value)
        if not (at and low[at - 1].isalnum()) and not low[end : end + 1].isalnum():
            yield at, end
        at = low.find(value, at + 1)


def role(reading: Reading, start: int, end: int) -> Role:
    """How a value is given at a place: as what was, as what is now, or neither."""
    first, last = reading.sentence(start)
    before, after = reading.low[max(first, start - 60) : start], reading.low[end:last]
    if _OLD_AFTER.match(after) or _LISTED_AS.search(before):
        return "old"
    if _OLD_BEFORE.search(before) and not (
        _PARTICIPLE.fullmatch(reading.low, start, end) and _BECAME.search(before)
    ):
        return "old"
    return "new" if _NEW_BEFORE.search(before) else ""


def said_before(reading: Reading, cell: Cell) -> str:
    """Words that give a column's new value as what was before, or nothing."""
    if cell.created:
        return ""
    for value in sorted(set(cell.new) - set(cell.old)):
        for start, end in spans(reading, value):
            if _BEFORE.match(reading.low, end):
                return reading.low[start : end + 8].strip()
    return ""


_BEFORE = re.compile(r"[\s\"'*)]*before (?:and|but|it|now)\b")
"""After a value: "Sent before and is …" says what was; "Sent before the call" says when."""


def swapped(reading: Reading, cell: Cell) -> tuple[str, bool]:
    """Words that give a column's new value as the old one or the old as the new, or nothing; and
    whether they do for certain.
    """
    if cell.created:
        return "", False
    new, old = set(cell.new), set(cell.old)
    if not (new - old and old - new):
        return "", False
    fresh = [span for value in new - old for span in spans(reading, value)]
    stale = [span for value in old - new for span in spans(reading, value)]
    stale = [span for span in stale if not _within(span, fresh)]
    fresh = [span for span in fresh if not _within(span, stale)]
    for start, end in fresh:
        leads = _LEADS_ON.match(reading.low, end)
        if leads and any(0 <= first - leads.end() <= 24 for first, _ in stale):
            return reading.low[start : end + 40].strip(), True
        before = reading.low[max(0, start - 12) : start]
        if not stale and _IDENTIFIED.search(before) and not _OLD_AFTER.match(reading.low[end:]):
            continue
        if _BROUGHT_BACK.search(reading.low, end):
            continue
        if role(reading, start, end) == "old" and not _is_old(reading, stale):
            return reading.low[max(0, start - 16) : end], False
    for start, end in stale:
        if reading.is_asked(start):
            continue
        if role(reading, start, end) == "new" and not _leads(reading, end, fresh):
            return reading.low[max(0, start - 16) : end], not fresh and " " in reading.low[
                start:end
            ]
    stale = [span for span in stale if not reading.is_asked(span[0])]
    stale = [span for span in stale if not _ATTRIBUTE.match(reading.low, span[1])]
    if stale and not fresh and not any(role(reading, *span) == "old" for span in stale):
        return reading.low[slice(*stale[0])], False
    return "", False


_BROUGHT_BACK = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:restored\b|(?:put|brought|set|changed) (?:it|that|"
    r"this) (?:back|again)\b)"
)
"""After what was and is again. Example: "it stood at 75 %, so I restored that"."""
_IDENTIFIED = re.compile(r"\b(?:was|were) (?:the |a |an )?\W*$")
"""With nothing told as what is now, "was" tells which thing it was rather than what is no more."""
_ATTRIBUTE = re.compile(r" (?:quotes?|deals?|cases?|versions?|one|v\d)\b")
"""What a state stands before that only tells which record is meant: "the draft quote"."""


def _is_old(reading: Reading, stale: list[Span]) -> bool:
    return bool(stale) and all(role(reading, *span) == "old" for span in stale)


def _leads(reading: Reading, end: int, fresh: list[Span]) -> bool:
    leads = _LEADS_ON.match(reading.low, end)
    return leads is not None and any(0 <= first - leads.end() <= 24 for first, _ in fresh)


def _within(span: Span, others: list[Span]) -> bool:
    return any(a <= span[0] and span[1] <= b for a, b in others)
