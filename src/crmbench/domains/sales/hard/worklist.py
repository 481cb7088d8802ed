"""Renewals under a handbook: a list of deals, four questions each, rules that have to be found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from math import ceil
from typing import Any
from zlib import crc32

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.authoring.sessions import in_sessions, listed
from crmbench.core.fact import Fact
from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.agents.careful import allowed, list_calls
from crmbench.domains.sales.hard.agents.sessions import notebook
from crmbench.domains.sales.hard.articles import ArticleWriter
from crmbench.domains.sales.hard.handbook.chains import ChainWriter
from crmbench.domains.sales.hard.handbook.list_rules import ListRuleWriter
from crmbench.domains.sales.hard.handbook.references import depths, unnamed, unnumbered
from crmbench.domains.sales.hard.judge import ON_HOLD, Judge
from crmbench.domains.sales.hard.lists import ListOrgWriter
from crmbench.domains.sales.hard.org import Contract, Firm, Org
from crmbench.domains.sales.hard.rules import Absence, Rules, Size
from crmbench.domains.sales.hard.wording import OTHER_SUBJECTS
from crmbench.errors import HarnessError

ROWS: Mapping[int, int] = {1: 4, 2: 7, 3: 12, 4: 24, 5: 48}
"""Renewals of each representative, by level."""
ASKED: Mapping[int, int] = {1: 2, 2: 4, 3: 8, 4: 16, 5: 40}
"""Renewals that have to be prepared, of those of two representatives."""
SESSIONS: Mapping[int, int] = {1: 1, 2: 2, 3: 4, 4: 6, 5: 8}
"""Sessions in which they come, by level."""
SIZES: Mapping[int, Size] = {
    1: Size(3, 2, 1, 0, terms=2, chains=3, changes=1, absences=1, articles=180),
    2: Size(5, 3, 2, 1, terms=3, chains=6, changes=2, absences=2, articles=360),
    3: Size(6, 4, 3, 2, terms=5, chains=12, changes=3, absences=3, articles=960),
    4: Size(8, 7, 5, 3, terms=6, chains=18, changes=6, absences=4, articles=1150),
    5: Size(10, 9, 6, 4, terms=7, chains=60, changes=8, absences=5, articles=1450, niches=80),
}
_DRAWS: Mapping[int, int] = {1: 10, 2: 10, 3: 10, 4: 10, 5: 3}
"""Worlds drawn, at most, of which one is kept; those of many changes take long, and differ less."""
_CONTENT, _DEEP, _FREE = 0.8, 0.45, 0.65
"""Shares of the rows asked about that have to come out otherwise for who misses all changes that
are spoken of by what they say, and all changes of changes; and the share of the former among those
that decide.
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One renewal, and what is right for it."""

    client: str
    deal: str
    """Id of the open deal."""
    target: Mapping[str, Any]
    """All of its fields that the handbook decides."""
    articles: tuple[str, ...]
    """Numbers of the articles that decide: each answer's winner."""
    bearing: frozenset[str]
    """Numbers of the rules' articles that it rests on: without others it is the same."""

    @property
    def on_hold(self) -> bool:
        return bool(self.target["probability"] == ON_HOLD)


