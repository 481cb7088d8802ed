"""The oracle follows the gold: its score on a valid task is exactly 1.

It exists to test tasks, not agents, and is the one agent that is given the ground truth.
"""

from __future__ import annotations

import random

from crmbench.agents.protocol import Agent, Session
from crmbench.core.task import GoldCall, GoldTurn, Path, Task
from crmbench.core.trace import CallRecord
from crmbench.grading.gold import ReferenceFault, resolve_references
from crmbench.grading.phrasing.variants import realise


class Oracle:
    """Replays a path and says what the gold wants said."""

    def __init__(self, task: Task, path: Path | None = None) -> None:
        self._gold = task.gold
        self._paths = path.turns if path else tuple(turn.calls for turn in task.gold.turns)
        self._done: list[list[CallRecord]] = []

    async def turn(self, session: Session, utterance: str) -> str:
        del utterance
        number = len(self._done)
        made: list[CallRecord] = []
        for call in self._paths[number]:
            made.append(await self._make(session, call, made))
        self._done.append(made)
        return self.answer(self._gold.turns[number], made)

    async def _make(self, session: Session, call: GoldCall, made: list[CallRecord]) -> CallRecord:
        try:
            arguments = resolve_references(call.arguments, [*self._done, made])
        except ReferenceFault as fault:
            return CallRecord(call.tool, dict(call.arguments), False, error=str(fault))
        result = await session.call(call.tool, arguments)
        value = result.value
        if result.ok:
            return CallRecord(call.tool, arguments, True, value)
        return CallRecord(call.tool, arguments, False, error=value)

    def answer(self, gold: GoldTurn, made: list[CallRecord]) -> str:
        """A reply that conveys what the turn requires, in plain words."""
        del made
        told = []
        if gold.facts:
            rng = random.Random(0)
            told = [realise(fact, rng) for fact in gold.facts]
        if not gold.expect_success:
            reason = f": {gold.refusal_reasons[0]}" if gold.refusal_reasons else ""
            told.insert(0, f"I could not do that{reason}.")
        if gold.answer is not None:
            told.append(gold.answer.said)
        return "\n".join(told) or ("Done." if gold.calls else "Nothing was changed.")


class OracleFactory:
    """Makes oracles. Implements `GoldAgentFactory`."""

    name = "oracle"

    def start_with_gold(self, task: Task) -> Agent:
        return Oracle(task)

    async def close(self) -> None:
        return None
