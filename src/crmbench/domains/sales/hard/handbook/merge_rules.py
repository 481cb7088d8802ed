"""Rules on clients that are one firm: what proves it, which stays, whose details, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from crmbench.authoring.handbook import Condition, Provision
from crmbench.domains.sales.hard.handbook.duplicate_words import (
    DETAILS,
    DUPLICATE_TERMS,
    MARKS,
    STAYS,
)
from crmbench.domains.sales.hard.org import COUNTRIES, Org
from crmbench.domains.sales.hard.rules import RuleWriter

TRAITS = (
    "owners differ",
    "near in time",
    "some stop",
    "some public",
    "some dispute",
    "some slow",
    "no contract",
)
"""What may be true of two clients, or of all of one firm."""


@dataclass(frozen=True)
class MergeSize:
    """How much there is of everything at a level."""

    special: int
    """Provisions with a condition, of each question."""
    terms: int
    chains: int
    changes: int
    articles: int
    unnumbered: int
    """Changes at least that decide something and do not name by number what they change."""
    absences: int = 0


class MergeRuleWriter(RuleWriter):
    """Draws the rules of a handbook on duplicates.

    Args:
        seed: Of all draws.
        org: The org, one country of which is asked about.
        country: That country.
        size: How much there is.
    """

    family: Sequence[str] = DUPLICATE_TERMS

    def __init__(self, seed: str, org: Org, country: str, size: MergeSize) -> None:
        super().__init__(seed, org, size)
        self.country = country
        self.special = size.special
        self.trades = sorted({firm.industry for firm in org.firms})

    def provisions(self) -> None:
        rng = self.rng
        self._add("public body", f"{rng.choice((50, 51, 60))} %", self._past()).plain = True
        self._add(
            "slow payer", f"{rng.choice((2, 3))} reminders or more", self._past()
        ).plain = True
        for mark in MARKS:
            usual = mark != "phone"
            self._add(mark, usual, self._past()).plain = True
            self._specials(mark, lambda value=usual: not value)
            self._specials(mark, lambda value=usual: bool(value), 1)
        for subject, choices in (("stays", STAYS), ("details", DETAILS)):
            self._add(subject, rng.choice(choices), self._past()).plain = True
            self._specials(subject, lambda known=choices: rng.choice(known))
        self._add("apart", False, self._past()).plain = True
        self._specials("apart", lambda: True)
        self._specials("apart", lambda: False, 1)

    def _specials(self, subject: str, draw: object, count: int | None = None) -> None:
        for when in self._conditions(self.special if count is None else count):
            value = draw() if callable(draw) else draw
            self._add(subject, value, self._since(), when)

    def _since(self) -> date:
        if self.rng.random() < 0.15:
            # Decided on, and not in force yet.
            return self._fresh(lambda: self.org.today + timedelta(days=self.rng.randrange(1, 60)))
        return self._past()

    def _near_an_end(self) -> date:
        return self.org.today - timedelta(days=self.rng.randrange(-20, 60))

    def _conditions(self, count: int) -> list[tuple[Condition, ...]]:
        rng = self.rng
        found: list[tuple[Condition, ...]] = []
        while len(found) < count:
            one = self._condition()
            second = self._condition()
            several = rng.random() < 0.25 and one.attribute != second.attribute
            when = (one, second) if several else (one,)
            if when not in found:
                found.append(when)
        return found

    def _condition(self) -> Condition:
        rng = self.rng
        draw = rng.random()
        if draw < 0.2:
            return Condition("one industry", rng.choice(self.trades))
        if draw < 0.35:
            known = rng.random() < 0.5
            place = self.country if known else rng.choice(sorted(COUNTRIES.values()))
            return Condition("country", place)
        return Condition(rng.choice(TRAITS))

    def possible(self) -> list[Condition]:
        return [
            *(Condition("country", name) for name in sorted(COUNTRIES.values())),
            *(Condition("one industry", name) for name in self.trades),
            *(Condition(trait) for trait in TRAITS),
        ]

    def exception(self, provision: Provision) -> Condition:
        used = {condition.attribute for condition in provision.when}
        while True:
            condition = self._condition()
            if condition.attribute not in used:
                return condition

    def other_figure(self, subject: str, figure: str) -> str:
        draws: dict[str, Sequence[str]] = {
            "stays": STAYS,
            "details": DETAILS,
            "public body": ("40 %", "45 %", "55 %", "66 %"),
            "slow payer": tuple(f"{count} reminders or more" for count in (2, 3, 4)),
        }
        return self.rng.choice([other for other in draws[subject] if other != figure])
