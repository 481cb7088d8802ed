"""A shift at the desk: messages of many people, standing orders, deadlines, session breaks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any

from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.agents.careful import allowed, shift_calls
from crmbench.domains.sales.hard.articles import ArticleWriter
from crmbench.domains.sales.hard.desk import (
    Renewal,
)
from crmbench.domains.sales.hard.handbook.chains import ChainWriter
from crmbench.domains.sales.hard.handbook.shift_rules import (
    SUBJECTS,
    Focus,
    ShiftAim,
    ShiftRuleWriter,
)
from crmbench.domains.sales.hard.lists import ListOrgWriter
from crmbench.domains.sales.hard.rules import Size
from crmbench.domains.sales.hard.shift_writer import (
    PAIR,
    Shift,
    ShiftWorld,
    ShiftWriter,
    renewals_of,
    replay,
)

EVENTS: Mapping[int, int] = {1: 10, 2: 20, 3: 40, 4: 80, 5: 160}
"""Messages of a shift, by level."""
SIZES: Mapping[int, Size] = {
    1: Size(2, 0, 0, 0, terms=2, chains=3, changes=1, absences=0, articles=150),
    2: Size(3, 0, 0, 0, terms=3, chains=5, changes=2, absences=0, articles=240),
    3: Size(3, 0, 0, 0, terms=4, chains=15, changes=2, absences=0, articles=440),
    4: Size(5, 0, 0, 0, terms=6, chains=16, changes=5, absences=0, articles=560),
    5: Size(12, 0, 0, 0, terms=7, chains=60, changes=7, absences=0, articles=1100),
}
PER_REP: Mapping[int, int] = {1: 9, 2: 9, 3: 9, 4: 9, 5: 14}
"""Renewals of each representative, by level."""
_BREAK_EVERY = 10
_KEEN = 5
"""From this level on a shift asks about every client at whom changes are aimed, and for more than
is allowed: four times the messages alone hung on no more than half as many changes again.
"""
_DRAWS = 6
"""Shifts drawn in a world, at most, of which one is kept."""
_ASKS_A_WRITE: Mapping[int, int] = {1: 3, 2: 3, 3: 3, 4: 3, 5: 5}
"""Of how many messages one has to change something, by level: what is refused is most of what goes
beyond the limits.
"""


@lru_cache(maxsize=16)
def shift_world(seed: str, level: int) -> ShiftWorld:
    """The world of the shift of a seed."""
    org = ListOrgWriter(f"{seed} shift", PER_REP[level]).write()
    rng = random.Random(f"{seed} {level} focus")
    size = SIZES[level]
    writer = ShiftRuleWriter(f"{seed} shift", org, size)
    writer.provisions()
    rows = {f.name: (f, c) for f in org.firms for c in f.contracts if c.renewal}
    clients = rng.sample(sorted(rows), min(len(rows), size.chains + 3))
    kinds = list(SUBJECTS)
    focus = [
        # Some of the changes come into force while the shift is on.
        Focus(name, kinds[i % 4], org.today + timedelta(days=rng.choice((0, 0, 1, 3, 4))))
        for i, name in enumerate(clients)
    ]
    places = {
        "country": sorted({firm.country for firm, _ in rows.values()}),
        "industry": sorted({firm.industry for firm, _ in rows.values()}),
        "product": sorted({contract.product for _, contract in rows.values()}),
    }
    aims = [ShiftAim(org, each, rows[each.client]) for each in focus]
    ChainWriter(writer, aims, places).write(size.chains)
    rules = writer.finish()
    articles = ArticleWriter(f"{seed} shift", rules, org.team, org.today).write()
    return ShiftWorld(org, rules, articles, focus)


@lru_cache(maxsize=16)
def shift(seed: str, level: int) -> Shift:
    """The shift of a world: of several drawn, one in which changes of the handbook decide much."""
    world, size = shift_world(seed, level), EVENTS[level]
    drawn: list[tuple[int, Shift]] = []
    for draw in range(_DRAWS):
        made = ShiftWriter(world, f"{seed} {level} {draw}", size, level >= _KEEN).write()
        written = sum(bool(changes) for changes in made.changes)
        enough = written * _ASKS_A_WRITE[level] >= size
        deciding = len(decisive(world, made)) if enough else 0
        drawn.append((deciding, made))
        if deciding >= SIZES[level].chains * 2 // 3:
            break
    return max(drawn, key=lambda each: each[0])[1]


def decisive(world: ShiftWorld, made: Shift) -> list[str]:
    """The articles that change others and without which something would be done otherwise."""
    changes = sorted({a.article for a in world.rules.book.amendments})
    right = list(made.changes)
    return [
        article
        for article in changes
        if world.relevant(article)
        and replay(world.org, made.messages, world.limits(article))[0] != right
    ]


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The shift of a world as a task."""
    return [_task(seed, level, world, canary)]


