"""The service desk's latents: what its agents are good at, how fast they and the regions are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crmbench.domains.service.world.moments import QUARTERS
from crmbench.domains.service.world.products import ISSUES
from crmbench.domains.service.world.seeds import Floats, Ints, Seeds, spread
from crmbench.domains.service.world.words import STATES

EVEN_SKILL = 0.45
TRANSFER_SHARE = 0.17
"""How many transfers there are, for each case, over all agents."""
STEADY_SHARE = 0.3
"""Share of the agents who never hand a case over."""


@dataclass(frozen=True)
class Skill:
    """The latent skill of each agent.

    Attributes:
        level: How good each agent is at each issue, from 0 to 1; shape (agents, ISSUES).
        handing: How readily each agent hands a case over, relative to the others.
        workload: How many cases each agent takes, relative to the others; no latent.
    """

    level: Floats
    handing: Floats
    workload: Floats

    def demand(self, issue: int) -> Floats:
        """How likely each agent is to get a case of this issue, unscaled."""
        demand: Floats = self.workload * np.exp(4.0 * self.level[:, issue])
        return demand


@dataclass(frozen=True)
class Pace:
    """How long things take, as factors of the usual time.

    Attributes:
        agents: Response time of each agent in each quarter; shape (agents, QUARTERS).
        regions: Effect of each state in each quarter; shape (states, QUARTERS).
    """

    agents: Floats
    regions: Floats


@dataclass(frozen=True)
class Conduct:
    """How often each agent breaks a rule: the share of the agent's closed cases."""

    share: Floats


def make_skill(seeds: Seeds, agents: int, neutral: bool) -> Skill:
    """Every agent has one strong issue and up to two fair ones; all alike if `neutral`."""
    workload = spread(seeds.of("workload"), 0.45, agents)
    chance = seeds.of("agent_skill")
    level = chance.uniform(0.05, 0.35, (agents, ISSUES))
    everyone = np.arange(agents)
    first = chance.permutation(everyone % ISSUES)
    for _ in range(2):
        fair = chance.integers(0, ISSUES, agents)
        has = chance.random(agents) < 0.6
        level[everyone[has], fair[has]] = chance.uniform(0.4, 0.65, agents)[has]
    level[everyone, first] = chance.uniform(0.6, 0.8, agents)
    # One agent leads each issue, so that it is plain who has the most experience.
    mixed = chance.permutation(everyone)
    _, places = np.unique(first[mixed], return_index=True)
    level[mixed[places], first[mixed[places]]] = 1.0
    handing = np.where(chance.random(agents) < STEADY_SHARE, 0.0, spread(chance, 0.7, agents))
    if neutral:
        return Skill(np.full((agents, ISSUES), EVEN_SKILL), np.ones(agents), workload)
    return Skill(level, handing, workload)


def make_pace(seeds: Seeds, agents: int, even_agents: bool, even_regions: bool) -> Pace:
    """Both change from quarter to quarter, so that no agent and no state is always the fastest."""
    chance = seeds.of("response_time")
    usual = spread(chance, 0.15, agents)[:, None]
    by_agent = usual * spread(chance, 0.5, agents * QUARTERS).reshape(agents, QUARTERS)
    chance = seeds.of("region_effects")
    states = len(STATES)
    usual = spread(chance, 0.12, states)[:, None]
    by_region = usual * spread(chance, 0.5, states * QUARTERS).reshape(states, QUARTERS)
    return Pace(
        np.ones_like(by_agent) if even_agents else by_agent,
        np.ones_like(by_region) if even_regions else by_region,
    )


def make_conduct(seeds: Seeds, agents: int, neutral: bool) -> Conduct:
    """A quarter of the agents never break a rule; none does if `neutral`."""
    chance = seeds.of("policy_violations")
    share = np.where(chance.random(agents) < 0.25, 0.0, chance.uniform(0.15, 0.55, agents))
    return Conduct(np.zeros(agents) if neutral else share)


def route(skill: Skill, issue: Ints, uniform: Floats, without: Ints | None = None) -> Ints:
    """An agent for each case, by skill at its issue and by workload.

    Args:
        skill: The latents.
        issue: The issue of each case.
        uniform: For each case a number in [0, 1).
        without: For each case an agent who must not get it.
    """
    agents = np.zeros(len(issue), dtype=np.int64)
    for number in range(ISSUES):
        cases = np.flatnonzero(issue == number)
        steps = np.concatenate(([0.0], np.cumsum(skill.demand(number))))
        if without is None:
            place = uniform[cases] * steps[-1]
        else:
            # Leave the gap out: what would fall behind its beginning is moved behind its end.
            begin, end = steps[without[cases]], steps[without[cases] + 1]
            place = uniform[cases] * (steps[-1] - (end - begin))
            place = np.where(place >= begin, place + (end - begin), place)
        found = np.searchsorted(steps, place, side="right") - 1
        agents[cases] = np.clip(found, 0, len(skill.workload) - 1)
    return agents