@dataclass(frozen=True)
class Worklist:
    """A world of lists: an org and its handbook."""

    org: Org
    rules: Rules
    articles: Sequence[Mapping[str, Any]]
    reps: tuple[str, ...]
    """The representatives of whose renewals some are asked about."""
    asked: tuple[str, ...]
    """Ids of the deals that are asked about, in the order in which they come; the changes are aimed
    at these.

    One task a world: who has read a handbook once would have an easier second task.
    """

    @cached_property
    def book(self) -> Rulebook:
        return self.rules.book

    @cached_property
    def absences(self) -> Sequence[Absence]:
        return self.rules.absences

    @cached_property
    def asked_items(self) -> Sequence[Item]:
        """What is right for every renewal that is asked about."""
        return [self.decide(deal, self.book) for deal in self.asked]

    @cached_property
    def other_items(self) -> Sequence[Item]:
        """What is right for the other renewals of the same representatives."""
        items = [item for rep in self.reps for item in self.items(rep)]
        return [item for item in items if item.deal not in self.asked]

    @cached_property
    def renewals(self) -> Mapping[str, tuple[Firm, Contract]]:
        """Every open renewal by the id of its deal."""
        return {c.renewal: (f, c) for f in self.org.firms for c in f.contracts if c.renewal}

    @cached_property
    def present(self) -> Mapping[str, Mapping[str, Any]]:
        """Every open renewal as it stands."""
        rows = {row["opportunity_id"]: row for row in self.org.rows["Opportunity"]}
        return {deal: {name: rows[deal][name] for name in FIELDS} for deal in self.renewals}

    def decide(self, deal: str, book: Rulebook, day: date | None = None) -> Item:
        """What is right for one renewal under these rules.

        Args:
            day: The day that counts; the end of the old contract if left out.
        """
        firm, contract = self.renewals[deal]
        with book.noting() as bearing:
            target = Judge(self.org, book, self.absences, day).target(firm, contract)
        return Item(firm.name, deal, target.fields, target.articles, frozenset(bearing))

    def items(self, rep: str, book: Rulebook | None = None) -> list[Item]:
        """What is right for every renewal of a representative.

        Args:
            book: Other rules than those of the handbook, for the gates.
        """
        return [
            self.decide(deal, book or self.book)
            for deal, (firm, _) in self.renewals.items()
            if firm.owner == rep
        ]

    def writes(self, item: Item) -> dict[str, Any]:
        """What has to be changed."""
        return _changed(self.present[item.deal], item.target)

    def slips(self, item: Item) -> list[tuple[str, Mapping[str, Any]]]:
        """What the renewal would be for somebody who missed one article that bears on it."""
        if item.deal in self._slips:
            return self._slips[item.deal]
        found: list[tuple[str, Mapping[str, Any]]] = []
        for article in dict.fromkeys((*item.articles, *self._near(item), *self._changes)):
            if article not in item.bearing:
                continue
            other = self.missing(item, self.book.without(article))
            if other is not None:
                found.append((article, other))
        today = self.missing(item, self.book, self.org.today)
        if today is not None:
            found.append(("the day that counts", today))
        self._slips[item.deal] = found
        return found

    @cached_property
    def _slips(self) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
        """By deal, since finding them takes a decision for each article."""
        return {}

    @cached_property
    def _changes(self) -> tuple[str, ...]:
        """Articles that change what renewals are asked about: one that sets an article aside bears
        on a renewal too, though that article does not decide it.
        """
        own = {p.article for p in self.book.provisions if p.subject not in OTHER_SUBJECTS}
        found: list[str] = []
        for amendment in sorted(self.book.amendments, key=lambda a: (a.since, a.article)):
            # What changes another one is in force no earlier.
            if amendment.target in own or amendment.target in found:
                found.append(amendment.article)
        return tuple(found)

    def _near(self, item: Item) -> list[str]:
        """Articles that change those that decide, those that change these, and so on."""
        near = list(item.articles)
        for article in near:
            near += [a.article for a in self.book.amendments if a.target == article]
        return near[len(item.articles) :]

    @cached_property
    def depth(self) -> Mapping[str, int]:
        """How far above a provision each article stands that changes another one."""
        return depths(self.book)

    @cached_property
    def unnumbered(self) -> frozenset[str]:
        """The articles that do not speak by number of what they change."""
        return unnumbered(self.book, self.articles)

    def hidden(self, item: Item) -> bool:
        """Whether an article that bears on it has a title that does not say so."""
        vague = {draft.number for draft in self.rules.drafts if not draft.plain}
        return any(article in vague for article, _ in self.slips(item))

    def missing(
        self, item: Item, book: Rulebook, day: date | None = None
    ) -> Mapping[str, Any] | None:
        """The fields under other rules, if they differ."""
        try:
            other = self.decide(item.deal, book, day)
        except HarnessError:
            # Without its only provision a question has no answer.
            return None
        return None if other.target == item.target else other.target

    def gold_item(self, item: Item, present: Mapping[str, Any] | None = None) -> GoldItem:
        """The item as the gold holds it.

        Args:
            present: The renewal as it stands, if not as the org has it.
        """
        now = present or self.present[item.deal]
        outcomes = [(article, _changed(now, other)) for article, other in self.slips(item)]
        return GoldItem(
            item.deal,
            1,
            (("Opportunity", item.deal),),
            rules=item.articles,
            alternatives=tuple(
                Alternative((article,), {f"Opportunity/{item.deal}": fields} if fields else {})
                for article, fields in outcomes
            ),
        )


