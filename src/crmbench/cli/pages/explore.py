"""``crmbench explore``: look into an org in a browser."""

from __future__ import annotations

from typing import Annotated

import typer


def explore(
    orgs: Annotated[
        list[str], typer.Argument(help="Each DOMAIN, DOMAIN/WORLD or NAME=DOMAIN/WORLD.")
    ],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 8803,
    browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser, too.")
    ] = False,
) -> None:
    """Look into orgs on pages of this machine: records, searches, queries, and what is written.

    The first line printed is the address. Programs reach the same orgs there as with `crmbench
    serve`, without a token, and what they write stands in the journal at once.

    Examples:

      crmbench explore service

      crmbench explore sales/harbour-01 --port 0
    """
    from crmbench.errors import needs_extra

    with needs_extra("serve", "crmbench explore"):
        from crmbench.web.explore import explore_until_stopped
    explore_until_stopped(orgs, host, port, open_browser=browser)


def register(app: typer.Typer) -> None:
    app.command("explore")(explore)
