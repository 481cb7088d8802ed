"""Agents that are programs of their own: ``--agent mcp:COMMAND`` and ``--agent cli:COMMAND``.

For each conversation the command is started in an empty folder, and finds there and in its
environment where to work:

    TASK.md, standard input    the house rules, the conversation so far, and what to do
    .mcp.json                  the address of an MCP server with the CRM's tools   (mcp)
    CRMBENCH_MCP_URL           the same address
    CRMBENCH_PLAY              where the command ``crmbench play`` works           (cli)
    CRMBENCH_USAGE             a file for ``{"prompt_tokens", "completion_tokens", "cost"}`` so far

It may play the whole conversation, with the tools `next_message` and `reply` or the commands
``crmbench play status`` and ``crmbench play reply``. Or it may end after each answer: what it then
has printed is its reply, if it made none, and it is started again for the next message.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import orjson

from crmbench.agents.command_process import CommandProcess, parse_command
from crmbench.agents.protocol import Agent, Session
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage
from crmbench.errors import AgentError, needs_extra
from crmbench.grading.record import EpisodeRecord

if TYPE_CHECKING:
    from crmbench.agents.command_seat import CommandSeat
    from crmbench.seats.server import SeatServer

Kind = Literal["mcp", "cli"]
TURN_SECONDS = 1_800.0
"""That one turn may take, where the run has no limit of its own."""
HOW: dict[Kind, str] = {
    "mcp": (
        "Work with the tools of the MCP server `crmbench` (its address is in .mcp.json and in "
        "the environment variable CRMBENCH_MCP_URL). Answer the user with its tool `reply`, which "
        "gives what they say next, until `over` is true."
    ),
    "cli": (
        "Work with these commands:\n\n"
        "    crmbench play tools                    the tools; with a name, the whole schema\n"
        "    crmbench play call TOOL '{…}'          run a tool\n"
        "    crmbench play reply 'your answer'      answer the user; prints what they say next\n"
        "    crmbench play status                   the conversation so far\n\n"
        "Go on until the conversation is over."
    ),
}
OR_PRINT = (
    "Or end after your answer: what you have printed then is your reply, and you are started "
    "again for the user's next message."
)


class CommandAgents:
    """Makes agents that run a command. Implements `AgentFactory`.

    Args:
        kind: What the command works with: MCP, or ``crmbench play``.
        text: The command.

    Raises:
        InputError: There is no such program.
        MissingExtraError: The server of the tools needs packages that are not installed.
    """

    def __init__(self, kind: Kind, text: str) -> None:
        self.name = f"{kind}:{text}"
        self.kind = kind
        self.words = parse_command(text)
        with needs_extra("serve", f"an agent of {kind}:"):
            from crmbench.seats.server import SeatServer
        self._new_server = SeatServer
        self._server: SeatServer | None = None
        self._opening = asyncio.Lock()
        self._kept_so_far = 1
        self._kept: Path | None = None
        self._live: set[CommandAgent] = set()

    def keep_output_in(self, run: Path) -> None:
        """Have what the commands print kept in a run's directory, under ``agents``."""
        self._kept = run / "agents"

    def start(self, task: TaskView, seed: int) -> Agent:
        """An agent, whose command starts with its first turn."""
        from crmbench.agents.command_seat import CommandSeat

        del seed
        agent = CommandAgent(self, CommandSeat(task))
        self._live.add(agent)
        return agent

    async def server(self) -> SeatServer:
        """The server of the tools; it starts with the first turn of a run."""
        async with self._opening:
            if self._server is None:
                server = self._new_server()
                await server.open()
                self._server = server
        return self._server

    def done_with(self, agent: CommandAgent, folder: Path, about: dict[str, Any]) -> None:
        """Keep what an agent printed, and let its folder go."""
        self._live.discard(agent)
        if self._kept is not None:
            target = self._free_folder(self._kept)
            shutil.copytree(folder / "logs", target)
            (target / "about.json").write_bytes(orjson.dumps(about) + b"\n")
        shutil.rmtree(folder, ignore_errors=True)

    def _free_folder(self, root: Path) -> Path:
        """The next folder that a run, which may go on with an earlier one, has not used."""
        while (root / f"{self._kept_so_far:05}").exists():
            self._kept_so_far += 1
        return root / f"{self._kept_so_far:05}"

    async def close(self) -> None:
        """End what still runs."""
        for agent in list(self._live):
            await agent.dismiss()
        if self._server is not None:
            await self._server.close()
            self._server = None


