"""The desk's memos: changes of rules in the desk's own words, among many about other things."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

from crmbench.domains.service.hard.articles import (
    STATE_NAMES,
    Article,
    day_words,
    states_words,
)
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.rulebook import MAP, Disruption, Rulebook

NOISE = 130
NICKNAMES = {"Skylark": "the larks", "Bluepost": "the blue vans", "Parcelhound": "the hounds"}
FIRST_NUMBER = 103


@dataclass(frozen=True)
class Memo:
    """A memo before it has a number."""

    day: date
    rule: str
    """Of the grammar."""
    values: dict[str, str] = field(default_factory=dict)
    key: str = ""
    """What other memos call it."""
    about: str = ""
    """The key of the memo that it names by its number."""


def memos(book: Rulebook, seed: int) -> Iterator[Article]:
    """All memos, numbered in the order of their days."""
    rng = random.Random(f"crmbench hard memos {seed}")
    writer = Writer(rng)
    found = [*_rules(book, rng), *_noise(rng)]
    found.sort(key=lambda memo: (memo.day, memo.rule, sorted(memo.values.items())))
    numbers, number = [], FIRST_NUMBER
    for _ in found:
        numbers.append(number)
        number += rng.choice((1, 1, 2, 3))
    by_key = {memo.key: n for memo, n in zip(found, numbers, strict=True) if memo.key}
    for memo, number in zip(found, numbers, strict=True):
        other = by_key.get(memo.about) or rng.choice([n for n in numbers if n <= number])
        said = writer.write(memo.rule, **{**memo.values, "number": str(other)})
        parts = [said, writer.write("memo_aside")]
        rng.shuffle(parts)
        yield Article(
            f"Memo {number}", f"Desk memo of {day_words(memo.day)}.", "\n\n".join(parts), "Online",
            memo.day,
        )  # fmt: skip


def words_of_the_desk() -> Article:
    """What the desk's own words mean."""
    regions = "; ".join(f"{name}: {states_words(states)}" for name, states in sorted(MAP.items()))
    carriers = ", ".join(f"{short} are {name}" for name, short in sorted(NICKNAMES.items()))
    text = (
        "Slow money is what a customer gets back when a parcel is late. The ladder is the table "
        "that it is read from, the lid the most that a line may get, and somebody's wait the "
        "number of working days late, by which the ladder is read.\n\n"
        f"Of carriers: {carriers}. On our map, {regions}. Memos move a state now and then; the map "
        "of the day of purchase goes, and the day of purchase is the order's EffectiveDate."
    )
    return Article(
        "How we talk here", "For those who are new at the desk.", text, "Online", date(2022, 1, 12)
    )


def _rules(book: Rulebook, rng: random.Random) -> Iterator[Memo]:
    def memo(rule: str, since: date, about: str = "", **values: object) -> Memo:
        said = {name: str(value) for name, value in values.items()}
        day = since - timedelta(days=rng.randrange(4, 25))
        return Memo(day, f"memo_{rule}", {"day": day_words(since), **said}, rule, about)

    state, region, moved = book.moved_state
    yield memo("saturdays", book.saturdays_from)
    yield memo("freight", book.freight_from, cap=book.freight_cap)
    yield memo("plus", book.plus_from, points=book.plus_points)
    yield memo("clearance", book.clearance_from)
    (first, base), (second, changed) = book.base
    yield memo("base", first, base=base)
    yield memo("base_change", second, "base", old=base, base=changed)
    start, end = book.grace
    yield memo("grace", start, region=book.grace_region, n=book.grace_days)
    yield memo("grace_end", end, "grace")
    yield memo("region", moved, state=STATE_NAMES[state], region=region)
    yield memo("loyal", book.loyal_from, more=book.loyal_more)
    yield memo("second", book.second_from, points=book.second_points)
    yield Memo(date(2023, 3, 20), "memo_moved")
    for stint in book.stints:
        values = {
            "name": stint.name, "first": day_words(stint.first), "last": day_words(stint.last)
        }  # fmt: skip
        yield Memo(stint.first - timedelta(days=rng.randrange(2, 9)), "memo_stint", values)
    for each in book.disruptions:
        if each.last != each.announced:
            yield Memo(
                max(each.last, each.announced) + timedelta(days=rng.randrange(1, 9)),
                "memo_hindered",
                _hindered(each),
            )


def _hindered(each: Disruption) -> dict[str, str]:
    return {
        "carrier": NICKNAMES[each.carrier],
        "states": states_words(each.states),
        "first": day_words(each.first),
        "real": day_words(each.last),
    }


def _noise(rng: random.Random) -> Iterator[Memo]:
    for _ in range(NOISE):
        day = date(2023, 3, 1) + timedelta(days=rng.randrange(1080))
        since = day + timedelta(days=rng.randrange(4, 25))
        values = {
            "day": day_words(since),
            "first": day_words(since),
            "last": day_words(since + timedelta(days=rng.randrange(3, 40))),
            "n": str(rng.randrange(2, 9)),
            "money": f"${10 * rng.randrange(2, 12)}",
            "region": rng.choice(sorted(MAP)),
            "carrier": rng.choice(sorted(NICKNAMES.values())),
        }
        yield Memo(day, "memo_noise", values)
