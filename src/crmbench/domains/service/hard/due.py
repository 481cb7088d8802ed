"""What is due for a late delivery, by the rulebook: the first way to the ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Any

from crmbench.core.answer import STATES
from crmbench.domains.service.hard.rulebook import Rates, Rulebook

CENT = Decimal("0.01")
STATE_NAMES = {code: name for name, code in STATES.items()}


@dataclass(frozen=True)
class Claim:
    """All that bears on one case."""

    ordered: date
    promised: date
    arrived: date
    """By the order line."""
    carrier: str
    state: str
    method: str
    clearance: bool
    member: bool
    pieces: int
    price: Decimal
    booked: Decimal
    """What the customer has had."""
    wished: date | None = None
    """A later day that the customer asked for and we confirmed."""
    corrected: date | None = None
    """The day of arrival in Dispatch's last comment."""
    on_time: int = 0
    """Pieces that came on time, as we confirmed."""
    declined: bool = False
    told: Decimal | None = None
    """The last amount that the customer was told."""
    sibling: bool = False
    """Whether a credit stands on an earlier case about the order."""
    in_year: int = 0
    """Credits of the customer in the 365 days before."""
    recent: bool = False
    """Whether a credit of the customer was booked in the 120 days before."""
    loyal: bool = False
    """Whether the customer was a member for a year on the day of the order."""
    by_stand_in: bool = False
    """Whether the comment on the arrival is by somebody who stood in for Dispatch."""
    misplaced: date | None = None
    """The day in a comment that Dispatch has since said to belong to another case."""

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the desk's memos can ask of it."""
        return {
            "state": STATE_NAMES[self.state],
            "carrier": self.carrier,
            "method": self.method,
            "price": float(self.price),
            "member": self.member,
            "several": self.pieces > 1,
            "clearance": self.clearance,
        }


@dataclass(frozen=True)
class Outcome:
    """What a review of a case finds."""

    outcome: str
    amount: Decimal | None


RULES = (
    "holidays", "saturdays", "disruption", "version", "clearance", "clearance_change", "plus",
    "plus_change", "cap", "freight", "pieces", "wish", "dispatch", "sibling", "told", "declined",
    "refer", "least", "base", "base_change", "grace", "grace_end", "region", "loyal", "second",
    "stand_in", "misplaced", "memos", "changes", "changes of changes",
)  # fmt: skip
"""The rules that can be left out, for the gates and to explain a wrong item."""
NEARBY: Mapping[str, str] = {
    "one_leaving_out": "where both hold, both are taken off",
    "day_of_arrival": "up to and including the day of arrival",
    "added_to_nothing": "also only where there is something to add to",
    "cut_to_the_cent": "Round to the cent, half a cent up.",
    "lid_a_piece": "What goes beyond the most that a line may get is cut.",
    "told_alone": "If what was told is less than what is due, the customer gets what is due.",
}
"""Other readings of the articles, which can be named among what is left out: of two that leave out
days only one does, the day of arrival does not count, a percentage is added where there is nothing,
fractions of a cent go, the lid is a piece's, and what was told replaces what is due. For each the
words of an article that rule it out.
"""


def days_late(book: Rulebook, claim: Claim, without: frozenset[str] = frozenset()) -> int:
    """The working days after the promised (or wished) day up to the day of arrival."""
    start, end = claim.promised, claim.arrived
    if claim.wished is not None and "wish" not in without:
        start = max(start, claim.wished)
    if claim.misplaced is not None and "misplaced" in without:
        end = claim.misplaced
    elif claim.corrected is not None and "dispatch" not in without:
        end = claim.arrived if claim.by_stand_in and "stand_in" in without else claim.corrected
    holidays = frozenset() if "holidays" in without else {day for _, day in book.holidays}
    saturday = (
        claim.method == "Express"
        and claim.ordered >= book.saturdays_from
        and "saturdays" not in without
    )
    # Found once a claim: a book has far more disruptions than a claim has days.
    stopped = [] if "disruption" in without else _disruptions(book, claim)
    count, day = 0, start + timedelta(days=1)
    if "day_of_arrival" in without:
        end -= timedelta(days=1)
    while day <= end:
        working = day.weekday() < (6 if saturday else 5) and day not in holidays
        if working and not any(first <= day <= last for first, last in stopped):
            count += 1
        day += timedelta(days=1)
    quiet = book.number("quiet", claim.facts, claim.ordered, without)
    left_out = (quiet, _grace(book, claim, without))
    return max(0, count - (max(left_out) if "one_leaving_out" in without else sum(left_out)))


def _grace(book: Rulebook, claim: Claim, without: frozenset[str]) -> int:
    """The days of waiting that are not counted where the customer lives."""
    start, end = book.grace
    if "grace" in without or claim.ordered < start:
        return 0
    if claim.ordered >= end and "grace_end" not in without:
        return 0
    old = date.min if "region" in without else claim.ordered
    return book.grace_days if claim.state in book.region_of(book.grace_region, old) else 0


