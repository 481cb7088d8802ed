"""What happened in a case about a late delivery: told letter by letter, and booked."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from crmbench.domains.service.hard.articles import day_words
from crmbench.domains.service.hard.calendar import desk_day, moment_of, text_of
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.desk.late_case import Credit, LateCase
from crmbench.domains.service.hard.due import Claim, due, review
from crmbench.domains.service.hard.rulebook import Rulebook

SLIPS = (
    "holidays", "saturdays", "disruption", "version", "clearance", "plus", "plus_change", "cap",
    "freight", "pieces", "wish", "dispatch", "clearance_change", "sibling", "base", "base_change",
    "grace", "grace_end", "loyal", "second", "stand_in", "memos", "changes", "changes of changes",
    "changes of changes", "changes",
)  # fmt: skip
"""Rules that an agent of the desk may have overlooked when the credit was booked."""


class Story:
    """Tells one case, and with it decides its claim."""

    def __init__(self, book: Rulebook, rng: random.Random, case: LateCase) -> None:
        self.book, self.rng, self.case, self.talk = book, rng, case, case.talk
        self.facts: dict[str, Any] = {}

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
        if self.chance(0.34) and named is not None and named > 0:
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
        return replace(self.case.claim, **self.facts)

    def figure(self) -> Decimal | None:
        """What the agent comes to: right, or with a rule overlooked."""
        rng, claim = self.rng, self.settled()
        right = due(self.book, claim, frozenset({"told", "refer"}))
        if not self.chance(0.72):
            return right
        for _ in range(9):
            without = frozenset(rng.sample(SLIPS, 4)) | {"told", "refer"}
            figure = due(self.book, claim, without)
            if figure != right:
                return figure
        return right

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
