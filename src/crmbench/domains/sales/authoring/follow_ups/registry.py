"""The follow-ups there are, and how the next one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crmbench.domains.sales.authoring.builder import ConversationBuilder, NoCandidate

STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
QUOTE_STATES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")


@dataclass(frozen=True)
class FollowUp:
    """One follow-up turn."""

    name: str
    weight: int
    write: Callable[[ConversationBuilder], None]


FOLLOW_UPS: dict[str, FollowUp] = {}


def follow_up(
    weight: int,
) -> Callable[[Callable[[ConversationBuilder], None]], Callable[[ConversationBuilder], None]]:
    """Register the function below as a follow-up: it writes one turn, or raises `NoCandidate`
    before it has written anything.
    """

    def register(
        write: Callable[[ConversationBuilder], None],
    ) -> Callable[[ConversationBuilder], None]:
        FOLLOW_UPS[write.__name__] = FollowUp(write.__name__, weight, write)
        return write

    return register


def add_follow_ups(builder: ConversationBuilder, until: int) -> None:
    """Add follow-ups until the conversation has that many turns; none is used twice.

    Raises:
        NoCandidate: No follow-up is left that fits.
    """
    used: set[str] = builder.memory.setdefault("follow_ups", set())
    while builder.length < until:
        left = [m for m in FOLLOW_UPS.values() if m.name not in used]
        while left:
            chosen = builder.rng.choices(left, [m.weight for m in left])[0]
            left.remove(chosen)
            try:
                chosen.write(builder)
            except NoCandidate:
                continue
            used.add(chosen.name)
            break
        else:
            raise NoCandidate
