"""What tells one sales world from another: a seed, a day, a region and the trades it sells to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from crmbench.authoring.pools import Pool


@dataclass(frozen=True)
class WorldSpec:
    """The recipe of a world; equal specs make equal rows."""

    name: str
    seed: int
    today: str
    """ISO date on which every episode begins; a working day."""
    industries: tuple[str, ...]
    """Trades that most clients are in; names from ``firms.toml``."""
    region: str
    """Where most clients are; a key of ``places.toml``."""
    pool: Pool = ""
    """Which part of the names of people and firms it draws on."""


_SPECS = (
    WorldSpec("harbour-01", 1101, "2025-02-18", ("Seafood", "Freight", "Chemicals"), "north_sea"),
    WorldSpec("orchard-02", 1202, "2025-04-03", ("Produce", "Beverages", "Packaging"), "iberia"),
    WorldSpec("quarry-03", 1303, "2025-05-27", ("Building Materials", "Mining"), "great_lakes"),
    WorldSpec("mill-04", 1404, "2025-07-11", ("Bakery", "Textiles", "Paper"), "alpine"),
    WorldSpec("delta-05", 1505, "2025-08-20", ("Produce", "Seafood", "Freight"), "gulf_coast"),
    WorldSpec("summit-06", 1606, "2025-10-09", ("Outdoor Goods", "Dairy"), "nordic"),
    WorldSpec("prairie-07", 1707, "2025-12-02", ("Grain", "Machinery", "Dairy"), "great_lakes"),
    WorldSpec("canal-08", 1808, "2026-01-15", ("Freight", "Flowers", "Chemicals"), "north_sea"),
    WorldSpec("foundry-09", 1909, "2026-03-24", ("Metals", "Machinery", "Automotive"), "alpine"),
    WorldSpec("island-10", 2010, "2026-06-05", ("Pharmaceuticals", "Beverages"), "british_isles"),
    WorldSpec("cedar-11", 2111, "2026-08-31", ("Timber", "Furniture", "Paper"), "pacific_coast"),
    WorldSpec("meadow-12", 2212, "2026-11-12", ("Dairy", "Grocery", "Flowers"), "nordic"),
)

STANDARD_WORLDS: Mapping[str, WorldSpec] = MappingProxyType({spec.name: spec for spec in _SPECS})
"""The twelve worlds of the data set, by name."""
