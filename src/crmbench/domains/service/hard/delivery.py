"""Cases about late deliveries: what happened, what was written about it, and what was booked."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from crmbench.core.schema import Row
from crmbench.domains.service.hard.articles import day_words
from crmbench.domains.service.hard.calendar import moment_of
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.desk.late_case import LateCase
from crmbench.domains.service.hard.due import Claim, review
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.rulebook import CARRIERS, Rulebook
from crmbench.domains.service.hard.story import Story

LAST_CLOSED = datetime(2026, 3, 1, 5, 0, tzinfo=UTC)


@dataclass
class Past:
    """What was booked before, by order and by customer."""

    by_order: dict[str, bool] = field(default_factory=dict)
    by_account: dict[str, list[date]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class Plan:
    """A line that will be complained of."""

    item: Row
    order: Row
    account: Row
    opened: date


def lateness(rng: random.Random) -> int:
    """Calendar days late."""
    return rng.choice((2, 4, 5, 6, 7, 7, 8, 8, 9, 10, 10, 11, 12, 13, 14, 15, 16, 18, 20))


def make_line(rng: random.Random, book: Rulebook, plan: Plan, state: str) -> None:
    """Fill in how a late line travelled."""
    item, ordered = plan.item, date.fromisoformat(plan.order["EffectiveDate"])
    promised = ordered + timedelta(days=rng.randrange(3, 8))
    arrived = promised + timedelta(days=lateness(rng))
    method = "Freight" if item["UnitPrice"] > 330 else rng.choice(("Express", "Standard"))
    carrier = CARRIERS[3] if method == "Freight" else rng.choice(CARRIERS[:3])
    near = [
        d
        for d in book.disruptions
        if state in d.states and promised < d.announced and d.first <= arrived
    ]
    if near and method != "Freight" and rng.random() < 0.7:
        carrier = rng.choice(near).carrier
    sale = "Clearance" if rng.random() < 0.14 else "Regular"
    item.update(
        Carrier__c=carrier,
        Method__c=method,
        SaleType__c=sale,
        PromisedDate__c=promised.isoformat(),
        DeliveredDate__c=arrived.isoformat(),
    )


SIZES = frozenset(
    [
        "II",
        "III",
        "m",
        "L",
        "cm",
        "mm",
        "kg",
        "Inch",
        "Lumen",
        "Small",
        "Medium",
        "Large",
        "Extra",
        "Short",
        "Regular",
        "Long",
        "Single",
        "Double",
        "Cotton",
        "Silk",
        "Fleece",
        "Light",
        "Heavy",
        "Size",
    ]
)
"""Words of a product's name that say which one of its kind it is."""


def product_words(name: str) -> str:
    """What a customer calls a product: ``Fernwick II 2-Person Dome Tent in Sand``: dome tent."""
    tokens = name.split(" in ")[0].split()[1:]
    # The last word is never a size: a Bike Light is no bike.
    kept = [t for t in tokens[:-1] if t not in SIZES and not any(c.isdigit() for c in t)]
    return " ".join([*kept, tokens[-1]]).lower()


def plain_claim(plan: Plan) -> Claim:
    """The claim of a plan by the records alone, as if nothing was written or booked."""
    item, account = plan.item, plan.account
    ordered = date.fromisoformat(plan.order["EffectiveDate"])
    return Claim(
        ordered,
        date.fromisoformat(item["PromisedDate__c"]),
        date.fromisoformat(item["DeliveredDate__c"]),
        item["Carrier__c"],
        account["ShippingState"],
        item["Method__c"],
        item["SaleType__c"] == "Clearance",
        is_member(account, ordered),
        item["Quantity"],
        Decimal(str(item["UnitPrice"])),
        Decimal(0),
        loyal=is_loyal(account, ordered),
    )


