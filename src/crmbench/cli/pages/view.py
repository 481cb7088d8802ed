"""``crmbench view``: look at runs in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from crmbench.cli import options as o


def view(
    runs: o.RunDirs,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 8801,
    browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser, too.")
    ] = False,
) -> None:
    """Look at runs on pages of this machine: figures, episodes, and why one failed.

    A directory may be one that `crmbench run --out` made, or hold several of them.

    The first line printed is the address. Nothing is sent anywhere, and no network is needed.

    Examples:

      crmbench view demo-run

      crmbench view runs/mine runs/other --port 0
    """
    from crmbench.errors import needs_extra

    with needs_extra("serve", "crmbench view"):
        from crmbench.web.view import view_until_stopped
    view_until_stopped(runs, host, port, open_browser=browser)


def register(app: typer.Typer) -> None:
    app.command("view")(view)
