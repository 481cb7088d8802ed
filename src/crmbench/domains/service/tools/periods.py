"""Periods: where they start and end."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from typing import Literal

from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.tools.arguments import Day
from crmbench.errors import ToolError

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
FIRST_MONTHS = {
    **{name: (month, 1) for month, name in enumerate(MONTHS, start=1)},
    **{f"Q{quarter}": (3 * quarter - 2, 3) for quarter in range(1, 5)},
    "Spring": (3, 3),
    "Summer": (6, 3),
    "Autumn": (9, 3),
    "Winter": (12, 3),
}
"""For each named period its first month and how many months it has."""
SYNONYMS = {"fall": "Autumn", **{f"quarter {n}": f"Q{n}" for n in range(1, 5)}}
MONTHS_OF = {"month": 1, "quarter": 3}
DAYS_OF = {"day": 1, "week": 7}
MAX_COUNT = 10_000


@tool()
def get_start_date(
    org: ServiceOrg,
    end_date: Day,
    period: Literal["day", "week", "month", "quarter"],
    interval_count: int,
) -> str:
    """Where a period starts that ends on a given day and lasts so many days, weeks, months or
    quarters. "The past 3 months" end today at 00:00 UTC: end_date is today, period "month",
    interval_count 3. Months and quarters are counted back to the same day of the month (the last
    day where the month is shorter). Returns the moment as text, such as "2025-03-01T00:00:00Z".

    Args:
        end_date: the day on which the period ends and which is no part of it, such as 2025-06-01
        period: the unit: day, week, month or quarter
        interval_count: how many units, at least 1
    """
    del org
    if not 1 <= interval_count <= MAX_COUNT:
        raise ToolError(f"Interval count must be between 1 and {MAX_COUNT:,}.")
    end = date.fromisoformat(end_date)
    try:
        if period in DAYS_OF:
            start = end - timedelta(days=interval_count * DAYS_OF[period])
        else:
            start = months_before(end, interval_count * MONTHS_OF[period])
    except (OverflowError, ValueError):
        raise ToolError("Interval count reaches back beyond the calendar.") from None
    return _midnight(start)


@tool()
def get_period(org: ServiceOrg, period_name: str, year: int) -> dict[str, str]:
    """Where a named period starts and ends. It includes its start and not its end. Months and
    quarters are those of the calendar; Spring begins on 1 March, Summer on 1 June, Autumn (or Fall)
    on 1 September, and Winter of a year on 1 December of that year, ending on 1 March of the next.
    Returns start_date and end_date, each such as "2025-03-01T00:00:00Z".

    Args:
        period_name: January to December, Q1 to Q4, Spring, Summer, Autumn or Winter, in any case
        year: the year in which the period starts, such as 2025
    """
    del org
    if not 1900 <= year <= 2200:
        raise ToolError("Year must be between 1900 and 2200.")
    name = " ".join(period_name.split()).lower()
    name = SYNONYMS.get(name, name).capitalize()
    if name not in FIRST_MONTHS:
        known = "January to December, Q1 to Q4, Spring, Summer, Autumn, Winter"
        raise ToolError(f"Period name must be one of: {known} (got '{period_name[:40]}').")
    month, months = FIRST_MONTHS[name]
    start = date(year, month, 1)
    return {"start_date": _midnight(start), "end_date": _midnight(months_before(start, -months))}


def months_before(day: date, months: int) -> date:
    """The same day some months earlier, or the last day of that month if it is shorter.

    Raises:
        ValueError: It lies beyond the calendar.
    """
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    if not 1 <= year <= 9999:
        raise ValueError("beyond the calendar")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _midnight(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


TOOLS = (get_start_date, get_period)
