"""A colleague's renewals, checked: most are right, and the wrong ones are wrong as people are."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

from crmbench.authoring.handbook import Rulebook
from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.careful import allowed, list_calls
from crmbench.domains.sales.hard.worklist import Item, Worklist, worklist
from crmbench.errors import HarnessError

WRONG = (0.25, 0.75)
"""Between these lies the share of renewals that a colleague prepared otherwise than the handbook
says: so many articles were missed, and each of them on all renewals."""
SLIPS = 0.2
"""Share of the others that are wrong in some other way."""
Fields = Mapping[str, Any]

_WORDS = (
    (
        "{rep} has prepared the {count} renewals of the clients that {rep} owns, I am afraid not "
        "always by the handbook. Check every one of them, put right what is wrong and leave alone "
        "what is right. Then answer with one number: how many you had to change. You have {calls} "
        "tool calls."
    ),
    (
        "Before the renewals go out: those of the clients owned by {rep} ({count} open deals) are "
        "filled in already. Go through all of them under the handbook and correct what does not "
        "agree with it, nothing else. All I want to hear is one number: how many were wrong. "
        "{calls} tool calls are yours."
    ),
)


@dataclass(frozen=True)
class Review:
    """A world of lists whose renewals are filled in."""

    made: Worklist
    present: Mapping[str, Fields]
    """Deal to its fields as the colleague left them."""

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
    made = worklist(f"{seed} review", level)
    rng = random.Random(f"{seed} {level} colleague")
    # Nobody has prepared those of the others: they would tell what the handbook says.
    return Review(made, _prepared(made, made.items(made.rep), rng))


def _prepared(made: Worklist, items: Sequence[Item], rng: random.Random) -> Mapping[str, Fields]:
    """The renewals as somebody leaves them who has missed some of the articles that decide.

    Whoever misses the same articles finds all of them right, and since each of `SLIPS` of the
    others is wrong in some other way, not every difference tells of an article that is still to
    be found. The share of wrong ones lies within `WRONG` where the articles allow it, so that
    their number tells nothing.
    """
    target = {item.deal: dict(item.target) for item in items}
    wanted = rng.uniform(*WRONG) * len(items)
    missed, most = made.book, max(1, int(WRONG[1] * len(items)))
    left: dict[str, Fields] = {**target}
    for article in _deepest_first(made, rng):
        found = _without(made, items, missed.without(article))
        count = sum(found[deal] != target[deal] for deal in target)
        if count <= most:
            missed, left = missed.without(article), {**found}
        if count >= wanted:
            break
    for item in items:
        slips = made.slips(item)
        if left[item.deal] == target[item.deal] and slips and rng.random() < SLIPS:
            left[item.deal] = dict(rng.choice(slips)[1])
    return left


def _deepest_first(made: Worklist, rng: random.Random) -> list[str]:
    """The articles that change something; mostly those that change other changes come first."""
    changes = {a.article: a for a in made.book.amendments}

    def depth(article: str) -> int:
        return 1 + depth(changes[article].target) if article in changes else 0

    return sorted(sorted(changes), key=lambda article: (-depth(article), rng.random()))


def _without(made: Worklist, items: Sequence[Item], book: Rulebook) -> dict[str, dict[str, Any]]:
    """The renewals under other rules; what these leave open is as it should be."""
    found = {}
    for item in items:
        try:
            found[item.deal] = dict(made.decide(item.deal, book).target)
        except HarnessError:
            found[item.deal] = dict(item.target)
    return found


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The task of a world."""
    made = review(seed, level)
    return [_task(made, level, world, canary)]


def _task(made: Review, level: int, world: str, canary: str) -> Task:
    rep = made.made.rep
    items = made.made.items(rep)
    wrong = [item for item in items if made.writes(item)]
    calls = tuple(
        GoldCall("modify_opportunity", {"opportunity_id": item.deal, **made.writes(item)})
        for item in wrong
    )
    words = _WORDS[crc32(f"{world} words".encode()) % len(_WORDS)]
    tables = {**made.tables(), "Article": made.made.articles}
    limit = allowed(list_calls(tables, made.made.org.today, rep)[1])
    fact = Fact("count", len(wrong), label="renewals changed", unit="renewals")
    return Task(
        task_id=f"{world}-1",
        domain="sales_hard",
        world=world,
        turns=(Turn(1, words.format(rep=rep, count=len(items), calls=limit)),),
        gold=Gold(
            (GoldTurn(calls, facts=(fact,)),),
            canary=canary,
            items=tuple(made.made.gold_item(item, made.present[item.deal]) for item in items),
        ),
        family="handbook_review",
        category="Opportunity Management",
        complexity="complex",
        persona=f"{made.made.org.team.manager}, sales manager",
        tags=(
            f"level:L{level}",
            "mechanism:review",
            f"size:{len(items)}",
            f"hidden:{sum(made.made.hidden(item) for item in items)}",
        ),
        call_limit=limit,
    )
