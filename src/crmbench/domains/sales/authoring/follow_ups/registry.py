"""The follow-ups there are, and how the next one is drawn."""

from __future__ import annotations

from crmbench.authoring.follow_ups import FollowUps
from crmbench.domains.sales.authoring.builder import ConversationBuilder

STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
QUOTE_STATES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")

FOLLOW_UPS: FollowUps[ConversationBuilder] = FollowUps()
follow_up = FOLLOW_UPS.register


def add_follow_ups(builder: ConversationBuilder, until: int) -> None:
    """Add follow-ups until the conversation has that many turns; none is used twice.

    Raises:
        NoCandidate: No follow-up is left that fits.
    """
    used: set[str] = builder.memory.setdefault("follow_ups", set())
    builder.following = True
    while builder.length < until:
        FOLLOW_UPS.add(builder, used, builder.rng)
    builder.following = False
