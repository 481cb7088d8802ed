"""Dates in the ways people say them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

from crmbench.language.number_words import TENS, UNDER_TWENTY

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = "(?P<w>" + "|".join(_WEEKDAYS) + ")"
_WORDS = [*UNDER_TWENTY, TENS[0]]
COUNT = r"(?P<n>\d{1,3}|an?|couple of|" + "|".join(_WORDS[1:]) + ")"
_YEAR = r"(?:,?\s+(?P<y>20\d\d))?"


def count(text: str) -> int:
    """A small number in digits or in words."""
    low = text.casefold()
    if low.isdigit():
        return int(low)
    return _WORDS.index(low) if low in _WORDS else 2 if low.startswith("couple") else 1


def add_months(day: date, months: int) -> date:
    """The same day so many months on, or the last of that month if it has no such day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    if not 1 <= year <= 9999:
        return day
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def month_end(day: date) -> date:
    """The last day of a day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def _iso(match: re.Match[str], _today: date) -> date:
    return date.fromisoformat(match[0])


def _month(match: re.Match[str]) -> int:
    return _MONTHS.index(match["m"][:3].casefold()) + 1


def _calendar(match: re.Match[str], today: date) -> date:
    day, month = int(match["d"]), _month(match)
    if match["y"]:
        return date(int(match["y"]), month, day)
    found = date(today.year, month, day)
    return found if found >= today else found.replace(year=today.year + 1)


def _month_last(match: re.Match[str], today: date) -> date:
    year = int(match["y"] or today.year)
    found = month_end(date(year, _month(match), 1))
    return found if match["y"] or found >= today else month_end(found.replace(year=year + 1, day=1))


def _span(match: re.Match[str], today: date) -> date:
    number, unit = count(match["n"]), match["u"].casefold()
    if unit.startswith("month"):
        return add_months(today, number)
    if unit.startswith("year"):
        return add_months(today, 12 * number)
    return today + timedelta(days=number * (7 if unit.startswith("week") else 1))


def _period_end(match: re.Match[str], today: date) -> date:
    ahead, unit = int("next" in match[0].casefold()), match["u"].casefold()
    if unit == "week":
        return today + timedelta(days=4 - today.weekday() + 7 * ahead)
    if unit == "month":
        return month_end(add_months(today.replace(day=1), ahead))
    if unit == "quarter":
        left = 2 - (today.month - 1) % 3
        return month_end(add_months(today.replace(day=1), left + 3 * ahead))
    return date(today.year + ahead, 12, 31)


def _weekday(match: re.Match[str], today: date) -> date:
    target = _WEEKDAYS.index(match["w"].casefold())
    if "next" in match[0].casefold():
        return today + timedelta(days=7 - today.weekday() + target)
    return today + timedelta(days=(target - today.weekday()) % 7)


def _named(match: re.Match[str], today: date) -> date:
    return today + timedelta(days=int(match[0].casefold() == "tomorrow"))


_NTH = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_UNIT = r"(?P<u>day|week|month|year)s?"
_PERIOD = r"(?P<u>week|month|quarter|year)"
_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date]], ...] = tuple(
    (re.compile(rf"\b{pattern}\b", re.IGNORECASE), read)
    for pattern, read in (
        (r"\d{4}-\d\d-\d\d", _iso),
        (rf"{_MONTH}\s+(?:the\s+)?{_NTH}(?!\d){_YEAR}", _calendar),
        (rf"{_NTH}\s+(?:of\s+)?{_MONTH}{_YEAR}", _calendar),
        (rf"(?:end|last day|close) of {_MONTH}{_YEAR}", _month_last),
        (rf"{COUNT} {_UNIT} (?:from|after) (?:today|now)", _span),
        (rf"in {COUNT} {_UNIT}(?:'s? time)?", _span),
        (rf"(?:end|last day|close) of (?:this |the |next |the current )?{_PERIOD}", _period_end),
        (rf"(?:next |this )?{_PERIOD}[- ]end", _period_end),
        (rf"{_DAY} (?:of )?next week", _weekday),
        (rf"(?:next |this coming |this |on |by |coming ){_DAY}", _weekday),
        (r"today(?!'s)|tomorrow", _named),
    )
)


def take_dates(text: str, today: date) -> tuple[list[date], str]:
    """The dates in a text in the order of the rules, and the text without them."""
    found: list[date] = []
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            try:
                found.append(read(match, today))
            except (ValueError, OverflowError):
                continue
            text = _without(text, match)
    return found, text


def _without(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match[0]) + text[match.end() :]
