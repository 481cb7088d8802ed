"""Days as people say them: "next Thursday", "in three weeks", "the end of the quarter" (DATE-1)."""

from __future__ import annotations

import random
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from crmbench.authoring.derive import months
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.phrases import Slot, day, noun, plain

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass(frozen=True)
class SpokenDate:
    """A day and how it is said."""

    iso: str
    slot: Slot
    tags: tuple[str, ...] = ()


def relative_date(builder: ConversationBuilder, spoken: bool | None = None) -> SpokenDate:
    """`some_day` of a conversation."""
    return some_day(builder.org.today, builder.rng, spoken)


def some_day(today: date, rng: random.Random, spoken: bool | None = None) -> SpokenDate:
    """A day after today, said in relation to it or by its date.

    Args:
        spoken: True: in relation to today; False: by its date; None: either.
    """
    if spoken is None:
        spoken = rng.random() < 0.65
    if not spoken:
        chosen = today + timedelta(days=rng.randint(10, 120))
        return SpokenDate(chosen.isoformat(), day(chosen.isoformat()))
    ways = (_weekday, _weeks, _months, _month_end, _next_month_end, _quarter_end, _week_end)
    return rng.choice(ways)(today, rng)


def _said(value: date, how: str, **slots: Slot) -> SpokenDate:
    return SpokenDate(value.isoformat(), noun(f"when.{how}", **slots), ("relative_date",))


def _weekday(today: date, rng: random.Random) -> SpokenDate:
    place = rng.randrange(5)
    value = today + timedelta(days=7 - today.weekday() + place)
    return _said(value, "next_weekday", weekday=plain(_WEEKDAYS[place]))


def _weeks(today: date, rng: random.Random) -> SpokenDate:
    number = rng.randint(2, 8)
    return _said(today + timedelta(weeks=number), "in_weeks", number=Slot("count", number))


def _months(today: date, rng: random.Random) -> SpokenDate:
    number = rng.randint(2, 6)
    value = date.fromisoformat(months(today.isoformat(), number))
    return _said(value, "in_months", number=Slot("count", number))


def _month_end(today: date, rng: random.Random) -> SpokenDate:
    del rng
    return _said(today.replace(day=monthrange(today.year, today.month)[1]), "month_end")


def _next_month_end(today: date, rng: random.Random) -> SpokenDate:
    del rng
    first = date.fromisoformat(months(today.isoformat()[:8] + "01", 1))
    return _said(first.replace(day=monthrange(first.year, first.month)[1]), "next_month_end")


def _quarter_end(today: date, rng: random.Random) -> SpokenDate:
    del rng
    month = (today.month + 2) // 3 * 3
    return _said(date(today.year, month, monthrange(today.year, month)[1]), "quarter_end")


def _week_end(today: date, rng: random.Random) -> SpokenDate:
    del rng
    return _said(today + timedelta(days=11 - today.weekday()), "next_week_end")
