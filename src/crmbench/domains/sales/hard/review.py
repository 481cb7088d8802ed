"""A colleague's renewals, checked: most are right, and the wrong ones are wrong as people are."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

from crmbench.core.fact import Fact
from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.worklist import Item, Worklist, asked, calls_for, worklist

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

    def target(self, item: Item) -> dict[str, Any]:
        """The fields of a renewal as they have to be."""
        return {**untouched(self.made, item.deal), **item.writes}

    def writes(self, item: Item) -> dict[str, Any]:
        """What has to be changed."""
        now = self.present[item.deal]
        return {k: v for k, v in self.target(item).items() if now[k] != v}

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The org's rows, the renewals filled in."""
        rows = self.made.org.rows
        deals = [
            {**row, **self.present.get(row["opportunity_id"], {})} for row in rows["Opportunity"]
        ]
        return {**rows, "Opportunity": deals}


def untouched(made: Worklist, deal: str) -> dict[str, Any]:
    """A renewal's fields before anybody prepares it."""
    firm, contract = made.renewals[deal]
    return {
        "amount": contract.value,
        "close_date": contract.end.isoformat(),
        "owner": firm.owner,
        "probability": 25,
    }


@lru_cache(maxsize=16)
def review(seed: str, level: int) -> Review:
    """The world of a seed."""
    made = worklist(f"{seed} review", level)
    rng = random.Random(f"{seed} {level} colleague")
    present: dict[str, Fields] = {}
    for rep in made.org.team.reps:
        share = rng.uniform(*WRONG)
        items = made.items(rep)
        # One at least is wrong.
        sure = next((item.deal for item in items if made.alternatives(item)), "")
        for item in items:
            writes: Fields = item.writes
            slips = made.alternatives(item)
            if slips and (rng.random() < share or item.deal == sure):
                writes = rng.choice(slips).outcome[f"Opportunity/{item.deal}"]
            present[item.deal] = {**untouched(made, item.deal), **writes}
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
    limit = calls_for(level)
    fact = Fact("count", len(wrong), label="renewals changed", unit="renewals")
    return Task(
        task_id=f"{world}-{number + 1}",
        domain="sales_hard",
        world=world,
        turns=(Turn(1, words.format(rep=rep, count=len(items), calls=limit)),),
        gold=Gold(
            (GoldTurn(calls, facts=(fact,)),),
            canary=canary,
            items=tuple(_item(made, item) for item in items),
        ),
        family="handbook_review",
        category="Opportunity Management",
        complexity="complex",
        persona=f"{made.made.org.team.manager}, sales manager",
        tags=(f"level:L{level}", "mechanism:review", f"size:{len(items)}"),
        call_limit=limit,
    )


def _item(made: Review, item: Item) -> GoldItem:
    place = f"Opportunity/{item.deal}"
    now = made.present[item.deal]
    blame = []
    for slip in made.made.alternatives(item):
        ends = {**untouched(made.made, item.deal), **slip.outcome[place]}
        changed = {k: v for k, v in ends.items() if now[k] != v}
        blame.append(Alternative(slip.without, {place: changed} if changed else {}))
    rules = tuple(dict.fromkeys(item.articles))
    return GoldItem(
        item.deal, 1, (("Opportunity", item.deal),), rules=rules, alternatives=tuple(blame)
    )
