"""A colleague's renewals, checked: most are right, and the wrong ones are wrong as people are."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.worklist import CALLS, Item, Worklist, asked, worklist

WRONG = (0.08, 0.75)
"""Between these lies a colleague's share of renewals in which an article was missed, of those in
which one can be."""
Fields = Mapping[str, Any]

_WORDS = (
    (
        "{rep} has prepared the {count} renewals of the clients that {rep} owns, I am afraid not "
        "always by the handbook. Check every one of them, put right what is wrong and leave alone "
        "what is right. Then tell me how many you had to change. You have {calls} tool calls."
    ),
    (
        "Before the renewals go out: those of the clients owned by {rep} ({count} open deals) are "
        "filled in already. Go through all of them under the handbook and correct what does not "
        "agree with it, nothing else. I want to know how many were wrong. {calls} tool calls are "
        "yours."
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
    present: dict[str, Fields] = {}
    for rep in made.org.team.reps:
        share = rng.uniform(*WRONG)
        items = made.items(rep)
        slips = {item.deal: made.slips(item) for item in items}
        # One at least is wrong.
        sure = next((deal for deal, found in slips.items() if found), "")
        for item in items:
            found = slips[item.deal]
            wrong = found and (rng.random() < share or item.deal == sure)
            present[item.deal] = dict(rng.choice(found)[1] if wrong else item.target)
    return Review(made, present)


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The task of a world."""
    made = review(seed, level)
    number, rep = asked(made.made, world)
    return [_task(made, rep, number, level, world, canary)]


def _task(made: Review, rep: str, number: int, level: int, world: str, canary: str) -> Task:
    items = made.made.items(rep)
    wrong = [item for item in items if made.writes(item)]
    calls = tuple(
        GoldCall("modify_opportunity", {"opportunity_id": item.deal, **made.writes(item)})
        for item in wrong
    )
    words = _WORDS[crc32(f"{world} words".encode()) % len(_WORDS)]
    limit = CALLS[level]
    fact = Fact("count", len(wrong), label="renewals changed", unit="renewals")
    return Task(
        task_id=f"{world}-{number + 1}",
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
