"""A case about a late line, with all that lies behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from crmbench.core.schema import Row
from crmbench.domains.service.hard.calendar import desk_day, text_of
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.due import Claim, Outcome


@dataclass(frozen=True)
class Credit:
    """A booking on a case."""

    amount: Decimal
    status: str
    kind: str
    day: date
    merged: bool = False
    """Whether it stands on the case that was merged into this one."""


@dataclass
class LateCase:
    """A case about a late line, with all that lies behind it."""

    number: int
    item: Row
    order: Row
    account: Row
    claim: Claim
    talk: Conversation
    opened: datetime
    closed: datetime
    credits: list[Credit] = field(default_factory=list)
    issue: str | None = "Late Delivery"
    """By name, as the case has it, right or wrong."""
    merged: bool = False
    """Whether a duplicate was merged into it."""
    earlier: Conversation | None = None
    """An earlier case of the customer about the same order, with the wish for another day."""
    outcome: Outcome | None = None

    @property
    def desk_closed(self) -> date:
        """The day on which it was closed by the desk's clock."""
        return desk_day(text_of(self.closed))
