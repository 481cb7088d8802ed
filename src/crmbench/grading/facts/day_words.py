"""A day of the calendar that a reply tells in words: "the second of May this year"."""

from __future__ import annotations

import re
from calendar import month_abbr, month_name, monthrange
from datetime import date
from functools import lru_cache

from crmbench.language.reading import Reading
from crmbench.language.stance import stance

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth", "twentieth"),
)
_YEAR = (
    r"(?:,? (?:of |in |in the year )?(?:(?P<year>(?:19|20)\d\d)\b|'(?P<short>\d\d)\b|"
    r"(?P<this>this year)\b|(?P<next>next year)\b))?(?! (?:last|\d))"
)


def ordinal(day: int) -> str:
    """A pattern of a day's ordinal in words."""
    if day <= len(_ORDINALS):
        return _ORDINALS[day - 1]
    return "thirtieth" if day == 30 else f"(?:twenty|thirty)[ -]{_ORDINALS[day % 10 - 1]}"


def tells_day(reading: Reading, value: str, today: str) -> bool:
    """Whether a day (ISO) is told in words, with its year or in a year's reach of `today` (ISO)."""
    year, month, day = (int(part) for part in value[:10].split("-"))
    return any(
        _year_of(match, today) in ({year} if not _in_reach(value, today) else {year, None})
        and not stance(reading, *match.span())
        for match in _pattern(month, day, day == monthrange(year, month)[1]).finditer(reading.low)
    )


@lru_cache(maxsize=256)
def _pattern(month: int, day: int, last: bool) -> re.Pattern[str]:
    months = rf"(?:{month_name[month].lower()}|{month_abbr[month].lower()}\b\.?)"
    forms = rf"{ordinal(day)}(?: day)?|{day}(?:st|nd|rd|th) day"
    forms += "|(?:last|final|very last) day" if last else ""
    of_it = r" (?:of|in) (?:(?:this|the|coming|month|next) )*"
    return re.compile(
        rf"\b(?:(?:{forms}){of_it}{months}|{months} (?:the )?{ordinal(day)}\b){_YEAR}"
    )


def _year_of(match: re.Match[str], today: str) -> int | None:
    if match["year"]:
        return int(match["year"])
    if match["short"]:
        return 2000 + int(match["short"])
    if (match["this"] or match["next"]) and today:
        return int(today[:4]) + bool(match["next"])
    return None


def _in_reach(value: str, today: str) -> bool:
    """Whether a reader who knows the day takes a date without its year for this one."""
    if not today:
        return False
    return abs((date.fromisoformat(value[:10]) - date.fromisoformat(today[:10])).days) < 365
