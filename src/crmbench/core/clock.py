"""Time and identity inside a world: both are functions of the world's seed and its writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b


def uuid_text(seed: str, number: int) -> str:
    """The `number`-th id of a seed, in the form of a version 4 UUID."""
    digest = bytearray(blake2b(f"{seed}/{number}".encode(), digest_size=16).digest())
    digest[6] = (digest[6] & 0x0F) | 0x40
    digest[8] = (digest[8] & 0x3F) | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@dataclass(slots=True)
class WorldClock:
    """A clock that stands still but for the second that each write takes, and a counter of ids."""

    start: datetime
    """The moment at which every episode of the world begins; UTC."""
    seed: str
    """Where the ids of created records come from."""
    writes: int = 0
    created: int = 0

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.writes)

    def today(self) -> date:
        return self.now().date()

    def tick(self) -> None:
        self.writes += 1

    def timestamp(self) -> str:
        """Now, as ISO-8601 text with a ``Z``."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def next_id(self) -> str:
        self.created += 1
        return uuid_text(self.seed, self.created)
