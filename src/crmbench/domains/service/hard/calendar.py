"""Days and moments: the desk's own clock, working days, handle times in desk hours."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

DESK = ZoneInfo("America/Chicago")


def moment_of(day: date, minutes: int) -> datetime:
    """So many minutes after midnight of a day by the desk's clock, in UTC."""
    start = datetime(day.year, day.month, day.day, tzinfo=DESK)
    return (start.replace(hour=0) + timedelta(minutes=minutes)).astimezone(UTC)


def text_of(moment: datetime) -> str:
    """A moment as the org stores it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000+0000"


def desk_day(moment: str) -> date:
    """The day of a stored moment by the desk's clock."""
    return datetime.fromisoformat(moment).astimezone(DESK).date()
