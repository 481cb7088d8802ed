"""The seat of an agent that is a program of its own: what it does, and the turns it is asked for.

Two sides meet here. The run asks for a turn and waits for a reply; the program asks for messages,
calls tools and replies, through whatever interface stands before the seat.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from crmbench.agents.protocol import Session
from crmbench.core.episode import ToolResult
from crmbench.core.task import TaskView
from crmbench.domains.registry import load_domain
from crmbench.errors import AgentError, CrmbenchError
from crmbench.seats.errors import BadRequest, Conflict, LimitReached
from crmbench.seats.seat import Heard, Offered, offered_tools

PATIENCE_S = 45.0
"""Seconds that a request waits for the user's next words before it says that there are none yet;
clients give up on requests that take longer than a minute."""
T = TypeVar("T")


class CommandSeat:
    """Implements `Seat`.

    Args:
        view: What the agent may know.
    """

    conversational = True

    def __init__(self, view: TaskView) -> None:
        self._view = view
        self._offered: tuple[Offered, ...] | None = None
        self._session: Session | None = None
        self._answer: asyncio.Future[str] | None = None
        self._news = asyncio.Event()
        self._over = False
        self.user: list[str] = []
        """What the user said so far."""
        self.agent: list[str] = []
        """What was answered."""
        self.calls = 0
        """Tool calls so far."""

    # --- the run's side -----------------------------------------------------------------------

    async def turn(self, session: Session, utterance: str) -> str:
        """Let the program hear what the user says, and wait for its answer.

        Raises:
            AgentError: It called tools far beyond the limit.
        """
        self._session = session
        self._answer = asyncio.get_running_loop().create_future()
        self.user.append(utterance)
        self._tell()
        try:
            return await self._answer
        finally:
            self._session = self._answer = None

    def say(self, text: str) -> None:
        """Answer for the program, which printed its answer."""
        if self._answer is not None and not self._answer.done():
            self.agent.append(text)
            self._answer.set_result(text)

    def end(self) -> None:
        """There are no further turns."""
        self._over = True
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # --- the program's side -------------------------------------------------------------------

    @property
    def view(self) -> TaskView:
        """The date, the house rules, the tools and who the user is."""
        return self._view

    @property
    def offered(self) -> tuple[Offered, ...]:
        """The tools that `call` runs."""
        if self._offered is None:
            self._offered = offered_tools(self._view.tools, load_domain(self._view.domain))
        return self._offered

    async def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool.

        Raises:
            Refused: It is not the agent's turn, or it called far too often.
        """
        session = self._session
        if session is None or self._answered:
            raise Conflict("It is not your turn: wait for the user with next_message.")
        self.calls += 1
        return await self._ours(session.call(name, arguments))

    async def _ours(self, calling: Awaitable[T]) -> T:
        """What goes wrong with a call ends the turn: the run says whose fault it is."""
        try:
            return await calling
        except CrmbenchError as error:
            if self._answer is not None and not self._answer.done():
                self._answer.set_exception(error)
            if isinstance(error, AgentError):
                raise LimitReached(f"The conversation was ended: you {error}.") from error
            raise

    def status(self) -> dict[str, Any]:
        """What was said so far. After a break of the session another program sits here, in a seat
        of its own, so nothing is to be forgotten."""
        return {
            "over": self._over,
            "calls": self.calls,
            "user": self.user,
            "agent": self.agent,
            "forgotten": 0,
        }

    async def next_message(self) -> Heard:
        """What the user says; waits for it for a while if the last words were answered."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while self._answered and not self._over:
                    await self._news.wait()
        except TimeoutError:
            return Heard(None, len(self.user))
        if self._over:
            return Heard(None, len(self.user), over=True)
        return Heard(self.user[-1], len(self.user))

    async def reply(self, text: Any) -> Heard:
        """Answer the user, and hear what they say next.

        Raises:
            Refused: It is no text, or the user is not waiting for an answer.
        """
        if not isinstance(text, str) or not text.strip():
            raise BadRequest("The reply is empty. Send what you say to the user as `text`.")
        if self._over or self._answered:
            raise Conflict("The user is not waiting for an answer.")
        self.say(text)
        return await self.next_message()

    @property
    def _answered(self) -> bool:
        return len(self.agent) >= len(self.user)
