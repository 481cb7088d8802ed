"""Days in relation to today: each way of saying one, by hand, at the edges of the calendar."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date

import pytest

from crmbench.domains.sales.authoring import relative_dates
from crmbench.domains.sales.authoring.relative_dates import SpokenDate, some_day

WORKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


@pytest.mark.parametrize(
    ("way", "start", "iso"),
    [
        (relative_dates._month_end, "2026-01-31", "2026-01-31"),
        (relative_dates._month_end, "2028-02-01", "2028-02-29"),
        (relative_dates._next_month_end, "2026-01-31", "2026-02-28"),
        (relative_dates._next_month_end, "2025-12-15", "2026-01-31"),
        (relative_dates._quarter_end, "2026-01-01", "2026-03-31"),
        (relative_dates._quarter_end, "2026-03-31", "2026-03-31"),
        (relative_dates._quarter_end, "2026-04-01", "2026-06-30"),
        (relative_dates._quarter_end, "2026-12-31", "2026-12-31"),
        # The end of next week is its Friday, from a Monday as from a Sunday.
        (relative_dates._week_end, "2026-03-23", "2026-04-03"),
        (relative_dates._week_end, "2026-03-29", "2026-04-03"),
    ],
)
def test_ends_of_periods(
    way: Callable[[date, random.Random], SpokenDate], start: str, iso: str
) -> None:
    assert way(date.fromisoformat(start), random.Random(1)).iso == iso


@pytest.mark.parametrize("start", ["2026-03-23", "2026-03-27", "2026-03-29", "2025-12-31"])
def test_a_weekday_is_one_of_next_week(start: str) -> None:
    today, rng = date.fromisoformat(start), random.Random(1)
    seen = set()
    for _ in range(60):
        said = relative_dates._weekday(today, rng)
        chosen = date.fromisoformat(said.iso)
        assert said.slot.slots["weekday"].value == WORKDAYS[chosen.weekday()]
        this, then = today.isocalendar(), chosen.isocalendar()
        week = date.fromisocalendar(then.year, then.week, 1)
        assert (week - date.fromisocalendar(this.year, this.week, 1)).days == 7
        seen.add(chosen.weekday())
    assert seen == set(range(5))


def test_spans_are_counted_from_today() -> None:
    today, rng = date(2025, 12, 31), random.Random(1)
    ends = {2: "2026-02-28", 3: "2026-03-31", 4: "2026-04-30", 5: "2026-05-31", 6: "2026-06-30"}
    spans = {}
    for _ in range(80):
        weeks = relative_dates._weeks(today, rng)
        number = weeks.slot.slots["number"].value
        assert (date.fromisoformat(weeks.iso) - today).days == 7 * number
        months = relative_dates._months(today, rng)
        spans[months.slot.slots["number"].value] = months.iso
    assert spans == ends


def test_a_day_is_said_as_it_was_asked_for() -> None:
    today, rng = date(2026, 3, 24), random.Random(1)
    ways = set()
    for _ in range(200):
        plain = some_day(today, rng, False)
        assert plain.slot.kind == "date"
        assert plain.slot.value == plain.iso
        assert plain.tags == ()
        assert 10 <= (date.fromisoformat(plain.iso) - today).days <= 120
        spoken = some_day(today, rng, True)
        assert (spoken.slot.kind, spoken.tags) == ("noun", ("relative_date",))
        assert spoken.iso >= today.isoformat()
        ways.add(spoken.slot.value)
    assert len(ways) == 7
    either = [some_day(today, rng).slot.kind for _ in range(300)]
    assert 0.5 < either.count("noun") / 300 < 0.8
