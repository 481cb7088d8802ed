"""``crmbench report``: look at runs again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o


def report(
    runs: o.RunDirs,
    out: Annotated[
        Path | None, typer.Option("--out", help="The HTML file; report.html in the first run.")
    ] = None,
    leaderboard: Annotated[
        Path | None,
        typer.Option("--leaderboard", help="Write one static page that ranks the runs, too."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write one picture of the runs' success, too."),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Print the figures of one or more runs and write their HTML report.

    Examples:

      crmbench report runs/mine

      crmbench report runs/mine runs/noop --out both.html

      crmbench report runs/* --leaderboard leaderboard.html --svg success.svg
    """
    from crmbench.cli.console import print_json, say
    from crmbench.report.html import write_report
    from crmbench.report.labels import player
    from crmbench.report.leaderboard import write_leaderboard
    from crmbench.report.picture import write_picture
    from crmbench.report.terminal import render_overview, render_terminal
    from crmbench.runner.parts import open_run

    run_dirs = [open_run(path) for path in runs]
    page = out or runs[0] / "report.html"
    summaries = write_report(run_dirs, page)
    if leaderboard is not None:
        write_leaderboard(run_dirs, leaderboard)
    if svg is not None:
        write_picture(run_dirs, svg)
    if as_json:
        print_json(
            {
                "report": str(page),
                "runs": [
                    {"run": str(path), **summary.to_data()}
                    for path, summary in zip(runs, summaries, strict=True)
                ],
            }
        )
        return
    if len(summaries) == 1:
        config = run_dirs[0].config()
        title = f"{player(config)} on {config.get('data')}"
        say(render_terminal(summaries[0], title=title))
    else:
        say(
            render_overview(
                [(path.name, summary) for path, summary in zip(runs, summaries, strict=True)]
            )
        )
    say(f"Report: {page}")
    if leaderboard is not None:
        say(f"Leaderboard: {leaderboard}")
    if svg is not None:
        say(f"Picture: {svg}")


def register(app: typer.Typer) -> None:
    app.command("report")(report)