def _task(seed: str, level: int, world: str, canary: str) -> Task:
    setting, made = shift_world(seed, level), shift(seed, level)
    size = len(made.messages)
    golds = tuple(
        GoldTurn(
            tuple(
                GoldCall("modify_opportunity", {"opportunity_id": key, **fields})
                for key, fields in sorted(changes.items())
            )
        )
        for changes in made.changes
    )
    breaks = tuple(range(_BREAK_EVERY, size, _BREAK_EVERY))
    budget = allowed(shift_calls(setting.tables(), setting.org.today, made.words)[1], "shift")
    return Task(
        task_id=f"{world}-1",
        domain="sales_hard",
        world=world,
        turns=tuple(Turn(place, words) for place, words in enumerate(made.words, 1)),
        gold=Gold(golds, canary=canary, items=tuple(items(setting, made))),
        family="desk_shift",
        category="Cross-entity",
        complexity="complex",
        persona="the desk's inbox: each message says who writes",
        tags=(f"level:L{level}", "mechanism:shift", f"size:{size}"),
        budget=budget,
        breaks=breaks,
    )


def items(world: ShiftWorld, made: Shift) -> list[GoldItem]:
    """One for every renewal that a message named or changed."""
    org, limits = world.org, world.limits()
    by_key = {renewal.key: client for client, renewal in renewals_of(org).items()}
    last: dict[str, int] = {}
    rules: dict[str, list[str]] = {}
    for turn, (message, changes) in enumerate(zip(made.messages, made.changes, strict=True), 1):
        named = {by_key[key] for key in changes}
        named |= {str(message.gaps[n]) for n in PAIR if n in message.gaps}
        for client in sorted(named):
            last[client] = turn
            rules.setdefault(client, []).extend(made.used[turn - 1])
    ends = replay(org, made.messages, limits)[1]
    others = {}
    for left_out in _orders(made):
        rest = [m for i, m in enumerate(made.messages) if i != left_out]
        others[f"turn {left_out + 1}"] = replay(org, rest, limits)[1]
    for article in decisive(world, made):
        others[article] = replay(org, made.messages, world.limits(article))[1]
    start = renewals_of(org)
    return [
        GoldItem(
            ends[client].key,
            turn,
            (("Opportunity", ends[client].key),),
            rules=tuple(dict.fromkeys(rules[client])),
            alternatives=tuple(
                Alternative((name,), _outcome(start[client], renewals[client]))
                for name, renewals in others.items()
                if renewals[client].fields() != ends[client].fields()
            ),
        )
        for client, turn in sorted(last.items())
    ]


def _orders(made: Shift) -> list[int]:
    """Places of the messages that only change what later ones mean."""
    asks = ("off", "price", "hand", "chance", "undo", "chat")
    return [i for i, m in enumerate(made.messages) if m.kind not in asks]


def _outcome(start: Renewal, end: Renewal) -> Mapping[str, Mapping[str, Any]]:
    before = start.fields()
    changed = {k: v for k, v in end.fields().items() if v != before[k]}
    return {f"Opportunity/{end.key}": changed} if changed else {}
