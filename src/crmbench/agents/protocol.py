"""What an agent is: it owns its turn.

    class MyAgent:
        async def turn(self, session: Session, utterance: str) -> str:
            found = await session.call("client_search", {"name": "Acme"})
            return f"There are {found.value['total_count']}."

The session offers the tools and runs the calls, any number a turn; what `turn` returns is the
reply. One agent object serves one conversation and may keep what it likes in itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from crmbench.core.episode import Episode, ToolResult
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import TokenUsage

if TYPE_CHECKING:
    from crmbench.grading.record import EpisodeRecord

YIELD_EVERY = 8
"""Calls between two that yield to the event loop; to yield at each costs a tenth of a replay."""


class Session:
    """An agent's side of a conversation. It holds no ground truth and leads to none.

    Args:
        view: What the agent may know, or what makes it once it is asked for.
        call: Runs a tool.
        spend: Takes note of tokens.
    """

    def __init__(
        self,
        view: TaskView | Callable[[], TaskView],
        call: Callable[[Any, Any], ToolResult],
        spend: Callable[[TokenUsage], None],
    ) -> None:
        self._view = view
        self._call = call
        self._spend = spend
        self._made = 0

    @property
    def view(self) -> TaskView:
        """Who speaks, in which domain, on what day, with which rules and tools."""
        return self._view if isinstance(self._view, TaskView) else self._view()

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """Name, description and argument schema of each tool."""
        return self.view.tools

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
        """Run a tool. A refused call comes back with ``ok=False`` and the error as its value.

        Raises:
            AgentError: Far more calls were made in one turn than are allowed.
        """
        # An agent that does nothing but call must still let time limits and others have their turn.
        self._made += 1
        if self._made % YIELD_EVERY == 0:
            await asyncio.sleep(0)
        return self.call_now(name, arguments or {})

    def call_now(self, name: Any, arguments: Any) -> ToolResult:
        """The same without yielding to the event loop; for wrappers of agents."""
        return self._call(name, arguments)

    def spend(self, usage: TokenUsage) -> None:
        """Report tokens that a model used on this conversation."""
        self._spend(usage)


class Agent(Protocol):
    """Takes part in one conversation.

    It may also have ``observe(record)``, a coroutine function or not: told what came of the episode
    (`crmbench.grading.record.EpisodeRecord`) once it is graded. So may a factory.
    """

    async def turn(self, session: Session, utterance: str) -> str:
        """Answer what the user said, after any number of tool calls.

        Raises:
            AgentError: The agent cannot go on; the conversation counts as failed.
            InfrastructureError: Its model or server failed; the conversation does not count.
        """


class AgentFactory(Protocol):
    """Makes an agent for each conversation. Close it when the run is over."""

    @property
    def name(self) -> str: ...

    def start(self, task: TaskView, seed: int) -> Agent:
        """An agent for one conversation.

        Args:
            seed: For whatever the agent does at random; differs by task and trial.
        """

    async def close(self) -> None: ...


class GoldAgentFactory(Protocol):
    """Makes agents that follow the ground truth: the oracle and its mutants, nobody else."""

    @property
    def name(self) -> str: ...

    def start_with_gold(self, task: Task) -> Agent: ...

    async def close(self) -> None: ...


AnyFactory = AgentFactory | GoldAgentFactory


@runtime_checkable
class ConductingFactory(Protocol):
    """A factory that leads its conversations: it may reject an attempt, and learn between them."""

    async def conduct(
        self,
        view: TaskView,
        first_words: str,
        attempt: Callable[[str], Awaitable[EpisodeRecord]],
    ) -> EpisodeRecord:
        """The episode that counts.

        Args:
            first_words: What the user says first.
            attempt: Plays the conversation on a fresh episode, with a text that its agent is told
                after the house rules.
        """

    async def learn(self, record: EpisodeRecord) -> None:
        """Learn from the episode that counts, now that it is kept."""


@dataclass(frozen=True)
class SimpleFactory:
    """A factory from a function of the view and a seed."""

    name: str
    make: Callable[[TaskView, int], Agent]

    def start(self, task: TaskView, seed: int) -> Agent:
        return self.make(task, seed)

    async def close(self) -> None:
        return None


def session_for(episode: Episode) -> Session:
    """The agent's side of an episode."""

    def spend(usage: TokenUsage) -> None:
        episode.usage = episode.usage + usage

    return Session(lambda: episode.view, episode.call, spend)
