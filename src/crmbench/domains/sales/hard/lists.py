"""The org of a list of renewals: guesses on the deals, chains of takeovers, notes set right later.

Beside what `OrgWriter` draws, its deals hold somebody's guess, its clients have contracts of the
same product that are over, people change departments in both directions, takeovers form chains in
which a link may be broken, and notes correct earlier notes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from crmbench.authoring.handbook.days import long_date
from crmbench.domains.sales.hard.notes import DEPARTMENT, NOTES
from crmbench.domains.sales.hard.org import Contract, Firm, Move, OrgWriter, Team

LIMITS = (90, 100, 120, 160, 180, 200)
"""Days that a definition may name: some takeovers were so long ago, or a day longer."""


class ListOrgWriter(OrgWriter):
    """Draws an org for lists."""

    def _team(self) -> Team:
        team = super()._team()
        rng = self.rng

        def ago(low: int, high: int) -> date:
            return self.today - timedelta(days=rng.randrange(low, high))

        moves = (
            Move(team.accounts[0], "Accounts", "Legal", ago(60, 200)),
            Move(team.legal[0], "Legal", "Sales", ago(40, 220)),
            Move(team.desks[3], "the desks", "Accounts", ago(90, 240)),
            Move(team.legal[1], "Legal", "Accounts", ago(30, 160)),
            Move(team.moved, "Sales", "Accounts", ago(15, 70)),
        )
        return replace(team, moves=moves)

    def _author(self, kind: str, day: date, trusted: bool) -> str:
        """As in other orgs; often somebody who changes departments."""
        team, rng = self.team, self.rng
        people = team.members(DEPARTMENT[kind], day)
        movers = {move.person for move in team.moves}
        if not trusted:
            everybody = {*team.accounts, *team.legal, *team.desks, *team.reps, *movers}
            people = tuple(sorted(everybody - {*people}))
        moving = [person for person in people if person in movers]
        return rng.choice(moving if moving and rng.random() < 0.5 else people)

    # --- contracts and deals ----------------------------------------------------------------------

    def _contract(self, product: str, due: bool) -> Contract:
        contract = super()._contract(product, due)
        if due:
            # Long enough for its reminders to be its own.
            contract.start = contract.end - timedelta(days=365 * self.rng.choice((2, 3)))
        return contract

    def _firm(self, owner: str, due: bool = True) -> Firm:
        firm = super()._firm(owner, due)
        end = firm.contracts[0].end
        if due and self.rng.random() < 0.3:
            # So many years old on the very day on which the contract ends, or a day too young.
            years = self.rng.randrange(4, 11)
            day = date(end.year - years, end.month, min(end.day, 28))
            firm.created = day + timedelta(days=self.rng.randrange(2) * (end.day <= 28))
        return firm

    def _contract_records(self, firm: Firm, contract: Contract) -> None:
        super()._contract_records(firm, contract)
        if contract.renewal and self.rng.random() < 0.6:
            value = 200.0 * self.rng.randrange(30, 500)
            start = contract.start - timedelta(days=730)
            past = Contract(next(self.ids), next(self.ids), contract.product, value, start, start)
            past.end = contract.start - timedelta(days=1)
            super()._contract_records(firm, past)
            self.rows["Contract"][-1]["status"] = "Expired"

    def _renewal(self, deal: Any, contract: Contract) -> dict[str, Any]:
        """Opened by somebody who guessed."""
        rng = self.rng
        guess = contract.end + timedelta(days=rng.randrange(-70, 25))
        row = super()._renewal(deal, contract)
        amount = float(round(contract.value * rng.uniform(0.85, 1.2), -2))
        return {**row, "amount": amount, "close_date": guess.isoformat()}

    # --- what is on record ------------------------------------------------------------------------

    def _takeovers(self, firms: list[Firm]) -> None:
        rng = self.rng
        pool = rng.sample(firms, len(firms) * 3 // 5)
        while len(pool) > 1:
            size = min(len(pool), rng.choice((2, 3, 3, 4)))
            chain, pool = pool[:size], pool[size:]
            for buyer, bought in itertools.pairwise(chain):
                self._takeover(buyer, bought)
        _number_groups(firms)
        self._corrections(firms)

    def _takeover(self, buyer: Firm, bought: Firm) -> None:
        rng = self.rng
        days = rng.choice((rng.choice(LIMITS) + rng.randrange(2), rng.randrange(12, 900)))
        day = self._ago(days)
        self._formal(buyer, "takeover", day, name=bought.name)
        if rng.random() < 0.25:
            later = min(day + timedelta(days=rng.randrange(9, 90)), self._ago(1))
            self._formal(buyer, "given up", later, name=bought.name)
            return
        if rng.random() < 0.15:
            self._formal(buyer, "given up", self._ago(4), trusted=False, name=bought.name)
        bought.buyer, bought.bought, bought.taken_over = buyer.key, True, day
        if rng.random() < 0.3:
            self._formal(bought, "consent", min(day + timedelta(days=8), self._ago(1)))
            bought.taken_over = None
        elif rng.random() < 0.5:
            self._formal(bought, "consent", self._ago(2), trusted=False)

    def _corrections(self, firms: Sequence[Firm]) -> None:
        """Stops and disputes that were noted on the wrong client, and are no longer."""
        pool = self.rng.sample(list(firms), len(firms) // 6 // 4 * 4 + 4)
        self.corrected = {firm.key for firm in pool}
        for place, (wrong, right) in enumerate(zip(pool[::2], pool[1::2], strict=True)):
            day = self._ago(self.rng.randrange(40, 260))
            later = day + timedelta(days=self.rng.randrange(1, 30))
            trusted = self.rng.random() < 0.8
            held = right if trusted else wrong
            if place % 2:
                self._formal(wrong, "stop", day)
                self._formal(wrong, "stop moved", later, trusted=trusted, name=right.name)
                held.stop = True
            else:
                ref = f"D-{next(self.refs)}"
                self._formal(wrong, "dispute", day, ref=ref)
                self._formal(
                    wrong, "dispute moved", later, trusted=trusted, ref=ref, name=right.name
                )
                held.dispute = True

    def _stop(self, firm: Firm) -> None:
        if firm.key in self.corrected:
            return
        if self.rng.random() < 0.2:
            self._formal(firm, "stop", self._ago(self.rng.randrange(9, 90)), trusted=False)
            return
        super()._stop(firm)

    def _dispute(self, firm: Firm) -> None:
        if firm.key not in self.corrected:
            super()._dispute(firm)

    def _ownership(self, firm: Firm) -> None:
        super()._ownership(firm)
        rng = self.rng
        if rng.random() < 0.25:
            # An extract of another firm, later than the right ones, taken back.
            day = self._ago(rng.randrange(5, 19))
            share = rng.choice((0, 44, 58, 82, 100))
            self._formal(firm, "ownership", day, share=str(share), rest=str(100 - share))
            trusted = rng.random() < 0.7
            gone = long_date(day)
            self._void(firm, gone, trusted)
            firm.share = firm.share if trusted else share

    def _void(self, firm: Firm, gone: str, trusted: bool) -> None:
        """The words name the day of the extract, not the day on which they are written."""
        team, day = self.team, self._ago(2)
        members = team.members("Legal", day)
        others = tuple(p for p in (*team.desks, *team.reps) if p not in members)
        author = self.rng.choice(members if trusted else others)
        self._note(firm, day, NOTES.say("extract void", self.rng, date=gone), author)

    def _reminders(self, firm: Firm) -> None:
        rng = self.rng
        day = self._ago(rng.choice((365, 366, rng.randrange(60, 480), rng.randrange(60, 364))))
        for _ in range(rng.randrange(1, 6)):
            if day >= self.today:
                break
            self._reminder(firm, day)
            day += timedelta(days=rng.choice((30, 31, rng.randrange(9, 29), rng.randrange(32, 99))))

    def _reminder(self, firm: Firm, day: date) -> None:
        rng = self.rng
        recent = (self.today - day).days <= 365
        ref = f"R-{next(self.refs)}"
        trusted = rng.random() < 0.85
        self._formal(firm, "reminder", day, trusted=trusted, ref=ref)
        later = min(day + timedelta(days=rng.randrange(3, 40)), self._ago(1))
        draw = rng.random()
        if draw < 0.2:
            self._formal(firm, "reminder withdrawn", later, ref=ref)
            return
        if trusted and draw < 0.45:
            # The same letter under a second number; of the two the first counts.
            other = f"R-{next(self.refs)}"
            self._formal(firm, "reminder", later, ref=other)
            sure = draw < 0.38
            after = min(later + timedelta(days=5), self._ago(1))
            self._formal(firm, "same reminder", after, trusted=sure, ref=ref, other=other)
            if not sure and (self.today - later).days <= 365:
                firm.reminders.append(later)
        if recent and trusted:
            firm.reminders.append(day)


def _number_groups(firms: Sequence[Firm]) -> None:
    """Firms that are joined by takeovers that hold have one number."""
    by_key = {firm.key: firm for firm in firms}
    top: dict[str, str] = {}
    for firm in firms:
        root = firm
        while root.buyer:
            root = by_key[root.buyer]
        top[firm.key] = root.key
    numbers = {key: place for place, key in enumerate(sorted(set(top.values())))}
    for firm in firms:
        firm.group = numbers[top[firm.key]]
