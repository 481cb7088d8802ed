"""Rules on what may be done with a renewal that is being worked on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from crmbench.authoring.handbook import Condition, Facts, Rulebook
from crmbench.domains.sales.hard.handbook.list_rules import ListRuleWriter
from crmbench.domains.sales.hard.judge import Judge
from crmbench.domains.sales.hard.org import Contract, Firm, Org
from crmbench.domains.sales.hard.rules import Size

SUBJECTS: Mapping[str, str] = {
    "off": "delay",
    "price": "reduction",
    "chance": "chance",
    "hand": "keeper",
}
"""Kind of ask to the question that the handbook answers on it; on all of them "frozen" too."""


@dataclass(frozen=True, slots=True)
class Focus:
    """A client about whom the shift will ask, and the kind of ask."""

    client: str
    kind: str
    """Of ask."""
    day: date
    """From which on all changes made for it are in force."""


class ShiftRuleWriter(ListRuleWriter):
    """Draws the rules of a handbook for a shift."""

    related: Sequence[str] = ("buyer public", "group stop", "close reminders")

    def __init__(self, seed: str, org: Org, size: Size) -> None:
        super().__init__(seed, org, size)
        self.desks = list(org.team.desks)

    def provisions(self) -> None:
        rng = self.rng
        self._definitions()
        for subject, draw in self.figures().items():
            usual = "" if subject == "keeper" else draw()
            self._add(subject, usual, self._past()).plain = True
            for when in self._conditions(self.size.uplift):
                self._add(subject, draw(), self._since(), when)
        self._add("frozen", False, self._past()).plain = True
        for trait in rng.sample(("dispute", "changed hands", "close reminders", "group stop"), 1):
            self._add("frozen", True, self._past(), (Condition(trait),))
        both = (Condition("slow payer"), Condition("public body"))
        self._add("frozen", True, self._since(), both)
        for trait in rng.sample(("large account", "long-standing", "public body"), 2):
            self._add("frozen", False, self._since(), (Condition(trait),))

    def figures(self) -> dict[str, Callable[[], str]]:
        rng = self.rng
        return {
            "delay": lambda: f"{rng.randrange(5, 90)} days",
            "reduction": lambda: f"{rng.randrange(1, 25) / 2:g} %",
            "chance": lambda: f"{rng.randrange(8, 19) * 5} %",
            "keeper": lambda: rng.choice(self.desks),
        }

    def _near_an_end(self) -> date:
        """A day near the beginning of the shift, within it or before."""
        return self.org.today + timedelta(days=self.rng.randrange(-60, 9))


class HandbookLimits:
    """What a rulebook answers in a shift, for the generator: implements `desk.Limits`."""

    def __init__(self, org: Org, book: Rulebook) -> None:
        rows = {f.name: (f, c) for f in org.firms for c in f.contracts if c.renewal}

        @cache
        def answer(client: str, question: str, day: date) -> Any:
            return Judge(org, book, (), day).answer(question, *rows[client])

        self._answer = answer

    def __call__(self, client: str, question: str, day: date) -> Any:
        return self._answer(client, question, day)


class ShiftAim:
    """A client and a kind of ask at which changes are aimed."""

    def __init__(self, org: Org, focus: Focus, row: tuple[Firm, Contract]) -> None:
        self.org = org
        self.focus = focus
        self.row = row
        self.day = focus.day
        self.subjects: Mapping[str, int] = {SUBJECTS[focus.kind]: 7, "frozen": 1, "defined": 1}

    def facts(self, book: Rulebook) -> Facts:
        return Judge(self.org, book, (), self.day).facts(*self.row)

    def outcome(self, book: Rulebook) -> object:
        judge = Judge(self.org, book, (), self.day)
        if judge.answer("frozen", *self.row):
            return True
        return judge.answer(SUBJECTS[self.focus.kind], *self.row)
