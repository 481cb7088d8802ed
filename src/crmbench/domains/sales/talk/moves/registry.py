"""The moves there are, and how the next one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crmbench.domains.sales.talk.talk import NoFit, Talk

STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
QUOTE_STATES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")


@dataclass(frozen=True)
class Move:
    """One follow-up turn."""

    name: str
    weight: int
    write: Callable[[Talk], None]


MOVES: dict[str, Move] = {}


def move(weight: int) -> Callable[[Callable[[Talk], None]], Callable[[Talk], None]]:
    """Register the function below as a move: it writes one turn, or raises `NoFit` before it
    has written anything.
    """

    def register(write: Callable[[Talk], None]) -> Callable[[Talk], None]:
        MOVES[write.__name__] = Move(write.__name__, weight, write)
        return write

    return register


def follow(talk: Talk, until: int) -> None:
    """Add moves until the conversation has that many turns; none is used twice.

    Raises:
        NoFit: No move is left that fits.
    """
    used: set[str] = talk.memory.setdefault("moves", set())
    while talk.length < until:
        left = [m for m in MOVES.values() if m.name not in used]
        while left:
            chosen = talk.rng.choices(left, [m.weight for m in left])[0]
            left.remove(chosen)
            try:
                chosen.write(talk)
            except NoFit:
                continue
            used.add(chosen.name)
            break
        else:
            raise NoFit
