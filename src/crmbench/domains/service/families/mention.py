"""Products as customers call them: loosely, but so that it can be said what the words fit."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from crmbench.domains.service.families.wording import phrases
from crmbench.domains.service.world.catalog import CATEGORIES

KINDS = tuple(kind.name for kinds in CATEGORIES.values() for kind in kinds)
CATEGORY_OF = {kind.name: name for name, kinds in CATEGORIES.items() for kind in kinds}
_COUNTED = re.compile(r"(\d)-(Person|Seat|Burner|Tier|Drawer)")
_PARTS = {
    "Person": "for {} people", "Seat": "with {} seats", "Burner": "with {} burners",
    "Tier": "with {} tiers", "Drawer": "with {} drawers",
}  # fmt: skip
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class MentionedGoods:
    """What a product's name says of it."""

    kind: str
    size: str
    color: str
    version: int
    """1, 2 or 3."""

    @classmethod
    @lru_cache(1 << 14)
    def read(cls, name: str) -> MentionedGoods:
        """Take a name such as "Fernwick II 2-Person Dome Tent in Rust Red" apart."""
        rest, color = name.rsplit(" in ", 1)
        kind = next(kind for kind in _LONGEST_FIRST if rest.endswith(f" {kind}"))
        words = rest.removesuffix(f" {kind}").split()[1:]
        version = {"II": 2, "III": 3}.get(words[0], 1) if words else 1
        return cls(kind, " ".join(words[version > 1 :]), color, version)


_LONGEST_FIRST = sorted(KINDS, key=len, reverse=True)


@dataclass(frozen=True)
class Mention:
    """Words for a product and what they could mean."""

    words: str
    kinds: tuple[str, ...]
    size: str | None = None
    colors: tuple[str, ...] | None = None
    """Every color that the color word might mean; None where none was named."""
    version: int | None = None

    def fits(self, goods: MentionedGoods) -> bool:
        """Whether the words could mean such a product."""
        return (
            goods.kind in self.kinds
            and self.size in (None, goods.size)
            and (self.colors is None or goods.color in self.colors)
            and self.version in (None, goods.version)
        )


def mentions(goods: MentionedGoods, rng: random.Random) -> Iterator[Mention]:
    """Ways to mention a product, those with the fewest details first."""
    details = ["color"] + (["size"] if goods.size else []) + ["version"]
    for count in range(len(details) + 1):
        chosen = list(combinations(details, count))
        for known in rng.sample(chosen, len(chosen)):
            yield _mention(goods, frozenset(known), rng)


def _mention(goods: MentionedGoods, known: frozenset[str], rng: random.Random) -> Mention:
    book = phrases("goods")
    loose = [(word, kinds) for word, kinds in book["kinds"].items() if goods.kind in kinds]
    exact = (goods.kind.lower(), [goods.kind])
    what, kinds = rng.choice(loose) if loose and rng.random() < 0.75 else exact
    color, colors = "", None
    if "color" in known:
        named = [(w, (*sure, *perhaps)) for w, (sure, perhaps) in book["colors"].items()
                 if goods.color in sure]  # fmt: skip
        color, colors = rng.choice(named)
    size = size_words(goods.size, rng) if "size" in known else ""
    form = " ".join(["kind"] + [part for part in ("size", "color") if part in known])
    words = rng.choice(book["descriptions"][form]).format(what=what, size=size, color=color)
    words = re.sub(r"\ba (?=[aeio])", "an ", words)
    version = goods.version if "version" in known else None
    if version:
        words += f", {book['versions'][version - 1]}"
    return Mention(words, tuple(kinds), goods.size if size else None, colors, version)


def size_words(size: str, rng: random.Random) -> str:
    """A size as people say it."""
    counted = _COUNTED.fullmatch(size)
    if counted and rng.random() < 0.6:
        number = int(counted[1])
        said = _PARTS[counted[2]].format(_NUMBERS[number])
        return said if number != 1 else said.replace("people", "person").removesuffix("s")
    if size.endswith(" L") and rng.random() < 0.5:
        return size.replace(" L", " liters" if size != "1 L" else " liter")
    return size if " L" in size else size.lower()
