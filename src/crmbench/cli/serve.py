"""``crmbench serve``: our orgs for anybody's client."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    org: Annotated[
        list[str] | None,
        typer.Option(help="A sandbox org to open: DOMAIN, DOMAIN/WORLD or NAME=DOMAIN/WORLD."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 8800,
    token: Annotated[
        str | None,
        typer.Option(envvar="CRMBENCH_SERVE_TOKEN", help="Of whoever runs the server."),
    ] = None,
) -> None:
    """Serve orgs over HTTP. The first line printed is the server's address.

    Examples:

      crmbench serve --org service

      crmbench serve --org sales --org second=service --port 8900
    """
    from crmbench.serve.run import serve_until_stopped

    serve_until_stopped(list(org or ()), host, port, token)


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
