"""Days as whole numbers relative to the world's today (0), and how they are written."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

PAST = 2_000
FUTURE = 2_600
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _times(first_hour: int, hours: int) -> tuple[str, ...]:
    # The seconds only have to look unplanned.
    return tuple(
        f"T{hour:02}:{minute:02}:{(minute * 37 + hour * 11) % 60:02}Z"
        for hour in range(first_hour, first_hour + hours)
        for minute in range(60)
    )


MORNING = _times(7, 5)
"""When deals are entered."""
AFTERNOON = _times(12, 6)
"""When notes are written and files uploaded: on the day of the deal still after it."""


class Calendar:
    """Tables by day, from `PAST` days ago (a negative index) to `FUTURE` days ahead.

    Attributes:
        text: The day as an ISO date.
        working: The day itself, or the Friday before a weekend.
        month_end: The last day of the day's month.
    """

    def __init__(self, today: str) -> None:
        base = date.fromisoformat(today)
        # Days to come first, then those gone by: a negative index finds its day by itself.
        offsets = [*range(FUTURE), *range(-PAST, 0)]
        days = [base + timedelta(offset) for offset in offsets]
        self.text = [day.isoformat() for day in days]
        self.working = [
            offset - max(0, day.weekday() - 4) for offset, day in zip(offsets, days, strict=True)
        ]
        self.month_end = [(_month_end(day) - base).days for day in days]

    def months_on(self, day: int, months: int) -> int:
        """The last day of the `months`-th month, the one of `day` being the first."""
        for _ in range(months):
            day = self.month_end[day] + 1
        return day - 1


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(4)).replace(day=1) - timedelta(1)


@lru_cache(maxsize=32)
def calendar_of(today: str) -> Calendar:
    """The calendar of a world; shared by its blocks."""
    return Calendar(today)
