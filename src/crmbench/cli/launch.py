"""``crmbench launch``: somebody's Salesforce program, unchanged, against an org of ours."""

from __future__ import annotations

from typing import Annotated

import typer


def launch(
    command: Annotated[list[str], typer.Argument(help="The program and its arguments, after --.")],
    org: Annotated[
        str, typer.Option(help="The org that it finds: DOMAIN or DOMAIN/WORLD.")
    ] = "service",
) -> None:
    """Run a program that works with Salesforce against a local org, without changing it.

    What its Python or Node processes send to Salesforce's hosts comes to an org that is opened for
    it and closed after it. Any user name and password logs in. The program's exit code is kept.

    Examples:

      crmbench launch -- python examples/salesforce_client.py

      crmbench launch --org sales/harbour-01 -- node report.js
    """
    from crmbench.serve.salesforce.launch import launch as run

    raise typer.Exit(run(command, org))


def register(app: typer.Typer) -> None:
    app.command("launch", context_settings={"ignore_unknown_options": True})(launch)
