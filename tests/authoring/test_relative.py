"""Days named in relation to today, read back from the words."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.authoring.relative import days_named

TODAY = date(2026, 3, 24)
"""A Tuesday."""


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("call them next Monday", "2026-03-30"),
        ("next tuesday", "2026-03-31"),
        ("the Friday of next week", "2026-04-03"),
        ("Thursday next week, please", "2026-04-02"),
        ("the end of next week", "2026-04-03"),
        ("3 weeks from today", "2026-04-14"),
        ("three weeks from now", "2026-04-14"),
        ("one week from today", "2026-03-31"),
        ("two months from today", "2026-05-24"),
        ("12 months from now", "2027-03-24"),
        ("the end of this month", "2026-03-31"),
        ("the last day of the month", "2026-03-31"),
        ("the end of next month", "2026-04-30"),
        ("END OF THE\n  QUARTER", "2026-03-31"),
        ("by quarter end", "2026-03-31"),
    ],
)
def test_one_day_is_read(words: str, day: str) -> None:
    assert days_named(words, TODAY) == {day}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "next time",
        "Monday",
        "the next deal",
        "weeks from today",
        "in the next weeks",
        "the end of the meeting",
        "2026-03-31",
        "annext monday",
        "fifteen weeks from now",
    ],
)
def test_what_names_no_day_gives_none(words: str) -> None:
    assert days_named(words, TODAY) == set()


def test_all_days_of_a_text_are_read() -> None:
    words = "From next Monday to the end of next month, not two weeks from now"
    assert days_named(words, TODAY) == {"2026-03-30", "2026-04-30", "2026-04-07"}


@pytest.mark.parametrize(
    ("today", "words", "day"),
    [
        (date(2026, 1, 31), "one month from today", "2026-02-28"),
        (date(2028, 1, 31), "one month from today", "2028-02-29"),
        (date(2025, 12, 31), "two months from now", "2026-02-28"),
        (date(2025, 12, 31), "the end of next month", "2026-01-31"),
        (date(2025, 10, 1), "quarter end", "2025-12-31"),
        (date(2026, 4, 30), "end of the quarter", "2026-06-30"),
        (date(2026, 3, 29), "next Monday", "2026-03-30"),
        (date(2026, 3, 30), "next Monday", "2026-04-06"),
        (date(2025, 12, 29), "next Friday", "2026-01-09"),
    ],
)
def test_borders_of_weeks_months_and_years(today: date, words: str, day: str) -> None:
    assert days_named(words, today) == {day}


@given(st.dates(date(2024, 1, 1), date(2032, 12, 31)), st.integers(1, 40))
def test_every_day_has_its_relations(today: date, number: int) -> None:
    assert days_named(f"{number} weeks from now", today) == {
        (today + timedelta(weeks=number)).isoformat()
    }
    (ends,) = days_named("the end of this month", today)
    assert date.fromisoformat(ends).day == monthrange(today.year, today.month)[1]
    (quarter,) = days_named("quarter end", today)
    assert date.fromisoformat(quarter).month in (3, 6, 9, 12)
    assert 0 <= (date.fromisoformat(quarter) - today).days < 93
    (friday,) = days_named("the end of next week", today)
    assert date.fromisoformat(friday).weekday() == 4
    assert 5 <= (date.fromisoformat(friday) - today).days <= 11
