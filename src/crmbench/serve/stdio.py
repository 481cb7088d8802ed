"""``crmbench mcp``: one session over standard input and output, one process an episode."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from crmbench.errors import InputError, needs_extra


@dataclass(frozen=True)
class McpOptions:
    """What one process serves: a task to play, or a sandbox org."""

    file: str | None = None
    """The set that the task is of; None: a sandbox org."""
    task: str = "1"
    """Its number in the set, from 1, or its id."""
    agent: str = "mcp"
    """Who plays, for reports."""
    out: Path | None = None
    """Where the run goes that the session is part of."""
    max_calls: int = 100
    """Tool calls a turn."""
    salesforce_tools: bool = False
    """Whether the agent has Salesforce's tools beside the task's own."""
    org: str | None = None
    """A sandbox org, as `crmbench.serve.run.org_of` reads it."""


def serve_over_stdio(options: McpOptions) -> None:
    """Serve until the client hangs up.

    A conversation that was begun and not ended by then is graded as given up.

    Raises:
        InputError: The task, the org or the directory cannot be used.
        MissingExtraError: The MCP SDK is not installed.
    """
    with needs_extra("serve", "crmbench mcp"):
        import mcp.server.stdio
    del mcp
    if (options.file is None) == (options.org is None):
        raise InputError("nothing to serve", expected="a set with --task, or --org")
    asyncio.run(_serve(options))


async def _serve(options: McpOptions) -> None:
    from mcp.server.stdio import stdio_server
    from starlette.requests import Request

    from crmbench.seats.mcp import McpInterface
    from crmbench.seats.seat import Seat
    from crmbench.serve.graded import GradedSession
    from crmbench.serve.run import org_of
    from crmbench.serve.session import ServedSession
    from crmbench.serve.sessions import Sessions

    sessions = Sessions(out=options.out, shared=True)
    try:
        session: ServedSession
        if options.file is not None:
            session = sessions.open_session(
                options.file,
                options.task,
                options.agent,
                options.max_calls,
                salesforce_tools=options.salesforce_tools,
            )
        else:
            session = sessions.open_org(*org_of(options.org or ""))

        async def find(_: Request | None) -> Seat:
            return session

        server = McpInterface(find).server
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        # A client that only looked at the tools has not played.
        if isinstance(session, GradedSession) and session.begun:
            session.abandon()
    finally:
        sessions.close()
