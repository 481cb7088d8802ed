"""Date literals: which days a word such as LAST_N_MONTHS:3 stands for on a given day.

Weeks begin on Sunday, as in the locale en_US; the fiscal year is the calendar year; a day begins
at midnight UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

MAX_NUMBER = 100_000


class Days(NamedTuple):
    """Days from `start` up to, and without, `end`."""

    start: date
    end: date


def days_of(word: str, number: int, today: date) -> Days:
    """The days of a relative date.

    Args:
        word: In lower case, without its number: ``today``, ``last_n_days``, ``n_weeks_ago``.
        number: Its n; 0 where it has none.
        today: The day it is in the org.

    Raises:
        OverflowError: The days lie outside of what a calendar holds.
    """
    if number > MAX_NUMBER:
        raise OverflowError(number)
    if word in ("yesterday", "today", "tomorrow"):
        day = today + timedelta(days={"yesterday": -1, "today": 0, "tomorrow": 1}[word])
        return Days(day, day + timedelta(days=1))
    word = word.replace("fiscal_", "")
    if word in ("last_90_days", "next_90_days"):
        word, number = word.replace("90", "n"), 90
    ago = re.fullmatch(r"n_(\w+?)s_ago", word)
    if ago:
        start = _step(_start(ago.group(1), today), ago.group(1), -number)
        return Days(start, _step(start, ago.group(1), 1))
    several = re.fullmatch(r"(last|next)_n_(\w+?)s", word)
    if several:
        return _several(several.group(1), several.group(2), number, today)
    which, unit = word.split("_")
    start = _step(_start(unit, today), unit, {"last": -1, "this": 0, "next": 1}[which])
    return Days(start, _step(start, unit, 1))


def _several(which: str, unit: str, number: int, today: date) -> Days:
    start = _start(unit, today)
    if which == "next":
        return Days(_step(start, unit, 1), _step(start, unit, number + 1))
    # Of all units only days count the present one in.
    end = _step(start, unit, 1) if unit == "day" else start
    return Days(_step(start, unit, -number), end)


def _start(unit: str, day: date) -> date:
    if unit == "week":
        return day - timedelta(days=(day.weekday() + 1) % 7)
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
    if unit == "year":
        return date(day.year, 1, 1)
    return day


def _step(start: date, unit: str, count: int) -> date:
    if unit == "day":
        return start + timedelta(days=count)
    if unit == "week":
        return start + timedelta(weeks=count)
    months = (
        start.year * 12 + start.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    )
    try:
        return date(months // 12, months % 12 + 1, 1)
    except ValueError as error:
        raise OverflowError(count) from error


def datetime_text(moment: datetime) -> str:
    """A moment as the org stores and prints it: ``2026-03-02T09:30:00.000+0000``."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}+0000"


def midnight_text(day: date) -> str:
    """The beginning of a day as the org stores it."""
    return f"{day.isoformat()}T00:00:00.000+0000"


def parse_datetime(text: str) -> datetime:
    """A datetime literal that the parser has accepted."""
    return datetime.fromisoformat(re.sub(r"\.(\d{1,6})\d*", r".\1", text.upper()))
