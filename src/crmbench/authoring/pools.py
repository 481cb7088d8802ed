"""Names and phrasings in two parts that share nothing: one to train on, one to be tested on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, TypeVar

from crmbench.errors import InputError

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

Pool = Literal["", "train", "held_out"]
"""Which part of its names and phrasings a world and its tasks draw on; empty: on all, as published
sets do."""
POOLS: tuple[Pool, ...] = ("train", "held_out")


def part_of(things: Sequence[T], pool: Pool) -> tuple[T, ...]:
    """A pool's part of some things: every other one, so that neighbours in a list are shared out.

    The parts have nothing in common as long as no thing is listed twice. Of a single thing the
    training part has it, and the other has none.
    """
    if not pool:
        return tuple(things)
    return tuple(things[POOLS.index(pool) :: 2])


def owners(groups: Iterable[Sequence[K]]) -> dict[K, Pool]:
    """Which pool has each thing of some groups: in turn within a group, but a thing that stood in
    an earlier group stays where it is.
    """
    found: dict[K, Pool] = {}
    for group in groups:
        for place, thing in enumerate(group):
            found.setdefault(thing, POOLS[place % len(POOLS)])
    return found


def read_pool(name: str) -> Pool:
    """The pool of a name.

    Raises:
        InputError: There is none.
    """
    for pool in POOLS:
        if pool == name:
            return pool
    raise InputError(f"there is no split '{name}' to train with", expected=" or ".join(POOLS))
