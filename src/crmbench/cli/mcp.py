"""``crmbench mcp``: one session as an MCP server over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def mcp(
    file: Annotated[
        str | None,
        typer.Argument(help="Conversations, as for run; with --task one of them is played."),
    ] = None,
    task: Annotated[str, typer.Option(help="Its number in the file, from 1, or its id.")] = "1",
    org: Annotated[
        str | None, typer.Option(help="A sandbox org instead: DOMAIN or DOMAIN/WORLD.")
    ] = None,
    agent: Annotated[str, typer.Option(help="Who plays, for reports.")] = "mcp",
    tool_limit: Annotated[int, typer.Option(min=1, help="Tool calls a turn at most.")] = 100,
    salesforce_tools: Annotated[
        bool,
        typer.Option("--salesforce-tools", help="Offer run_soql_query, create_record, … as well."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Directory for the run that the session is part of.")
    ] = None,
) -> None:
    """Be an MCP server for one conversation, or one sandbox org, until the client hangs up.

    An MCP client starts this by itself; put the command into its configuration. Standard output
    belongs to the protocol.

    Examples:

      crmbench mcp demo --task 3 --out runs

      crmbench mcp --org service
    """
    from crmbench.serve.stdio import McpOptions, serve_over_stdio

    serve_over_stdio(McpOptions(file, task, agent, out, tool_limit, salesforce_tools, org))


def register(app: typer.Typer) -> None:
    app.command("mcp")(mcp)
