"""Cases about late deliveries: what happened, what was written about it, and what was booked."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from crmbench.core.schema import Row
from crmbench.domains.service.hard.articles import day_words
from crmbench.domains.service.hard.calendar import desk_day, moment_of, text_of
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.due import Claim, Outcome, due, review
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.rulebook import CARRIERS, Rulebook

SLIPS = (
    "holidays", "saturdays", "disruption", "version", "clearance", "plus", "plus_change", "cap",
    "freight", "pieces", "wish", "dispatch", "clearance_change", "sibling", "base", "base_change",
    "grace", "grace_end", "loyal", "second", "stand_in",
)  # fmt: skip
"""Rules that an agent of the desk may have overlooked when the credit was booked."""

LAST_CLOSED = datetime(2026, 3, 1, 5, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Credit:
    """A booking on a case."""

    amount: Decimal
    status: str
    kind: str
    day: date
    merged: bool = False
    """Whether it stands on the case that was merged into this one."""


@dataclass
class LateCase:
    """A case about a late line, with all that lies behind it."""

    number: int
    item: Row
    order: Row
    account: Row
    claim: Claim
    talk: Conversation
    opened: datetime
    closed: datetime
    credits: list[Credit] = field(default_factory=list)
    issue: str | None = "Late Delivery"
    """By name, as the case has it, right or wrong."""
    merged: bool = False
    """Whether a duplicate was merged into it."""
    earlier: Conversation | None = None
    """An earlier case of the customer about the same order, with the wish for another day."""
    outcome: Outcome | None = None

    @property
    def desk_closed(self) -> date:
        """The day on which it was closed by the desk's clock."""
        return desk_day(text_of(self.closed))


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
        promised = date.fromisoformat(item["PromisedDate__c"])
        arrived = date.fromisoformat(item["DeliveredDate__c"])
        opened = moment_of(plan.opened, 60 * rng.randrange(7, 22) + rng.randrange(60))
        utc_day = opened.astimezone(UTC).date()
        days = [(utc_day - day).days for day in self.past.by_account[account["Id"]]]
        if any(n <= 1 or 119 <= n <= 122 or 364 <= n <= 367 for n in days):
            return None
        claim = Claim(
            ordered,
            promised,
            arrived,
            item["Carrier__c"],
            account["ShippingState"],
            item["Method__c"],
            item["SaleType__c"] == "Clearance",
            is_member(account, ordered),
            item["Quantity"],
            Decimal(str(item["UnitPrice"])),
            Decimal(0),
            sibling=plan.order["Id"] in self.past.by_order,
            in_year=sum(1 <= n <= 365 for n in days),
            recent=any(1 <= n <= 120 for n in days),
            loyal=is_loyal(account, ordered),
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
        _Story(self.book, rng, case).tell()
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


def _settle(book: Rulebook, case: LateCase, **facts: date | None) -> None:
    """Change what is known of a case, and what the review of it must find."""
    case.claim = Claim(**{**case.claim.__dict__, **facts})
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


class _Story:
    """Tells one case, and with it decides its claim."""

    def __init__(self, book: Rulebook, rng: random.Random, case: LateCase) -> None:
        self.book, self.rng, self.case, self.talk = book, rng, case, case.talk
        self.facts: dict[str, object] = {}

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def tell(self) -> None:
        talk, rng, case = self.talk, self.rng, self.case
        opening = [talk.say("late_open")]
        if self.chance(0.55):
            shift = rng.choice((-3, -2, -1, 0, 1, 2, 3))
            claimed = case.claim.arrived + timedelta(days=shift)
            if claimed <= desk_day(text_of(talk.moment)):
                opening.append(talk.say("late_claim", claimed=day_words(claimed)))
        asked = self.chance(0.14)
        if asked:
            opening.append(talk.say("asks_amount", amount=self.dollars()))
        partial = self.partial(opening)
        talk.customer_writes(opening, rng.choice((1, 2, 3)))
        self.wish()
        self.dispatch()
        talk.pause(3, 40)
        self.answer(asked, partial)
        self.decline()
        self.close()

    def dollars(self, low: int = 5, high: int = 45) -> str:
        return f"${self.rng.randrange(low, high)}.{self.rng.choice(('00', '50', '00', '95'))}"

    def partial(self, opening: list[str]) -> str | None:
        """That some pieces came on time: the customer's claim, and whether we confirm it."""
        pieces = self.case.claim.pieces
        if pieces < 2 or not self.chance(0.6):
            return None
        late = self.rng.randrange(1, pieces)
        values = {"late": str(late), "all": str(pieces), "ontime": str(pieces - late)}
        opening.append(self.talk.say("part_claim", **values))
        if self.chance(0.55):
            self.facts["on_time"] = pieces - late
            return self.talk.say("part_yes", **values)
        return self.talk.say("part_no", **values)

    def wish(self) -> None:
        """That the customer wanted it later; told in an earlier case, or before in this one."""
        if not self.chance(0.3):
            return
        claim, rng = self.case.claim, self.rng
        day = claim.promised + timedelta(days=rng.randrange(2, 9))
        start = moment_of(claim.ordered + timedelta(days=1), 60 * rng.randrange(8, 18))
        if start + timedelta(days=2) > moment_of(claim.promised, 0):
            return
        talk = self.talk
        earlier = Conversation(rng, talk.writer, talk.customer, talk.agent, start, talk.values)
        words = day_words(day)
        earlier.customer_writes([earlier.say("hold_ask", day=words)])
        earlier.pause(1, 8)
        fate = rng.random()
        if fate < 0.6:
            earlier.agent_writes([earlier.say("hold_yes", day=words)])
            self.facts["wished"] = day
        elif fate < 0.8:
            earlier.agent_writes([earlier.say("hold_no", day=words)])
        else:
            earlier.agent_writes([earlier.say("hold_yes", day=words)])
            earlier.pause(1, 8)
            earlier.customer_writes([earlier.say("hold_back", day=words)])
            earlier.pause(1, 4)
            earlier.agent_writes([earlier.say("hold_back_yes")])
        self.case.earlier = earlier

    def dispatch(self) -> None:
        """Comments on the day of arrival, of Dispatch and of others."""
        claim, talk, rng = self.case.claim, self.talk, self.rng
        if self.chance(0.3):
            talk.pause(1, 5)
            talk.comment(talk.say("note_filler"), False)
        if self.chance(0.12):
            talk.pause(1, 5)
            day = claim.arrived + timedelta(days=rng.choice((-3, -2, 2)))
            talk.comment(talk.say("agent_note", day=day_words(day)), False)
        if self.chance(0.12):
            talk.pause(1, 5)
            day = max(claim.promised, claim.arrived - timedelta(days=rng.randrange(1, 6)))
            name = self.no_stand_in()
            if name is not None:
                talk.comment(talk.say("dispatch_fix", day=day_words(day)), name)
        if not self.chance(0.36):
            return
        talk.pause(2, 20)
        day = max(claim.promised, claim.arrived - timedelta(days=rng.randrange(1, 6)))
        stand_in = self.stand_in()
        talk.comment(talk.say("dispatch_fix", day=day_words(day)), stand_in or True)
        self.facts["by_stand_in"] = stand_in is not None
        if stand_in is None and self.chance(0.25):
            talk.pause(2, 20)
            day = max(claim.promised, claim.arrived - timedelta(days=rng.randrange(0, 6)))
            talk.comment(talk.say("dispatch_again", day=day_words(day)), True)
        self.facts["corrected"] = day

    def no_stand_in(self) -> str | None:
        """Who writes as if for Dispatch at a time when that is not theirs."""
        today = desk_day(text_of(self.talk.moment))
        names = [
            s.name
            for s in self.book.stints
            if not s.first - timedelta(days=1) <= today <= s.last + timedelta(days=1)
        ]
        return self.rng.choice(names) if names else None

    def stand_in(self) -> str | None:
        """Who writes for Dispatch now, being none of them; None: one of its clerks does."""
        today = desk_day(text_of(self.talk.moment))
        for stint in self.book.stints:
            if stint.first < today < stint.last and self.chance(0.5):
                return stint.name
        return None

    def answer(self, asked: bool, partial: str | None) -> None:
        """What the agent writes back: the amount, and other amounts beside it."""
        talk, rng = self.talk, self.rng
        said = [talk.say("asks_answer")] if asked else []
        if partial is not None:
            said.append(partial)
        if self.chance(0.09):
            said.append(talk.say("condition", amount=self.dollars(10, 40)))
            talk.agent_writes(said)
            talk.pause(3, 30)
            talk.customer_writes([talk.say("condition_unmet")])
            talk.pause(2, 20)
            said = [talk.say("condition_gone")]
        self.case.claim = self.settled()
        named = self.figure()
        if self.chance(0.5) and named is not None and named > 0:
            said.append(talk.say("told", amount=f"${named:.2f}"))
            told = named
            if self.chance(0.12):
                talk.agent_writes(said)
                talk.pause(4, 30)
                told = self.figure() or named
                if told == named:
                    told = (named * Decimal("1.4")).quantize(Decimal("0.5"))
                values = {"amount": f"${told:.2f}", "old": f"${named:.2f}"}
                said = [talk.say("told_again", **values)]
                named = told
            self.facts["told"] = told
        if self.chance(0.1):
            said.append(talk.say("voucher", amount=self.dollars(5, 20)))
        if self.chance(0.08):
            said.append(talk.say("postage", amount=self.dollars(4, 13)))
        talk.agent_writes([*said, talk.say("late_close")], rng.choice((1, 2)))
        self.book_credits(named)

    def settled(self) -> Claim:
        """The claim with what the story has brought up so far."""
        return Claim(**{**self.case.claim.__dict__, **self.facts})

    def figure(self) -> Decimal | None:
        """What the agent comes to: right, or with a rule overlooked."""
        rng, claim = self.rng, self.settled()
        without: frozenset[str] = frozenset()
        if self.chance(0.8):
            without = frozenset(rng.sample(SLIPS, 5))
        return due(self.book, claim, without | {"told", "refer"})

    def book_credits(self, named: Decimal | None) -> None:
        """What is booked of it, and what else is."""
        rng, day = self.rng, desk_day(text_of(self.talk.moment)) + timedelta(days=1)
        if named is not None and named > 0 and not self.chance(0.07):
            amount = named
            if self.chance(0.07):
                amount = named + rng.choice((Decimal("-1.00"), Decimal("0.90"), Decimal("5.00")))
                amount = max(amount, Decimal("1.00"))
            merged = self.chance(0.12)
            self.case.merged = merged
            status = "Void" if self.chance(0.06) else "Booked"
            self.case.credits.append(Credit(amount, status, "Late Delivery", day, merged))
            if status == "Void" and self.chance(0.4):
                self.case.credits.append(
                    Credit(amount, "Booked", "Late Delivery", day + timedelta(days=1))
                )
            elif self.chance(0.04):
                self.case.credits.append(Credit(amount, "Booked", "Late Delivery", day, False))
        if self.chance(0.1):
            kind = rng.choice(("Goodwill", "Return Postage"))
            self.case.credits.append(Credit(Decimal(rng.randrange(5, 15)), "Booked", kind, day))

    def decline(self) -> None:
        talk = self.talk
        if self.chance(0.08):
            talk.pause(2, 30)
            talk.customer_writes([talk.say("decline")])
            talk.pause(1, 8)
            talk.agent_writes([talk.say("decline_ok")])
            self.facts["declined"] = True
            if self.chance(0.4):
                talk.pause(5, 40)
                talk.customer_writes([talk.say("undecline")])
                self.facts["declined"] = False
        elif self.chance(0.4):
            talk.pause(2, 30)
            talk.customer_writes([talk.say("thanks_back")], 0)

    def close(self) -> None:
        """Close it, and settle what the review of it must find."""
        talk, case = self.talk, self.case
        talk.pause(1, 60)
        case.closed = talk.moment
        booked = sum(
            (c.amount for c in case.credits if c.status == "Booked" and c.kind == "Late Delivery"),
            Decimal(0),
        )
        self.facts["booked"] = booked
        case.claim = self.settled()
        case.outcome = review(self.book, case.claim)
