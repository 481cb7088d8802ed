"""The desk's memos: changes of rules in the desk's own words, among many about other things."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from crmbench.domains.service.hard.articles import (
    STATE_NAMES,
    Article,
    day_words,
    states_words,
)
from crmbench.domains.service.hard.desk.drawing import TODAY, Draft
from crmbench.domains.service.hard.desk.words import data, subjects
from crmbench.domains.service.hard.desk.writing import MemoWriter
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.rulebook import MAP, Disruption, Rulebook

NOISE = 140
NICKNAMES: Mapping[str, str] = {
    name: short for name, short in data()["names"]["carrier"].items() if name != "Norfreight"
}
FIRST_NUMBER = 1103


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
    draft: Draft | None = None
    """What it rules on, if it is one of the desk's questions."""


def memos(
    book: Rulebook,
    seed: int,
    drafts: Sequence[Draft] = (),
    numbered: dict[str, int] | None = None,
) -> Iterator[Article]:
    """All memos, numbered in the order of their days.

    Args:
        book: The rules on credits.
        seed: Of all chance.
        drafts: What is said on the desk's questions.
        numbered: Takes the number of each draft.
    """
    rng = random.Random(f"crmbench hard memos {seed}")
    writer = Writer(rng)
    rules = [draft.provision or draft.amendment for draft in drafts]
    found = [*_rules(book, rng), *_noise(rng, {rule.since for rule in rules if rule})]
    # "The memo of 4 May 2024" is one memo, if that one rules on something.
    taken = {draft.published for draft in drafts}
    found = [replace(memo, day=_free(min(memo.day, TODAY), taken)) for memo in found]
    found += [Memo(draft.published, "", key=draft.key, draft=draft) for draft in drafts]
    found.sort(key=lambda memo: (memo.day, memo.rule, sorted(memo.values.items()), memo.key))
    numbers, number = [], FIRST_NUMBER
    for _ in found:
        numbers.append(number)
        number += rng.choice((1, 1, 2, 3))
    by_key = {memo.key: n for memo, n in zip(found, numbers, strict=True) if memo.key}
    if numbered is not None:
        numbered.update(by_key)
    told = MemoWriter(drafts, by_key)
    # What is only chatter speaks of chatter, lest it seem to change a rule.
    idle = [n for memo, n in zip(found, numbers, strict=True) if memo.rule == "memo_noise"]
    for memo, number in zip(found, numbers, strict=True):
        if memo.draft is not None:
            said = told.write(memo.draft, rng)
        else:
            other = by_key.get(memo.about) or rng.choice(
                [n for n in idle if n <= number] or [number]
            )
            said = writer.write(memo.rule, **{**memo.values, "number": str(other)})
        parts = [said, writer.write("memo_aside")]
        rng.shuffle(parts)
        yield Article(
            f"Memo {number}", f"Desk memo of {day_words(memo.day)}.", "\n\n".join(parts), "Online",
            memo.day,
        )  # fmt: skip


def _free(day: date, taken: Set[date]) -> date:
    """That day, or the last one before it that is not taken."""
    while day in taken:
        day -= timedelta(days=1)
    return day


def words_of_the_desk() -> Article:
    """What the desk's own words mean."""
    regions = "; ".join(f"{name}: {states_words(states)}" for name, states in sorted(MAP.items()))
    carriers = ", ".join(
        f"{short} are {name}" for name, short in sorted(data()["names"]["carrier"].items())
    )
    colours = ", ".join(
        f"{short} is {name}" for name, short in sorted(data()["names"]["priority"].items())
    )
    issues = ", ".join(f"{short} are {name}" for name, short in data()["names"]["issue"].items())
    terms = "\n".join(
        f"{s.terms[1]}: {s.terms[0]}." for s in subjects().values() if len(s.terms) > 1
    )
    text = (
        "Slow money is what a customer gets back when a parcel is late. The ladder is the table "
        "that it is read from, the lid the most that a line may get, and somebody's wait the "
        "number of working days late, by which the ladder is read.\n\n"
        f"Of carriers: {carriers}. On our map, {regions}. Memos move a state now and then; the map "
        "of the day of purchase goes, and the day of purchase is the order's EffectiveDate.\n\n"
        f"Of priorities: {colours}. Whoever has the pin on is a Plus member, and a bargain is a "
        "line sold as Clearance (SaleType__c). A bundle is a line of several pieces; dear goods "
        "are those whose piece costs what a memo says or more, pennyware is what costs less.\n\n"
        f"Of issues, going by the letter: {issues}.\n\n"
        f"What memos say for what the articles say (and memos find new words, too):\n{terms}"
    )
    return Article(
        "How we talk here", "For those who are new at the desk.", text, "Online", date(2022, 1, 12)
    )


def memos_explained() -> Article:
    """How memos work."""
    text = (
        "A memo with a condition rules on the cases of which all of it is true; it goes before "
        "what an article says in general. Of several such memos that fit a case and are in force, "
        "the one with the latest first day decides, by the day that each gives itself.\n\n"
        "Not every memo names the thing that it rules on. Some say what is to be done and no more; "
        "look for the words of the answer, too.\n\n"
        "A memo may change another one: its figure, its reach, its first day, or end it. It names "
        "the other by its number, by its day, by the name that it goes by at the desk, by the "
        "first day that it gives (what began then), or by its condition in the same words; or, and "
        "that is how most do it, by what it lays down, the question that it answers and for whom, "
        "in any words that come to mind. No list of numbers, days and names leads to these. Look "
        "from the side of the case: who speaks so of a memo names every trait for which that one "
        "was written (a state by its full name, a carrier, an issue, a priority, how a case came "
        "in, what an agent or an open case is), by the word of the record or the desk's word for "
        "it, and no other memo fits. A rule is spoken of by the traits that it gives itself, "
        "whatever was taken out or in since; what takes out or in, by those that it takes out or "
        "in; what ends, corrects or puts off another, by those of the other. A "
        'memo\'s day is its day of writing, the one of its summary ("Desk memo of …"), and never '
        "the first day that it gives; no two memos that rule on something were written on one day, "
        "or begin on one, and none rules on days before its own. The "
        "noun after a name (rule, affair, matter) means nothing. What a change leaves alone stays "
        "as it was, and so does the first day. Of several changes of the same thing the latest "
        "counts. A change can itself be changed or ended; what has ended is as if it had not been "
        "written, from that day on. Where a first day was moved, "
        "the new one says from when the memo is in force. A last day is never named; a memo ends "
        "on the day before another ends it.\n\n"
        "What is made to reach further reaches all of which the new condition is true, whatever "
        "its own condition is. What is taken out of the reach of a memo stays out of that memo's "
        "reach, whatever it is made to reach besides. Where what is made to reach further takes "
        "in or out itself, it does so for those of the new condition too. Of a memo that changes "
        "another and has something taken out, it is the "
        "change that is silent there, and what it changed is there as it was before.\n\n"
        "A price is the unit price of the line (OrderItem.UnitPrice), a carrier its Carrier__c, "
        "several pieces a Quantity above 1, a state the ShippingState of the customer's account, "
        "a case's way in its Origin."
    )
    return Article("How memos work", "What goes before what.", text, "Online", date(2022, 1, 12))


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


def _noise(rng: random.Random, begun: Set[date]) -> Iterator[Memo]:
    for _ in range(NOISE):
        day = date(2023, 3, 1) + timedelta(days=rng.randrange(1080))
        # "What began on 4 May 2024" is no chatter.
        since = _free(day + timedelta(days=rng.randrange(4, 25)), begun)
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
