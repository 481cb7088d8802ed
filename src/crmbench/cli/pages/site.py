"""``crmbench site``: a leaderboard as a site of static files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def site(
    runs: Annotated[list[Path], typer.Argument(help="Directories that `crmbench run --out` made.")],
    out: Annotated[Path, typer.Option("--out", help="Directory for the site.")] = Path("public"),
) -> None:
    """Write a leaderboard as a site: boards, a page a run, the rules, the data's card.

    It is files alone, asks for nothing elsewhere, and can be put on any server or opened from disk.

    Examples:

      crmbench site runs/* --out public/
    """
    from crmbench.cli.console import say
    from crmbench.errors import needs_extra
    from crmbench.runner.parts import open_run

    with needs_extra("serve", "crmbench site"):
        from crmbench.web.site import write_site
    pages = write_site([open_run(path) for path in runs], out)
    say(f"Site: {pages[0]} ({len(pages)} pages)")


def register(app: typer.Typer) -> None:
    app.command("site")(site)
