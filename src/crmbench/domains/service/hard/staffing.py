"""Who may take which case, by the desk's rules; the agents as the records and notices show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from crmbench.authoring.handbook import Rulebook

SHIFTS = ("Early", "Late", "Full")
PRIORITIES = ("Critical", "High", "Medium", "Low")
READING = ("text", "expiry", "away", "unwanted", "wanted", "former", "order")
"""What can be left out beside single memos: letters, dates of expiry, absences, wishes, who knows
the customer, and that every case given out counts for the next one."""


@dataclass(frozen=True)
class Skill:
    """What an agent can do."""

    issue: str
    level: int
    expires: date | None


@dataclass(frozen=True)
class OpenCase:
    """A case that an agent has in hand."""

    status: str
    priority: str
    origin: str


@dataclass
class Agent:
    """One agent today."""

    id: str
    name: str
    shift: str
    cap: int
    skills: tuple[Skill, ...]
    away: bool
    open: tuple[OpenCase, ...]

    @property
    def family(self) -> tuple[str, str]:
        """By what ties are broken at last."""
        return self.name.split()[-1], self.name


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
    facts: Mapping[str, Any]
    """What the desk's rules can ask of it."""
    closers: tuple[tuple[int, str], ...] = ()
    """Who closed cases of the customer about the order, how many days ago, the latest first."""
    wanted: str | None = None
    """The agent whom the customer asks for, by id."""
    unwanted: str | None = None
    """The agent whom the customer does not want."""


class Router:
    """Routes cases by a rulebook.

    Args:
        book: The desk's rules.
        agents: All active ones.
        today: The day that counts.
        without: What is left out, of `READING`.
    """

    def __init__(
        self,
        book: Rulebook,
        agents: Sequence[Agent],
        today: date,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.book, self.agents, self.today, self.without = book, agents, today, without
        self._weights: dict[OpenCase, int] = {}

    def route(self, cases: Sequence[QueueCase]) -> dict[str, str | None]:
        """For each case who gets it, one after the other; None: it stays and is escalated."""
        load = {agent.id: sum(map(self._weight, agent.open)) for agent in self.agents}
        chosen: dict[str, str | None] = {}
        for case in sorted(cases, key=lambda c: (PRIORITIES.index(c.priority), c.opened, c.id)):
            winner = self._winner(case, load)
            chosen[case.id] = winner.id if winner else None
            if winner and "order" not in self.without:
                load[winner.id] += self._weight(
                    OpenCase("New", case.priority, case.facts["origin"])
                )
        return chosen

    def _decide(self, subject: str, facts: Mapping[str, Any]) -> str:
        return str(self.book.decide(subject, facts, self.today).value)

    def _weight(self, case: OpenCase) -> int:
        if case not in self._weights:
            facts = {"status": case.status, "priority": case.priority, "origin": case.origin}
            self._weights[case] = int(self._decide("weight", facts).split()[0])
        return self._weights[case]

    @cached_property
    def _caps(self) -> dict[str, int]:
        """By how much the cap of each agent differs from the record's."""
        by_shift = {s: _more(self._decide("cap", {"shift": s})) for s in SHIFTS}
        return {agent.id: agent.cap + by_shift[agent.shift] for agent in self.agents}

    def _winner(self, case: QueueCase, load: Mapping[str, int]) -> Agent | None:
        facts = dict(case.facts)
        if "text" in self.without and case.filed is not None:
            facts["issue"] = case.filed
        issues = {facts["issue"], self._decide("relief", facts).removeprefix("the skill for ")}
        needed = int(self._decide("level", facts).split()[1])
        barred = self._decide("barred", facts)
        levels = {}
        for agent in self.agents:
            level = self._level(agent, issues)
            here = not agent.away or "away" in self.without
            free = load[agent.id] < self._caps[agent.id]
            welcome = agent.id != case.unwanted or "unwanted" in self.without
            if level >= needed and here and free and welcome and agent.shift != barred:
                levels[agent.id] = level
        fit = [agent for agent in self.agents if agent.id in levels]
        return self._best(case, facts, fit, levels, load)

    def _level(self, agent: Agent, issues: set[str]) -> int:
        levels = [
            skill.level
            for skill in agent.skills
            if skill.issue in issues
            and ("expiry" in self.without or skill.expires is None or skill.expires >= self.today)
        ]
        return max(levels, default=0)

    def _best(
        self,
        case: QueueCase,
        facts: Mapping[str, Any],
        fit: Sequence[Agent],
        levels: Mapping[str, int],
        load: Mapping[str, int],
    ) -> Agent | None:
        by_id = {agent.id: agent for agent in fit}
        heeded = "wanted" not in self.without and self._decide("wish", facts) == "heeded"
        if heeded and case.wanted in by_id:
            return by_id[case.wanted]
        former = self._former(case, facts)
        if former in by_id and "former" not in self.without:
            return by_id[former]
        tie = self._decide("tie", facts)

        def rank(agent: Agent) -> tuple[int, int, tuple[str, str]]:
            first = 0
            if tie == "the higher level":
                first = -levels[agent.id]
            elif tie == "the higher MaxOpen__c":
                first = -agent.cap
            return load[agent.id], first, agent.family

        return min(fit, key=rank, default=None)

    def _former(self, case: QueueCase, facts: Mapping[str, Any]) -> str | None:
        """Who closed the customer's last case about the order, within the days that count."""
        days = int(self._decide("knows", facts).split()[0])
        if case.closers and case.closers[0][0] <= days:
            return case.closers[0][1]
        return None


def _more(words: str) -> int:
    """By how much a cap differs from the record's."""
    if words == "MaxOpen__c itself":
        return 0
    number, more = words.split()[:2]
    return int(number) * (1 if more == "more" else -1)
