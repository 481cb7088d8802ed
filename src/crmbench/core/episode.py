"""One episode: start, say, call, reply, finish. Every runner drives this one state machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from crmbench.core.database import Database
from crmbench.core.domain import Domain
from crmbench.core.sandbox import Conditions, Sandbox, refusal
from crmbench.core.task import Task, TaskView, Turn
from crmbench.core.trace import (
    NO_USAGE,
    CallRecord,
    EpisodeTrace,
    Message,
    Outcome,
    TurnTrace,
    plain_text,
)
from crmbench.core.world import Backend
from crmbench.errors import AgentError, HarnessError, ToolError

MAX_CALLS = 100
"""Tool calls a turn after which every further one is refused."""
MAX_REFUSED = 100
"""Calls refused past that limit after which the turn ends, as the agent's failure."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the agent gets back from a call."""

    ok: bool
    value: Any
    """The tool's JSON value; for a refused call the text of the error."""


class Episode:
    """A task being played: a sandbox with a conversation.

    `say` gives the user's next words, `call` runs a tool, `reply` hands the turn back; when `say`
    returns None the conversation is over. `finish` returns the trace and frees the database, and
    must be called in any case (or use the episode as a context manager).

    Args:
        domain: Whose tools the agent has.
        task: What is played.
        backend: Who lends the copy of the task's world.
        trial: Counted from 0.
        max_calls: Tool calls a turn; further ones are refused, and past `MAX_REFUSED` of these
            `call` raises.
        conditions: What stands between the agent and the tools.

    Raises:
        InputError: A record of the task's seed data breaks a rule of the domain.
    """

    def __init__(
        self,
        domain: Domain,
        task: Task,
        backend: Backend,
        *,
        trial: int = 0,
        max_calls: int = MAX_CALLS,
        conditions: Conditions | None = None,
    ) -> None:
        self.domain = domain
        self.task = task
        self.trial = trial
        self._max_calls = max_calls
        self._turns: list[TurnTrace] = []
        self._messages: list[Message] = []
        self._calls: list[CallRecord] = []
        self._over_limit = 0
        self._asked = False
        self._waiting = False
        self.usage = NO_USAGE
        self._spent_before = self.usage
        self.sandbox = Sandbox(
            domain,
            domain.world(task.world),
            backend,
            seed=task.task_id,
            seed_data=task.seed_data,
            conditions=conditions,
        )

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.close()

    @property
    def database(self) -> Database:
        """The sandbox's database."""
        return self.sandbox.database

    @property
    def fault(self) -> HarnessError | None:
        """Set when a tool broke, which is never the agent's failure."""
        return self.sandbox.fault

    @cached_property
    def view(self) -> TaskView:
        """What the agent may know; its own, to do with as it likes."""
        return view_of(self.domain, self.task)

    @property
    def turns_done(self) -> int:
        """Turns that are over."""
        return len(self._turns)

    @property
    def last_turn(self) -> TurnTrace | None:
        """The turn that ended last; None before the first has."""
        return self._turns[-1] if self._turns else None

    def say(self) -> str | None:
        """The user's next words, or None when the user has nothing more to say.

        Raises:
            HarnessError: The agent has not answered the last words yet.
        """
        if self._waiting:
            raise HarnessError("say() before the agent replied to the last utterance")
        turn = self._turn()
        if turn is None:
            return None
        # At the first words of a turn only: the answer to a question belongs to the same moment.
        if self.sandbox.conditions is not None and not self._messages:
            self.sandbox.conditions.between(self.sandbox, len(self._turns) + 1)
        clarification = turn.clarification
        text = clarification.answer if self._asked and clarification else turn.utterance
        self._messages.append(Message("user", text))
        self._waiting = True
        return text

    def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool. A refused call changes nothing and comes back with ``ok=False``.

        Raises:
            AgentError: `MAX_REFUSED` calls were refused past the limit: the agent is in a loop.
            HarnessError: No turn has begun, or the tool broke.
        """
        record = self.call_record(name, arguments)
        # A copy, for what the agent does to its result must not reach the record.
        value = orjson.loads(orjson.dumps(record.result)) if record.ok else record.error
        return ToolResult(record.ok, value)

    def call_record(self, name: Any, arguments: Any) -> CallRecord:
        """`call` with the record itself, which is part of the trace and not to be changed.

        Raises:
            AgentError: As `call`.
            HarnessError: As `call`.
        """
        if not self._waiting:
            raise HarnessError("call() outside a turn")
        if len(self._calls) >= self._max_calls:
            return self._refuse_over_limit(name, arguments)
        record = self.execute(name, arguments)
        self._calls.append(record)
        return record

    @property
    def calls_left(self) -> int:
        """How many more calls this turn may have; a condition may allow fewer."""
        return max(0, self._max_calls - len(self._calls))

    @property
    def at_limit(self) -> bool:
        """Whether this turn has had as many calls as it may."""
        return len(self._calls) >= self._max_calls

    def note(self, record: CallRecord) -> None:
        """Take down as a call of this turn what was done in the sandbox by another way than its
        tools, such as an interface of its own. Its changes are the agent's, like any call's.

        Raises:
            HarnessError: No turn has begun.
        """
        if not self._waiting:
            raise HarnessError("note() outside a turn")
        self._calls.append(record)

    def _refuse_over_limit(self, name: Any, arguments: Any) -> CallRecord:
        """Refuse a call past the limit: the first is recorded, the others are counted."""
        text = f"No more than {self._max_calls} tool calls are allowed in one turn."
        refused = refusal(name, arguments, ToolError(text, "limit"))
        self._over_limit += 1
        # An agent in a loop asks for millions: they would fill memory and the run's files.
        if self._over_limit == 1:
            self._calls.append(refused)
        if self._over_limit > MAX_REFUSED:
            raise AgentError(
                f"called tools {MAX_REFUSED} times past the limit of {self._max_calls} a turn"
            )
        return refused

    def reply(self, text: str) -> None:
        """The agent hands the turn back.

        Raises:
            HarnessError: No turn has begun.
        """
        if not self._waiting:
            raise HarnessError("reply() outside a turn")
        # Anybody's reply: a lone surrogate could not be written to any file, and would end the run.
        self._messages.append(Message("assistant", plain_text(text)))
        self._waiting = False
        if self._user_will_answer(text):
            self._asked = True
        else:
            self._end_turn()

    def finish(self, outcome: Outcome = "finished", error: str | None = None) -> EpisodeTrace:
        """End the episode, also in the middle of a turn, and free its database."""
        if self._messages:
            self._end_turn(error)
        self.sandbox.close()
        return EpisodeTrace(
            self.task.task_id, self.trial, tuple(self._turns), outcome, error, self.usage
        )

    def _turn(self) -> Turn | None:
        done, turns = len(self._turns), self.task.turns
        return turns[done] if done < len(turns) else None

    def _user_will_answer(self, text: str) -> bool:
        turn = self._turn()
        if turn is None or turn.clarification is None or self._asked:
            return False
        # Imported for the few users who answer questions: its patterns take long to compile.
        from crmbench.language.questions import asks

        return asks(text, turn.clarification.about)

    def _end_turn(self, error: str | None = None) -> None:
        turn = self.task.turns[len(self._turns)]
        if self._over_limit > 1:
            last = self._calls[-1]
            self._calls[-1] = replace(last, error=f"{last.error} Refused {self._over_limit} times.")
        self._turns.append(
            TurnTrace(
                turn.turn_id,
                tuple(self._messages),
                tuple(self._calls),
                error,
                usage=self.usage.since(self._spent_before),
            )
        )
        self._spent_before = self.usage
        self._messages = []
        self._calls = []
        self._over_limit = 0
        self._asked = False
        self._waiting = False

    def execute(self, name: Any, arguments: Any) -> CallRecord:
        """Run a tool outside the conversation: no turn, no count. What `call` is built on."""
        return self.sandbox.call(name, arguments)


def view_of(domain: Domain, task: Task) -> TaskView:
    """What an agent, and so a judge, may know of a task."""
    world = domain.world(task.world)
    return TaskView(
        domain=domain.name,
        today=world.now.date().isoformat(),
        policy=f"{domain.policy.rstrip()}\n\n{world.about}\n" if world.about else domain.policy,
        tools=domain.toolbox.schemas,
        persona=task.persona,
    )
