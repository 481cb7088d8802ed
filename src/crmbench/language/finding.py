"""What reading a text for one thing found."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Said(Enum):
    """Whether a text says something.

    It is SAID or NOT_SAID only where a careful reader could not differ; all else is UNSURE.
    """

    SAID = "said"
    NOT_SAID = "not said"
    UNSURE = "unsure"

    def __bool__(self) -> bool:
        raise TypeError("a reading has three values: compare it with Said.SAID")


class Finding(NamedTuple):
    """Whether something is said in a reply, and why it is not, or not surely."""

    said: Said
    why: str = ""

    @property
    def ok(self) -> bool:
        """It is said, without a doubt."""
        return self.said is Said.SAID

    @property
    def unsure(self) -> bool:
        return self.said is Said.UNSURE


SAID = Finding(Said.SAID)


def not_said(why: str) -> Finding:
    return Finding(Said.NOT_SAID, why)


def unsure(why: str) -> Finding:
    return Finding(Said.UNSURE, why)
