"""Renewals under a handbook: a list of deals, four questions each, rules that have to be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.core.fact import Fact
from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.articles import ArticleWriter
from crmbench.domains.sales.hard.org import Contract, Firm, Org, OrgWriter
from crmbench.domains.sales.hard.rules import Absence, Rules, RuleWriter, Size
from crmbench.domains.sales.hard.wording import amount_of
from crmbench.errors import HarnessError

ON_HOLD = 5
"""The probability of a renewal on hold."""
ROWS: Mapping[int, int] = {1: 6, 2: 12, 3: 24, 4: 60, 5: 150}
"""Renewals on a list, by level."""
SIZES: Mapping[int, Size] = {
    1: Size(uplift=3, lead=2, desk=2, changes=3, absences=1, articles=60),
    2: Size(uplift=6, lead=4, desk=3, changes=7, absences=2, articles=120),
    3: Size(uplift=9, lead=7, desk=5, changes=14, absences=4, articles=200),
    4: Size(uplift=11, lead=9, desk=7, changes=18, absences=5, articles=320),
    5: Size(uplift=13, lead=11, desk=9, changes=24, absences=6, articles=500),
}

Attributes = Callable[[Firm, Contract, Callable[[str], float]], Facts]


@dataclass(frozen=True, slots=True)
class Item:
    """One renewal, and what is right for it."""

    client: str
    deal: str
    """Id of the open deal."""
    writes: Mapping[str, Any]
    """Fields of the deal that change."""
    articles: tuple[str, ...]
    """Numbers of the articles that decide: each answer's winner."""

    @property
    def on_hold(self) -> bool:
        return "amount" not in self.writes


@dataclass(frozen=True)
class Worklist:
    """A world of lists: an org and its handbook."""

    org: Org
    rules: Rules
    articles: Sequence[Mapping[str, Any]]

    @cached_property
    def book(self) -> Rulebook:
        return self.rules.book

    @cached_property
    def groups(self) -> Mapping[str, float]:
        return group_values(self.org)

    @cached_property
    def renewals(self) -> Mapping[str, tuple[Firm, Contract]]:
        """Every open renewal by the id of its deal."""
        return {c.renewal: (f, c) for f in self.org.firms for c in f.contracts if c.renewal}

    def decide(self, deal: str, book: Rulebook, day: date | None = None) -> Item:
        """What is right for one renewal under these rules.

        Args:
            day: The day that counts; the end of the old contract if left out.
        """
        firm, contract = self.renewals[deal]
        return decide(book, self.rules.absences, self.org.today, firm, contract, self.groups, day)

    def items(self, rep: str, book: Rulebook | None = None) -> list[Item]:
        """What is right for every renewal of a representative.

        Args:
            book: Other rules than those of the handbook, for the gates.
        """
        book = book or self.book
        return [
            self.decide(deal, book)
            for deal, (firm, _) in self.renewals.items()
            if firm.owner == rep
        ]

    def alternatives(self, item: Item) -> list[Alternative]:
        """What the item would be for somebody who missed one of the articles that bear on it."""
        targets = set(item.articles)
        near = [a.article for a in self.book.amendments if a.target in targets]
        near += [a.article for a in self.book.amendments if a.target in near]
        found = []
        for article in dict.fromkeys((*item.articles, *near)):
            other = self._missing(item, self.book.without(article))
            if other is not None:
                found.append(Alternative((article,), {f"Opportunity/{item.deal}": other}))
        today = self._missing(item, self.book, self.org.today)
        if today is not None:
            found.append(Alternative(("in force today",), {f"Opportunity/{item.deal}": today}))
        return found

    def _missing(
        self, item: Item, book: Rulebook, day: date | None = None
    ) -> Mapping[str, Any] | None:
        """The writes under other rules, if they differ."""
        try:
            other = self.decide(item.deal, book, day)
        except HarnessError:
            # Without its only provision a question has no answer.
            return None
        return None if other.writes == item.writes else other.writes

    def gold_item(self, item: Item) -> GoldItem:
        return GoldItem(
            item.deal,
            1,
            (("Opportunity", item.deal),),
            rules=tuple(dict.fromkeys(item.articles)),
            alternatives=tuple(self.alternatives(item)),
        )


@lru_cache(maxsize=16)
def worklist(seed: str, level: int) -> Worklist:
    """The world of lists of a seed."""
    org = OrgWriter(seed, ROWS[level]).write()
    rules = RuleWriter(seed, org, SIZES[level]).write()
    articles = ArticleWriter(seed, rules, org.team, org.today).write()
    return Worklist(org, rules, articles)


def group_values(org: Org) -> dict[str, float]:
    """For every client what the contracts of its group come to a year."""
    sums: dict[object, float] = {}
    for firm in org.firms:
        group = firm.group if firm.group >= 0 else firm.key
        sums[group] = sums.get(group, 0.0) + sum(c.value for c in firm.contracts)
    return {f.key: sums[f.group if f.group >= 0 else f.key] for f in org.firms}


