"""Many clients at once, each playing tasks to their end, and what must be true afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx2
import orjson
from mcp import Client
from mcp.types import TextContent
from tests.serve.process import ServerProcess
from tests.serve.remote import play, play_over_http, played_alone

from crmbench.core.episode import ToolResult
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.runner.evaluate import grader_on
from crmbench.runner.run_dir import RunDir

AGENT = "crowd"


async def play_over_mcp(task: Task, url: str) -> None:
    """Play a task to its end over MCP, as the gold does."""
    async with Client(url) as client:

        async def ask(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            result = await client.call_tool(name, arguments)
            (content,) = result.content
            assert isinstance(content, TextContent)
            return not result.is_error, content.text

        async def call(name: str, arguments: dict[str, Any]) -> ToolResult:
            ok, text = await ask(name, arguments)
            return ToolResult(ok, orjson.loads(text) if ok else text)

        async def reply(text: str) -> bool:
            return bool(orjson.loads((await ask("reply", {"text": text}))[1])["over"])

        await play(task, call, reply)


async def play_all(
    server: ServerProcess,
    set_name: str,
    tasks: Sequence[tuple[int, Task]],
    on_over: Callable[[Task], None] = lambda _task: None,
    *,
    over_mcp: bool = True,
) -> None:
    """Play tasks at once.

    Args:
        tasks: Each with its number in the set.
        on_over: Told of each task once its last reply was answered.
        over_mcp: Every second one over MCP; else all over HTTP.
    """
    async with httpx2.AsyncClient(
        timeout=120, limits=httpx2.Limits(max_connections=None)
    ) as client:

        async def one(number: int, task: Task) -> None:
            opened = await asyncio.to_thread(server.open_session, set_name, number, AGENT)
            if number % 2 or not over_mcp:
                headers = {"Authorization": f"Bearer {opened['token']}"}
                await play_over_http(client, task, opened["url"], headers)
            else:
                await play_over_mcp(task, opened["mcp_url"])
            on_over(task)

        async with asyncio.TaskGroup() as group:
            for number, task in tasks:
                group.create_task(one(number, task))


def run_of(runs: Path) -> RunDir:
    """The one run of a server."""
    (folder,) = runs.iterdir()
    return RunDir(folder)


def as_if_alone(runs: Path, tasks: Sequence[Task]) -> bool:
    """Whether every episode of a run is what playing its task alone gives."""
    by_id = {task.task_id: task for task in tasks}
    alone: dict[str, EpisodeTrace] = {}
    grader = grader_on("sqlite")
    try:
        for record in run_of(runs).each():
            if record.task_id not in alone:
                alone[record.task_id] = played_alone(by_id[record.task_id], grader)
            expected = alone[record.task_id]
            if (record.trace.turns, record.trace.outcome) != (expected.turns, expected.outcome):
                return False
            if not record.verdict.success:
                return False
    finally:
        grader.close()
    return True
