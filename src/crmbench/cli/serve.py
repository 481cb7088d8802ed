"""``crmbench serve``: our orgs for anybody's client."""

from __future__ import annotations

from pathlib import Path
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
        typer.Option(
            envvar="CRMBENCH_SERVE_TOKEN",
            help="Of whoever runs the server; left out: one is made and printed.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory for the runs that graded sessions become.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="File that keeps what changes in the first --org.")
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Forget what --keep has kept, and begin anew.")
    ] = False,
    tls: Annotated[
        Path | None,
        typer.Option(help="Speak HTTPS, with the certificate of this folder; made if need be."),
    ] = None,
    max_sessions: Annotated[
        int, typer.Option(min=1, help="Orgs and sessions open at once.")
    ] = 2_000,
    max_requests: Annotated[int, typer.Option(min=1, help="Requests in one session.")] = 1_000_000,
    max_age: Annotated[
        float, typer.Option(min=1, help="Seconds after which a graded session times out.")
    ] = 86_400.0,
    log: Annotated[
        bool, typer.Option("--log", help="A line of JSON a request on standard error.")
    ] = False,
) -> None:
    """Serve orgs and graded sessions over HTTP and MCP, until stopped.

    The first line printed is the server's address, once it is about to answer; the second its
    token, unless --token gave one. Only this machine can reach it, unless --host says otherwise.

    Examples:

      crmbench serve --org service

      crmbench serve --org sales --keep org.jsonl --port 8900

      crmbench serve --out runs
    """
    from crmbench.serve.limits import ServeLimits
    from crmbench.serve.run import ServeOptions, serve_until_stopped

    limits = ServeLimits(sessions=max_sessions, requests=max_requests, age_seconds=max_age)
    options = ServeOptions(
        org or (), host, port, token, out, keep, reset=reset, tls=tls, log=log, limits=limits
    )
    serve_until_stopped(options)


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
