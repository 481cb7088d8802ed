"""The cases: which purchase each is about, who handled it, how long that took, and its history."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crmbench.domains.service.world.moments import CASES_FROM, DAY, NOW, month_of, quarter_of
from crmbench.domains.service.world.orders import Orders
from crmbench.domains.service.world.people import Complaining, People
from crmbench.domains.service.world.products import (
    BATCH_DAYS,
    BATCH_FACTOR,
    Quality,
    pick_issue,
)
from crmbench.domains.service.world.seeds import Flags, Floats, Ints, Seeds, spread
from crmbench.domains.service.world.support import TRANSFER_SHARE, Conduct, Pace, Skill, route

ISSUE_WEIGHTS = np.array([1.5, 1.0, 1.25, 0.9, 0.9, 0.85, 1.2, 1.0, 0.7, 0.8])
"""How frequent each issue is where no product's weak point decides."""
HOURS = np.array([1, 1, 0, 0, 0, 1, 2, 4, 7, 9, 10, 10, 9, 9, 9, 8, 8, 8, 8, 9, 8, 6, 4, 2.0])
"""How many cases are opened in each hour of the day, UTC."""
USUAL_MINUTES = 1900.0
LEAST_MINUTES = 75
YOUNGEST = 2 * 3600
"""The latest case is at least this many seconds old."""
PRIORITIES = np.array([0.0, 0.27, 0.72, 0.95])


@dataclass(frozen=True)
class Cases:
    """All cases by the moment in which they were opened; an open one has `closed` -1.

    Attributes:
        item: The order line that each is about.
        account, contact: Who wrote.
        issue: What about: 0 to ISSUES - 1.
        opened, closed: Moments.
        owners: Who had it first, after one transfer and after two; shape (cases, 3). The same
            agent again where there was no transfer.
        assigned: When each of them got it; -1 where there was no transfer; shape (cases, 3).
        ends: When the last message may be: `closed`, or now for an open case.
        priority: 0 to 3.
        waiting: For an open case a number in [0, 1) that decides about its status.
        channel: 0 e-mail, 1 chat, 2 both.
        temper: 0 calm, 1 annoyed, 2 friendly.
        reply: Minutes that an answer usually took.
        breaks: Whether the agent broke a rule.
        rule_chances: Which; shape (cases, 2), numbers in [0, 1).
    """

    item: Ints
    account: Ints
    contact: Ints
    issue: Ints
    opened: Ints
    closed: Ints
    owners: Ints
    assigned: Ints
    ends: Ints
    priority: Ints
    waiting: Floats
    channel: Ints
    temper: Ints
    reply: Ints
    breaks: Flags
    rule_chances: Floats

    @property
    def owner(self) -> Ints:
        """The present owner of each."""
        last: Ints = self.owners[:, 2]
        return last


@dataclass(frozen=True)
class SupportLatents:
    """The latents that the service desk's work follows."""

    complaining: Complaining
    quality: Quality
    skill: Skill
    pace: Pace
    conduct: Conduct


