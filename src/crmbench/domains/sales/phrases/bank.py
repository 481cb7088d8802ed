"""The phrase bank: TOML files of intents, each with phrasings by manner of speech.

``[quote.reprice]`` is an intent; its keys ``terse``, ``formal``, ``chatty`` and ``any`` hold lists
of phrasings. A phrasing is plain text with slots in braces: ``Please raise {quote} by {percent}.``
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any

from crmbench.authoring.family import NoCandidate
from crmbench.authoring.pools import Pool, owners
from crmbench.errors import HarnessError

MANNERS = ("terse", "formal", "chatty", "any")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Phrasing:
    """A template, cut into text and slots: ``("FollowUp ", "deal", " to ", "stage", ".")``."""

    parts: tuple[str, ...]
    """Text at even places, names of slots at odd ones."""

    @property
    def slots(self) -> frozenset[str]:
        """Names of the slots that the phrasing has."""
        return frozenset(self.parts[1::2])

    @property
    def wording(self) -> tuple[str, ...]:
        """The words around the slots, whatever these are called, in lower case."""
        return tuple(part.lower() for part in self.parts[::2])

    @property
    def is_bare(self) -> bool:
        """Whether it is a slot and no word of its own, as ``{contact}``: nobody's wording."""
        return not any(part.strip() for part in self.parts[::2])


@dataclass(frozen=True)
class Bank:
    """All intents: name to manner to phrasings."""

    intents: Mapping[str, Mapping[str, tuple[Phrasing, ...]]]
    pool: Pool = ""

    def phrasings(
        self,
        intent: str,
        manners: tuple[str, ...],
        have: frozenset[str],
        needed: frozenset[str] = frozenset(),
    ) -> list[Phrasing]:
        """The phrasings of an intent in these manners whose slots can all be filled.

        Args:
            needed: Slots that must be said; one that no phrasing of the intent has is left out.

        Raises:
            NoCandidate: None of the pool's phrasings fits.
            HarnessError: There is no such intent, or none of its phrasings fits.
        """
        by_manner = self.intents.get(intent)
        if by_manner is None:
            raise HarnessError(f"the phrase bank has no intent '{intent}'")
        every = [p for ps in by_manner.values() for p in ps if p.slots <= have]
        must = needed & {slot for phrasing in every for slot in phrasing.slots}
        mine = [p for m in (*manners, "any") for p in by_manner.get(m, ()) if p.slots <= have]
        found = [p for p in mine if must <= p.slots] or [p for p in every if must <= p.slots]
        if not found and self.pool:
            raise NoCandidate
        if not found:
            raise HarnessError(f"no phrasing of '{intent}' does with the slots {sorted(have)}")
        return found


@cache
def load_bank(pool: Pool = "") -> Bank:
    """All phrasings of the package, or those of a pool.

    Raises:
        HarnessError: A file holds an intent twice, an unknown manner, or a phrasing twice.
    """
    if pool:
        whole = load_bank().intents
        return Bank({name: _part(manners, pool) for name, manners in whole.items()}, pool)
    intents: dict[str, dict[str, tuple[Phrasing, ...]]] = {}
    folder = resources.files("crmbench.domains.sales.phrases")
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".toml"):
            for intent, manners in _intents(tomllib.loads(file.read_text(encoding="utf-8"))):
                if intent in intents:
                    raise HarnessError(f"{file.name}: the intent '{intent}' stands in two files")
                intents[intent] = {m: tuple(map(_parse, texts)) for m, texts in manners.items()}
    return Bank(intents)


@cache
def _owners() -> Mapping[tuple[str, ...], Pool]:
    """Which pool has each wording: within an intent those with the same slots take turns."""
    groups: dict[tuple[str, frozenset[str]], list[tuple[str, ...]]] = {}
    for name, manners in load_bank().intents.items():
        for phrasing in chain.from_iterable(manners.values()):
            groups.setdefault((name, phrasing.slots), []).append(phrasing.wording)
    return owners(groups.values())


def _part(
    manners: Mapping[str, tuple[Phrasing, ...]], pool: Pool
) -> dict[str, tuple[Phrasing, ...]]:
    """The pool's part of an intent."""
    owned = _owners()
    return {
        manner: tuple(p for p in phrasings if p.is_bare or owned[p.wording] == pool)
        for manner, phrasings in manners.items()
    }


def _intents(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, dict[str, list[str]]]]:
    """The intents of a file: the tables that hold lists."""
    found: list[tuple[str, dict[str, list[str]]]] = []
    lists = {key: value for key, value in data.items() if isinstance(value, list)}
    if lists:
        unknown = lists.keys() - set(MANNERS)
        if unknown:
            raise HarnessError(f"'{prefix}' has unknown manners {sorted(unknown)}")
        found.append((prefix, lists))
    for key, value in data.items():
        if isinstance(value, dict):
            found += _intents(value, f"{prefix}.{key}" if prefix else key)
    return found


def _parse(template: str) -> Phrasing:
    return Phrasing(tuple(_SLOT.split(template)))