class LateCases:
    """Makes the late cases of an org, the oldest first, as each depends on those before."""

    def __init__(self, book: Rulebook, rng: random.Random, agents: Sequence[str]) -> None:
        self.book = book
        self.rng = rng
        self.writer = Writer(rng)
        self.agents = agents
        self.past = Past()
        self.noted: list[LateCase] = []
        """Cases with a comment of Dispatch that may yet turn out to be about another."""

    def make(self, number: int, plan: Plan, product: str) -> LateCase | None:
        """The case of a plan; None where a date falls on the edge of a rule."""
        rng, item, account = self.rng, plan.item, plan.account
        ordered = date.fromisoformat(plan.order["EffectiveDate"])
        opened = moment_of(plan.opened, 60 * rng.randrange(7, 22) + rng.randrange(60))
        utc_day = opened.astimezone(UTC).date()
        days = [(utc_day - day).days for day in self.past.by_account[account["Id"]]]
        if any(n <= 1 or 119 <= n <= 122 or 364 <= n <= 367 for n in days):
            return None
        claim = replace(
            plain_claim(plan),
            sibling=plan.order["Id"] in self.past.by_order,
            in_year=sum(1 <= n <= 365 for n in days),
            recent=any(1 <= n <= 120 for n in days),
        )
        talk = Conversation(
            rng,
            self.writer,
            account["Name"],
            rng.choice(self.agents),
            opened,
            {"product": product, "ordered": day_words(ordered), "carrier": item["Carrier__c"]},
        )
        case = LateCase(number, item, plan.order, account, claim, talk, opened, opened)
        Story(self.book, rng, case).tell()
        if case.closed > LAST_CLOSED:
            return None
        self.noted = [c for c in self.noted if case.opened - c.opened < timedelta(days=35)]
        if not self._misplace(case) and _noted(case):
            self.noted.append(case)
        self._keep(case)
        return case

    def _misplace(self, case: LateCase) -> bool:
        """Let a comment on another case turn out to have been meant for this one, if one fits."""
        claim = case.claim
        if any(about for _, _, about in case.talk.comments):
            return False
        for other in self.noted:
            moment, day = other.talk.comments[-1][0], other.claim.corrected
            fits = day is not None and claim.promised <= day <= claim.arrived
            mine = max(moment, case.opened) + timedelta(hours=self.rng.randrange(2, 30))
            if not fits or other.claim.carrier != claim.carrier or mine > LAST_CLOSED:
                continue
            if self.rng.random() < 0.3:
                continue
            text = case.talk.say("dispatch_moved", number=f"@{other.number}@")
            case.talk.comments.append((mine, text, True))
            _settle(self.book, other, corrected=None, misplaced=day)
            _settle(self.book, case, corrected=day)
            self.noted.remove(other)
            return True
        return False

    def _keep(self, case: LateCase) -> None:
        booked = [c for c in case.credits if c.status == "Booked" and c.kind == "Late Delivery"]
        if booked:
            self.past.by_order[case.order["Id"]] = True
            self.past.by_account[case.account["Id"]] += [c.day for c in booked]


def _noted(case: LateCase) -> bool:
    """Whether one comment of a clerk alone gives the day of arrival."""
    wrote = [about for _, _, about in case.talk.comments if about]
    return wrote == [True] and case.claim.corrected is not None


def _settle(book: Rulebook, case: LateCase, **facts: Any) -> None:
    """Change what is known of a case, and what the review of it must find."""
    case.claim = replace(case.claim, **facts)
    case.outcome = review(book, case.claim)


def is_member(account: Row, day: date) -> bool:
    """Whether a customer was a Plus member on a day."""
    since, until = account.get("MemberSince__c"), account.get("MemberUntil__c")
    if account.get("Membership__c") != "Plus" or not since:
        return False
    return since <= day.isoformat() and (until is None or day.isoformat() <= until)


def is_loyal(account: Row, day: date) -> bool:
    """Whether a customer was a member on a day, and had been for 365 days or more."""
    if not is_member(account, day):
        return False
    return (day - date.fromisoformat(account["MemberSince__c"])).days >= 365
