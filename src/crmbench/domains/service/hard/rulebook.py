"""What a late delivery is worth, as data: versions, notices, exceptions; drawn from a seed.

The articles of the org's handbook are rendered from it (see `articles`), and both ways to the
ground truth use it, the one as an object, the other by parsing the articles.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from crmbench.authoring.handbook import Facts
from crmbench.authoring.handbook import Rulebook as Desk

MISSED = ("nothing", "changes of changes", "changes", "memos")
"""What somebody may have missed of the memos, from nothing to all."""
CARRIERS = ("Skylark", "Bluepost", "Parcelhound", "Norfreight")
METHODS = ("Standard", "Express", "Freight")
REGIONS = (
    ("CA", "OR"), ("WA", "OR"), ("TX",), ("NY", "PA"), ("FL", "GA"), ("CO", "AZ"), ("IL", "MI"),
    ("MN", "MI"), ("NC", "GA"), ("CA",), ("WA",), ("NY",), ("PA",), ("FL",), ("IL", "MN"),
)  # fmt: skip
WEATHER = (
    "ice", "floods", "a strike", "wildfire smoke", "a storm", "heavy snow", "a computer failure",
    "a fire in its depot", "a blocked bridge", "a heat wave",
)  # fmt: skip
LAST = date(2026, 3, 2)
MAP = {
    "the high country": ("CO", "AZ"),
    "the lakes": ("IL", "MI", "MN"),
    "the gulf": ("TX", "FL", "GA"),
    "the far west": ("CA", "OR", "WA"),
}
"""What the desk calls some of the states together, before a memo moves one."""
MOVES = {
    "the high country": ("TX", "CA"),
    "the lakes": ("PA", "NY"),
    "the gulf": ("NC",),
    "the far west": ("AZ",),
}
"""States that a memo may count to a region."""


@dataclass(frozen=True)
class Rates:
    """One version of the table, for orders placed from `start` on and before the next one."""

    start: date
    steps: tuple[tuple[int, int], ...]
    """From so many working days late on so many percent; rising."""
    cap: int
    """Dollars that a line gets at most."""

    def percent(self, days: int) -> int:
        """The percentage for so many working days late."""
        return max((share for least, share in self.steps if days >= least), default=0)


@dataclass(frozen=True)
class Disruption:
    """Days on which a carrier did not deliver in some states."""

    carrier: str
    states: tuple[str, ...]
    first: date
    last: date
    why: str
    announced: date
    """The last day as it was first announced; a memo may have put it earlier or later."""


@dataclass(frozen=True)
class Stint:
    """Days in which somebody of the desk works for Dispatch, the last one included."""

    name: str
    first: date
    last: date


@dataclass(frozen=True)
class Rulebook:
    """All that decides about a credit for a late delivery."""

    rates: tuple[Rates, ...]
    saturdays_from: date
    """For Express orders placed from then on Saturday is a working day."""
    freight_from: date
    freight_cap: int
    """What a Freight line gets at most, ordered from then on."""
    plus_from: date
    """For orders placed from then on members get points instead of the half more."""
    plus_points: int
    clearance_from: date
    """For orders placed from then on clearance lines get nothing; before, half."""
    limit: int
    """So many credits in a year, and the next one is the manager's."""
    holidays: tuple[tuple[str, date], ...]
    disruptions: tuple[Disruption, ...]
    base: tuple[tuple[date, int], ...]
    """From which day of purchase on the dollars of a piece's price that count at most; rising."""
    grace_region: str
    grace_days: int
    grace: tuple[date, date]
    """For purchases from the one day on and before the other those days of waiting do not count."""
    moved_state: tuple[str, str, date]
    """A state, the region that it is counted to, and from which day of purchase on."""
    loyal_from: date
    loyal_more: int
    """Dollars by which the most for a line is higher for members of a year's standing."""
    second_from: date
    second_points: int
    """Percentage points for customers with a credit in the 120 days before."""
    stints: tuple[Stint, ...] = ()
    desk: tuple[Desk, ...] = ()
    """What the desk's memos say besides: as it is, as somebody knows it who missed what changes a
    change, as somebody who missed all changes, and as somebody who knows the articles alone."""

    def say(
        self, subject: str, facts: Facts, day: date, without: frozenset[str] = frozenset()
    ) -> str:
        """What the desk's memos answer on a day."""
        missed = [n for n, name in enumerate(MISSED) if name in without]
        return str(self.desk[max(missed, default=0)].decide(subject, facts, day).value)

    def number(
        self, subject: str, facts: Facts, day: date, without: frozenset[str] = frozenset()
    ) -> int:
        """The same where the answer begins with a number."""
        return int(self.say(subject, facts, day, without).split()[0])

    def first_days(self) -> set[date]:
        """The days from which something goes that a memo says."""
        base = [since for since, _ in self.base]
        return {
            self.saturdays_from, self.freight_from, self.plus_from, self.clearance_from,
            self.loyal_from, self.second_from, self.moved_state[2], *self.grace, *base,
        }  # fmt: skip

    def region_of(self, region: str, ordered: date) -> frozenset[str]:
        """The states of a region on the map of a day of purchase."""
        state, to, since = self.moved_state
        found = set(MAP[region])
        if ordered >= since:
            found = found | {state} if region == to else found - {state}
        return frozenset(found)

    def base_on(self, ordered: date) -> int | None:
        """The dollars of a price that count at most for a purchase of that day."""
        return next((most for day, most in reversed(self.base) if day <= ordered), None)

    def rates_on(self, day: date) -> Rates:
        """The version for an order of that day."""
        return [rates for rates in self.rates if rates.start <= day][-1]


