"""What a desk has to do with the messages of a shift: asks, standing orders, deadlines, authority.

`Desk` is the ground truth of a shift: it hears one message after the other and says what changes.
The rules that it follows are those of policy.md, "Messages".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from crmbench.domains.sales.hard.conditions import amount_of


@dataclass(slots=True)
class Renewal:
    """An open deal as it stands."""

    key: str
    client: str
    country: str
    industry: str
    product: str
    owner: str
    amount: float
    close_date: str
    probability: int
    stop: bool = False
    dispute: bool = False
    bought: bool = False
    value: float = 0.0
    """Of the old contract, a year."""
    end: str = ""
    """The day on which the old contract ends."""

    def fields(self) -> dict[str, Any]:
        return {
            "amount": self.amount,
            "close_date": self.close_date,
            "owner": self.owner,
            "probability": self.probability,
        }


@dataclass(frozen=True, slots=True)
class Message:
    """Something that reaches the desk; `gaps` hold what its kind needs, as in wording of it."""

    at: datetime
    sender: str
    """A person of the team, or the name of a client."""
    kind: str
    gaps: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Order:
    """A standing order in force."""

    kind: str
    topic: str
    gaps: dict[str, Any]
    spared: set[str] = field(default_factory=set)
    """Clients for whom it does not go."""


@dataclass(slots=True)
class Deadline:
    client: str
    at: datetime
    probability: int


Limits = Callable[[str, str, date], Any]
"""Client, question and day, to what the handbook answers: see `unlimited`."""


def unlimited(client: str, question: str, day: date) -> Any:
    """A handbook that limits nothing."""
    del client, day
    return "" if question != "frozen" else False


Changes = dict[str, dict[str, Any]]
"""Deal to the fields that a message changes, with their new values."""

ORDERS = ("odds", "limit", "round", "stay", "desk", "pair", "stop", "dispute", "bought")
"""Kinds of standing orders; a message of the kind "order odds" gives one."""


def topic_of(kind: str, gaps: Mapping[str, Any]) -> str:
    """What an order is called when it is spoken of again."""
    return {
        "odds": "renewals put off in {country}",
        "limit": "the last day in the {industry} trade",
        "round": "prices in {country}",
        "stay": "renewals that stay with their owner",
        "desk": "who gets {product}",
        "pair": "keeping {client} and {other} together",
        "stop": "clients under a payment stop",
        "dispute": "clients with an open dispute",
        "bought": "clients that were taken over",
    }[kind].format(**gaps)


class Desk:
    """The state machine.

    Args:
        manager: Who may ask for anything and gives standing orders.
        renewals: Client to its one renewal, as it stands when the shift begins.
        limits: What the handbook says of what is asked for.
    """

    def __init__(
        self, manager: str, renewals: Mapping[str, Renewal], limits: Limits = unlimited
    ) -> None:
        self.manager = manager
        self.renewals = renewals
        self.limits = limits
        self.orders: list[Order] = []
        self.deadlines: list[Deadline] = []
        self.speaker: tuple[str, datetime] | None = None
        """Who speaks for the manager, and until when."""
        self.history: dict[str, list[tuple[datetime, dict[str, Any]]]] = {}
        """Client to its renewal's fields before each change."""
        self.used: list[str] = []
        """Topics of the orders that bore on the last message."""

    def hear(self, message: Message) -> Changes:
        """What changes when this message has come."""
        before = {c: r.fields() for c, r in self.renewals.items()}
        self.used = []
        if message.kind == "mail":
            word = message.sender
            self.deadlines = [d for d in self.deadlines if d.client != word or d.at < message.at]
        self._due(message.at)
        self._act(message)
        changes: Changes = {}
        for client, renewal in self.renewals.items():
            now = renewal.fields()
            changed = {k: v for k, v in now.items() if v != before[client][k]}
            if changed:
                changes[renewal.key] = changed
                self.history.setdefault(client, []).append((message.at, before[client]))
        return changes

    def _due(self, at: datetime) -> None:
        for deadline in [d for d in self.deadlines if d.at <= at]:
            self.renewals[deadline.client].probability = deadline.probability
            self.used.append(f"the deadline for {deadline.client}")
        self.deadlines = [d for d in self.deadlines if d.at > at]

    def _act(self, message: Message) -> None:
        kind, gaps = message.kind, message.gaps
        if kind.startswith("order ") or kind in ("forget", "change", "spare", "deadline"):
            if self._may_order(message):
                self._order(message)
        elif kind == "away":
            if message.sender == self.manager:
                self.speaker = (gaps["person"], gaps["until"])
        elif kind in ("off", "price", "hand", "chance", "undo") and self._may_ask(message):
            asks: dict[str, Callable[[Renewal, Message], None]] = {
                "off": self._off,
                "price": self._price,
                "hand": self._hand,
                "chance": self._chance,
            }
            renewal = self.renewals[gaps["client"]]
            if kind == "undo":
                self._undo(renewal, message)
            elif self._is_free(renewal, message):
                owner = renewal.owner
                asks[kind](renewal, message)
                self._owner(renewal, kind, owner)

    def does(self, message: Message) -> bool:
        """Whether what a message asks of a renewal would be done."""
        renewal = self.renewals[message.gaps["client"]]
        if not self._may_ask(message):
            return False
        return message.kind == "undo" or self._is_free(renewal, message)

    def _is_free(self, renewal: Renewal, message: Message) -> bool:
        """Whether neither the handbook nor an order keeps the renewal from being touched."""
        frozen = self.limits(renewal.client, "frozen", message.at.date())
        return not frozen and not self._stopped(renewal, message)

    def _stopped(self, renewal: Renewal, message: Message) -> bool:
        orders = self._that("stop", renewal) if renewal.stop else []
        return bool(orders) and message.sender != self.manager

    def _owner(self, renewal: Renewal, kind: str, before: str) -> None:
        """Who owns a renewal on which an ask was carried out: the order given last decides."""
        orders: list[Order] = []
        if kind == "hand":
            orders += [o for o in self._that("stay", renewal) if renewal.amount >= o.gaps["amount"]]
        if kind == "chance" and renewal.probability >= DESK_FROM:
            orders += self._that("desk", renewal)
        if renewal.bought:
            orders += self._that("bought", renewal)
        if orders:
            last = max(orders, key=self.orders.index)
            renewal.owner = before if last.kind == "stay" else last.gaps["person"]

    # --- who may what -----------------------------------------------------------------------------

    def _speaks(self, message: Message) -> bool:
        return (
            self.speaker is not None
            and self.speaker[0] == message.sender
            and message.at < self.speaker[1]
        )

    def _may_ask(self, message: Message) -> bool:
        renewal = self.renewals[message.gaps["client"]]
        if message.sender in (self.manager, renewal.owner):
            return True
        return self._speaks(message) and message.kind != "price"

    def _may_order(self, message: Message) -> bool:
        if message.sender == self.manager:
            return True
        prices = message.kind == "order round" or str(message.gaps.get("topic", "")).startswith(
            "prices"
        )
        return self._speaks(message) and not prices

    # --- orders -----------------------------------------------------------------------------------

    def _order(self, message: Message) -> None:
        kind, gaps = message.kind, dict(message.gaps)
        if kind == "deadline":
            self.deadlines = [d for d in self.deadlines if d.client != gaps["client"]]
            self.deadlines.append(Deadline(gaps["client"], gaps["until"], gaps["percent"]))
            return
        if kind.startswith("order "):
            name = kind.removeprefix("order ")
            topic = topic_of(name, gaps)
            self.orders = [o for o in self.orders if o.topic != topic]
            self.orders.append(Order(name, topic, gaps))
            return
        for order in self.orders:
            if order.topic == gaps["topic"]:
                if kind == "spare":
                    order.spared.add(gaps["client"])
                elif kind == "change":
                    order.gaps[gaps["gap"]] = gaps["figure"]
        if kind == "forget":
            self.orders = [o for o in self.orders if o.topic != gaps["topic"]]
            self.deadlines = [
                d for d in self.deadlines if f"the deadline for {d.client}" != gaps["topic"]
            ]

    def _that(self, kind: str, renewal: Renewal) -> list[Order]:
        """The orders of a kind that go for a renewal."""
        held = {
            "country": renewal.country,
            "industry": renewal.industry,
            "product": renewal.product,
        }
        found = [
            order
            for order in self.orders
            if order.kind == kind
            and renewal.client not in order.spared
            and all(order.gaps[n] == v for n, v in held.items() if n in order.gaps)
            and (kind != "pair" or renewal.client in (order.gaps["client"], order.gaps["other"]))
        ]
        self.used += [order.topic for order in found]
        return found

    # --- asks -------------------------------------------------------------------------------------

    def _off(self, renewal: Renewal, message: Message) -> None:
        day = message.gaps["day"]
        most = self.limits(renewal.client, "delay", message.at.date())
        if most:
            last = date.fromisoformat(renewal.end) + timedelta(days=int(amount_of(most)))
            day = min(day, last.isoformat())
        for order in self._that("limit", renewal):
            day = min(day, order.gaps["day"])
        renewal.close_date = day
        for order in self._that("odds", renewal):
            renewal.probability = order.gaps["percent"]
        for order in self._that("pair", renewal):
            names = {order.gaps["client"], order.gaps["other"]} - {renewal.client}
            self.renewals[names.pop()].close_date = day

    def _price(self, renewal: Renewal, message: Message) -> None:
        amount = message.gaps["amount"]
        most = self.limits(renewal.client, "reduction", message.at.date())
        if most:
            amount = max(amount, float(round(renewal.value * (100 - amount_of(most)) / 100)))
        if self._that("round", renewal):
            amount = float(amount // 100 * 100)
        renewal.amount = amount

    def _hand(self, renewal: Renewal, message: Message) -> None:
        keeper = self.limits(renewal.client, "keeper", message.at.date())
        renewal.owner = keeper or message.gaps["person"]

    def _chance(self, renewal: Renewal, message: Message) -> None:
        percent = message.gaps["percent"]
        most = self.limits(renewal.client, "chance", message.at.date())
        if most:
            percent = min(percent, int(amount_of(most)))
        if renewal.dispute:
            for order in self._that("dispute", renewal):
                percent = min(percent, order.gaps["percent"])
        renewal.probability = percent

    def _undo(self, renewal: Renewal, message: Message) -> None:
        since = message.gaps["since"]
        later = [old for at, old in self.history.get(renewal.client, ()) if at >= since]
        if later:
            renewal.amount = later[0]["amount"]
            renewal.close_date = later[0]["close_date"]
            renewal.owner = later[0]["owner"]
            renewal.probability = later[0]["probability"]


DESK_FROM = 70
"""The probability in percent from which a renewal goes to the desk of its product."""
