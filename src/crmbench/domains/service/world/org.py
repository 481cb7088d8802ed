"""One org as numbers: everything that decides about its rows, before there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crmbench.authoring.pools import Pool
from crmbench.domains.service.world.cases import Cases, SupportLatents, make_cases
from crmbench.domains.service.world.orders import Orders, make_prices, make_trade
from crmbench.domains.service.world.people import (
    Complaining,
    People,
    Shopping,
    make_complaining,
    make_people,
    make_shopping,
)
from crmbench.domains.service.world.products import Products, make_products, make_quality
from crmbench.domains.service.world.seeds import Floats, Ints, Seeds
from crmbench.domains.service.world.support import make_conduct, make_pace, make_skill
from crmbench.salesforce.ids import first_number, record_ids


class Counts(NamedTuple):
    """How many records there are of what grows with the factor; these are those of factor 1."""

    users: int = 152
    accounts: int = 201
    contacts: int = 208
    products: int = 501
    orders: int = 2069
    items: int = 7100
    cases: int = 977

    def times(self, factor: float) -> Counts:
        """The counts scaled by a factor; at least one of each."""
        return Counts(*(max(1, round(count * factor)) for count in self))


@dataclass(frozen=True)
class Ids:
    """The ids of a world's records, by object and index."""

    seed: int

    def of(self, name: str, indices: Ints) -> list[str]:
        """The ids of the records of an object with these indices."""
        return record_ids(name, first_number(name, self.seed) + indices)

    def first(self, name: str, count: int) -> list[str]:
        """The ids of the first `count` records."""
        return self.of(name, np.arange(count, dtype=np.int64))

    def one(self, name: str, index: int) -> str:
        """The id of one record."""
        return self.of(name, np.array([index], dtype=np.int64))[0]


@dataclass(frozen=True)
class OrgArrays:
    """Records as arrays, and the latents that they follow."""

    seed: int
    people: People
    products: Products
    orders: Orders
    prices: Floats
    cases: Cases
    shopping: Shopping
    support: SupportLatents

    @property
    def complaining(self) -> Complaining:
        """How readily each account complains."""
        return self.support.complaining

    @property
    def ids(self) -> Ids:
        """The ids of its records."""
        return Ids(self.seed)


def make_org(seed: int, factor: float, without: frozenset[str], pool: Pool = "") -> OrgArrays:
    """Build an org; `without` names the latents that are to have no effect, `pool` the part of
    people's names that it draws on.
    """
    seeds = Seeds(seed)
    counts = Counts().times(factor)
    products = make_products(seeds, counts.products)
    people = make_people(seeds, counts.users, counts.accounts, counts.contacts, pool)
    shopping = make_shopping(seeds, counts.accounts, "shopping_habits" in without)
    orders = make_trade(seeds, people, shopping, products, counts.orders, counts.items)
    agents = people.agents
    support = SupportLatents(
        make_complaining(seeds, counts.accounts, "complaint_habits" in without),
        make_quality(seeds, counts.products, "product_quality" in without),
        make_skill(seeds, agents, "agent_skill" in without),
        make_pace(seeds, agents, "response_time" in without, "region_effects" in without),
        make_conduct(seeds, agents, "policy_violations" in without),
    )
    cases = make_cases(seeds, people, orders, support, counts.cases)
    return OrgArrays(
        seed, people, products, orders, make_prices(seeds, products), cases, shopping, support
    )
