"""Rules on renewals: definitions, uplifts, ceilings, days of signing, desks and holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from crmbench.authoring.handbook import Condition, Facts, Provision
from crmbench.domains.sales.hard.conditions import money
from crmbench.domains.sales.hard.handbook.chains import Aim
from crmbench.domains.sales.hard.org import COUNTRIES, PRODUCTS, Org
from crmbench.domains.sales.hard.rules import TRAITS, RuleWriter, Size

_NICHES = ("uplift", "uplift", "lead time", "lead time", "desk", "ceiling")
"""Questions that a provision for few renewals answers, and how often."""
_TRIES = 40
"""Provisions that are tried, at most, for each of those that are asked for."""
_OLDEST = 1300
"""Days before today before which none of them came into force."""


class ListRuleWriter(RuleWriter):
    """Draws the rules of a handbook on renewals."""

    def __init__(self, seed: str, org: Org, size: Size) -> None:
        super().__init__(seed, org, size)
        self.size = size

    def provisions(self) -> None:
        self._definitions()
        self._general()
        self._special()
        self._holds()

    def _definitions(self) -> None:
        rng = self.rng
        figures = {
            "public body": f"{rng.choice((50, 51, 60))} %",
            "long-standing": f"{rng.choice((5, 6, 8))} years",
            "large account": money(self._group_value()),
            "slow payer": f"{rng.choice((2, 3))} reminders or more",
            "changed hands": f"{rng.choice((160, 180, 200))} days",
        }
        for subject, figure in figures.items():
            self._add(subject, figure, self._past()).plain = True

    def _group_value(self) -> float:
        """What the contracts of some client's group come to, not the least and not the most."""
        sums: dict[int, float] = {}
        for firm in self.org.firms:
            sums[firm.group] = sums.get(firm.group, 0.0) + sum(c.value for c in firm.contracts)
        held = sorted(sums[firm.group] for firm in self.org.firms)
        return held[len(held) // 2 + self.rng.randrange(len(held) // 5)]

    def _general(self) -> None:
        for subject, draw in (("uplift", self._percent), ("lead time", self._lead)):
            self._add(subject, draw(), self._past()).plain = True
            self._add(subject, draw(), self._ahead())
        self._add("ceiling", "", self._past()).plain = True
        self._add("desk", "", self._past()).plain = True
        self._add("hold", False, self._past()).plain = True

    def _special(self) -> None:
        desks = list(self.org.team.desks)
        draws = (
            ("uplift", self.size.uplift, self._percent),
            ("lead time", self.size.lead, self._lead),
            ("desk", self.size.desk, lambda: self.rng.choice(desks)),
            ("ceiling", self.size.ceiling, self._low),
        )
        for subject, count, draw in draws:
            for when in self._conditions(count):
                self._add(subject, draw(), self._since(), when)

    def _holds(self) -> None:
        rng = self.rng
        for trait in ("payment stop", "dispute", "changed hands"):
            self._add("hold", True, self._past(), (Condition(trait),))
        trade = Condition("industry", rng.choice(sorted({f.industry for f in self.org.firms})))
        self._add("hold", True, self._since(), (Condition("slow payer"), trade))
        self._add("hold", True, self._since(), (Condition("group stop"), Condition("slow payer")))
        # Whether the buyer is on hold may hang on its own buyer, and so on up to the head.
        both = (Condition("buyer hold"), Condition(rng.choice(("slow payer", "large account"))))
        self._add("hold", True, self._since(), both)
        self._add(
            "hold", False, self._since(), (Condition("changed hands"), Condition("buyer public"))
        )
        self._add(
            "hold", False, self._since(), (Condition("payment stop"), Condition("public body"))
        )
        self._add("hold", False, self._since(), (Condition("dispute"), Condition("long-standing")))
        self._add("hold", False, self._since(), (Condition("large account"), Condition("dispute")))

    # --- provisions for few -----------------------------------------------------------------------

    def niches(self, rows: Sequence[Aim], count: int) -> dict[str, Aim]:
        """Add so many provisions of two conditions, of which each decides a row.

        The rows are taken in turn. There are fewer where no more can be had without leaving
        another one idle for the row that it was drawn for.

        Returns:
            The number of each, to its row.
        """
        found: dict[str, Aim] = {}
        # No such provision changes what is true of a row.
        facts = [row.facts(self.book) for row in rows]
        for place in itertools.islice(itertools.cycle(range(len(rows))), count * _TRIES):
            if len(found) == count:
                break
            before = len(self.drafts)
            made = self._niche(rows[place], facts[place])
            if made is None:
                continue
            tried = {**found, made.article: rows[place]}
            met = [all(c.holds(own) for c in made.when) for own in facts]
            if self._all_decide(tried, list(itertools.compress(rows, met))):
                found = tried
            else:
                self.take_back(before)
                self._days.discard(made.since)
        return found

    def _niche(self, row: Aim, facts: Facts) -> Provision | None:
        """A provision that would answer a question on a row, if there is room for it."""
        rng, book = self.rng, self.book
        subject = rng.choice(_NICHES)
        won = book.decide(subject, facts, row.day)
        start = self.org.today - timedelta(days=_OLDEST)
        if won.winner.when:
            start = max(start, won.winner.since + timedelta(days=1))
        room = [start + timedelta(days=days) for days in range((row.day - start).days + 1)]
        room = [day for day in room if day not in self._days]
        when = self._narrow(facts)
        same = any(p.subject == subject and {*p.when} == {*when} for p in book.provisions)
        if not room or same:
            # Two of one case could not be told apart by what they say.
            return None
        since = rng.choice(room)
        self._days.add(since)
        figure = self.other_figure(subject, str(won.value))
        return self._add(subject, figure, since, when).provisions[0]

    def _narrow(self, facts: Facts) -> tuple[Condition, ...]:
        """Two things that hold of a row, one of them at least where it is or what it is for."""
        places = [Condition(name, facts[name]) for name in ("country", "industry", "product")]
        traits = [Condition(name) for name in (*TRAITS, *self.related) if facts.get(name)]
        first = self.rng.choice(places)
        second = self.rng.choice([c for c in (*places, *traits) if c != first])
        return first, second

    def _all_decide(self, niches: Mapping[str, Aim], met: Sequence[Aim]) -> bool:
        """Whether each that was drawn for one of these rows decides it."""
        book = self.book
        return all(
            row.outcome(book) != row.outcome(book.without(number))
            # The newest, which most often decides nothing, is asked about first.
            for number, row in reversed([*niches.items()])
            if row in met
        )

    def exception(self, provision: Provision) -> Condition:
        used = {condition.attribute for condition in provision.when}
        options = [
            Condition("country", self.rng.choice(sorted(COUNTRIES.values()))),
            Condition("product", self.rng.choice(PRODUCTS)),
            *(Condition(trait) for trait in (*TRAITS, *self.related)),
        ]
        if provision.subject == "hold":
            options = [c for c in options if c.attribute != "group hold"]
        return self.rng.choice([c for c in options if c.attribute not in used])

    def other_figure(self, subject: str, figure: str) -> str:
        """Another answer to a question."""
        known = figure
        draws: dict[str, Callable[[], str]] = {
            "uplift": self._percent,
            "ceiling": self._low,
            "lead time": self._lead,
            "desk": lambda: self.rng.choice(self.org.team.desks),
            "public body": lambda: f"{self.rng.choice((40, 45, 55, 66))} %",
            "long-standing": lambda: f"{self.rng.choice((4, 7, 10))} years",
            "large account": self._other_value,
            "slow payer": lambda: f"{self.rng.choice((4, 5))} reminders or more",
            "changed hands": lambda: f"{self.rng.choice((90, 100, 120))} days",
        }
        while figure == known:
            figure = (self.figures().get(subject) or draws[subject])()
        return figure

    def _other_value(self) -> str:
        # Two to choose from, for a few clients may have but one group.
        return money(self._group_value() * self.rng.choice((0.8, 1.25)) // 200 * 200)

    def figures(self) -> dict[str, Callable[[], str]]:
        """Further questions, to what draws an answer."""
        return {}