def make_cases(
    seeds: Seeds, people: People, orders: Orders, support: SupportLatents, count: int
) -> Cases:
    """`count` cases out of the order lines, as the desk's latents would have it."""
    item, opened = _complaints(seeds, orders, support, count)
    account = orders.item_account[item]
    issue = pick_issue(
        support.quality,
        orders.item_product[item],
        ISSUE_WEIGHTS,
        seeds.of("issues").random((count, 2)),
    )
    owners, transfers = _handling(seeds, support.skill, issue)
    minutes = _durations(seeds, people, support, account, issue, owners, opened)
    closed = _closing(seeds, opened, minutes)
    ends = np.where(closed >= 0, closed, np.minimum(opened + 60 * minutes, NOW - 300))
    talk = seeds.of("talk")
    breaks = talk.random(count) < support.conduct.share[owners[:, 2]]
    return Cases(
        item=item,
        account=account,
        contact=people.contacts_of(account, seeds.of("contacts").random(count)),
        issue=issue,
        opened=opened,
        closed=closed,
        owners=owners,
        assigned=_assignments(seeds, opened, ends, transfers),
        ends=ends,
        priority=_steps(PRIORITIES, talk.random(count)),
        waiting=talk.random(count),
        channel=_steps(np.array([0.0, 0.21, 0.31]), talk.random(count)),
        temper=_steps(np.array([0.0, 0.5, 0.8]), talk.random(count)),
        reply=np.maximum(minutes // 6, 1),
        breaks=breaks & (closed >= 0),
        rule_chances=talk.random((count, 2)),
    )


def _steps(starts: Floats, uniform: Floats) -> Ints:
    steps: Ints = (np.searchsorted(starts, uniform, side="right") - 1).astype(np.int64)
    return steps


def _complaints(
    seeds: Seeds, orders: Orders, support: SupportLatents, count: int
) -> tuple[Ints, Ints]:
    """Which order lines lead to a case, and when; by time.

    Each line would lead to one at some moment; the `count` lines are drawn in proportion to
    quality and complaint habits, without repetition.
    """
    chance = seeds.of("cases")
    lines = len(orders.item_order)
    days = np.minimum(2 + 9.0 * spread(chance, 1.0, lines), 300).astype(np.int64)
    hour = _steps(
        np.concatenate(([0.0], np.cumsum(HOURS)[:-1] / HOURS.sum())), chance.random(lines)
    )
    second = np.floor(chance.random(lines) * 3600).astype(np.int64)
    opened = (orders.item_day + days) * DAY + hour * 3600 + second
    quality, product = support.quality, orders.item_product
    batch = quality.batch[product]
    bad = (batch >= 0) & (orders.item_day >= batch) & (orders.item_day < batch + BATCH_DAYS)
    weights = quality.rate[product] * np.where(bad, BATCH_FACTOR, 1.0)
    weights = weights * support.complaining.rate[orders.item_account]
    weights = (
        weights * support.complaining.months[orders.item_account, month_of(opened // DAY) % 12]
    )
    kept = (opened >= CASES_FROM) & (opened < NOW - YOUNGEST)
    # The smallest of exponential waiting times: a draw by weight without repetition.
    wait = np.where(kept, chance.exponential(1.0, lines) / weights, np.inf)
    chosen = np.argsort(wait, kind="stable")[:count]
    chosen = chosen[np.lexsort((chosen, opened[chosen]))]
    return chosen.astype(np.int64), opened[chosen]


def _handling(seeds: Seeds, skill: Skill, issue: Ints) -> tuple[Ints, Ints]:
    """Who had each case first, second and third, and how often it was handed over."""
    chance = seeds.of("routing")
    count = len(issue)
    first = route(skill, issue, chance.random(count))
    weak = (1.05 - skill.level[first, issue]) * skill.handing[first]
    likely = np.minimum(weak * TRANSFER_SHARE * 0.85 / max(float(weak.mean()), 1e-9), 0.9)
    once = chance.random(count) < likely
    second = np.where(once, route(skill, issue, chance.random(count), first), first)
    twice = once & (chance.random(count) < 0.18) & (skill.handing[second] > 0)
    third = np.where(twice, route(skill, issue, chance.random(count), second), second)
    return np.stack((first, second, third), axis=1), once.astype(np.int64) + twice


def _durations(
    seeds: Seeds,
    people: People,
    support: SupportLatents,
    account: Ints,
    issue: Ints,
    owners: Ints,
    opened: Ints,
) -> Ints:
    """Minutes from opening to closing, did nothing come between."""
    chance = seeds.of("durations")
    owner = owners[:, 2]
    quarter = quarter_of(opened)
    skill = 1.4 - 0.8 * support.skill.level[owner, issue]
    moved = 1.0 + 0.4 * (owners[:, 0] != owner)
    pace = support.pace.agents[owner, quarter]
    region = support.pace.regions[people.account_state[account], quarter]
    minutes = USUAL_MINUTES * skill * moved * pace * region * spread(chance, 0.5, len(issue))
    bounded: Ints = np.clip(minutes, LEAST_MINUTES, 60 * 24 * 45).astype(np.int64)
    return bounded


def _closing(seeds: Seeds, opened: Ints, minutes: Ints) -> Ints:
    """When each case was closed; -1 for those that are open, more of them among the recent."""
    chance = seeds.of("closing")
    count = len(opened)
    closed = opened + minutes * 60 + chance.integers(0, 60, count)
    age = (NOW - opened) / DAY
    stalled = chance.random(count) < 0.075 + 0.5 * np.exp(-age / 60)
    moments: Ints = np.where(stalled | (closed > NOW - 600), -1, closed)
    return moments


def _assignments(seeds: Seeds, opened: Ints, ends: Ints, transfers: Ints) -> Ints:
    """When each owner got the case: the first at once, others well before it ended."""
    chance = seeds.of("assignments")
    count = len(opened)
    span = ends - opened
    first = opened + np.minimum(chance.integers(20, 900, count), span // 20)
    second = opened + (span * chance.uniform(0.06, 0.25, count)).astype(np.int64)
    third = opened + (span * chance.uniform(0.27, 0.4, count)).astype(np.int64)
    return np.stack(
        (first, np.where(transfers >= 1, second, -1), np.where(transfers >= 2, third, -1)), axis=1
    ).astype(np.int64)
