"""Users, customers and contacts, and the habits of the customers that no record tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crmbench.authoring.pools import Pool, part_of
from crmbench.domains.service.world.catalog import CATEGORIES
from crmbench.domains.service.world.moments import FIRST_DAY, TODAY
from crmbench.domains.service.world.seeds import Floats, Ints, Seeds, pick, spread
from crmbench.domains.service.world.words import FIRST_NAMES, LAST_NAMES, STATES

AGENT_SHARE = 0.3
"""Share of the users who handle cases."""
FAVOURITES = 3
FAVOURITE_SHARE = 0.65
VARIANT_SHARE = 0.3


@dataclass(frozen=True)
class People:
    """Everyone; a name is a pair of indices into the lists of names.

    Users come with those who handle cases first.
    """

    user_first: Ints
    user_last: Ints
    user_state: Ints
    agents: int
    account_first: Ints
    account_last: Ints
    account_state: Ints
    account_city: Ints
    account_day: Ints
    """The day on which each account was opened; ascending."""
    contact_account: Ints
    contact_first: Ints
    contact_owner: Ints

    @property
    def accounts(self) -> int:
        """How many accounts there are."""
        return len(self.account_first)

    def contacts_of(self, accounts: Ints, uniform: Floats) -> Ints:
        """Who writes for each account: its holder, or now and then someone else of the house."""
        extra = self.contact_account[self.accounts :]
        order = np.argsort(extra, kind="stable")
        place = np.minimum(np.searchsorted(extra[order], accounts), max(len(extra) - 1, 0))
        if len(extra) == 0:
            return accounts
        other = order[place]
        chosen = (extra[other] == accounts) & (uniform < 0.4)
        return np.where(chosen, self.accounts + other, accounts).astype(np.int64)


@dataclass(frozen=True)
class Shopping:
    """The latent shopping habits of each account.

    Attributes:
        orders: How often it orders, relative to the others.
        basket: How much it puts into an order, relative to the others.
        favourites: Its favourite categories, shape (accounts, FAVOURITES).
        loyalty: Share of its purchases that are from those.
        variants: Share of its purchases that are another variant of what it has just chosen.
    """

    orders: Floats
    basket: Floats
    favourites: Ints
    loyalty: Floats
    variants: Floats


@dataclass(frozen=True)
class Complaining:
    """The latent complaint habits of each account.

    Attributes:
        rate: How readily it opens a case, relative to the others.
        months: For each month of the year how much more or less so; shape (accounts, 12).
    """

    rate: Floats
    months: Floats


def make_people(seeds: Seeds, users: int, accounts: int, contacts: int, pool: Pool = "") -> People:
    """Users, accounts and contacts; with the names of a pool, if it has one."""
    chance = seeds.of("people")
    agents = max(3, round(users * AGENT_SHARE))
    user_first, user_last = _names(chance, users, pool)
    account_first, account_last = _names(chance, accounts, pool)
    state = pick(np.array([s.weight for s in STATES]), chance.random(accounts))
    cities = np.array([len(s.cities) for s in STATES])
    # Most customers came early; the last ones some months ago.
    days = FIRST_DAY - 200 + (TODAY - 90 - FIRST_DAY + 200) * chance.random(accounts) ** 2.2
    extra = chance.integers(0, accounts, contacts - accounts)
    extra_first, _ = _names(chance, contacts - accounts, pool)
    return People(
        user_first,
        user_last,
        chance.integers(0, len(STATES), users),
        agents,
        account_first,
        account_last,
        state,
        np.floor(chance.random(accounts) * cities[state]).astype(np.int64),
        np.sort(days.astype(np.int64)),
        np.concatenate((np.arange(accounts), extra)),
        np.concatenate((account_first, extra_first)),
        chance.integers(0, users, contacts),
    )


def make_shopping(seeds: Seeds, accounts: int, neutral: bool) -> Shopping:
    """Shopping habits; all alike if `neutral`."""
    chance = seeds.of("shopping_habits")
    favourites = chance.permuted(np.tile(np.arange(len(CATEGORIES)), (accounts, 1)), axis=1)
    habits = Shopping(
        spread(chance, 0.75, accounts),
        spread(chance, 0.45, accounts),
        favourites[:, :FAVOURITES],
        chance.uniform(FAVOURITE_SHARE - 0.25, FAVOURITE_SHARE + 0.25, accounts),
        np.where(chance.random(accounts) < 0.3, VARIANT_SHARE, 0.04),
    )
    if neutral:
        ones, zeros = np.ones(accounts), np.zeros(accounts)
        return Shopping(ones, ones, habits.favourites, zeros, zeros)
    return habits


def make_complaining(seeds: Seeds, accounts: int, neutral: bool) -> Complaining:
    """Complaint habits; all alike if `neutral`."""
    chance = seeds.of("complaint_habits")
    rate = spread(chance, 1.0, accounts)
    start = chance.integers(0, 12, accounts)
    since = (np.arange(12)[None, :] - start[:, None]) % 12
    months = np.where(since < 3, 2.5, 0.5)
    if neutral:
        return Complaining(np.ones(accounts), np.ones((accounts, 12)))
    return Complaining(rate, months)


def _names(chance: np.random.Generator, count: int, pool: Pool) -> tuple[Ints, Ints]:
    """First and last names without two alike, as long as there are enough of them."""
    firsts, lasts = (
        np.array(part_of(range(len(names)), pool), dtype=np.int64)
        for names in (FIRST_NAMES, LAST_NAMES)
    )
    every = len(firsts) * len(lasts)
    rounds = [chance.permutation(every) for _ in range(-(-count // every))]
    pairs = np.concatenate(rounds)[:count] if rounds else np.zeros(0, dtype=np.int64)
    return firsts[pairs // len(lasts)], lasts[pairs % len(lasts)]
