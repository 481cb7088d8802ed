"""Playing over an interface: the oracle, behind whatever calls tools and replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from starlette.testclient import TestClient

from crmbench.agents.oracle import Oracle, OracleFactory
from crmbench.agents.protocol import Session
from crmbench.core.episode import ToolResult
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import EpisodeTrace
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import Evaluator, Job, grader_on

VIEW = TaskView("sales", "2026-01-01", "", ())
Call = Callable[[str, dict[str, Any]], Awaitable[ToolResult]]
Reply = Callable[[str], Awaitable[bool]]
"""Gives whether the conversation is over."""


class RemoteSession(Session):
    """An agent's session whose tools are somewhere else."""

    def __init__(self, call: Call) -> None:
        super().__init__(VIEW, lambda _name, _arguments: ToolResult(False, ""), lambda _usage: None)
        self._remote = call

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
        return await self._remote(name, arguments or {})


async def play(task: Task, call: Call, reply: Reply) -> None:
    """Play a task to its end as the gold does."""
    oracle, session = Oracle(task), RemoteSession(call)
    for turn in task.turns:
        over = await reply(await oracle.turn(session, turn.utterance))
        assert over == (turn is task.turns[-1])


async def play_over_http(
    client: httpx2.AsyncClient, task: Task, url: str, headers: dict[str, str]
) -> None:
    """The same over the plain interface of a running server."""

    async def call(name: str, arguments: dict[str, Any]) -> ToolResult:
        body = {"tool": name, "arguments": arguments}
        answer = await client.post(f"{url}/call", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return ToolResult(**answer.json())

    async def reply(text: str) -> bool:
        answer = await client.post(f"{url}/reply", json={"text": text}, headers=headers)
        assert answer.status_code == 200, answer.text
        return bool(answer.json()["over"])

    await play(task, call, reply)


def play_over_test_client(
    client: TestClient, task: Task, url: str, headers: dict[str, str]
) -> None:
    """The same in this process."""

    async def call(name: str, arguments: dict[str, Any]) -> ToolResult:
        body = {"tool": name, "arguments": arguments}
        answer = client.post(f"{url}/call", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return ToolResult(**answer.json())

    async def reply(text: str) -> bool:
        answer = client.post(f"{url}/reply", json={"text": text}, headers=headers)
        assert answer.status_code == 200, answer.text
        return bool(answer.json()["over"])

    asyncio.run(play(task, call, reply))


def played_alone(task: Task, grader: Grader | None = None) -> EpisodeTrace:
    """What the oracle does in a task with nobody else about, as `crmbench run` plays it.

    Args:
        grader: Whose databases it plays on; one of its own if None.
    """
    lent = grader or grader_on("sqlite")
    try:
        return asyncio.run(Evaluator(OracleFactory(), lent).play(Job(task, 0))).trace
    finally:
        if grader is None:
            lent.close()
