"""What lies behind a world's records, by record id. It is kept apart: no table holds any of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crmbench.domains.service.text import ARTICLES, ISSUES
from crmbench.domains.service.world.catalog import CATEGORIES
from crmbench.domains.service.world.moments import QUARTERS, day_texts, quarter_name
from crmbench.domains.service.world.org import OrgArrays
from crmbench.domains.service.world.products import BATCH_DAYS
from crmbench.domains.service.world.support_rows import broken_rule
from crmbench.domains.service.world.words import STATES

LATENTS = (
    "shopping_habits",
    "agent_skill",
    "complaint_habits",
    "response_time",
    "policy_violations",
    "product_quality",
    "region_effects",
)
"""The latent variables; each can be switched off."""


@dataclass(frozen=True)
class ShoppingHabit:
    """How a customer shops; `orders` and `basket` are relative to an average of 1."""

    orders: float
    basket: float
    favourites: tuple[str, ...]
    """Ids of the favourite categories."""
    loyalty: float
    """Share of the purchases that are from those."""
    variants: float
    """Chance that a purchase is another variant of the one before it in the order."""


@dataclass(frozen=True)
class ComplaintHabit:
    """How readily a customer opens a case; relative to an average of 1."""

    rate: float
    months: tuple[float, ...]
    """The factor of each month, January first."""


@dataclass(frozen=True)
class ProductQuality:
    """What is wrong with a product."""

    rate: float
    """Complaints for each piece sold, relative to the other products."""
    issue: str
    """Id of the issue that is its weak point."""
    share: float
    """Share of its complaints that the weak point decides; the rest is by the usual frequency."""
    bad_batch: tuple[str, str] | None
    """First and last day on which a bad batch of it was sold."""


@dataclass(frozen=True)
class Violation:
    """The rule that the agent of a case broke."""

    article: str
    """Id of the knowledge article."""
    rule: str
    """Id of the rule within the article."""


@dataclass(frozen=True)
class Latents:
    """All latent variables of a world.

    Attributes:
        shopping_habits: By Account id.
        agent_skill: By User id, then Issue id: from 0 to 1.
        complaint_habits: By Account id.
        response_time: By User id, then quarter (``2024-Q3``): factor of the usual time.
        violation_share: By User id: share of closed cases in which the agent breaks a rule.
        policy_violations: By Case id, of the cases in which a rule was broken.
        product_quality: By Product2 id.
        region_effects: By state, then quarter: factor of the usual time.
    """

    shopping_habits: Mapping[str, ShoppingHabit]
    agent_skill: Mapping[str, Mapping[str, float]]
    complaint_habits: Mapping[str, ComplaintHabit]
    response_time: Mapping[str, Mapping[str, float]]
    violation_share: Mapping[str, float]
    policy_violations: Mapping[str, Violation]
    product_quality: Mapping[str, ProductQuality]
    region_effects: Mapping[str, Mapping[str, float]]


def read_latents(org: OrgArrays) -> Latents:
    """The latents of an org, keyed by the ids of its records."""
    ids = org.ids
    agents = ids.first("User", org.people.agents)
    issues = ids.first("Issue__c", len(ISSUES))
    quarters = [quarter_name(n) for n in range(QUARTERS)]
    pace = org.support.pace
    skill = org.support.skill.level.tolist()
    return Latents(
        shopping_habits=_shopping(org),
        agent_skill={
            a: dict(zip(issues, s, strict=True)) for a, s in zip(agents, skill, strict=True)
        },
        complaint_habits=_complaining(org),
        response_time={
            a: dict(zip(quarters, p, strict=True))
            for a, p in zip(agents, pace.agents.tolist(), strict=True)
        },
        violation_share=dict(zip(agents, org.support.conduct.share.tolist(), strict=True)),
        policy_violations=_violations(org),
        product_quality=_quality(org, issues),
        region_effects={
            state.code: dict(zip(quarters, p, strict=True))
            for state, p in zip(STATES, pace.regions.tolist(), strict=True)
        },
    )


def _shopping(org: OrgArrays) -> dict[str, ShoppingHabit]:
    habits = org.shopping
    categories = org.ids.first("ProductCategory", len(CATEGORIES))
    columns = zip(
        org.ids.first("Account", org.people.accounts),
        habits.orders.tolist(),
        habits.basket.tolist(),
        habits.favourites.tolist(),
        habits.loyalty.tolist(),
        habits.variants.tolist(),
        strict=True,
    )
    return {
        key: ShoppingHabit(
            orders, basket, tuple(categories[n] for n in favourites), loyalty, variants
        )
        for key, orders, basket, favourites, loyalty, variants in columns
    }


def _complaining(org: OrgArrays) -> dict[str, ComplaintHabit]:
    habits = org.complaining
    columns = zip(
        org.ids.first("Account", org.people.accounts),
        habits.rate.tolist(),
        habits.months.tolist(),
        strict=True,
    )
    return {key: ComplaintHabit(rate, tuple(months)) for key, rate, months in columns}


def _quality(org: OrgArrays, issues: list[str]) -> dict[str, ProductQuality]:
    quality = org.support.quality
    columns = zip(
        org.ids.first("Product2", len(org.products.items)),
        quality.rate.tolist(),
        quality.issue.tolist(),
        quality.share.tolist(),
        quality.batch.tolist(),
        day_texts(quality.batch),
        day_texts(quality.batch + BATCH_DAYS - 1),
        strict=True,
    )
    return {
        key: ProductQuality(rate, issues[issue], share, (first, last) if batch >= 0 else None)
        for key, rate, issue, share, batch, first, last in columns
    }


def _violations(org: OrgArrays) -> dict[str, Violation]:
    articles = dict(
        zip(
            (article.key for article in ARTICLES),
            org.ids.first("Knowledge__kav", len(ARTICLES)),
            strict=True,
        )
    )
    numbers = np.flatnonzero(org.cases.breaks).astype(np.int64)
    found: dict[str, Violation] = {}
    for key, number in zip(org.ids.of("Case", numbers), numbers.tolist(), strict=True):
        broken = broken_rule(org, number)
        if broken is not None:
            found[key] = Violation(articles[broken[0]], broken[1])
    return found
