"""Products, the families they belong to, and the latent quality of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product as combinations
from random import Random
from typing import NamedTuple

import numpy as np

from crmbench.domains.service.world.catalog import (
    CATEGORIES,
    COLOURS,
    SERIES_ENDS,
    SERIES_STARTS,
    Goods,
)
from crmbench.domains.service.world.moments import FIRST_DAY, MONTHS, TODAY
from crmbench.domains.service.world.seeds import Flags, Floats, Ints, Seeds, pick, spread

ISSUES = 10
"""How many kinds of trouble customers report."""
POOR_SHARE = 0.22
BATCH_SHARE = 0.65
BATCH_DAYS = 45
BATCH_FACTOR = 8.0
GENERATIONS = ("", " II", " III")


class Item(NamedTuple):
    """One product before it has an id."""

    name: str
    description: str
    category: int
    family: int
    price: float
    code: str


@dataclass(frozen=True)
class Products:
    """All products, in order of category and family.

    Attributes:
        items: What each is.
        category: For each its category.
        family_start: For each the index of the first product of its family.
        family_size: For each how many its family has.
        price: For each its usual price.
        popularity: For each how often it is bought, relative to the others.
        launch: For each the first month (of the orders) in which it is sold.
        retire: For each the first month in which it is no longer sold.
    """

    items: tuple[Item, ...]
    category: Ints
    family_start: Ints
    family_size: Ints
    price: Floats
    popularity: Floats
    launch: Ints
    retire: Ints

    @cached_property
    def sold(self) -> Flags:
        """Which product is sold in which month of the trade; shape (MONTHS, products)."""
        months = np.arange(MONTHS)[:, None]
        sold: Flags = (self.launch <= months) & (months < self.retire)
        return sold

    @cached_property
    def entries(self) -> Ints:
        """The number of the price book entry of each month and product, shaped as `sold`.

        They are counted book by book; -1 where the product is not sold.
        """
        numbers = np.cumsum(self.sold.ravel()).reshape(self.sold.shape) - 1
        return np.where(self.sold, numbers, -1).astype(np.int64)

    def sold_in(self, products: Ints, months: Ints) -> Flags:
        """Whether each product is in the price book of the month beside it."""
        found: Flags = self.sold[months, products]
        return found


@dataclass(frozen=True)
class Quality:
    """The latent quality of each product.

    Attributes:
        rate: How often a sold piece leads to a complaint, relative to the others.
        issue: What is mostly wrong with it: 0 to ISSUES - 1.
        share: How much of its complaints is about that.
        batch: Day on which a bad batch was first sold; -1 if it had none.
    """

    rate: Floats
    issue: Ints
    share: Floats
    batch: Ints


def make_products(seeds: Seeds, count: int) -> Products:
    """Families of near-duplicates until there are `count` products."""
    items = _items(Random(f"{seeds.seed}/goods"), count)
    chance = seeds.of("products")
    family = np.array([item.family for item in items])
    starts, index, sizes = np.unique(family, return_inverse=True, return_counts=True)
    del starts
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    launch, retire = _lifetimes(chance, count)
    return Products(
        items=tuple(items),
        category=np.array([item.category for item in items]),
        family_start=first[index].astype(np.int64),
        family_size=sizes[index].astype(np.int64),
        price=np.array([item.price for item in items]),
        popularity=spread(chance, 1.15, count),
        launch=launch,
        retire=retire,
    )


def make_quality(seeds: Seeds, count: int, neutral: bool) -> Quality:
    """The quality of `count` products; all alike if `neutral`."""
    chance = seeds.of("product_quality")
    poor = chance.random(count) < POOR_SHARE
    rate = np.where(poor, 5.0 * spread(chance, 0.5, count), 0.5)
    # Every issue is as often the weak point as any other, within one.
    issue = chance.permutation(np.arange(count) % ISSUES)
    share = np.where(poor, chance.uniform(0.5, 0.8, count), 0.25)
    first = FIRST_DAY + 100
    start = chance.integers(first, TODAY - BATCH_DAYS, count)
    batch = np.where(poor & (chance.random(count) < BATCH_SHARE), start, -1)
    if neutral:
        return Quality(np.ones(count), issue, np.zeros(count), np.full(count, -1))
    return Quality(rate, issue, share, batch)


def _lifetimes(chance: np.random.Generator, count: int) -> tuple[Ints, Ints]:
    """When each is sold: a little more than half of them always, the others for a while."""
    always = chance.random(count) < 0.6
    # There must be something to buy in every month.
    always[:3] = True
    length = chance.integers(20, MONTHS, count)
    launch = np.where(always, 0, np.maximum(0, chance.integers(-6, MONTHS - 10, count)))
    retire = np.where(always, MONTHS, np.minimum(MONTHS, launch + length))
    return launch.astype(np.int64), retire.astype(np.int64)


def _items(rng: Random, count: int) -> list[Item]:
    """`count` products, about the same number in every category, in order of category."""
    items: list[Item] = []
    family = 0
    for number, kinds in enumerate(CATEGORIES.values()):
        wanted = count // len(CATEGORIES) + (number < count % len(CATEGORIES))
        series = [_series(rng) for _ in kinds]
        made = 0
        turn = 0
        while made < wanted:
            kind = kinds[turn % len(kinds)]
            name = series[turn % len(kinds)][turn // len(kinds)]
            variants = _family(rng, kind, name)[: wanted - made]
            code = f"{''.join(word[0] for word in kind.name.split())}{number + 1:02d}"
            items += [
                Item(v.name, v.description, number, family, v.price, f"BRK-{code}-{made + n:04d}")
                for n, v in enumerate(variants)
            ]
            made += len(variants)
            turn += 1
            family += 1
    return items


def _series(rng: Random) -> list[str]:
    names = [start + end for start, end in combinations(SERIES_STARTS, SERIES_ENDS)]
    rng.shuffle(names)
    return names


class _Variant(NamedTuple):
    name: str
    description: str
    price: float


def _family(rng: Random, kind: Goods, series: str) -> list[_Variant]:
    """The near-duplicates of one kind and series: sizes, colours and generations."""
    sizes = sorted(rng.sample(kind.sizes, min(len(kind.sizes), rng.choice((1, 2, 2, 3)))))
    sizes.sort(key=kind.sizes.index)
    colours = rng.sample(COLOURS, rng.choice((1, 2, 2, 3)))
    generations = GENERATIONS[: rng.choice((1, 1, 1, 2, 3))]
    level = kind.price * rng.lognormvariate(0, 0.25)
    variants = []
    for age, generation in enumerate(generations):
        for step, size in enumerate(sizes):
            for colour in colours:
                middle = f" {size}" if size else ""
                name = f"{series}{generation}{middle} {kind.name} in {colour}"
                price = round(level * (1 + 0.08 * age + 0.15 * step)) - 0.05
                variants.append(_Variant(name, _description(kind, size, colour, age), price))
    return variants


def _description(kind: Goods, size: str, colour: str, age: int) -> str:
    """Two sentences: what it is, and one thing to know."""
    version = ("", "second version", "third version")[age]
    notes = ", ".join(filter(None, (size, version)))
    return f"{kind.pitch}, in {colour.lower()}{f' ({notes})' if notes else ''}. {kind.detail}"


def pick_issue(quality: Quality, products: Ints, base: Floats, chances: Floats) -> Ints:
    """What is wrong with each product that is complained of.

    Args:
        quality: The latents.
        products: For each complaint its product.
        base: How frequent each issue is where no weak point decides.
        chances: For each complaint two numbers in [0, 1); shape (complaints, 2).
    """
    weak = chances[:, 0] < quality.share[products]
    return np.where(weak, quality.issue[products], pick(base, chances[:, 1])).astype(np.int64)
