"""The plots that deals follow, and how often each occurs in a full block.

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
class Plot:
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


PLOTS = (
    Plot("just entered", 8, 1, ("Prospecting",), notes=(0, 0), documents=0),
    Plot("first talks", 7, 3, ("Prospecting",), notes=(1, 2), documents=0.15),
    Plot("a closer look", 7, 2, ("Qualification",), notes=(1, 3)),
    Plot("early draft", 4, 2, ("Qualification",), (("Draft",),), notes=(0, 2)),
    Plot("no quote yet", 6, 1, ("Proposal",), notes=(0, 2), documents=0.4),
    Plot(
        "sent and reworked",
        8,
        2,
        OPEN_LATE,
        (("Sent", "Draft"), ("Rejected", "Sent", "Draft"), ("Sent", "Draft")),
    ),
    Plot("offer is out", 5, 4, OPEN_LATE, (("Sent",), ("Rejected", "Sent"), ("Canceled", "Sent"))),
    Plot(
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
    Plot(
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
    Plot(
        "little to choose", 5, 1, OPEN_LATE, (("Sent", "Draft"), ("Rejected", "Sent")), alike=True
    ),
    Plot(
        "won",
        12,
        5,
        ("Closed-Won",),
        (("Approved",), ("Rejected", "Approved"), ("Rejected", "Canceled", "Approved")),
        documents=0.5,
        contract=True,
    ),
    Plot(
        "just won",
        8,
        0.5,
        ("Closed-Won",),
        (("Approved",), ("Canceled", "Approved")),
        notes=(0, 2),
        recent=80,
    ),
    Plot("about to start", 4, 0, ("Closed-Won",), (("Approved",),), contract=True, recent=25),
    Plot(
        "lost",
        12,
        5,
        ("Closed-Lost",),
        ((), ("Rejected",), ("Canceled",), ("Rejected", "Canceled")),
        notes=(1, 3),
        documents=0.2,
    ),
)
_BY_WEIGHT = Weighted(PLOTS, [plot.weight for plot in PLOTS])


def deal_plots(setting: Setting) -> list[Plot]:
    """The plots of a block's deals in random order."""
    count = max(1, round(DEALS * setting.fraction))
    plots = [plot for plot in PLOTS for _ in range(setting.share(plot.least))]
    while len(plots) < count:
        plots.append(setting.dice.pick_weighted(_BY_WEIGHT))
    return setting.dice.sample(plots, count)
