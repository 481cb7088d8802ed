"""What is right for a renewal: the facts of its client, and the answers of a rulebook."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.domains.sales.hard.conditions import amount_of
from crmbench.domains.sales.hard.org import Contract, Firm, Org
from crmbench.domains.sales.hard.rules import Absence

ON_HOLD, USUAL = 5, 25
"""The probability in percent of a renewal on hold, and of any other."""
CLOSE = 30
"""Days within which two reminders are close."""


@dataclass(frozen=True, slots=True)
class Target:
    """How a renewal has to be."""

    fields: dict[str, Any]
    articles: tuple[str, ...]
    """Numbers of the articles that decide: each answer's winner."""


class Judge:
    """Decides renewals of an org under some rules.

    Args:
        book: The rules.
        absences: Who is away when.
        day: The day that counts for all; if left out, for each the end of its old contract.
    """

    def __init__(
        self, org: Org, book: Rulebook, absences: Sequence[Absence], day: date | None = None
    ) -> None:
        self.org = org
        self.book = book
        self.absences = absences
        self.day = day
        self._used: list[str] = []

    def target(self, firm: Firm, contract: Contract) -> Target:
        """What is right for one renewal.

        Raises:
            HarnessError: The rules leave a question open, or answer it twice.
        """
        self._used = []
        facts = self._facts(firm, contract)
        fields: dict[str, Any] = {
            "amount": contract.value,
            "close_date": contract.end.isoformat(),
            "owner": firm.owner,
            "probability": ON_HOLD,
        }
        facts["buyer hold"] = self._buyer_hold(firm)
        if not self._answer("hold", facts, contract):
            facts["group hold"] = self._group_hold(firm)
            fields |= self._prepared(firm, contract, facts)
        return Target(fields, tuple(dict.fromkeys(self._used)))

    def answer(self, subject: str, firm: Firm, contract: Contract) -> Any:
        """What the rules answer on a renewal."""
        return self._answer(subject, self._facts(firm, contract), contract)

    def facts(self, firm: Firm, contract: Contract) -> Facts:
        """What is true of a renewal on the day that counts."""
        facts = dict(self._facts(firm, contract))
        if any(provision.subject == "hold" for provision in self.book.provisions):
            buyer = self._buyer_hold(firm)
            return {**facts, "group hold": self._group_hold(firm), "buyer hold": buyer}
        # Where nothing is put on hold there are no such facts.
        del facts["group hold"], facts["buyer hold"]
        return facts

    def _prepared(self, firm: Firm, contract: Contract, facts: Facts) -> dict[str, Any]:
        uplift = amount_of(self._answer("uplift", facts, contract))
        used = list(self._used)
        ceiling = self._answer("ceiling", facts, contract)
        if ceiling and amount_of(ceiling) < uplift:
            uplift = amount_of(ceiling)
        elif not ceiling:
            self._used = used
        lead = amount_of(self._answer("lead time", facts, contract))
        signing = contract.end - timedelta(days=int(lead))
        person = self._answer("desk", facts, contract) or firm.owner
        away = [a for a in self.absences if a.person == person and a.start <= signing <= a.until]
        if away:
            self._used.append(away[0].article)
            person = away[0].deputy
        return {
            "amount": float(round(contract.value * (100 + uplift) / 100)),
            "close_date": signing.isoformat(),
            "owner": person,
            "probability": USUAL,
        }

    def _answer(self, subject: str, facts: Facts, contract: Contract) -> Any:
        decision = self.book.decide(subject, facts, self.day or contract.end)
        self._used.append(decision.winner.article)
        return decision.value

    # --- facts ------------------------------------------------------------------------------------

    def _facts(self, firm: Firm, contract: Contract) -> dict[str, Any]:
        """All but whether the buyer, or somebody else of the group, is on hold."""

        def defined(name: str) -> float:
            return amount_of(self._answer(name, {}, contract))

        public, years, large = (
            defined(name) for name in ("public body", "long-standing", "large account")
        )
        count, within = defined("slow payer"), defined("changed hands")
        group, head = self.org.groups[firm.group], self._head(firm)
        taken = firm.taken_over
        return {
            "industry": firm.industry,
            "country": firm.country,
            "product": contract.product,
            "value": contract.value,
            "payment stop": firm.stop,
            "dispute": firm.dispute,
            "public body": firm.share >= public,
            "long-standing": _years(firm.created, contract.end) >= years,
            "large account": sum(c.value for f in group for c in f.contracts) >= large,
            "slow payer": len(firm.reminders) >= count,
            "changed hands": taken is not None and (self.org.today - taken).days <= within,
            "buyer public": bool(firm.buyer) and self.org.by_key[firm.buyer].share >= public,
            "group stop": any(other.stop for other in group if other is not firm),
            "group hold": False,
            "buyer hold": False,
            "head public": head.share >= public,
            "head slow": len(head.reminders) >= count,
            "close reminders": _close(firm.reminders),
        }

    def _head(self, firm: Firm) -> Firm:
        """The one of its group that nobody took over."""
        while firm.buyer:
            firm = self.org.by_key[firm.buyer]
        return firm

    def _buyer_hold(self, firm: Firm) -> bool:
        """Whether the client that took it over is on hold; no circle, for none buys itself."""
        return bool(firm.buyer) and self._any_held([self.org.by_key[firm.buyer]])

    def _group_hold(self, firm: Firm) -> bool:
        return self._any_held(other for other in self.org.groups[firm.group] if other is not firm)

    def _any_held(self, firms: Iterable[Firm]) -> bool:
        used = list(self._used)
        held = any(
            self._held(firm, contract)
            for firm in firms
            for contract in firm.contracts
            if contract.renewal
        )
        self._used = used
        return held

    def _held(self, firm: Firm, contract: Contract) -> bool:
        facts = {**self._facts(firm, contract), "buyer hold": self._buyer_hold(firm)}
        return bool(self._answer("hold", facts, contract))


def _close(days: Sequence[date]) -> bool:
    ordered = sorted(days)
    return any((b - a).days <= CLOSE for a, b in itertools.pairwise(ordered))


def _years(start: date, end: date) -> int:
    """Full years between two days."""
    return end.year - start.year - ((end.month, end.day) < (start.month, start.day))