class CommandAgent:
    """One conversation with a command. Implements `Agent`."""

    def __init__(self, factory: CommandAgents, seat: CommandSeat) -> None:
        self._factory = factory
        self._seat = seat
        self._episode: tuple[str, int] | None = None
        self._token = ""
        self._root: Path | None = None
        self._process: CommandProcess | None = None
        self._spent = TokenUsage()

    async def turn(self, session: Session, utterance: str) -> str:
        """Have the command answer; it is started if it does not run.

        Raises:
            AgentError: It ended without an answer, or took too long.
        """
        turning = asyncio.create_task(self._seat.turn(session, utterance))
        # The task has to begin before the command can ask for what the user says.
        await asyncio.sleep(0)
        try:
            if self._process is None or self._process.exit_code is not None:
                self._process = await self._started()
            reply = await self._answer(self._process, turning)
            session.spend(self._newly_spent())
            return reply
        except BaseException:
            turning.cancel()
            if self._process is not None:
                self._process.strike()
            session.spend(self._newly_spent())
            raise

    async def _answer(self, process: CommandProcess, turning: asyncio.Task[str]) -> str:
        ended = asyncio.create_task(process.wait())
        try:
            await asyncio.wait(
                {turning, ended}, timeout=TURN_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if not turning.done() and ended.done():
                self._take_printed(process)
            if turning.done() or ended.done():
                return await turning
            raise AgentError(f"the command took longer than {TURN_SECONDS:,.0f} s for a turn")
        finally:
            ended.cancel()

    def _take_printed(self, process: CommandProcess) -> None:
        """Take what a command that has ended has printed for its reply."""
        printed = process.printed().strip()
        if process.exit_code != 0 or not printed:
            raise AgentError(
                f"the command ended with exit code {process.exit_code}"
                + ("" if printed else ", without a reply and without a word")
            )
        self._seat.say(printed)

    async def _started(self) -> CommandProcess:
        server = await self._factory.server()
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="crmbench-agent-"))
            self._token = server.add(self._seat)
        work, logs = self._root / "work", self._root / "logs"
        for folder in (work, logs):
            folder.mkdir(exist_ok=True)
        mcp_url = server.mcp_url(self._token)
        prompt = prompt_for(self._factory.kind, self._seat)
        (work / "TASK.md").write_text(prompt, encoding="utf-8")
        (logs / "TASK.md").write_text(prompt, encoding="utf-8")
        environment = {"CRMBENCH_USAGE": str(work / "usage.json")}
        if self._factory.kind == "mcp":
            servers = {"mcpServers": {"crmbench": {"type": "http", "url": mcp_url}}}
            (work / ".mcp.json").write_bytes(orjson.dumps(servers, option=orjson.OPT_INDENT_2))
            environment["CRMBENCH_MCP_URL"] = mcp_url
        else:
            environment["CRMBENCH_PLAY"] = server.url(self._token)
        process = CommandProcess(self._factory.words, work, logs, environment, prompt)
        await process.start()
        return process

    def _newly_spent(self) -> TokenUsage:
        """What the command says that it has used, less what it said before."""
        now = read_usage(self._root / "work" / "usage.json") if self._root else TokenUsage()
        before, self._spent = self._spent, now
        return replace(
            now,
            prompt_tokens=max(0, now.prompt_tokens - before.prompt_tokens),
            completion_tokens=max(0, now.completion_tokens - before.completion_tokens),
            cost=None if now.cost is None else max(0.0, now.cost - (before.cost or 0.0)),
        )

    async def observe(self, record: EpisodeRecord) -> None:
        """The conversation is over; what came of it is not for the command to know."""
        self._episode = (record.task_id, record.trial)
        await self.dismiss()

    async def dismiss(self) -> None:
        """Let the command hear that the conversation is over, and end it."""
        self._seat.end()
        if self._process is not None:
            await self._process.end()
        self._forget()

    def leave(self) -> None:
        """End the command at once, if it still runs."""
        if self._process is not None:
            self._process.strike()
        self._forget()

    def _forget(self) -> None:
        if self._root is None:
            return
        root, self._root = self._root, None
        task_id, trial = self._episode or (None, None)
        code = self._process.exit_code if self._process else None
        about = {"task_id": task_id, "trial": trial, "calls": self._seat.calls, "exit_code": code}
        self._factory.done_with(self, root, about)


def prompt_for(kind: Kind, seat: CommandSeat) -> str:
    """What a command is told when it starts."""
    view = seat.view
    parts = [view.policy.strip(), f"Today is {view.today}."]
    if view.persona:
        parts.append(f"The user: {view.persona}")
    parts += [HOW[kind], OR_PRINT, "## The conversation so far"]
    for number, words in enumerate(seat.user):
        parts.append(f"User: {words}")
        if number < len(seat.agent):
            parts.append(f"You: {seat.agent[number]}")
    return "\n\n".join(parts) + "\n"


def read_usage(path: Path) -> TokenUsage:
    """What a command says of its use of a model; nothing where it says nothing that can be read."""
    try:
        data: Any = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return TokenUsage()
    if not isinstance(data, dict):
        return TokenUsage()
    counts = [data.get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (n if isinstance(n, int) and n >= 0 else 0 for n in counts)
    cost = data.get("cost")
    known = float(cost) if isinstance(cost, int | float) and cost >= 0 else None
    return TokenUsage(prompt, completion, cost=known)
