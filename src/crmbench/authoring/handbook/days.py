"""Days as the articles of a handbook write them: "7 March 2026"."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from crmbench.core.answer import MONTHS


def long_date(day: date) -> str:
    """A day in words: "7 March 2026"."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


@lru_cache(maxsize=4096)
def read_date(text: str) -> date:
    """The day that `long_date` wrote.

    Raises:
        ValueError: It is no day in these words.
    """
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day))