def decide(
    book: Rulebook,
    absences: Iterable[Absence],
    today: date,
    firm: Firm,
    contract: Contract,
    groups: Mapping[str, float],
    day: date | None = None,
) -> Item:
    """What is right for one renewal. The day that counts is the one on which the contract ends."""
    day = day or contract.end
    used: list[str] = []

    def answer(subject: str, facts: Facts) -> Any:
        decision = book.decide(subject, facts, day)
        used.append(decision.winner.article)
        return decision.value

    facts: dict[str, Any] = {
        "industry": firm.industry,
        "country": firm.country,
        "product": contract.product,
        "value": contract.value,
        "payment stop": firm.stop,
        "dispute": firm.dispute,
        "public body": firm.share >= amount_of(answer("public body", {})),
        "long-standing": _years(firm.created, contract.end)
        >= amount_of(answer("long-standing", {})),
        "large account": groups[firm.key] >= amount_of(answer("large account", {})),
        "slow payer": len(firm.reminders) >= amount_of(answer("slow payer", {})),
    }
    within = amount_of(answer("changed hands", {}))
    facts["changed hands"] = (
        firm.taken_over is not None and (today - firm.taken_over).days <= within
    )
    if answer("hold", facts):
        return Item(firm.name, contract.renewal, {"probability": ON_HOLD}, tuple(used))
    uplift = amount_of(answer("uplift", facts))
    signing = contract.end - timedelta(days=int(amount_of(answer("lead time", facts))))
    person = answer("desk", facts) or firm.owner
    away = [a for a in absences if a.person == person and a.start <= signing <= a.until]
    writes: dict[str, Any] = {
        "amount": float(round(contract.value * (100 + uplift) / 100)),
        "close_date": signing.isoformat(),
    }
    if away:
        used.append(away[0].article)
        person = away[0].deputy
    if person != firm.owner:
        writes["owner"] = person
    return Item(firm.name, contract.renewal, writes, tuple(used))


def _years(start: date, end: date) -> int:
    """Full years between two days."""
    return end.year - start.year - ((end.month, end.day) < (start.month, start.day))


# --- tasks ----------------------------------------------------------------------------------------

_WORDS = (
    (
        'Please prepare {rep}\'s renewals: all open deals of {rep} whose name ends in "renewal", '
        "{count} of them. Set what the handbook gives for each, and nothing else. When you are "
        "through, tell me how many are on hold. You have {calls} tool calls for this."
    ),
    (
        "{rep} is out, so the renewals are yours: {count} open deals of {rep}, each named "
        '"… renewal". Go by the handbook on every one of them and change nothing else. At the end '
        "I want to know how many you put on hold. There are {calls} tool calls for it."
    ),
    (
        "It is time for {rep}'s {count} renewals (the open deals of {rep} whose name ends in "
        '"renewal"). Work through them under the handbook; leave everything else as it is. Then '
        "tell me the number of those on hold. Up to {calls} tool calls."
    ),
)


def calls_for(level: int) -> int:
    """The tool calls that an agent may make: told in the user's words."""
    return 7 * ROWS[level] + 80


def asked(made: Worklist, world: str) -> tuple[int, str]:
    """The one representative of a world whose list is asked about, and its number.

    One task a world: who has read a handbook once would have an easier second task.
    """
    reps = made.org.team.reps
    number = crc32(world.encode()) % len(reps)
    return number, reps[number]


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The task of a world."""
    made = worklist(seed, level)
    number, rep = asked(made, world)
    return [_task(made, rep, number, level, world, canary)]


def _task(made: Worklist, rep: str, number: int, level: int, world: str, canary: str) -> Task:
    items = made.items(rep)
    gold_items = tuple(made.gold_item(item) for item in items)
    words = _WORDS[crc32(f"{world} words".encode()) % len(_WORDS)]
    said = words.format(rep=rep, count=len(items), calls=calls_for(level))
    calls = tuple(
        GoldCall("modify_opportunity", {"opportunity_id": item.deal, **item.writes})
        for item in items
    )
    held = sum(item.on_hold for item in items)
    fact = Fact("count", held, label="renewals on hold", unit="renewals")
    return Task(
        task_id=f"{world}-{number + 1}",
        domain="sales_hard",
        world=world,
        turns=(Turn(1, said),),
        gold=Gold((GoldTurn(calls, facts=(fact,)),), canary=canary, items=gold_items),
        call_limit=calls_for(level),
        family="handbook_worklist",
        category="Opportunity Management",
        complexity="complex",
        persona=f"{made.org.team.manager}, sales manager",
        tags=(f"level:L{level}", "mechanism:worklist", f"size:{len(items)}"),
    )
