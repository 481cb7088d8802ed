"""Draws what is said in a shift: messages about which the handbook and standing orders decide."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from crmbench.domains.sales.hard.desk import (
    ORDERS,
    Changes,
    Desk,
    Limits,
    Message,
    Order,
    Renewal,
    topic_of,
)
from crmbench.domains.sales.hard.handbook.shift_rules import SUBJECTS, Focus, HandbookLimits
from crmbench.domains.sales.hard.org import PRODUCTS, Org
from crmbench.domains.sales.hard.rules import DEFINITIONS, Rules
from crmbench.domains.sales.hard.speech import say

FOCUS = 0.75
"""Share of asks that are made about a client at whom the handbook's changes are aimed."""
_DAY_ENDS = 17
_WEIGHTS = {
    "off": 18, "price": 16, "hand": 12, "chance": 16, "undo": 4, "order": 7, "forget": 2,
    "spare": 3, "change": 3, "deadline": 4, "away": 3, "mail": 4, "chat": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Shift:
    """One shift: what is said, and what is right after each message."""

    messages: tuple[Message, ...]
    words: tuple[str, ...]
    changes: tuple[Changes, ...]
    used: tuple[tuple[str, ...], ...]
    """For each message the topics of the orders that bore on it."""


def renewals_of(org: Org) -> dict[str, Renewal]:
    """Client to its open renewal."""
    found = {}
    rows = {row["opportunity_id"]: row for row in org.rows["Opportunity"]}
    for firm in org.firms:
        for contract in firm.contracts:
            if contract.renewal:
                deal = rows[contract.renewal]
                found[firm.name] = Renewal(
                    contract.renewal,
                    firm.name,
                    firm.country,
                    firm.industry,
                    contract.product,
                    firm.owner,
                    deal["amount"],
                    deal["close_date"],
                    deal["probability"],
                    firm.stop,
                    firm.dispute,
                    firm.bought,
                    contract.value,
                    contract.end.isoformat(),
                )
    return found


def replay(
    org: Org, messages: Sequence[Message], limits: Limits
) -> tuple[list[Changes], dict[str, Renewal]]:
    """What each message changes, and how the renewals end."""
    desk = Desk(org.team.manager, renewals_of(org), limits)
    return [desk.hear(message) for message in messages], dict(desk.renewals)


@dataclass(frozen=True)
class ShiftWorld:
    """The org of a shift, its handbook, and what the changes in it are aimed at."""

    org: Org
    rules: Rules
    articles: Sequence[Mapping[str, Any]]
    focus: Sequence[Focus]

    def relevant(self, article: str) -> bool:
        """Whether an article bears on the questions of a shift, by what it changes."""
        book = self.rules.book
        asked = {*SUBJECTS.values(), "frozen", *DEFINITIONS}
        targets = {a.article: a.target for a in book.amendments}
        while article in targets:
            article = targets[article]
        return any(p.article == article and p.subject in asked for p in book.provisions)

    def limits(self, without: str = "") -> Limits:
        """What the handbook answers.

        Args:
            without: An article that is not there.
        """
        return HandbookLimits(self.org, self.rules.book.without(without))

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        return {**self.org.rows, "Article": [dict(row) for row in self.articles]}


class ShiftWriter:
    """Draws a shift in an org.

    Args:
        world: Its org and handbook.
        seed: Of all chance.
        size: Messages.
        keen: Whether it asks about every client at whom changes are aimed before it asks again, and
            mostly for more than the handbook allows, so that more of the changes decide something.
    """

    def __init__(self, world: ShiftWorld, seed: str, size: int, keen: bool = False) -> None:
        self.keen = keen
        self.org = world.org
        self.focus = world.focus
        self.size = size
        self.rng = random.Random(f"{seed} shift")
        self.desk = Desk(world.org.team.manager, renewals_of(world.org), world.limits())
        self.at = datetime.combine(world.org.today, time(9, 5))
        self.clients = sorted(self.desk.renewals)
        self.messages: list[Message] = []
        self.applied: set[str] = set()
        """Topics of orders that bore on a message."""

    def write(self) -> Shift:
        words, changes, used = [], [], []
        while len(self.messages) < self.size:
            message = self._next()
            if message is None or self._idle(message):
                continue
            self.messages.append(message)
            changes.append(self.desk.hear(message))
            used.append(tuple(dict.fromkeys(self.desk.used)))
            self.applied |= {*self.desk.used}
            words.append(self._say(message))
            self._later()
        return Shift(tuple(self.messages), tuple(words), tuple(changes), tuple(used))

    def _idle(self, message: Message) -> bool:
        """Whether what is asked is done and changes nothing: was it then done at all?"""
        name = _ASKED.get(message.kind)
        if name is None or not self.desk.does(message):
            return False
        client = message.gaps["client"]
        heard = []
        for one in (Message(message.at, message.sender, "chat"), message):
            # The handbook is the same for both, and not copied.
            desk = deepcopy(self.desk, {id(self.desk.limits): self.desk.limits})
            desk.hear(one)
            fields = desk.renewals[client].fields()
            heard.append(fields if name == "all" else fields[name])
        return bool(heard[0] == heard[1])

    def _later(self) -> None:
        self.at += timedelta(minutes=self.rng.randrange(21, 140))
        if self.at.hour >= _DAY_ENDS:
            morning = datetime.combine(self.at.date() + timedelta(days=1), time(9))
            while morning.weekday() > 4:
                morning += timedelta(days=1)
            self.at = morning + timedelta(minutes=self.rng.randrange(2, 55))

    def _say(self, message: Message) -> str:
        team = self.org.team
        role = "client"
        if message.sender == team.manager:
            role = "sales manager"
        elif message.sender in team.reps:
            role = "representative"
        elif message.sender in team.desks:
            role = "desk"
        text = say(message, role, self.rng)
        claims = role == "representative" and message.kind.startswith(("order ", "forget"))
        if claims and self.rng.random() < 0.5:
            head, _, words = text.partition("): ")
            text = f"{head}): {team.manager.split()[0]} asked me to pass this on. {words}"
        return text

    # --- choosing ---------------------------------------------------------------------------------

    def _next(self) -> Message | None:
        rng = self.rng
        kinds = dict(_WEIGHTS)
        if len(self.desk.orders) < min(5, self.size // 8):
            kinds["order"] *= 3
        if self.desk.speaker is None and len(self.messages) > self.size // 8:
            kinds["away"] *= 8
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        idle = [order for order in self.desk.orders if order.topic not in self.applied]
        if idle and rng.random() < 0.4:
            kind = _SETS_OFF[rng.choice(idle).kind]
        makers = {
            "order": self._order,
            "forget": self._about,
            "spare": self._about,
            "change": self._about,
            "deadline": self._deadline,
            "away": self._away,
            "mail": self._mail,
            "undo": self._undo,
        }
        if kind in makers:
            return makers[kind](kind)
        return self._ask(kind)

    def _boss(self) -> str:
        """Mostly the manager, or who speaks for the manager; now and then one who may not."""
        rng, team = self.rng, self.org.team
        speaker = self.desk.speaker
        if speaker and self.at < speaker[1] + timedelta(hours=5) and rng.random() < 0.6:
            return speaker[0]
        return rng.choice(team.reps) if rng.random() < 0.18 else team.manager

    def _asker(self, client: str) -> str:
        rng, team = self.rng, self.org.team
        owner = self.desk.renewals[client].owner
        draw = rng.random()
        if draw < 0.75:
            return owner
        if draw < 0.88:
            return self._boss()
        return team.manager if draw < 0.93 else rng.choice(team.reps)

    def _ask(self, kind: str) -> Message | None:
        rng = self.rng
        client = self._client_for(kind)
        renewal = self.desk.renewals[client]
        sender = self._asker(client)
        gaps: dict[str, Any] = {"client": client}
        if kind == "off":
            gaps["day"] = self._put_off(renewal)
        elif kind == "price":
            # Often below what the handbook allows.
            most = 0.9 if self.keen else 1.03
            gaps["amount"] = float(round(renewal.value * rng.uniform(0.8, most)))
        elif kind == "hand":
            if self._kept(renewal):
                return None
            people = (*self.org.team.reps, *self.org.team.desks)
            gaps["person"] = rng.choice([p for p in people if p != renewal.owner])
        elif kind == "chance":
            chances = (80, 85, 90, 95) if self.keen else (45, 55, 65, 70, 75, 80, 85, 90, 95)
            gaps["percent"] = rng.choice([c for c in chances if c != renewal.probability])
        return Message(self.at, sender, kind, gaps)

    def _kept(self, renewal: Renewal) -> bool:
        """Whether one order would keep the owner and another change it: people would differ."""
        kinds = {order.kind for order in self.desk.orders}
        return renewal.bought and {"stay", "bought"} <= kinds

    def _client_for(self, kind: str) -> str:
        """Often one at whom the handbook's changes are aimed, or for whom a standing order goes, or
        nearly so.
        """
        if self.rng.random() < FOCUS:
            found = [f.client for f in self.focus if f.kind == kind and f.day <= self.at.date()]
            if self.keen:
                asked = {m.gaps["client"] for m in self.messages if m.kind == kind}
                found = [client for client in found if client not in asked] or found
            return self.rng.choice(found or [f.client for f in self.focus])
        wanted = {
            "off": ("odds", "limit", "pair"),
            "price": ("round",),
            "hand": ("stay",),
            "chance": ("desk", "dispute"),
        }
        kinds = (*wanted.get(kind, ()), "stop", "bought")
        orders = [order for order in self.desk.orders if order.kind in kinds]
        if orders and self.rng.random() < 0.9:
            # Those that bore on nothing yet come first; those left out of one are asked about too.
            idle = [order for order in orders if order.topic not in self.applied]
            order = self.rng.choice(idle or orders)
            fitting = self._fitting(order)
            if order.spared and self.rng.random() < 0.4:
                fitting = sorted(order.spared)
            if fitting:
                return self.rng.choice(fitting)
        return self.rng.choice(self.clients)

    def _fitting(self, order: Order) -> list[str]:
        gaps = order.gaps
        if order.kind == "pair":
            return [gaps["client"], gaps["other"]]
        if order.kind in _TRAITS:
            having = [c for c, r in self.desk.renewals.items() if getattr(r, order.kind)]
            return sorted(having)
        found = []
        for client, renewal in self.desk.renewals.items():
            near = (renewal.country, renewal.industry, renewal.product)
            if order.kind == "stay" or any(gaps.get(n) in near for n in _SCOPES):
                found.append(client)
        return sorted(found)

    def _put_off(self, renewal: Renewal) -> str:
        """Mostly a day about as late as the handbook may allow, or later."""
        ahead = self.rng.randrange(60 if self.keen else 0, 160)
        return (date.fromisoformat(renewal.end) + timedelta(days=ahead)).isoformat()

    def _day(self) -> str:
        ahead = self.rng.randrange(60, 300)
        return (self.org.today + timedelta(days=ahead)).isoformat()

    # --- orders -----------------------------------------------------------------------------------

    def _order(self, kind: str) -> Message | None:
        rng = self.rng
        kind = rng.choices(ORDERS, (4, 4, 3, 2, 3, 3, 3, 3, 3))[0]
        renewal = self.desk.renewals[rng.choice(self.clients)]
        gaps: dict[str, Any] = {}
        if kind == "odds":
            gaps = {"country": renewal.country, "percent": rng.choice((10, 15, 20, 30, 35))}
        elif kind == "limit":
            gaps = {"industry": renewal.industry, "day": self._day()}
        elif kind == "round":
            gaps = {"country": renewal.country}
        elif kind == "stay":
            gaps = {"amount": 1000.0 * rng.randrange(30, 70)}
        elif kind == "desk":
            gaps = {"product": rng.choice(PRODUCTS), "person": rng.choice(self.org.team.desks)}
        elif kind == "dispute":
            gaps = {"percent": rng.choice((30, 40, 45))}
        elif kind == "bought":
            gaps = {"person": rng.choice(self.org.team.desks)}
        elif kind == "pair":
            paired = {o.gaps[n] for o in self.desk.orders if o.kind == kind for n in PAIR}
            free = [client for client in self.clients if client not in paired]
            gaps = dict(zip(PAIR, rng.sample(free, 2), strict=True))
        if any(order.topic == topic_of(kind, gaps) for order in self.desk.orders):
            return None
        # "Unless I ask" means the manager, so nobody says it in the manager's place.
        sender = self.org.team.manager if kind == "stop" else self._boss()
        return Message(self.at, sender, f"order {kind}", gaps)

    def _about(self, kind: str) -> Message | None:
        """A message that takes back or changes an order."""
        rng = self.rng
        orders = list(self.desk.orders)
        if kind == "change":
            orders = [order for order in orders if order.kind in ("odds", "limit", "dispute")]
        elif kind == "spare":
            orders = [order for order in orders if order.kind != "pair"]
        topics = [order.topic for order in orders]
        if kind == "forget":
            topics += [f"the deadline for {d.client}" for d in self.desk.deadlines]
        if not topics:
            return None
        topic = rng.choice(topics)
        gaps: dict[str, Any] = {"topic": topic}
        order = next((order for order in orders if order.topic == topic), None)
        if kind == "spare" and order is not None:
            fitting = [c for c in self._fitting(order) if c not in order.spared]
            gaps["client"] = rng.choice(fitting or self.clients)
        elif kind == "change" and order is not None:
            gaps["gap"] = "day" if order.kind == "limit" else "percent"
            gaps["figure"] = self._day() if order.kind == "limit" else rng.choice((5, 25, 55))
        return Message(self.at, self._boss(), kind, gaps)

    def _deadline(self, kind: str) -> Message | None:
        rng = self.rng
        taken = {deadline.client for deadline in self.desk.deadlines}
        client = rng.choice([client for client in self.clients if client not in taken])
        day = self.at.date() + timedelta(days=rng.randrange(1, 3))
        while day.weekday() > 4:
            day += timedelta(days=1)
        # Messages come at no full hour but by chance, so none comes at the very minute.
        until = datetime.combine(day, time(rng.randrange(10, 17)))
        gaps = {"client": client, "until": until, "percent": rng.choice((5, 10, 15))}
        return Message(self.at, self._boss(), kind, gaps)

    def _away(self, kind: str) -> Message | None:
        if self.desk.speaker and self.at < self.desk.speaker[1]:
            return None
        day = self.at.date() + timedelta(days=self.rng.randrange(1, 3))
        until = datetime.combine(day, time(12))
        person = self.rng.choice(self.org.team.desks)
        return Message(self.at, self.org.team.manager, kind, {"until": until, "person": person})

    def _mail(self, kind: str) -> Message | None:
        waiting = [deadline.client for deadline in self.desk.deadlines]
        client = self.rng.choice(waiting if waiting and self.rng.random() < 0.5 else self.clients)
        return Message(self.at, client, kind)

    def _undo(self, kind: str) -> Message | None:
        changed = sorted(self.desk.history)
        if not changed:
            return None
        client = self.rng.choice(changed)
        at = self.rng.choice(self.desk.history[client])[0]
        since = at - timedelta(minutes=self.rng.randrange(1, 20))
        gaps = {"client": client, "since": since}
        return Message(self.at, self.org.team.manager, kind, gaps)


_ASKED = {"off": "close_date", "price": "amount", "chance": "probability", "undo": "all"}
"""What an ask is meant to change. One to hand over may be kept from doing so by an order."""
_SETS_OFF = {
    "odds": "off", "limit": "off", "pair": "off", "stop": "off", "round": "price",
    "stay": "hand", "desk": "chance", "dispute": "chance", "bought": "chance",
}  # fmt: skip
"""A kind of order, and an ask that sets it off."""
_SCOPES = ("country", "industry", "product")
PAIR = ("client", "other")
_TRAITS = ("stop", "dispute", "bought")
