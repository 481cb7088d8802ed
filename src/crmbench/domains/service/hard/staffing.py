"""Who may take which case: rules of routing, the agents as the records and notices show them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

SHIFTS = ("Early", "Late", "Full")
PACIFIC = frozenset({"CA", "OR", "WA"})
PRIORITIES = ("Critical", "High", "Medium", "Low")


@dataclass(frozen=True)
class RoutingRules:
    """What decides about a new case, as it is in force today."""

    escalated: int
    """How many cases an escalated one counts for."""
    waiting: int
    """How many a case counts for that waits for the customer; 0 or 1."""
    urgent_level: int
    """The level that a Critical or High case needs."""
    plus_level: int
    """The level that a Plus member's case needs."""
    stand_in: tuple[str, str]
    """Issues: who has the skill for the first may also take the second."""
    more: int
    """By how much the caps are raised this month; may be negative."""
    loyal_days: int
    """So many days after closing a case of a customer an agent gets the next one."""


@dataclass(frozen=True)
class Skill:
    """What an agent can do."""

    issue: str
    level: int
    expires: date | None


@dataclass
class Agent:
    """One agent today."""

    id: str
    name: str
    shift: str
    cap: int
    skills: tuple[Skill, ...]
    away: bool
    load: int
    count: int
    """How many open cases it is, each counted once."""


@dataclass(frozen=True)
class QueueCase:
    """A case that waits in a queue."""

    id: str
    opened: str
    priority: str
    issue: str
    """By name, as the letter shows it."""
    filed: str | None
    """By name, as the field has it."""
    state: str
    plus: bool
    wanted: str | None = None
    """The agent whom the customer asks for, by id."""
    unwanted: str | None = None
    """The agent whom the customer does not want."""
    former: str | None = None
    """Who closed the customer's last case about the order within the days that count."""


ROUTING = (
    "text", "expiry", "level_urgent", "level_plus", "stand_in", "shift", "away", "cap", "more",
    "wanted", "unwanted", "former", "weights",
)  # fmt: skip
"""The rules that can be left out."""


def make_routing(seed: int, issues: list[str]) -> RoutingRules:
    rng = random.Random(f"crmbench hard routing {seed}")
    first, second = rng.sample(issues, 2)
    return RoutingRules(
        escalated=rng.choice((2, 3)),
        waiting=rng.choice((0, 1)),
        urgent_level=2,
        plus_level=rng.choice((2, 3)),
        stand_in=(first, second),
        more=rng.choice((-2, -1, 1)),
        loyal_days=rng.choice((45, 60, 75)),
    )


def level_needed(rules: RoutingRules, case: QueueCase, without: frozenset[str]) -> int:
    """The level of skill that a case asks for."""
    needed = 1
    if case.priority in ("Critical", "High") and "level_urgent" not in without:
        needed = rules.urgent_level
    if case.plus and "level_plus" not in without:
        needed = max(needed, rules.plus_level)
    return needed


def issue_of(case: QueueCase, without: frozenset[str]) -> str:
    """What the letter shows, or what the field says to somebody who reads no letters."""
    return case.filed if "text" in without and case.filed is not None else case.issue


def level_of(
    rules: RoutingRules, agent: Agent, issue: str, today: date, without: frozenset[str]
) -> int:
    """The agent's level for an issue today; 0 without the skill."""
    issues = {issue}
    if issue == rules.stand_in[1] and "stand_in" not in without:
        issues.add(rules.stand_in[0])
    levels = [
        skill.level
        for skill in agent.skills
        if skill.issue in issues
        and ("expiry" in without or skill.expires is None or skill.expires >= today)
    ]
    return max(levels, default=0)


def route(
    rules: RoutingRules,
    agents: list[Agent],
    cases: list[QueueCase],
    today: date,
    without: frozenset[str] = frozenset(),
) -> dict[str, str | None]:
    """For each case who gets it, one after the other; None: it stays and is escalated."""
    weighted = "weights" not in without
    load = {agent.id: agent.load if weighted else agent.count for agent in agents}
    chosen: dict[str, str | None] = {}
    for case in sorted(cases, key=lambda c: (PRIORITIES.index(c.priority), c.opened, c.id)):
        fit = [a for a in agents if _fits(rules, a, case, today, load, without)]
        winner = _best(rules, fit, case, today, load, without)
        chosen[case.id] = winner.id if winner else None
        if winner:
            load[winner.id] += 1
    return chosen


def _fits(
    rules: RoutingRules,
    agent: Agent,
    case: QueueCase,
    today: date,
    load: Mapping[str, int],
    without: frozenset[str],
) -> bool:
    cap = agent.cap + (0 if "more" in without else rules.more)
    if level_of(rules, agent, issue_of(case, without), today, without) < level_needed(
        rules, case, without
    ):
        return False
    if agent.away and "away" not in without:
        return False
    if case.state in PACIFIC and agent.shift == "Early" and "shift" not in without:
        return False
    if load[agent.id] >= cap and "cap" not in without:
        return False
    return agent.id != case.unwanted or "unwanted" in without


def _best(
    rules: RoutingRules,
    fit: list[Agent],
    case: QueueCase,
    today: date,
    load: Mapping[str, int],
    without: frozenset[str],
) -> Agent | None:
    by_id = {agent.id: agent for agent in fit}
    if case.wanted in by_id and "wanted" not in without:
        return by_id[case.wanted]
    if case.former in by_id and "former" not in without:
        return by_id[case.former]
    return min(
        fit,
        key=lambda a: (
            load[a.id],
            -level_of(rules, a, issue_of(case, without), today, without),
            a.name.split()[-1],
            a.name,
        ),
        default=None,
    )