FIELDS = ("amount", "close_date", "owner", "probability")


def _changed(now: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in target.items() if now[name] != value}


def asked(seed: str, org: Org, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two representatives, and so many of their renewals as they come, mixed.

    A third at least are of each. So nothing on the records tells which renewals of a list that
    comes in sessions are still to come.
    """
    rng = random.Random(f"{seed} asked")
    reps = tuple(rng.sample(org.team.reps, 2))
    least = ceil(count / 3)
    of_first = rng.randint(least, count - least)
    deals: list[str] = []
    for rep, wanted in zip(reps, (of_first, count - of_first), strict=True):
        deals += rng.sample([c.renewal for _, c in _rows(org, [rep])], wanted)
    rng.shuffle(deals)
    return reps, tuple(deals)


def _rows(org: Org, reps: Iterable[str]) -> list[tuple[Firm, Contract]]:
    """The open renewals of some representatives' clients."""
    reps = {*reps}
    return [(f, c) for f in org.firms for c in f.contracts if c.renewal and f.owner in reps]


class _Aim:
    """A row at which changes are aimed."""

    subjects: Mapping[str, int] = {
        "uplift": 4,
        "lead time": 4,
        "hold": 3,
        "ceiling": 2,
        "desk": 2,
        "defined": 2,
    }

    def __init__(self, org: Org, firm: Firm, contract: Contract) -> None:
        self.org = org
        self.firm = firm
        self.contract = contract
        self.day = contract.end

    def facts(self, book: Rulebook) -> Facts:
        return Judge(self.org, book, ()).facts(self.firm, self.contract)

    def outcome(self, book: Rulebook) -> object:
        return Judge(self.org, book, ()).target(self.firm, self.contract).fields


@lru_cache(maxsize=32)
def worklist(seed: str, level: int, size: Size | None = None, count: int | None = None) -> Worklist:
    """The world of lists of a seed: of several drawn, one in which most rows asked about come out
    otherwise for who misses what is spoken of by what it says, and many for who misses changes of
    changes.

    Args:
        size: Of its handbook; that of the level if left out.
        count: How many renewals are asked about; as many as on a worklist of the level if left out.
    """
    drawn: list[tuple[float, Worklist]] = []
    for draw in range(_DRAWS[level]):
        name = f"{seed} {draw}" if draw else seed
        made = _drawn(name, ROWS[level], size or SIZES[level], count or ASKED[level])
        drawn.append((_short(made), made))
        if drawn[-1][0] >= 0:
            break
    return max(drawn, key=lambda each: each[0])[1]


def _short(made: Worklist) -> float:
    """By how many rows, as a share, those that come out otherwise fall short; not below 0 if none
    does and most changes that decide are spoken of by what they say."""
    book, depth = made.book, depths(made.book)
    free = unnamed(book, made.articles)
    rows = made.asked_items

    def wrong(missed: Iterable[str]) -> float:
        missed = {*missed}
        known = Rulebook(book.provisions, [a for a in book.amendments if a.article not in missed])
        return sum(made.missing(row, known) is not None for row in rows) / len(rows)

    short = min(0.0, wrong(free) - _CONTENT, wrong(a for a in depth if depth[a] > 1) - _DEEP)
    if short < 0:
        return short
    deciding = {name for row in rows for name, _ in made.slips(row)} & {*depth}
    return min(0.0, len(deciding & free) / max(1, len(deciding)) - _FREE)


def _drawn(draw: str, rows_of_each: int, size: Size, count: int) -> Worklist:
    org = ListOrgWriter(draw, rows_of_each).write()
    reps, deals = asked(draw, org, count)
    writer = ListRuleWriter(draw, org, size)
    writer.provisions()
    rows = _rows(org, reps)
    places = {
        "country": sorted({firm.country for firm, _ in rows}),
        "industry": sorted({firm.industry for firm, _ in rows}),
        "product": sorted({contract.product for _, contract in rows}),
    }
    aims = [_Aim(org, *row) for row in rows if row[1].renewal in deals]
    niches = writer.niches(aims, size.niches)
    ChainWriter(writer, aims, places, keep=niches).write(size.chains)
    rules = writer.finish()
    articles = ArticleWriter(draw, rules, org.team, org.today).write()
    return Worklist(org, rules, articles, reps, deals)


# --- tasks ----------------------------------------------------------------------------------------

_WORDS = (
    (
        "Please prepare {deals}. Set what the handbook gives, and nothing else. When you are "
        "through, answer with one number: how many of them are on hold."
    ),
    (
        "There is something to be got ready: {deals}. Go by the handbook and change nothing else. "
        "At the end I want to hear one number: how many of them you put on hold."
    ),
    (
        "It is time for {deals}. Do what the handbook says; leave everything else as it is. Then "
        "answer with the number of those that are on hold, and only that."
    ),
)


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The task of a world."""
    made = worklist(seed, level)
    return [_task(made, level, world, canary)]


def _task(made: Worklist, level: int, world: str, canary: str) -> Task:
    def gold(part: Sequence[Item]) -> GoldTurn:
        held = sum(item.on_hold for item in part)
        fact = Fact("count", held, label="on hold", unit="renewals")
        return GoldTurn(tuple(deal_call(item, made.writes(item)) for item in part), facts=(fact,))

    asks = ListTask("worklist", _WORDS, SESSIONS, gold, made.gold_item)
    tables = {**made.org.rows, "Article": made.articles}
    return asks.write(made, tables, level, world, canary)


def deal_call(item: Item, writes: Mapping[str, Any]) -> GoldCall:
    """The call that makes these changes to a renewal."""
    return GoldCall("modify_opportunity", {"opportunity_id": item.deal, **writes})


@dataclass(frozen=True)
class ListTask:
    """What is asked about a list, and how: the sessions, their limits and the rest are the same for
    all mechanisms.

    Attributes:
        mechanism: Its name.
        words: What the user may say of some deals.
        sessions: In how many sessions they come, by level.
        gold: What is right in a session.
        gold_item: What is right for a renewal.
    """

    mechanism: str
    words: Sequence[str]
    sessions: Mapping[int, int]
    gold: Callable[[Sequence[Item]], GoldTurn]
    gold_item: Callable[[Item], GoldItem]

    def write(
        self,
        made: Worklist,
        tables: Mapping[str, Sequence[Mapping[str, Any]]],
        level: int,
        world: str,
        canary: str,
    ) -> Task:
        """The task of a world, whose rows are given as they stand."""
        items = made.asked_items
        sessions = in_sessions(items, self.sessions[level])
        words = self.words[crc32(f"{world} words".encode()) % len(self.words)]
        names = {row["opportunity_id"]: row["name"] for row in tables["Opportunity"]}
        asked = [[names[item.deal] for item in part] for part in sessions]
        careful = list_calls(tables, made.org.today, asked)
        gold_items = tuple(
            replace(self.gold_item(item), turn=number)
            for number, part in enumerate(sessions, 1)
            for item in part
        )
        return Task(
            task_id=f"{world}-1",
            domain="sales_hard",
            world=world,
            turns=tuple(
                Turn(number, words.format(deals=listed(deals)))
                for number, deals in enumerate(asked, 1)
            ),
            gold=Gold(tuple(self.gold(part) for part in sessions), canary=canary, items=gold_items),
            budget=allowed(careful.calls, self.mechanism),
            breaks=tuple(range(1, len(sessions))),
            notebook=notebook(careful.kept),
            family=f"handbook_{self.mechanism}",
            category="Opportunity Management",
            complexity="complex",
            persona=f"{made.org.team.manager}, sales manager",
            tags=(
                f"level:L{level}",
                f"mechanism:{self.mechanism}",
                f"size:{len(items)}",
                f"hidden:{sum(made.hidden(item) for item in items)}",
            ),
        )
