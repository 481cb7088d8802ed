"""A learner and an agent whose rate of learning is known: what the figures are tested with.

The learner recalls how able it is; the agent follows the gold with that chance, and else does
nothing. After n observed episodes the chance is ``1 - (1 - start) * (1 - rate) ** n``. An agent
that reads no such text, as in the arm without a memory or with a placebo, has the chance `START`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Agent, Session
from crmbench.core.conditions.base import Draw
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.learning.protocol import Experience, LearnerContext, RecallView

START = 0.3
_ABLE = re.compile(r"^Able: (0\.\d+)$", re.MULTILINE)
"""``Able: 0.475000``, a line by itself."""


def ability(rate: float, episodes: int) -> float:
    """The chance of success after so many observed episodes."""
    return 1 - (1 - START) * (1 - rate) ** episodes


class SimulatedLearner:
    """Gets better at a known rate: ``simulated:0.05``.

    Raises:
        InputError: The rate is none from 0 to below 1.
    """

    def __init__(self, context: LearnerContext) -> None:
        try:
            self._rate = float(context.argument or 0.05)
        except ValueError:
            self._rate = -1.0
        if not 0 <= self._rate < 1:
            raise InputError(
                f"'{context.argument}' is no rate", field="--learner", expected="simulated:0.05"
            )
        self._seen = 0
        self._frozen = False

    def reset(self, seed: int) -> None:
        del seed
        self._seen, self._frozen = 0, False

    async def recall(self, view: RecallView, budget: int) -> str:
        del view, budget
        return f"Able: {ability(self._rate, self._seen):.6f}"

    async def observe(self, experience: Experience) -> None:
        del experience
        self._seen += not self._frozen

    def snapshot(self) -> dict[str, Any]:
        return {"seen": self._seen}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._seen, self._frozen = int(state["seen"]), False

    def freeze(self) -> None:
        self._frozen = True


class _Able(Oracle):
    def __init__(self, task: Task, draw: float) -> None:
        super().__init__(task)
        self._chance = draw

    async def turn(self, session: Session, utterance: str) -> str:
        found = _ABLE.search(session.view.policy)
        if self._chance < (float(found[1]) if found else START):
            return await super().turn(session, utterance)
        return "I do not know."


class SimulatedAgents:
    """Makes agents as able as they were told. Implements `GoldAgentFactory`.

    Args:
        name: Of the chain; two of different names have chances of their own.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def start_with_gold(self, task: Task) -> Agent:
        return _Able(task, Draw(task.task_id, 0, self.name).fraction("able"))

    async def close(self) -> None:
        return None
