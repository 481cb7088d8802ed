"""A colleague's renewals, checked: most are right, and the wrong ones are wrong as people are."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any
from zlib import crc32

from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.careful import LISTS, allowed, list_calls
from crmbench.domains.sales.hard.judge import ON_HOLD, USUAL
from crmbench.domains.sales.hard.worklist import Item, Worklist, worklist

WRONG = (0.35, 0.7)
"""Between these lies the share of renewals that the colleague left otherwise than the handbook
says."""
BENT = 0.75
"""Share of renewals wrong in one field that are wrong in another one, too."""
HABIT = 3
"""Renewals at most on which the colleague has one habit that no article gives."""
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
    """The renewals as somebody leaves them who did each on another day.

    What was missed differs from one to the next, some are wrong in a way that no article explains,
    and on a few the colleague has a habit, in one field, that nothing gives: so what stands on most
    of them, or on several alike, tells nothing of what the handbook says.
    """
    left: dict[str, Fields] = {item.deal: dict(item.target) for item in items}
    wrong = rng.sample(items, max(1, round(rng.uniform(*WRONG) * len(items))))
    habit = _Habit(made, rng)
    for place, item in enumerate(wrong):
        if place < min(HABIT, len(wrong) - 1) and (changed := habit.on(item)):
            left[item.deal] = _bent(made, item, changed, rng)
        else:
            left[item.deal] = _bent(made, item, _slipped(made, item, rng), rng)
    return left


def _bent(made: Worklist, item: Item, fields: Fields, rng: random.Random) -> Fields:
    """A wrong renewal, mostly wrong in a second field too: three right ones confirm themselves."""
    wrong = [name for name in fields if fields[name] != item.target[name]]
    if item.on_hold or len(wrong) != 1 or rng.random() > BENT:
        return fields
    other = _made_up(made, item, rng)
    return {**fields, **{n: v for n, v in other.items() if v != item.target[n] and n not in wrong}}


def _slipped(made: Worklist, item: Item, rng: random.Random) -> Fields:
    """A renewal as somebody leaves it who missed an article or two, or who made something up."""
    depth = {a.article: a.target for a in made.book.amendments}
    slips = [(name, fields) for name, fields in made.slips(item) if fields != item.target]
    # Mostly a change was missed, and of these mostly the change of a change.
    weights = [1 + 3 * (name in depth) + 4 * (depth.get(name) in depth) for name, _ in slips]
    if not slips or rng.random() < 0.25:
        return _made_up(made, item, rng)
    left = dict(rng.choices(slips, weights)[0][1])
    if rng.random() < 0.3:
        other = rng.choices(slips, weights)[0][1]
        left |= {name: value for name, value in other.items() if value != item.target[name]}
    return left


def _made_up(made: Worklist, item: Item, rng: random.Random) -> Fields:
    """A renewal as no article has it: one on hold is prepared, one that is not is now and then put
    on hold, and of most one field differs.
    """
    firm, contract = made.renewals[item.deal]
    figures: dict[str, Any] = {
        "amount": float(round(contract.value * (100 + rng.randrange(1, 19) / 2) / 100)),
        "close_date": (contract.end - timedelta(days=rng.randrange(14, 105))).isoformat(),
        "owner": rng.choice((*made.org.team.desks, *made.org.team.reps)),
        "probability": USUAL,
    }
    if item.on_hold:
        return figures
    if rng.random() < 0.2:
        return {
            "amount": contract.value,
            "close_date": contract.end.isoformat(),
            "owner": firm.owner,
            "probability": ON_HOLD,
        }
    name = rng.choice([n for n in figures if figures[n] != item.target[n]])
    return {**item.target, name: figures[name]}


class _Habit:
    """One thing that a colleague does on several renewals alike, and that nothing gives."""

    def __init__(self, made: Worklist, rng: random.Random) -> None:
        self.made = made
        self.name = rng.choice(("amount", "close_date", "owner"))
        self.percent = rng.randrange(1, 19) / 2
        self.days = rng.randrange(14, 105)
        self.person = rng.choice(made.org.team.desks)

    def on(self, item: Item) -> Fields:
        """The renewal with it; nothing where it makes no difference."""
        _, contract = self.made.renewals[item.deal]
        if item.on_hold:
            return {}
        values: Mapping[str, Any] = {
            "amount": float(round(contract.value * (100 + self.percent) / 100)),
            "close_date": (contract.end - timedelta(days=self.days)).isoformat(),
            "owner": self.person,
        }
        if values[self.name] == item.target[self.name]:
            return {}
        return {**item.target, self.name: values[self.name]}


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
    limit = allowed(list_calls(tables, made.made.org.today, rep)[1], LISTS)
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
