"""Orders and what is in them, following the customers' shopping habits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crmbench.domains.service.world.moments import FIRST_DAY, MONTHS, TODAY, month_of, trade_month
from crmbench.domains.service.world.people import FAVOURITES, People, Shopping
from crmbench.domains.service.world.products import Products
from crmbench.domains.service.world.seeds import Flags, Floats, Ints, Seeds, pick

SEASON = np.array([0.9, 0.85, 0.95, 1.0, 1.1, 1.15, 1.05, 0.95, 0.9, 0.95, 1.05, 1.15])
"""How much is bought in each month of the year."""
ATTEMPTS = 6
QUANTITIES = np.array([0.0, 0.83, 0.94, 0.98])
"""From where on in [0, 1) a line is of 1, 2, 3 or 4 pieces."""
DEAR = 300.0
"""From this price on people buy one."""


@dataclass(frozen=True)
class Orders:
    """Orders by date, and their lines by order."""

    order_account: Ints
    order_day: Ints
    item_order: Ints
    item_product: Ints
    item_quantity: Ints
    item_entry: Ints
    """For each line the number of its price book entry."""

    @property
    def item_account(self) -> Ints:
        """For each line the account that ordered it."""
        return self.order_account[self.item_order]

    @property
    def item_day(self) -> Ints:
        """For each line the day of its order."""
        return self.order_day[self.item_order]


def make_trade(
    seeds: Seeds, people: People, shopping: Shopping, products: Products, orders: int, items: int
) -> Orders:
    """Orders and their lines, by date."""
    chance = seeds.of("trade")
    account, day = _orders(chance, people, shopping, orders)
    sizes = 1 + np.bincount(
        pick(shopping.basket[account], chance.random(items - orders)), minlength=orders
    )
    order = np.repeat(np.arange(orders), sizes)
    month = trade_month(day[order])
    product = _choose(seeds, products, shopping, account[order], month, order)
    product = _variants(seeds, products, shopping, account[order], month, order, product)
    quantity = np.searchsorted(QUANTITIES, chance.random(items), side="right")
    quantity = np.where(products.price[product] >= DEAR, 1, quantity)
    entry = products.entries[month, product]
    return Orders(account, day, order, product, quantity.astype(np.int64), entry)


def make_prices(seeds: Seeds, products: Products) -> Floats:
    """The price of every price book entry, in the entries' order.

    Prices rise by about 3 % a year; each month some goods are reduced.
    """
    month, product = np.nonzero(products.sold)
    chance = seeds.of("prices")
    reduced = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8])
    offer = reduced[chance.integers(0, len(reduced), len(product))]
    level = products.price[product] * (1 + 0.03 * (month // 12 - MONTHS // 12)) * offer
    prices: Floats = np.maximum(np.round(level), 2.0) - 0.05
    return np.round(prices, 2)


def _orders(
    chance: np.random.Generator, people: People, shopping: Shopping, count: int
) -> tuple[Ints, Ints]:
    """Who orders on which day; by day."""
    days = np.arange(FIRST_DAY, TODAY)
    months = month_of(days)
    steps = np.cumsum(SEASON[months % 12])
    steps = np.concatenate(([0.0], steps / steps[-1]))
    opened = np.clip(people.account_day - FIRST_DAY, 0, len(days) - 30)
    # An account that has been there for longer has had more time to order.
    weights = shopping.orders * (1.0 - steps[opened]) ** 0.7
    account = pick(weights, chance.random(count))
    since = steps[opened[account]]
    position = since + chance.random(count) * (1.0 - since)
    day = FIRST_DAY + np.searchsorted(steps, position, side="right") - 1
    day = np.clip(day, np.maximum(people.account_day[account], FIRST_DAY), TODAY - 1)
    order = np.lexsort((account, day))
    return account[order], day[order].astype(np.int64)


def _choose(
    seeds: Seeds, products: Products, shopping: Shopping, account: Ints, month: Ints, order: Ints
) -> Ints:
    """A product for each line: sold in its month, and not twice in one order if avoidable."""
    chance = seeds.of("baskets")
    count = len(account)
    steps = np.concatenate(([0.0], np.cumsum(products.popularity)))
    steps /= steps[-1]
    bounds = np.searchsorted(products.category, np.arange(products.category[-1] + 2))
    loyal = chance.random(count) < shopping.loyalty[account]
    favourite = shopping.favourites[account, chance.integers(0, FAVOURITES, count)]
    low = np.where(loyal, steps[bounds[favourite]], 0.0)
    high = np.where(loyal, steps[bounds[favourite + 1]], 1.0)
    product = np.full(count, -1)
    for _ in range(ATTEMPTS):
        uniform = chance.random(count)
        open_lines = np.flatnonzero(product < 0)
        place = low[open_lines] + uniform[open_lines] * (high - low)[open_lines]
        found = np.searchsorted(steps, place, side="right") - 1
        found = np.minimum(found, len(products.items) - 1)
        sold = products.sold_in(found, month[open_lines])
        product[open_lines[sold]] = found[sold]
        product[_repeated(order, product)] = -1
    return _fill(products, order, product)


def _fill(products: Products, order: Ints, product: Ints) -> Ints:
    """What is always sold, by popularity, for the lines that found nothing."""
    always = np.flatnonzero((products.launch == 0) & (products.retire == MONTHS))
    ranked = always[np.argsort(-products.popularity[always], kind="stable")]
    filled = product.copy()
    for step in range(len(ranked)):
        open_lines = np.flatnonzero((filled < 0) | _repeated(order, filled))
        if len(open_lines) == 0:
            break
        filled[open_lines] = ranked[(open_lines + step) % len(ranked)]
    return filled


def _variants(
    seeds: Seeds,
    products: Products,
    shopping: Shopping,
    account: Ints,
    month: Ints,
    order: Ints,
    product: Ints,
) -> Ints:
    """Now and then the line before comes again in another size or colour."""
    chance = seeds.of("variants")
    uniform = chance.random(len(product))
    step = chance.random(len(product))
    previous = np.roll(product, 1)
    size = products.family_size[previous]
    start = products.family_start[previous]
    shift = 1 + np.floor(step * np.maximum(size - 1, 1)).astype(np.int64)
    sibling = start + (previous - start + shift) % size
    follows = np.concatenate(([False], order[1:] == order[:-1]))
    wanted = follows & (uniform < shopping.variants[account]) & (size > 1)
    changed = np.where(wanted & products.sold_in(sibling, month), sibling, product)
    spoilt = np.isin(order, order[_repeated(order, changed)])
    variants: Ints = np.where(spoilt, product, changed)
    return variants


def _repeated(order: Ints, product: Ints) -> Flags:
    """Which lines repeat a product that an earlier line of their order has."""
    sequence = np.lexsort((np.arange(len(order)), product, order))
    same = (np.diff(order[sequence]) == 0) & (np.diff(product[sequence]) == 0)
    repeated = np.zeros(len(order), dtype=np.bool_)
    repeated[sequence[1:][same]] = True
    return repeated & (product >= 0)
