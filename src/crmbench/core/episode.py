"""One episode: start, say, call, reply, finish. Every runner drives this one state machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crmbench.core.clock import WorldClock
from crmbench.core.domain import Domain
from crmbench.core.task import Task, TaskView, Turn
from crmbench.core.trace import (
    CallRecord,
    EpisodeTrace,
    Message,
    Outcome,
    TokenUsage,
    TurnTrace,
    json_safe,
)
from crmbench.core.world import Backend
from crmbench.errors import HarnessError, ToolError
from crmbench.language.refusals import asks

MAX_CALLS = 100
"""Tool calls a turn after which every further one is refused."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the agent gets back from a call."""

    ok: bool
    value: Any
    """The tool's JSON value; for a refused call the text of the error."""


class Episode:
    """A task being played.

    `say` gives the user's next words, `call` runs a tool, `reply` hands the turn back; when `say`
    returns None the conversation is over. `finish` returns the trace and frees the database, and
    must be called in any case (or use the episode as a context manager).
    """

    def __init__(
        self,
        domain: Domain,
        task: Task,
        backend: Backend,
        *,
        trial: int = 0,
        max_calls: int = MAX_CALLS,
    ) -> None:
        self.domain = domain
        self.task = task
        self.trial = trial
        self._backend = backend
        self._max_calls = max_calls
        self._world = domain.world(task.world)
        self._turns: list[TurnTrace] = []
        self._messages: list[Message] = []
        self._calls: list[CallRecord] = []
        self._asked = False
        self._waiting = False
        self.usage = TokenUsage()
        self.fault: HarnessError | None = None
        """Set when a tool broke, which is never the agent's failure."""
        self.database = backend.acquire(self._world)
        self.database.start(WorldClock(self._world.now, task.task_id))
        self._open = True
        try:
            if task.seed_data:
                domain.seed(self.database, task.seed_data)
                self.database.journal.clear()
        except Exception:
            self._free()
            raise
        self.handle = domain.handle(self.database)

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *_: object) -> None:
        self._free()

    @property
    def view(self) -> TaskView:
        """What the agent may know."""
        return TaskView(
            domain=self.domain.name,
            today=self._world.now.date().isoformat(),
            policy=self.domain.policy,
            tools=self.domain.toolbox.schemas,
            persona=self.task.persona,
        )

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
        clarification = turn.clarification
        text = clarification.answer if self._asked and clarification else turn.utterance
        self._messages.append(Message("user", text))
        self._waiting = True
        return text

    def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool. A refused call changes nothing and comes back with ``ok=False``."""
        if not self._waiting:
            raise HarnessError("call() outside a turn")
        record = self.execute(name, arguments)
        self._calls.append(record)
        return ToolResult(record.ok, record.result if record.ok else record.error)

    def reply(self, text: str) -> None:
        """The agent hands the turn back."""
        if not self._waiting:
            raise HarnessError("reply() outside a turn")
        self._messages.append(Message("assistant", text))
        self._waiting = False
        if self._user_will_answer(text):
            self._asked = True
        else:
            self._end_turn()

    def finish(self, outcome: Outcome = "finished", error: str | None = None) -> EpisodeTrace:
        """End the episode, also in the middle of a turn, and free its database."""
        if self._messages:
            self._end_turn(error)
        self._free()
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
        return asks(text, turn.clarification.about)

    def _end_turn(self, error: str | None = None) -> None:
        turn = self.task.turns[len(self._turns)]
        self._turns.append(
            TurnTrace(turn.turn_id, tuple(self._messages), tuple(self._calls), error)
        )
        self._messages = []
        self._calls = []
        self._asked = False
        self._waiting = False

    def execute(self, name: Any, arguments: Any) -> CallRecord:
        """Run a tool outside the conversation: no turn, no count. What `call` is built on."""
        database = self.database
        try:
            if len(self._calls) >= self._max_calls:
                raise ToolError(
                    f"No more than {self._max_calls} tool calls are allowed in one turn.", "limit"
                )
            tool = self.domain.toolbox.get(name)
            checked = tool.check(arguments)
        except ToolError as refused:
            return _refused(name, arguments, refused)
        database.begin_call()
        try:
            result = tool.function(self.handle, **checked)
        except ToolError as refused:
            database.undo_call()
            return _refused(name, arguments, refused)
        except Exception as error:
            database.undo_call()
            # Kept as well as raised: an agent might catch it and go on.
            self.fault = HarnessError(
                f"the tool {tool.name} broke: {type(error).__name__}: {error}"
            )
            raise self.fault from error
        changes = database.end_call()
        if changes and not tool.writes:
            self.fault = HarnessError(f"the tool {tool.name} is marked as reading and wrote")
            raise self.fault
        return CallRecord(tool.name, dict(arguments), True, result, None, None, tuple(changes))

    def _free(self) -> None:
        if self._open:
            self._open = False
            self.database.reset()
            self._backend.release(self._world, self.database)


def _refused(name: Any, arguments: Any, error: ToolError) -> CallRecord:
    kept = json_safe(arguments)
    return CallRecord(
        tool=str(json_safe(name)),
        arguments=dict(kept) if isinstance(kept, Mapping) else {"arguments": kept},
        ok=False,
        error=error.text,
        error_kind=error.kind,
    )
