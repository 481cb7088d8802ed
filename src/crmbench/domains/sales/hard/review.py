"""A colleague's renewals, checked: some are as somebody leaves them who missed a few articles."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from crmbench.core.fact import Fact
from crmbench.core.task import Alternative, GoldItem, GoldTurn, Task
from crmbench.domains.sales.hard.rules import Size
from crmbench.domains.sales.hard.worklist import (
    ROWS,
    Item,
    ListTask,
    Worklist,
    deal_call,
    worklist,
)
from crmbench.errors import HarnessError

WRONG = (0.4, 0.67)
"""Between these lies the share of renewals that the colleague left otherwise than the handbook
says, of those asked about and of the others that the colleague prepared, where so many can be had.
"""
SIZES: Mapping[int, Size] = {
    1: Size(3, 2, 1, 0, terms=2, chains=5, changes=1, absences=1, articles=180),
    2: Size(5, 3, 2, 1, terms=3, chains=10, changes=2, absences=2, articles=360),
    3: Size(7, 5, 4, 3, terms=5, chains=24, changes=3, absences=3, articles=1000),
    4: Size(8, 7, 5, 3, terms=6, chains=30, changes=6, absences=4, articles=1200),
    5: Size(10, 9, 6, 4, terms=7, chains=60, changes=8, absences=5, articles=1450, niches=80),
}
"""The handbook of each level. More changes decide than on worklists, since what a colleague filled
in rightly bears out what was found, and what differs asks for another look."""
SESSIONS: Mapping[int, int] = {1: 1, 2: 2, 3: 4, 4: 6, 5: 8}
"""Sessions in which a list comes, by level."""
EXPLAINED = 2
"""Articles at most that are behind what is wrong on one renewal."""
_DRAWS = 8
"""Ways to miss articles, at most, of which one is kept."""
Fields = Mapping[str, Any]

_WORDS = (
    (
        "A colleague has filled in {deals}, I am afraid not always by the handbook. Check what "
        "stands there, put right what is wrong and leave alone what is right. Then answer with one "
        "number: how many of them you had to change."
    ),
    (
        "These are filled in already and about to go out: {deals}. Go through them under the "
        "handbook and correct what does not agree with it, nothing else. All I want to hear is one "
        "number: how many of them were wrong."
    ),
)


@dataclass(frozen=True)
class Review:
    """A world of lists whose renewals are filled in."""

    made: Worklist
    present: Mapping[str, Fields]
    """Deal to its fields as the colleague left them."""
    missed: Mapping[str, tuple[str, ...]]
    """Deal that is wrong to the articles, one or two, without which it would be right as it is;
    those not asked about among them."""

    def writes(self, item: Item) -> dict[str, Any]:
        """What has to be changed."""
        now = self.present[item.deal]
        return {k: v for k, v in item.target.items() if now[k] != v}

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The org's rows, the renewals filled in."""
        rows = self.made.org.rows
        deals = [
            {**row, **self.present.get(row["opportunity_id"], {})} for row in rows["Opportunity"]
        ]
        return {**rows, "Opportunity": deals}


@lru_cache(maxsize=16)
def review(seed: str, level: int) -> Review:
    """The world of a seed."""
    made = worklist(f"{seed} review", level, SIZES[level], ROWS[level])
    # The colleague has prepared all of both representatives, so that what is filled in does not
    # tell what will be asked about; nobody those of the others.
    colleague = _Colleague(made, random.Random(f"{seed} {level} colleague"))
    return Review(made, *colleague.prepared())


