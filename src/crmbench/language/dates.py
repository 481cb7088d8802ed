"""Dates in a reply, in the forms in which people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_NUMBERS = {name: place for place, name in enumerate(_MONTHS, 1)}
_NUMBERS |= {name[:3]: place for place, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:(?:19|20)\d\d\b|'\d\d\b)"
_FIRST_DIGIT = re.compile(r"\d\d*")
_FIRST_MONTH = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec")
_FROM_DIGITS = re.compile(
    rf"""
    (?P<y1>\d{{4}})[-/.](?P<m1>\d{{1,2}})[-/.](?P<d1>\d{{1,2}})(?![\d/]|-\d)(?:t[\d:.+z-]+)?
  | (?P<a>\d{{1,2}})(?P<sep>[-/.])(?P<b>\d{{1,2}})(?P=sep)(?P<y2>\d{{4}}|\d\d)(?![\w/-])
  | (?P<d3>{_DAY})(?:[ \t]+|-|[ \t]+of[ \t]+)(?P<m3>{_MONTH})(?!\s(?:be|have|not|also|still|need)\b)
      (?:(?:,?[ \t]*|-)(?P<y3>{_YEAR}|(?<=-)\d\d\b))?
  | (?P<y6>(?:19|20)\d\d)-(?P<m6>0[1-9]|1[0-2])(?![\w-])
    """,
    re.VERBOSE,
)
_FROM_MONTH = re.compile(
    rf"""
    (?P<m4>{_MONTH})(?:[ \t]+the)?[ \t-]+(?P<d4>{_DAY})(?![\d:]|[.,]\d|\s?%|\s?[ap]m\b)
      (?:(?:,?[ \t]+|-)(?P<y4>{_YEAR}))?
  | (?P<m5>{_MONTH}),?[ \t]+(?:of\s+)?(?P<y5>{_YEAR})
    """,
    re.VERBOSE,
)
_RELATIVE = re.compile(r"\b(?P<day>today|tomorrow|yesterday)\b")
_STEPS = {"today": 0, "tomorrow": 1, "yesterday": -1}


class DateMention(NamedTuple):
    """A date in a text. The year is None where it was left out, the day where a month is meant."""

    year: int | None
    month: int
    day: int | None
    start: int
    end: int


def find_dates(low: str) -> list[DateMention]:
    """All dates of a lower-case text, in order. Impossible ones (February 30th) are left out.

    ``05/03/2026`` is May 3rd, as Americans write; where that cannot be (``25/03/2026``), and
    with dots (``03.05.2026``), the day comes first.
    """
    found: list[DateMention] = []
    taken = 0
    for start, pattern in _starts(low):
        if start < taken:
            continue
        match = pattern.match(low, start)
        if match is None:
            continue
        taken = match.end()
        mention = _from_digits(match) if pattern is _FROM_DIGITS else _from_month(match)
        if mention is not None:
            found.append(mention)
    return found


def _starts(low: str) -> list[tuple[int, re.Pattern[str]]]:
    """Where a date may begin, and with what pattern."""
    digits = [match.start() for match in _FIRST_DIGIT.finditer(low)]
    if not digits:
        return []
    starts = [(at, _FROM_DIGITS) for at in digits if not at or low[at - 1] not in "_./-#@$€£,"]
    starts = [place for place in starts if not place[0] or not low[place[0] - 1].isalpha()]
    for match in _FIRST_MONTH.finditer(low):
        at = match.start()
        if not at or not low[at - 1].isalnum():
            starts.append((at, _FROM_MONTH))
    return sorted(starts, key=_place)


def _place(start: tuple[int, re.Pattern[str]]) -> int:
    return start[0]


_WEEKDAY = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+(?:the\s+)?$"
    r"|\bthe\s$"
)


def _span(match: re.Match[str]) -> tuple[int, int]:
    """The date's place, with a day of the week and "the" in front of it."""
    start = match.start()
    weekday = _WEEKDAY.search(match.string, max(0, start - 16), start) if start else None
    return weekday.start() if weekday else start, match.end()


def _from_digits(match: re.Match[str]) -> DateMention | None:
    span = _span(match)
    if match["m1"]:
        return _valid(int(match["y1"]), int(match["m1"]), int(match["d1"]), span)
    if match["y6"]:
        return DateMention(int(match["y6"]), int(match["m6"]), None, *span)
    if match["m3"]:
        return _valid(_year(match["y3"]), _month(match["m3"]), _day(match["d3"]), span)
    first, second, year = int(match["a"]), int(match["b"]), _year(match["y2"])
    if match["sep"] == "." or first > 12:
        first, second = second, first
    return _valid(year, first, second, span)


def _from_month(match: re.Match[str]) -> DateMention | None:
    span = _span(match)
    if match["m5"]:
        return DateMention(_year(match["y5"]), _month(match["m5"]), None, *span)
    return _valid(_year(match["y4"]), _month(match["m4"]), _day(match["d4"]), span)


def _day(digits: str) -> int:
    return int(digits.rstrip("stndrh"))


def _month(word: str) -> int:
    return _NUMBERS[word.rstrip(".")]


def _year(digits: str | None) -> int | None:
    if digits is None:
        return None
    number = int(digits.lstrip("'"))
    return number if number > 99 else 2000 + number


def _valid(year: int | None, month: int, day: int, span: tuple[int, int]) -> DateMention | None:
    try:
        date(year or 2024, month, day)
    except ValueError:
        return None
    return DateMention(year, month, day, *span)


def relative_dates(low: str, today: str) -> Iterator[DateMention]:
    """What "today", "tomorrow" and "yesterday" mean on the day `today` (ISO)."""
    for match in _RELATIVE.finditer(low):
        day = date.fromisoformat(today[:10]) + timedelta(days=_STEPS[match["day"]])
        yield DateMention(day.year, day.month, day.day, *match.span())


def means(mention: DateMention, value: str, today: str) -> bool:
    """Whether a mention is the date `value` (ISO date or datetime, or ``2026-05`` for a month).

    Without a year it is when `today` is known and less than a year away, so that a reader who
    knows the day understands it.
    """
    year, month = int(value[:4]), int(value[5:7])
    day = int(value[8:10]) if len(value) >= 10 else None
    if (mention.month, mention.day) != (month, day):
        return False
    if mention.year is not None or day is None:
        return mention.year == year
    if not today:
        return False
    apart = date(year, month, day) - date.fromisoformat(today[:10])
    return abs(apart.days) < 365
