"""What a server refuses; see `crmbench.seats.errors`, where the same errors serve runs' agents."""

from __future__ import annotations

from crmbench.seats.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    LimitReached,
    NotAuthorized,
    NotFound,
    Refused,
    TooLarge,
    TooSlow,
    Unsupported,
)

__all__ = [
    "BadRequest",
    "Conflict",
    "Forbidden",
    "LimitReached",
    "NotAuthorized",
    "NotFound",
    "Refused",
    "TooLarge",
    "TooSlow",
    "Unsupported",
]
