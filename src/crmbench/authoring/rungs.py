"""The levels of a ladder beside the published one, as splits of one set."""

from __future__ import annotations

from collections.abc import Collection

from crmbench.authoring.dataset import Dataset
from crmbench.authoring.domain import Generate
from crmbench.errors import InputError

PUBLISHED_SEED = 42
PUBLISHED_LEVEL = 3
"""The level of the hard sets."""
LEVELS = range(1, 6)
RUNGS = tuple(f"L{level}" for level in LEVELS if level != PUBLISHED_LEVEL)
PER_MECHANISM = 12
"""Tasks of each mechanism that a level has."""


def split_of(level: int) -> str:
    """The split that has the tasks of a level: ``L5``; of the published one ``hard``."""
    return "hard" if level == PUBLISHED_LEVEL else f"L{level}"


def on_rungs(
    make: Generate,
    mechanisms: Collection[str],
    seed: int = PUBLISHED_SEED,
    size: int | None = None,
) -> Dataset:
    """Tasks of every level but the published one, a split for each.

    Args:
        make: Makes a hard set: of a seed and a size, with ``level`` and ``mechanisms``.
        mechanisms: Those that it is to make.
        size: How many in all; twelve of each mechanism at each level if left out.

    Raises:
        InputError: The size is below one of each mechanism at each level.
    """
    least = len(mechanisms) * len(RUNGS)
    wanted = least * PER_MECHANISM if size is None else size
    if wanted < least:
        raise InputError(f"cannot make a ladder of {wanted} tasks", expected=f"at least {least}")
    made = {
        split_of(level): make(
            seed,
            wanted // len(RUNGS) + (place < wanted % len(RUNGS)),
            level=level,
            mechanisms=mechanisms,
        )
        for place, level in enumerate(each for each in LEVELS if each != PUBLISHED_LEVEL)
    }
    first = next(iter(made.values()))
    splits = {split: each.splits["hard"] for split, each in made.items()}
    about = {family: text for each in made.values() for family, text in each.about.items()}
    return Dataset(f"{first.domain}_ladder", seed, splits, first.canary, (), about)
