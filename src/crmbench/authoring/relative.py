"""Days that people name in relation to today, read from their words.

Written apart from what makes such words up, so that the two check each other.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from crmbench.language.number_words import UNDER_TWENTY

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = UNDER_TWENTY[:13]
_DAY = "(" + "|".join(_DAYS) + ")"
_COUNT = r"(\d+|" + "|".join(_NUMBERS) + ")"


class DayNamed(NamedTuple):
    """A day that is named in relation to today, and where."""

    day: str
    """ISO date."""
    start: int
    end: int


def days_named(words: str, today: date) -> set[str]:
    """The ISO dates of all days that the words name in relation to `today`."""
    text = " ".join(words.casefold().split())
    return {found.day for found in find_days(text, today)}


def find_days(text: str, today: date) -> list[DayNamed]:
    """The days that a text in lower case, with single spaces, names in relation to `today`."""
    return [
        DayNamed(reader(match, today).isoformat(), *match.span())
        for pattern, reader in _READERS
        for match in pattern.finditer(text)
    ]


def _in_next_week(match: re.Match[str], today: date) -> date:
    monday = today + timedelta(days=7 - today.weekday())
    return monday + timedelta(days=_DAYS.index(match[1]))


def _weeks_on(match: re.Match[str], today: date) -> date:
    return today + timedelta(days=7 * _number(match[1]))


def _months_on(match: re.Match[str], today: date) -> date:
    return _same_day(today, _number(match[1]))


def _same_day(today: date, later: int) -> date:
    years, month = divmod(today.month - 1 + later, 12)
    year = today.year + years
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def _end_of_month(later: int) -> Callable[[re.Match[str], date], date]:
    def read(match: re.Match[str], today: date) -> date:
        del match
        first = _same_day(today.replace(day=1), later)
        return first.replace(day=monthrange(first.year, first.month)[1])

    return read


def _end_of_quarter(match: re.Match[str], today: date) -> date:
    return _end_of_month((3 - today.month % 3) % 3)(match, today)


def _friday_after(match: re.Match[str], today: date) -> date:
    del match
    return today + timedelta(days=7 - today.weekday() + 4)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text)


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date]], ...] = (
    (re.compile(rf"\bnext {_DAY}\b"), _in_next_week),
    (re.compile(rf"\b{_DAY} (?:of )?next week\b"), _in_next_week),
    (re.compile(rf"\b{_COUNT} weeks? from (?:today|now)\b"), _weeks_on),
    (re.compile(rf"\b{_COUNT} months? from (?:today|now)\b"), _months_on),
    (re.compile(r"\b(?:end|last day) of (?:this|the) month\b"), _end_of_month(0)),
    (re.compile(r"\b(?:end|last day) of next month\b"), _end_of_month(1)),
    (re.compile(r"\b(?:end|last day) of (?:this|the) quarter\b|\bquarter end\b"), _end_of_quarter),
    (re.compile(r"\bend of next week\b"), _friday_after),
)
