"""Worlds of the sales domain: believable orgs of any size, made from a seed.

Twelve standard worlds ship as seeds (`STANDARD_WORLDS`). `generate` makes any of them, or one of a
spec of one's own; `SalesWorld.stream` gives its rows to a backend, `rows` gives them all at once.
"""

from crmbench.domains.sales.world.spec import STANDARD_WORLDS, WorldSpec
from crmbench.domains.sales.world.world import TABLES, SalesWorld, generate, rows

__all__ = ["STANDARD_WORLDS", "TABLES", "SalesWorld", "WorldSpec", "generate", "rows"]
