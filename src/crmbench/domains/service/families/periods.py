"""Periods as people name them, with their bounds and the call that finds those out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from crmbench.authoring.derive import months as months_later

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
ORDINALS = ("first", "second", "third", "fourth")
NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
UNITS = {"day": 1, "week": 7}
FIRST_YEAR = 2022


@dataclass(frozen=True)
class Period:
    """A half-open span of days, both ends ISO dates."""

    start: str
    end: str
    wordings: tuple[str, ...]
    """How people name it, as it stands behind "in": "the past 3 months", "Q2 2024"."""
    call: tuple[str, dict[str, Any]] | None = None
    """The tool and arguments that give its bounds; None where the words give them."""

    @property
    def days(self) -> int:
        """How many days it has."""
        return (date.fromisoformat(self.end) - date.fromisoformat(self.start)).days

    def holds(self, moment: str) -> bool:
        """Whether a stored moment or a day lies in it."""
        return self.start <= moment[:10] < self.end

    def soql(self, field: str) -> str:
        """The period as a condition of SOQL."""
        return f"{field} >= {self.start}T00:00:00Z AND {field} < {self.end}T00:00:00Z"


def named(name: str, year: int, wordings: tuple[str, ...], start: str, length: int) -> Period:
    """A period that has a name, such as a quarter of a year."""
    call = ("get_period", {"period_name": name, "year": year})
    return Period(start, months_later(start, length), wordings, call)


def past(today: date, unit: str, count: int) -> Period:
    """The past `count` days, weeks, months or quarters, up to today 00:00."""
    end = today.isoformat()
    if unit in UNITS:
        start = (today - timedelta(days=count * UNITS[unit])).isoformat()
    else:
        start = months_later(end, -count * (3 if unit == "quarter" else 1))
    arguments = {"end_date": end, "period": unit, "interval_count": count}
    return Period(start, end, _past_words(unit, count), ("get_start_date", arguments))


def _past_words(unit: str, count: int) -> tuple[str, ...]:
    if count == 1:
        return (f"the past {unit}",)
    figures = [str(count)] + ([NUMBERS[count]] if count < len(NUMBERS) else [])
    return tuple(f"the {word} {figure} {unit}s" for word in ("past", "last") for figure in figures)


def _months(year: int) -> Iterator[Period]:
    for number, month in enumerate(MONTHS, 1):
        words = (f"{month} {year}", f"{month} of {year}", f"the month of {month} {year}")
        yield named(month, year, words, f"{year}-{number:02d}-01", 1)


def _quarters(year: int) -> Iterator[Period]:
    for number in range(1, 5):
        words = (
            f"Q{number} {year}",
            f"Q{number} of {year}",
            f"the {ORDINALS[number - 1]} quarter of {year}",
        )
        yield named(f"Q{number}", year, words, f"{year}-{3 * number - 2:02d}-01", 3)


def _seasons(year: int) -> Iterator[Period]:
    for season, month in SEASONS.items():
        words = (f"the {season} of {year}", f"{season} {year}")
        if season == "winter":
            words = (f"the winter of {year}", f"the winter of {year} (December to February)")
        yield named(season.capitalize(), year, words, f"{year}-{month:02d}-01", 3)


def years() -> list[Period]:
    """Whole years of the org's history."""
    return [
        Period(f"{y}-01-01", f"{y + 1}-01-01", (f"{y}", f"the year {y}", f"the whole of {y}"))
        for y in range(FIRST_YEAR, 2026)
    ]


def _spans(year: int) -> Iterator[Period]:
    """Runs of months within a year."""
    for first in range(1, 12):
        for length in (2, 4, 5, 6, 8):
            last = first + length - 1
            if last > 12:
                continue
            start = f"{year}-{first:02d}-01"
            one, two = MONTHS[first - 1], MONTHS[last - 1]
            words = (
                f"the period from {one} through {two} {year}",
                f"the months {one} through {two} {year}",
            )
            yield Period(start, months_later(start, length), words)


def all_named(today: date) -> list[Period]:
    """Every month, quarter and season that had ended by today."""
    found = [p for y in range(FIRST_YEAR, today.year + 1) for p in _named_in(y)]
    return [p for p in found if p.start >= "2022-03-01" and p.end <= today.isoformat()]


def _named_in(year: int) -> list[Period]:
    return [*_months(year), *_quarters(year), *_seasons(year)]


def spans(today: date) -> list[Period]:
    """Every run of 2 to 8 months in a year that had ended by today."""
    found = [p for y in range(FIRST_YEAR, today.year + 1) for p in _spans(y)]
    return [p for p in found if p.start >= "2022-03-01" and p.end <= today.isoformat()]


PAST = {"day": (30, 45, 60, 90, 120, 180), "week": range(3, 27), "month": range(1, 19),
        "quarter": range(1, 9)}  # fmt: skip


def all_past(today: date) -> list[Period]:
    """Periods that end today."""
    return [past(today, unit, count) for unit, counts in PAST.items() for count in counts]


def all_periods(today: date) -> list[Period]:
    """All periods that a question may be about."""
    return [*all_named(today), *all_past(today), *spans(today), *years()]
