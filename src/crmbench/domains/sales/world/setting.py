"""What all records of a block draw on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain
from math import ceil
from zlib import crc32

from crmbench.domains.sales.world.banks import Banks, PersonName, Region, banks
from crmbench.domains.sales.world.calendar import Calendar, calendar_of
from crmbench.domains.sales.world.draw import SeededChoices, Weighted, new_ids
from crmbench.domains.sales.world.spec import WorldSpec
from crmbench.errors import InputError

REPS = 10
_DIRECTIONS = ("", " North", " South", " East", " West", " Central", " Harbour", " Park")
_REP_SHARES = (0.6, 5.0, 4.0, 3.2, 2.6, 2.1, 1.7, 1.4, 1.1, 0.8, 0.5)
"""How many records each of the team owns; the manager, who comes first, few."""


@dataclass(slots=True)
class Setting:
    """One block's rng and banks."""

    spec: WorldSpec
    number: int
    """Of the block, from 0."""
    fraction: float
    """How much of a full block it is, above 0, at most 1."""
    rng: SeededChoices
    ids: Iterator[str]
    calendar: Calendar
    bank: Banks
    region: Region
    owners: tuple[str, ...]

    def share(self, count: int) -> int:
        """As many of `count` in a full block as this one has."""
        return ceil(count * self.fraction)

    def person(self) -> tuple[PersonName, PersonName]:
        """A first and a last name."""
        language = self.rng.pick_weighted(self.region.people)
        return self.rng.pick(language.first), self.rng.pick(language.last)

    def apart(self, name: str) -> str:
        """The name as this block has it: the first block as it is, each later one with a place.

        Blocks that draw the same name give it different places, so that names are unique in the
        world without a list of those that were used.
        """
        if self.number == 0:
            return name
        places = qualifiers()
        first = crc32(name.encode()) % len(places)
        turn, place = divmod(self.number - 1 + first, len(places))
        return f"{name} {places[place]}" + (f" {turn + 1}" if turn else "")


def check_spec(spec: WorldSpec) -> None:
    """Refuse a spec that no world can be made of.

    Raises:
        InputError: It names a region or a trade that is not in the banks, or its day is none on
            which people work.
    """
    bank, place = banks(), f"spec of the world '{spec.name}'"
    if spec.region not in bank.regions:
        raise InputError(
            f"{place}: no region '{spec.region}'", field="region", expected=", ".join(bank.regions)
        )
    unknown = [trade for trade in spec.industries if trade not in bank.trades]
    if unknown or not spec.industries:
        raise InputError(
            f"{place}: no trade {unknown}" if unknown else f"{place}: no trades",
            field="industries",
            expected="some of " + ", ".join(bank.trade_names),
        )
    try:
        working = date.fromisoformat(spec.today).weekday() < 5 and len(spec.today) == 10
    except ValueError:
        working = False
    if not working:
        raise InputError(
            f"{place}: '{spec.today}' is no working day",
            field="today",
            expected="a date from Monday to Friday, as 2026-03-02",
        )


SHARES = Weighted(range(REPS + 1), _REP_SHARES)
"""Indices of owners."""


def setting(spec: WorldSpec, number: int, fraction: float) -> Setting:
    """The setting of the `number`-th block."""
    place = f"{spec.name}/{spec.seed}/{number}"
    bank = banks(spec.pool)
    # The ids of a later block begin alike, so that a database's index on them grows in one place.
    prefix = f"{number:05x}" if number else ""
    return Setting(
        spec=spec,
        number=number,
        fraction=fraction,
        rng=SeededChoices(f"{place}/rows"),
        ids=new_ids(f"{place}/ids", prefix),
        calendar=calendar_of(spec.today),
        bank=bank,
        region=bank.regions[spec.region],
        owners=sales_team(spec),
    )


@lru_cache(maxsize=32)
def sales_team(spec: WorldSpec) -> tuple[str, ...]:
    """The manager and the reps: full names that share no part."""
    rng = SeededChoices(f"{spec.name}/{spec.seed}/team")
    languages = banks(spec.pool).regions[spec.region].people
    firsts: list[str] = []
    lasts: list[str] = []
    while len(firsts) <= REPS:
        language = rng.pick_weighted(languages)
        first, last = rng.pick(language.first).text, rng.pick(language.last).text
        if first not in firsts and last not in lasts:
            firsts.append(first)
            lasts.append(last)
    return tuple(f"{first} {last}" for first, last in zip(firsts, lasts, strict=True))


@lru_cache(maxsize=1)
def qualifiers() -> tuple[str, ...]:
    """Places that tell clients of one name apart."""
    regions = banks().regions.values()
    cities = dict.fromkeys(city.name for city in chain(*(r.cities for r in regions)))
    return tuple(city + direction for direction in _DIRECTIONS for city in cities)
