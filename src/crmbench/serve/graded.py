"""A task that somebody's agent plays over the network, and is graded on as in any run."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.episode import Episode, ToolResult, view_of
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import CallRecord, EpisodeTrace, Outcome
from crmbench.errors import AgentError, HarnessError
from crmbench.grading.verdict import EpisodeVerdict
from crmbench.runner.play import UNFINISHED
from crmbench.seats.errors import BadRequest, Conflict, LimitReached
from crmbench.seats.seat import Heard
from crmbench.serve.salesforce_tools import call_salesforce
from crmbench.serve.session import ServedSession, speaks_salesforce
from crmbench.serve.tokens import Grant

Judge = Callable[[EpisodeTrace, float], EpisodeVerdict]
"""Grades an episode that took so many seconds, and keeps it; it is on disk when this returns."""


API = "salesforce_api"
"""What a request through Salesforce's own interfaces is called in a trace."""


class GradedSession(ServedSession):
    """One task being played. A `Seat`: what its token opens holds no ground truth.

    What is done through other interfaces than the tools, such as Salesforce's, is part of the
    turn in which it is done: each request is a call of it, with what it changed.

    Args:
        name: Its id.
        grant: What its token may do.
        token: Opens it.
        task: What is played, gold included; only `judge` looks at that.
        episode: The task being played, opened by whoever makes the session and owned by it.
        judge: Grades and keeps the episode at its end.
        max_requests: After which it takes no further one.
        agent: Who plays, for reports.
        salesforce_tools: Whether the agent has Salesforce's tools beside the task's own.
    """

    conversational = True

    def __init__(
        self,
        name: str,
        grant: Grant,
        token: str,
        task: Task,
        episode: Episode,
        judge: Judge,
        max_requests: int,
        agent: str,
        *,
        salesforce_tools: bool = False,
    ) -> None:
        super().__init__(name, grant, token, episode.sandbox, max_requests)
        self.task = task
        self.agent = agent
        self.salesforce_tools = salesforce_tools and speaks_salesforce(episode.sandbox)
        self.verdict: EpisodeVerdict | None = None
        """What it is worth, once it is over. For whoever runs the server, not for the agent."""
        self.calls = 0
        """Calls so far, of tools and through other interfaces."""
        self._episode = episode
        self._judge = judge
        self._domain: Domain = episode.domain
        self._started = perf_counter()
        self._turns_done = 0
        self._mark = 0
        self._forgotten = 0
        self._said: list[str] = []
        self._heard: list[Heard] = []
        self._hear()

    # --- the agent's side ---------------------------------------------------------------------

    @property
    def view(self) -> TaskView:
        """What the agent may know; made when it is asked for, for it is large."""
        return view_of(self._domain, self._episode.task)

    @property
    def begun(self) -> bool:
        """Whether the agent has done anything yet."""
        return bool(self.calls or self._said)

    @property
    def over(self) -> bool:
        """Whether the conversation has ended."""
        return self.verdict is not None

    async def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool. A refused call comes back with ``ok=False`` and the error as its value.

        Raises:
            Refused: The conversation is over, or far too many calls were made in this turn.
            HarnessError: The tool broke; the session is over and its episode does not count.
        """
        async with self.hold():
            self.calls += 1
            if self.is_salesforce_tool(name) and not self._episode.at_limit:
                record = call_salesforce(self.org, name, arguments)
                self._episode.note(record)
                return ToolResult(record.ok, record.result if record.ok else record.error)
            try:
                return self._episode.call(name, arguments)
            except AgentError as error:
                self._end("agent_error", str(error))
                raise LimitReached(f"The conversation was ended: you {error}.") from error
            except HarnessError as error:
                self._end("infrastructure", str(error))
                raise

    async def next_message(self) -> Heard:
        """What the user says; the same until it was answered."""
        return self._heard[-1]

    async def reply(self, text: Any) -> Heard:
        """Answer the user, and hear what they say next.

        At the end of the conversation the verdict is on disk before this returns.

        Raises:
            Refused: It is no text, or the conversation is over.
        """
        if not isinstance(text, str) or not text.strip():
            raise BadRequest("The reply is empty. Send what you say to the user as `text`.")
        async with self.hold():
            self._episode.reply(text)
            self._said.append(text)
            return self._hear()

    def status(self) -> dict[str, Any]:
        """Where the conversation is: what was said, and how many calls were made."""
        return {
            "over": self.over,
            "calls": self.calls,
            "user": [heard.message for heard in self._heard if heard.message is not None],
            "agent": list(self._said),
            "forgotten": self._forgotten,
        }

    # --- the server's side --------------------------------------------------------------------

    def before_request(self, what: str | None) -> None:
        """See that the conversation goes on, and that the turn may have another call.

        Raises:
            Refused: It does not, or may not.
        """
        if self.over:
            raise Conflict("The conversation is over.")
        super().before_request(what)
        if what is not None:
            if self._episode.at_limit:
                raise LimitReached("No more calls are allowed in this turn; reply to the user.")
            self._mark = len(self.sandbox.database.journal)

    def after_request(self, what: str | None, error: BaseException | None = None) -> None:
        """Take down what was done by another way than the tools."""
        if what is None or self.over:
            return
        self.calls += 1
        method, _, path = what.partition(" ")
        changes = tuple(self.sandbox.database.journal[self._mark :])
        arguments = {"method": method, "path": path}
        refused = None if error is None else str(error)
        self._episode.note(
            CallRecord(API, arguments, error is None, None, refused, changes=changes)
        )

    def abandon(self, outcome: Outcome = "agent_error", why: str = UNFINISHED) -> None:
        """End it where it is, and grade it so; does nothing if it is over."""
        if not self.over:
            self._end(outcome, why)

    def close(self) -> None:
        """Free the database; a conversation that has not ended leaves no verdict."""
        if not self.over:
            self._episode.finish()

    def _hear(self) -> Heard:
        done = self._episode.turns_done
        broken = any(self._turns_done < turn <= done for turn in self._episode.task.breaks)
        self._turns_done = done
        message = self._episode.say()
        if broken:
            self._forgotten = len(self._heard)
        if message is None:
            self._end("finished", None)
        else:
            self._heard.append(Heard(message, len(self._heard) + 1, forgotten=broken))
        return self._heard[-1]

    def _end(self, outcome: Outcome, error: str | None) -> None:
        seconds = perf_counter() - self._started
        trace = self._episode.finish(outcome, error)
        self._heard.append(Heard(None, len(self._heard), over=True))
        self.verdict = self._judge(trace, seconds)