def _price(book: Rulebook, claim: Claim, without: frozenset[str]) -> Decimal:
    """The part of a piece's price that counts."""
    most = book.base_on(claim.ordered)
    if most is None or claim.method == "Freight" or "base" in without:
        return claim.price
    return min(claim.price, Decimal(book.base[0][1] if "base_change" in without else most))


def _disruptions(book: Rulebook, claim: Claim) -> list[tuple[date, date]]:
    """The first and last days on which the claim's carrier could not deliver there."""
    return [
        (each.first, each.last)
        for each in book.disruptions
        if each.carrier == claim.carrier and claim.state in each.states
    ]


def by_table(book: Rulebook, claim: Claim, without: frozenset[str] = frozenset()) -> Decimal:
    """What the table gives, with all that changes it."""
    if claim.sibling and "sibling" not in without:
        return Decimal(0)
    ordered = date(2026, 3, 1) if "version" in without else claim.ordered
    rates = book.rates_on(ordered)
    share = _share(book, claim, rates, without)
    pieces = claim.pieces - (0 if "pieces" in without else claim.on_time)
    rounding = ROUND_DOWN if "cut_to_the_cent" in without else ROUND_HALF_UP
    amount = (share * pieces * _price(book, claim, without) / 100).quantize(CENT, rounding)
    if "cap" not in without:
        cap = _cap(book, claim, rates, without)
        amount = min(amount, Decimal(cap * pieces if "lid_a_piece" in without else cap))
    least = book.number("least", claim.facts, claim.ordered, without)
    if amount < least and "least" not in without:
        return Decimal(0)
    return amount


def _share(book: Rulebook, claim: Claim, rates: Rates, without: frozenset[str]) -> Decimal:
    """The percentage, with all that is done to it."""
    share = Decimal(rates.percent(days_late(book, claim, without)))
    if claim.clearance and "clearance" not in without:
        gone = claim.ordered >= book.clearance_from and "clearance_change" not in without
        share = Decimal(0) if gone else share / 2
    if share and claim.member and "plus" not in without:
        points = claim.ordered >= book.plus_from and "plus_change" not in without
        share = share + book.plus_points if points else share * Decimal("1.5")
    if share and claim.recent and claim.ordered >= book.second_from and "second" not in without:
        share += book.second_points
    if share or "added_to_nothing" in without:
        share += book.number("added", claim.facts, claim.ordered, without)
    return share


def _cap(book: Rulebook, claim: Claim, rates: Rates, without: frozenset[str]) -> int:
    """The most that a line may get."""
    cap = rates.cap
    if (
        claim.method == "Freight"
        and claim.ordered >= book.freight_from
        and "freight" not in without
    ):
        cap = book.freight_cap
    if claim.loyal and claim.ordered >= book.loyal_from and "loyal" not in without:
        cap += book.loyal_more
    return cap + _shift(book.say("lid", claim.facts, claim.ordered, without))


def _shift(words: str) -> int:
    """By how much a lid differs from the table's."""
    if words == "the table's own":
        return 0
    number, _, way = words.split()[:3]
    return int(number) if way == "above" else -int(number)


def due(book: Rulebook, claim: Claim, without: frozenset[str] = frozenset()) -> Decimal | None:
    """What the customer should have had in all; None: the case is the manager's."""
    if claim.in_year >= book.limit and "refer" not in without:
        return None
    if claim.declined and "declined" not in without:
        return Decimal(0)
    amount = by_table(book, claim, without)
    binds = book.say("pledge", claim.facts, claim.ordered, without) == "binding"
    if claim.told is not None and binds and "told" not in without:
        amount = claim.told if "told_alone" in without else max(amount, claim.told)
    return amount


def review(book: Rulebook, claim: Claim) -> Outcome:
    """The outcome of a case."""
    return Outcome(*outcome_without(book, claim, frozenset()))


def deciding(book: Rulebook, claim: Claim) -> frozenset[str]:
    """The rules without which the outcome of a case would be another."""
    found = outcome_without(book, claim, frozenset())
    return frozenset(r for r in RULES if outcome_without(book, claim, frozenset({r})) != found)


def outcome_without(
    book: Rulebook, claim: Claim, without: frozenset[str]
) -> tuple[str, Decimal | None]:
    """Outcome and amount as if some of the rules did not hold."""
    owed = due(book, claim, without)
    if owed is None:
        return "Refer", None
    if owed == claim.booked:
        return "Correct", None
    if owed > claim.booked:
        return "Underpaid", owed - claim.booked
    return "Overpaid", claim.booked - owed


def without_text(claim: Claim) -> Claim:
    """The claim as somebody sees it who reads no letters."""
    return replace(claim, wished=None, corrected=None, on_time=0, declined=False, told=None)