def make_rulebook(seed: int) -> Rulebook:
    """The rules of a seed's org."""
    rng = random.Random(f"crmbench hard rulebook {seed}")
    starts = [date(2021, 1, 1)]
    for month in (8, 17, 28, 40):
        starts.append(
            _month(2022, month + rng.randrange(5)).replace(day=rng.choice((1, 1, 10, 15)))
        )
    rates = []
    for start in starts:
        first = rng.choice((1, 2, 2, 3))
        second = first + rng.choice((2, 3))
        third = second + rng.choice((3, 4, 5))
        low = rng.choice((4, 5, 6, 8))
        middle = low + rng.choice((3, 4, 5, 6))
        high = middle + rng.choice((4, 5, 8))
        steps = ((first, low), (second, middle), (third, high))
        rates.append(Rates(start, steps, rng.choice((18, 20, 24, 25, 28, 30))))
    region = rng.choice(sorted(MAP))
    base = rng.choice((80, 90, 110))
    grace_from = _day(rng, 2023, 11, 16)
    return Rulebook(
        tuple(rates),
        saturdays_from=_month(2023, rng.randrange(9, 24)),
        freight_from=_month(2023, rng.randrange(6, 28)),
        freight_cap=rng.choice((90, 110, 120, 140)),
        plus_from=_month(2023, rng.randrange(10, 26)),
        plus_points=rng.choice((3, 4, 6)),
        clearance_from=_month(2023, rng.randrange(12, 28)),
        limit=3,
        holidays=tuple(_holidays(rng)),
        disruptions=tuple(_disruptions(rng)),
        base=(
            (_day(rng, 2023, 6, 12), base),
            (_day(rng, 2024, 6, 18), base + rng.choice((-25, 30, 50))),
        ),
        grace_region=region,
        grace_days=rng.choice((2, 3)),
        grace=(grace_from, _day(rng, 2025, 2, 8)),
        moved_state=(rng.choice(MOVES[region]), region, _day(rng, 2024, 2, 7)),
        loyal_from=_day(rng, 2023, 10, 18),
        loyal_more=rng.choice((10, 15, 20)),
        second_from=_day(rng, 2023, 8, 16),
        second_points=rng.choice((3, 4, 5)),
    )


def stints(seed: int, names: Sequence[str]) -> tuple[Stint, ...]:
    """Who of the desk works for Dispatch when: one after the other, with days between."""
    rng = random.Random(f"crmbench hard stints {seed}")
    found = []
    first = date(2024, 2, 1) + timedelta(days=rng.randrange(30))
    for name in rng.sample(list(names), 6):
        last = first + timedelta(days=rng.randrange(80, 130))
        if last > LAST:
            break
        found.append(Stint(name, first, last))
        first = last + timedelta(days=rng.randrange(2, 15))
    return tuple(found)


def _day(rng: random.Random, year: int, low: int, high: int) -> date:
    """A day in one of the months so many after January of a year."""
    return _month(year, rng.randrange(low, high)).replace(day=rng.choice((1, 4, 9, 12, 17, 23)))


def _month(year: int, months: int) -> date:
    """The first day of the month so many months after January of a year."""
    return date(year + months // 12, months % 12 + 1, 1)


def _holidays(rng: random.Random) -> list[tuple[str, date]]:
    found = []
    for year in range(2022, 2027):
        fixed = ((1, 1, "New Year's Day"), (7, 4, "Independence Day"), (12, 25, "Christmas Day"))
        found += [(name, date(year, month, day)) for month, day, name in fixed]
        found.append(("Memorial Day", _weekday(year, 5, 0, -1)))
        found.append(("Labor Day", _weekday(year, 9, 0, 1)))
        found.append(("Thanksgiving", _weekday(year, 11, 3, 4)))
        for name, months in (("Stocktaking", (1, 2, 3)), ("Founder's Day", (4, 6, 8, 10))):
            day = date(year, rng.choice(months), rng.randrange(8, 27))
            while day.weekday() > 4:
                day += timedelta(days=1)
            found.append((name, day))
    return sorted(found, key=lambda pair: pair[1])


def _weekday(year: int, month: int, weekday: int, number: int) -> date:
    """The number-th such weekday of a month; -1 is the last."""
    days = [date(year, month, day) for day in range(1, 31)]
    return [day for day in days if day.weekday() == weekday][number if number < 0 else number - 1]


def _disruptions(rng: random.Random) -> list[Disruption]:
    found = []
    for month in range(3, 38):
        for _ in range(rng.choice((3, 4, 4))):
            first = _month(2023, month) + timedelta(days=rng.randrange(0, 20))
            announced = first + timedelta(days=rng.choice((4, 6, 8, 9)))
            last = announced - timedelta(days=rng.choice((0, 0, 2, 3, -2, -3)))
            carrier, region = rng.choice(CARRIERS[:3]), rng.choice(REGIONS)
            if max(last, announced) < LAST:
                why = rng.choice(WEATHER)
                found.append(Disruption(carrier, region, first, last, why, announced))
    return found
