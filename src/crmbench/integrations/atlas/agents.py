"""``crmbench run --agent atlas``: the library leads a run's conversations, and learns between them.

A run plays its conversations one after the other. What was learnt is kept in the run's
``atlas.json`` as each conversation ends, and read again by ``--resume``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from crmbench.agents.protocol import Agent, AgentFactory
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage, usage_data
from crmbench.errors import HarnessError, InfrastructureError, InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.integrations.atlas.learner import AtlasLearner
from crmbench.learning.asker import Asker
from crmbench.learning.feedback import seen_turns
from crmbench.learning.protocol import Experience, LearnerContext, RecallView
from crmbench.learning.told import told
from crmbench.models import Limits, open_model
from crmbench.models.base import Model
from crmbench.models.prices import Prices
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import open_participants

MEMORY = 2000
"""Tokens of what a student is told, as in ``crmbench learn``."""
KEPT = "atlas.json"


class AtlasAgents:
    """Agents that the library leads. Implements `AgentFactory` and `ConductingFactory`.

    Args:
        inner: Makes the students.
        model: Asked by teacher and learner; closed with the agents.
        argument: ``postgres`` keeps the library's telemetry.
        kept: The file for what was learnt; None: it is forgotten.
        resume: Go on with what the file holds.
    """

    def __init__(
        self,
        inner: AgentFactory,
        model: Model,
        argument: str = "",
        kept: Path | None = None,
        *,
        resume: bool = False,
    ) -> None:
        self.name = "atlas"
        self._inner = inner
        self._model = model
        self._ask = Asker(model, Prices.builtin())
        key = f"run:{kept.parent.resolve().name if kept else 'run'}"
        self._learner = AtlasLearner(LearnerContext(argument, self._ask, key=key))
        self._kept = kept
        self._before: dict[str, TokenUsage] = {}
        if resume and kept is not None and kept.exists():
            data = orjson.loads(kept.read_bytes())
            self._learner.restore(data["learner"])
            self._learner.counts = data["counts"]
            self._before = {role: _usage(spent) for role, spent in data["spent"].items()}
        self._view: RecallView | None = None
        self._told = ""

    def start(self, task: TaskView, seed: int) -> Agent:
        """A student for one attempt."""
        return self._inner.start(task, seed)

    async def conduct(
        self,
        view: TaskView,
        first_words: str,
        attempt: Callable[[str], Awaitable[EpisodeRecord]],
    ) -> EpisodeRecord:
        """The last attempt, with the tokens of all; one that does not count if a server failed."""
        self._view = RecallView(view.domain, view.today, view.persona, first_words)
        played: list[EpisodeRecord] = []

        async def counted(text: str) -> EpisodeRecord:
            self._told = text
            played.append(await attempt(told(text, MEMORY)))
            if not played[-1].verdict.counted:
                raise InfrastructureError(played[-1].trace.error or "the attempt does not count")
            return played[-1]

        try:
            await self._learner.conduct(self._view, MEMORY, counted)
        except InfrastructureError as error:
            if not played:
                raise
            verdict = replace(played[-1].verdict, counted=False, reason=str(error))
            played[-1] = replace(played[-1], verdict=verdict)
        usage = sum((record.trace.usage for record in played), TokenUsage())
        return replace(played[-1], trace=replace(played[-1].trace, usage=usage))

    async def learn(self, record: EpisodeRecord) -> None:
        """Have the library learn from the verdict, and keep what it knows then."""
        if self._view is None or not record.verdict.counted:
            return
        turns, success = seen_turns(record), record.verdict.success
        await self._learner.observe(Experience(self._view, self._told, turns, success))
        if self._kept is not None:
            data = {
                "learner": self._learner.snapshot(),
                "counts": self._learner.counts,
                "spent": {role: usage_data(usage) for role, usage in self.spent.items()},
            }
            temporary = self._kept.with_name(f"{KEPT}.part")
            temporary.write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n")
            temporary.replace(self._kept)

    @property
    def spent(self) -> dict[str, TokenUsage]:
        """Tokens of teacher and learner by role, those of earlier sittings included."""
        roles = {**self._before, **self._ask.spent}
        nothing = TokenUsage()
        return {
            role: self._before.get(role, nothing) + self._ask.spent.get(role, nothing)
            for role in roles
        }

    async def close(self) -> None:
        """Close the library's relay and tables, and both models."""
        await self._learner.close()
        await self._model.close()
        await self._inner.close()


def _usage(data: dict[str, Any]) -> TokenUsage:
    return TokenUsage(**{name: value for name, value in data.items() if name != "total_tokens"})


def open_atlas_agents(options: RunOptions, out: Path | None) -> AtlasAgents:
    """The agents of a run whose options name ``atlas``.

    Raises:
        InputError: No model is named, or the model cannot be opened.
    """
    if options.model is None:
        raise InputError("the agent 'atlas' needs a model", expected="--model NAME")
    students = open_participants(
        replace(options, agent="function_calling", user=None, judge=None, keep_raw=False), None
    ).agents
    if hasattr(students, "start_with_gold"):
        raise HarnessError("a model was asked for, and something that follows the gold came")
    limits = Limits(
        requests_per_minute=options.requests_per_minute, tokens_per_minute=options.tokens_per_minute
    )
    return AtlasAgents(
        students,
        open_model(options.model, limits=limits),
        options.agent.partition(":")[2],
        out / KEPT if out else None,
        resume=options.resume,
    )
