"""Agents written in Python: ``--agent module:factory``.

They play in a thread of their own, so that one that loops or blocks can be timed out, and one that
exits ends nothing but its own conversation. Agents with an ``async def turn`` share one thread and
its event loop, as clients that are shared between conversations need it; an agent with a plain
``def turn`` has a thread to itself and may block as it likes.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast

from crmbench.agents.protocol import Session
from crmbench.agents.thread import AgentThread, in_loop
from crmbench.core.episode import ToolResult
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage
from crmbench.errors import AgentError, InputError
from crmbench.grading.record import EpisodeRecord

EXPECTED = "module:name of a class or function that returns an object with a `turn` method"
LOOK_S = 1.0
"""Seconds a turn is waited for before somebody looks whether the agents' event loop goes round."""

log = logging.getLogger("crmbench")


def load(spec: str) -> PythonAgents:
    """The factory that ``module:name`` or ``path/to/file.py:name`` names.

    It is called with the `TaskView` if it takes an argument, else with nothing.

    Raises:
        InputError: There is no such module or name, or it makes no agent.
    """
    module_name, colon, attribute = spec.rpartition(":")
    if not (colon and module_name and attribute):
        raise InputError(f"'{spec}' names no agent", expected=EXPECTED)
    made = getattr(_module(module_name, spec), attribute, None)
    if not callable(made):
        raise InputError(f"{module_name} has no callable '{attribute}'", expected=EXPECTED)
    return PythonAgents(made, spec)


def class_in(path: Path) -> str:
    """The name of the first class with a method `turn` in a file, which is not run; `MyAgent`
    where there is none.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return "MyAgent"
    for made in tree.body:
        if isinstance(made, ast.ClassDef) and any(
            getattr(part, "name", None) == "turn" for part in made.body
        ):
            return made.name
    return "MyAgent"


def _module(name: str, spec: str) -> Any:
    path = Path(name)
    # As `python -m` does: the working directory is where people keep their agents.
    for place in (str(Path.cwd()), str(path.parent.resolve()) if path.suffix == ".py" else ""):
        if place and place not in sys.path:
            sys.path.insert(0, place)
    try:
        return importlib.import_module(path.stem if path.suffix == ".py" else name)
    except ImportError as error:
        raise InputError(
            f"agent '{spec}' cannot be imported: {error}", expected=EXPECTED
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"agent '{spec}' cannot be imported: {type(error).__name__}: {error}"
        ) from error


class PythonAgents:
    """Makes agents by calling a class or function. Implements `AgentFactory`.

    Args:
        made: Called for each conversation, with the `TaskView` if it takes an argument.
        name: What reports call the agent.
    """

    def __init__(self, made: Callable[..., Any], name: str) -> None:
        self.name = name
        self._made = made
        self._thread: AgentThread | None = None
        self._first: tuple[TaskView, PythonAgent] | None = None
        self._warned = False
        # Whether `turn` is a plain function; of what a function makes, known once one was made.
        turn = getattr(made, "turn", None) if inspect.isclass(made) else None
        self._is_plain = turn is not None and not inspect.iscoroutinefunction(turn)

    def start(self, task: TaskView, seed: int) -> PythonAgent:
        """An agent, of which nothing runs before its first turn."""
        del seed
        first, self._first = self._first, None
        if first is not None and first[0] == task:
            return first[1]
        return PythonAgent(self, task, own_thread=self._is_plain)

    async def try_one(self, view: TaskView, time_limit: float | None) -> None:
        """Make one agent before a run begins; it plays the first conversation that it fits.

        Raises:
            InputError: It cannot be made, or has no `turn`.
        """
        agent = PythonAgent(self, view, own_thread=self._is_plain)
        try:
            async with asyncio.timeout(time_limit):
                await agent.make()
        except TimeoutError:
            reason = f"took longer than {time_limit} s to be made"
        except Exception as error:
            text = str(error)
            reason = text if isinstance(error, AgentError) else f"{type(error).__name__}: {text}"
        else:
            self._first = (view, agent)
            self._is_plain = agent.is_plain
            return
        raise InputError(f"the agent '{self.name}' cannot be made: {reason}", expected=EXPECTED)

    async def observe(self, record: EpisodeRecord) -> None:
        """Hand what came of an episode to the factory, if it is an object that wants to hear it."""
        if not inspect.isclass(self._made):
            await _observe(self._made, record, self.shared())

    async def close(self) -> None:
        """Let the agents' thread end."""
        if self._thread is not None:
            self._thread.stop()

    def shared(self) -> AgentThread:
        """The thread that agents share."""
        if self._thread is None:
            self._thread = AgentThread()
        return self._thread

    def give_up(self, thread: AgentThread) -> None:
        """Let agents that are still to be made share another thread."""
        if thread is self._thread:
            self._thread = None

    def build(self, view: TaskView) -> Any:
        """Call the class or function; in an agent's thread.

        Raises:
            AgentError: What it makes has no `turn`, or making it failed.
        """
        agent = self._made(view) if self._takes_view() else self._made()
        if not callable(getattr(agent, "turn", None)):
            raise AgentError(f"'{self.name}' makes an object without a `turn` method")
        return agent

    def _takes_view(self) -> bool:
        try:
            return bool(inspect.signature(self._made).parameters)
        except ValueError:
            return False

    def warn_of(self, agent: object) -> None:
        """Say once that an agent blocks."""
        if not self._warned:
            self._warned = True
            who = self.name if isinstance(agent, PythonAgent) else f"something in {self.name}"
            log.warning(
                "the agent %s blocks its event loop, so conversations wait for each other: await "
                "what takes long, or write a plain `def turn`, which has a thread to itself",
                who,
            )


