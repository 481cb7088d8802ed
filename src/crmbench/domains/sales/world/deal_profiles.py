"""The profiles that deals follow, and how often each occurs in a full block.

The least numbers are what the task families count on: they find several records of each kind in
every world. The rest of a block's deals are drawn by weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from crmbench.domains.sales.world.draw import Weighted
from crmbench.domains.sales.world.setting import Setting

DEALS = 114
"""In a full block."""

OPEN_LATE = ("Proposal", "Negotiation")


@dataclass(frozen=True)
class DealProfile:
    """How a deal went so far."""

    name: str
    least: int
    weight: float
    stages: tuple[str, ...]
    """Taken in turn."""
    quotes: tuple[tuple[str, ...], ...] = ((),)
    """The statuses of its quotes, version by version; patterns are taken in turn."""
    notes: tuple[int, int] = (0, 3)
    """Fewest and most of its notes."""
    documents: float = 0.3
    """Mean number of its documents."""
    alike: bool = False
    """Whether the amounts of its quotes are close to each other."""
    contract: bool = False
    recent: int = 0
    """Within how many days it was closed; 0 for any time. A contract has not begun yet."""

    @cached_property
    def youngest(self) -> int:
        """The last day on which such a deal can have been entered and be as far as it is."""
        return -4 - 5 * max(map(len, self.quotes))

    @cached_property
    def untouched(self) -> bool:
        """Nothing hangs on it, so that it may be deleted."""
        return self.notes == (0, 0) and self.documents == 0 and self.quotes == ((),)


DEAL_PROFILES = (
    DealProfile("just entered", 8, 1, ("Prospecting",), notes=(0, 0), documents=0),
    DealProfile("first talks", 7, 3, ("Prospecting",), notes=(1, 2), documents=0.15),
    DealProfile("a closer look", 7, 2, ("Qualification",), notes=(1, 3)),
    DealProfile("early draft", 4, 2, ("Qualification",), (("Draft",),), notes=(0, 2)),
    DealProfile("no quote yet", 6, 1, ("Proposal",), notes=(0, 2), documents=0.4),
    DealProfile(
        "sent and reworked",
        8,
        2,
        OPEN_LATE,
        (("Sent", "Draft"), ("Rejected", "Sent", "Draft"), ("Sent", "Draft")),
    ),
    DealProfile(
        "offer is out", 5, 4, OPEN_LATE, (("Sent",), ("Rejected", "Sent"), ("Canceled", "Sent"))
    ),
    DealProfile(
        "approved",
        12,
        2,
        ("Negotiation", "Negotiation", "Proposal"),
        (
            ("Approved",),
            ("Approved",),
            ("Rejected", "Approved"),
            ("Canceled", "Approved", "Draft"),
        ),
    ),
    DealProfile(
        "many versions",
        7,
        1,
        OPEN_LATE,
        (
            ("Rejected", "Canceled", "Sent"),
            ("Rejected", "Rejected", "Canceled", "Sent"),
            ("Canceled", "Rejected", "Draft"),
            ("Rejected", "Sent", "Draft"),
        ),
    ),
    DealProfile(
        "little to choose", 5, 1, OPEN_LATE, (("Sent", "Draft"), ("Rejected", "Sent")), alike=True
    ),
    DealProfile(
        "won",
        12,
        5,
        ("Closed-Won",),
        (("Approved",), ("Rejected", "Approved"), ("Rejected", "Canceled", "Approved")),
        documents=0.5,
        contract=True,
    ),
    DealProfile(
        "just won",
        8,
        0.5,
        ("Closed-Won",),
        (("Approved",), ("Canceled", "Approved")),
        notes=(0, 2),
        recent=80,
    ),
    DealProfile(
        "about to start", 4, 0, ("Closed-Won",), (("Approved",),), contract=True, recent=25
    ),
    DealProfile(
        "lost",
        12,
        5,
        ("Closed-Lost",),
        ((), ("Rejected",), ("Canceled",), ("Rejected", "Canceled")),
        notes=(1, 3),
        documents=0.2,
    ),
)
_BY_WEIGHT = Weighted(DEAL_PROFILES, [profile.weight for profile in DEAL_PROFILES])


def deal_plots(setting: Setting) -> list[DealProfile]:
    """The profiles of a block's deals in random order."""
    count = max(1, round(DEALS * setting.fraction))
    profiles = [profile for profile in DEAL_PROFILES for _ in range(setting.share(profile.least))]
    while len(profiles) < count:
        profiles.append(setting.rng.pick_weighted(_BY_WEIGHT))
    return setting.rng.sample(profiles, count)