class _Colleague:
    """Somebody who knows all of the handbook but a few articles, and so prepared the renewals.

    What stands on a wrong renewal is therefore what the handbook gives without one article or two,
    and all that are wrong by one article bear each other out. Missed are first of all the changes
    that are hard to find and decide what is asked about, and these leave no right renewal behind
    that would tell of them; then others, until as many of the rest are wrong.
    """

    def __init__(self, made: Worklist, rng: random.Random) -> None:
        self.made = made
        self.asked, self.others = made.asked_items, made.other_items
        self.rng = rng
        self.share = rng.uniform(*WRONG)
        self._kept: dict[tuple[str, frozenset[str]], Item | None] = {}

    def prepared(self) -> tuple[dict[str, Fields], dict[str, tuple[str, ...]]]:
        """The renewals as they are left, and for each wrong one what was missed: of several drawn,
        one in which enough are wrong, of those asked about and of the others, and what is right
        tells of the fewest changes that are hard to find.
        """
        return max((self._drawn() for _ in range(_DRAWS)), key=lambda each: self._worth(each[1]))

    def _drawn(self) -> tuple[dict[str, Fields], dict[str, tuple[str, ...]]]:
        missed: list[str] = []
        left, why = self._without(missed) or ({}, {})
        for items in (self.asked, self.others):
            # What is missed for the sake of the others leaves those asked about as they are.
            settled = {} if items is self.asked else {i.deal: left[i.deal] for i in self.asked}
            for article in self._hard_first(items):
                tried = None if article in missed else self._without([*missed, article])
                if tried is None or self._too_many(tried[1]):
                    continue
                if article in _named(tried[1], items) and settled.items() <= tried[0].items():
                    missed.append(article)
                    left, why = tried
        return left, why

    def _too_many(self, why: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether more are wrong than should be, of those asked about or of the rest."""
        return any(
            sum(item.deal in why for item in items) > max(1, round(self.share * len(items)))
            for items in (self.asked, self.others)
        )

    def _worth(self, why: Mapping[str, tuple[str, ...]]) -> tuple[float, int]:
        least = min(
            sum(item.deal in why for item in items) / len(items)
            for items in (self.asked, self.others)
        )
        right = [item for item in self.asked if item.deal not in why]
        told = {name for item in right for name, _ in self.made.slips(item)}
        return min(least, WRONG[0]), -len(told & self.made.unnumbered)

    def _hard_first(self, items: Sequence[Item]) -> list[str]:
        """Articles that decide some of these renewals; those first that are found last."""
        deciding = {name for item in items for name, _ in self.made.slips(item)}
        depth = self.made.depth
        unnamed = self.made.unnumbered
        found = sorted(deciding & {*self.made.book.articles})
        self.rng.shuffle(found)
        return sorted(found, key=lambda name: (name not in unnamed, -min(depth.get(name, 0), 2)))

    def _without(
        self, missed: Sequence[str]
    ) -> tuple[dict[str, Fields], dict[str, tuple[str, ...]]] | None:
        """The renewals by a handbook that lacks these articles; nothing if some cannot be said."""
        left: dict[str, Fields] = {}
        why: dict[str, tuple[str, ...]] = {}
        for item in (*self.asked, *self.others):
            fields = self._fields(item, missed)
            if fields is None:
                return None
            left[item.deal] = fields
            if fields != item.target:
                found = self._explained(item, missed, fields)
                if found is None:
                    return None
                why[item.deal] = found
        return left, why

    def _explained(
        self, item: Item, missed: Sequence[str], fields: Fields
    ) -> tuple[str, ...] | None:
        """The fewest of the articles that give these fields when they are missed."""
        for size in range(1, EXPLAINED + 1):
            for some in itertools.combinations(missed, size):
                if self._fields(item, some) == fields:
                    return some
        return None

    def _fields(self, item: Item, missed: Sequence[str]) -> Fields | None:
        """The renewal by a handbook that lacks these articles; None if it cannot be said."""
        known: Item | None = item
        lacking: frozenset[str] = frozenset()
        # What a decision does not rest on changes nothing, so that many draws come to the same.
        while known is not None and (more := known.bearing.intersection(missed) - lacking):
            lacking |= more
            known = self._known(item.deal, lacking)
        if known is None:
            known = self._known(item.deal, frozenset(missed))
        return None if known is None else known.target

    def _known(self, deal: str, lacking: frozenset[str]) -> Item | None:
        if (deal, lacking) not in self._kept:
            try:
                self._kept[deal, lacking] = self.made.decide(deal, self.made.book.without(*lacking))
            except HarnessError:
                # Without its only provision a question has no answer.
                self._kept[deal, lacking] = None
        return self._kept[deal, lacking]


def _named(why: Mapping[str, tuple[str, ...]], items: Sequence[Item]) -> set[str]:
    return {name for item in items for name in why.get(item.deal, ())}


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The task of a world."""
    made = review(seed, level)
    return [_task(made, level, world, canary)]


def _task(made: Review, level: int, world: str, canary: str) -> Task:
    def gold(part: Sequence[Item]) -> GoldTurn:
        calls = tuple(deal_call(item, writes) for item in part if (writes := made.writes(item)))
        fact = Fact("count", len(calls), label="renewals changed", unit="renewals")
        return GoldTurn(calls, facts=(fact,))

    asks = ListTask("review", _WORDS, SESSIONS, gold, lambda item: _gold_item(made, item))
    tables = {**made.tables(), "Article": made.made.articles}
    return asks.write(made.made, tables, level, world, canary)


def _gold_item(made: Review, item: Item) -> GoldItem:
    """The item; if it is wrong, with what was missed as the first of its alternatives."""
    gold = made.made.gold_item(item, made.present[item.deal])
    missed = made.missed.get(item.deal)
    if missed is None:
        return gold
    others = [other for other in gold.alternatives if other.without != missed]
    return replace(gold, alternatives=(Alternative(missed, {}), *others))
