"""Follow-up turns: what people ask next about what is being discussed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from crmbench.authoring.family import NoCandidate

Builder = TypeVar("Builder")


@dataclass(frozen=True)
class FollowUp(Generic[Builder]):
    """One follow-up turn."""

    name: str
    weight: int
    """How often it occurs, in proportion."""
    write: Callable[[Builder], None]


class FollowUps(dict[str, FollowUp[Builder]]):
    """The follow-ups that a domain has, by name; the order of their registration counts."""

    def register(
        self, weight: int
    ) -> Callable[[Callable[[Builder], None]], Callable[[Builder], None]]:
        """Register the function below: it writes one turn, or raises `NoCandidate` before it has
        written anything.
        """

        def keep(write: Callable[[Builder], None]) -> Callable[[Builder], None]:
            self[write.__name__] = FollowUp(write.__name__, weight, write)
            return write

        return keep

    def add(self, builder: Builder, used: set[str], rng: random.Random) -> None:
        """Write one that fits; none that is in `used`, to which its name is added.

        Raises:
            NoCandidate: None is left that fits.
        """
        left = [found for found in self.values() if found.name not in used]
        while left:
            chosen = rng.choices(left, [found.weight for found in left])[0]
            left.remove(chosen)
            try:
                chosen.write(builder)
            except NoCandidate:
                continue
            used.add(chosen.name)
            return
        raise NoCandidate
