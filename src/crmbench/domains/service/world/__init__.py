"""The generator of the service org: from a seed to a world of any size.

`generate` gives a `ServiceWorld`, which streams its rows and tells the latent variables that shaped
them.
"""

from crmbench.domains.service.world.latents import (
    LATENTS,
    ComplaintHabit,
    Latents,
    ProductQuality,
    ShoppingHabit,
    Violation,
)
from crmbench.domains.service.world.moments import NOW_TIME
from crmbench.domains.service.world.world import (
    DEFAULT_SEED,
    ServiceWorld,
    generate,
    world_from_name,
)

__all__ = [
    "DEFAULT_SEED",
    "LATENTS",
    "NOW_TIME",
    "ComplaintHabit",
    "Latents",
    "ProductQuality",
    "ServiceWorld",
    "ShoppingHabit",
    "Violation",
    "generate",
    "world_from_name",
]