class PythonAgent:
    """One conversation of an agent from somebody's code. Implements `Agent`."""

    def __init__(self, factory: PythonAgents, view: TaskView, *, own_thread: bool) -> None:
        self._factory = factory
        self._view = view
        self._own_thread = own_thread
        self._thread = AgentThread() if own_thread else factory.shared()
        self._agent: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether its `turn` is a plain function."""
        return not inspect.iscoroutinefunction(self._agent.turn)

    async def make(self) -> None:
        """Build the agent in its thread, unless that is done."""
        if self._agent is None:
            self._agent = await self._thread.do(self._build, self)

    async def turn(self, session: Session, utterance: str) -> str:
        """Take the turn in the agent's thread.

        Raises:
            AgentError: It called tools far past the limit.
            Exception: What it raised.
        """
        ours = _Calls(session)
        working = asyncio.ensure_future(self._turn(ours, utterance))
        # What it raises after it was given up is nobody's business.
        working.add_done_callback(lambda done: done.cancelled() or done.exception())
        stuck = asyncio.ensure_future(ours.stuck.wait())
        try:
            while not working.done():
                await asyncio.wait(
                    {working, stuck}, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED
                )
                if stuck.done() and not working.done():
                    raise AgentError(ours.why)
                if not working.done() and not self._own_thread:
                    await self._look()
            return await working
        finally:
            ours.over = True
            stuck.cancel()
            working.cancel()

    async def _turn(self, calls: _Calls, utterance: str) -> str:
        await self.make()
        return await self._thread.do(lambda: self._answer(calls, utterance), self)

    async def _build(self) -> Any:
        return self._factory.build(self._view)

    async def _answer(self, calls: _Calls, utterance: str) -> str:
        if inspect.iscoroutinefunction(self._agent.turn):
            return cast(str, await self._agent.turn(AgentSession(calls), utterance))
        reply = self._agent.turn(PlainSession(calls), utterance)
        return cast(str, await reply if inspect.isawaitable(reply) else reply)

    async def _look(self) -> None:
        if not await self._thread.answers():
            self._factory.warn_of(self._thread.blocker())

    async def blocked_by(self) -> Literal["itself", "another"] | None:
        """Who blocks the agent's thread at this moment; for when a time limit was met.

        Whoever it is, no further agent is to share that thread.
        """
        if await self._thread.answers():
            return None
        self._factory.give_up(self._thread)
        blocker = self._thread.blocker()
        self._factory.warn_of(blocker)
        return "itself" if self._own_thread or blocker in (None, self) else "another"

    async def observe(self, record: EpisodeRecord) -> None:
        """Hand what came of the episode to the agent, if it wants to hear it."""
        if self._agent is not None:
            await _observe(self._agent, record, self._thread)

    def leave(self) -> None:
        """The conversation is over, and so is the thread if it was the agent's own."""
        if self._own_thread:
            self._thread.stop()


async def _observe(listener: object, record: EpisodeRecord, thread: AgentThread) -> None:
    observe = getattr(listener, "observe", None)
    if not callable(observe):
        return

    async def tell() -> None:
        heard = observe(record)
        if inspect.isawaitable(heard):
            await heard

    await thread.do(tell, listener)


class _Calls:
    """The way from an agent's thread to its episode, which belongs to the thread that plays."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.main = asyncio.get_running_loop()
        self.over = False
        self.stuck = asyncio.Event()
        """Set when the agent has called so often that its turn is to end."""
        self.why = ""

    async def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool; in the thread that plays."""
        if self.over:
            raise AgentError("the turn is over, and a tool was called")
        try:
            return await self.session.call(name, arguments)
        except AgentError as error:
            self.why = str(error)
            self.stuck.set()
            raise

    def spend(self, usage: TokenUsage) -> None:
        """Report tokens; from the agent's thread."""
        if not isinstance(usage, TokenUsage):
            raise TypeError(f"spend() takes a TokenUsage, not {type(usage).__name__}")
        self.main.call_soon_threadsafe(self.session.spend, usage)


class AgentSession(Session):
    """A session for an agent that lives in another thread than its episode."""

    def __init__(self, calls: _Calls) -> None:
        super().__init__(lambda: calls.session.view, self._wait, calls.spend)
        self._calls = calls

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
        """Run a tool. A refused call comes back with ``ok=False`` and the error as its value."""
        return await in_loop(self._calls.main, self._calls.call(name, arguments or {}))

    def _wait(self, name: Any, arguments: Any) -> ToolResult:
        work = self._calls.call(name, arguments)
        return asyncio.run_coroutine_threadsafe(work, self._calls.main).result()


class PlainSession:
    """What a plain ``def turn`` gets: as `Session`, but `call` gives the result without `await`."""

    def __init__(self, calls: _Calls) -> None:
        self._session = AgentSession(calls)

    @property
    def view(self) -> TaskView:
        """Who speaks, in which domain, on what day, with which rules and tools."""
        return self._session.view

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """Name, description and argument schema of each tool."""
        return self._session.tools

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
        """Run a tool. A refused call comes back with ``ok=False`` and the error as its value."""
        return self._session.call_now(name, arguments or {})

    def spend(self, usage: TokenUsage) -> None:
        """Report tokens that a model used on this conversation."""
        self._session.spend(usage)
