"""A simulated agent whose n50 is known: it follows the gold and slips each item with probability p.

A task of n items it passes with probability (1 - p) ** n, so half are passed at n = ln 2 / p.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Agent, Session
from crmbench.core.conditions.base import Draw
from crmbench.core.task import GoldCall, GoldItem, Path, Task
from crmbench.core.trace import CallRecord
from crmbench.errors import InputError


class Slipping(Oracle):
    """Leaves out the calls of the items that it slips; one that is to be left alone it treats like
    another. A task without items has one for each call.
    """

    def __init__(self, task: Task, rate: float, seed: int = 0) -> None:
        self._draw = Draw(task.task_id, seed, f"slip {rate}")
        self._rate = rate
        self._items = task.gold.items
        path = Path(tuple(self._calls(task, turn) for turn in range(len(task.turns))), "slipped")
        super().__init__(task, path)
        self._wrong = {turn: list(self._mistaken(task, turn)) for turn in range(len(task.turns))}

    async def turn(self, session: Session, utterance: str) -> str:
        number = len(self._done)
        reply = await super().turn(session, utterance)
        for call in self._wrong[number]:
            await session.call(call.tool, dict(call.arguments))
        return reply

    async def _make(self, session: Session, call: GoldCall, made: list[CallRecord]) -> CallRecord:
        if call.tool == "":
            return CallRecord("", {}, False, error="slipped")
        return await super()._make(session, call, made)

    def _calls(self, task: Task, turn: int) -> tuple[GoldCall, ...]:
        """A turn's calls, those that are left out as empty ones: references count places."""
        return tuple(
            GoldCall("", {}) if self._is_left_out(call, turn, place) else call
            for place, call in enumerate(task.gold.turns[turn].calls)
        )

    def _is_left_out(self, call: GoldCall, turn: int, place: int) -> bool:
        if not self._items:
            return self._slips(f"{turn}.{place}")
        return any(item.turn == turn + 1 and self._slips(item.key) for item in self._of(call))

    def _mistaken(self, task: Task, turn: int) -> Iterator[GoldCall]:
        """Calls on items that are to be left alone: another item's, with this one's key."""
        calls = task.gold.turns[turn].calls
        acted = {item.key for call in calls for item in self._of(call)}
        # The last one named: of a merger the case that goes, which goes into no second one.
        pattern = next(((call, of[-1]) for call in calls if (of := self._of(call))), None)
        for item in self._items:
            if item.turn == turn + 1 and item.key not in acted and self._slips(item.key):
                if pattern is None or not item.records:
                    continue
                call, other = pattern
                old, new = other.records[0][1], item.records[0][1]
                given = {name: _with(v, old, new) for name, v in call.arguments.items()}
                yield GoldCall(call.tool, given)

    def _of(self, call: GoldCall) -> list[GoldItem]:
        """The items that a call is on, in the order in which its arguments name their records."""
        return [
            item
            for named in _named(call)
            for item in self._items
            if any(key == named for _, key in item.records)
        ]

    def _slips(self, key: str) -> bool:
        return self._draw.fraction(key) < self._rate


def _named(call: GoldCall) -> Iterator[str]:
    """The texts among a call's arguments, those in lists too."""
    for value in call.arguments.values():
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, str):
                yield each


def _with(value: Any, old: str, new: str) -> Any:
    """An argument with one key in place of another, in a list too."""
    if isinstance(value, list | tuple):
        return [_with(each, old, new) for each in value]
    return new if value == old else value


class SlipFactory:
    """Makes agents that slip. Implements `GoldAgentFactory`.

    Args:
        rate: The chance of a slip, 0 to 1, as text.

    Raises:
        InputError: It is none.
    """

    def __init__(self, rate: str) -> None:
        try:
            self._rate = float(rate)
        except ValueError:
            self._rate = -1.0
        if not 0 <= self._rate <= 1:
            raise InputError(f"'{rate}' is no rate of slips", expected="such as slip:0.02, 0 to 1")
        self.name = f"slip:{rate}"

    def start_with_gold(self, task: Task) -> Agent:
        return Slipping(task, self._rate)

    async def close(self) -> None:
        return None
