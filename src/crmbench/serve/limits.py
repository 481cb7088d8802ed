"""What one server gives to one client at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServeLimits:
    """The limits of a server; each is refused with a message that names it."""

    body: int = 32 * 2**20
    """Bytes of a request's body."""
    body_seconds: float = 30.0
    """Seconds in which a body must have arrived."""
    sessions: int = 2_000
    """Sandbox orgs and graded sessions that are open at once."""
    requests: int = 1_000_000
    """Requests in one session."""
    age_seconds: float = 24 * 3600.0
    """Seconds after which a graded session is closed, played to its end or not."""
