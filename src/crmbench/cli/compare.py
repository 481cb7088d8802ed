"""``crmbench compare``: two or more runs over the same tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o


def compare(
    runs: o.RunDirs,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the comparison as one HTML page.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write an HTML report of all the runs.")
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Compare runs paired by task: the difference, its interval, and what could have been seen.

    The first run is what the others are held to.

    Examples:

      crmbench compare runs/before runs/after

      crmbench compare runs/a runs/b runs/c --html compare.html --json
    """
    from crmbench.cli.console import print_json, say
    from crmbench.errors import InputError
    from crmbench.report.compare import compare_runs, render_comparison
    from crmbench.report.compare_page import write_comparison
    from crmbench.report.html import write_report
    from crmbench.runner.parts import open_run

    if len(runs) < 2:
        raise InputError("one run cannot be compared", expected="two or more run directories")
    run_dirs = [open_run(path) for path in runs]
    comparison = write_comparison(run_dirs, html) if html else compare_runs(run_dirs)
    if out is not None:
        write_report(run_dirs, out)
    if as_json:
        print_json(comparison.to_data())
    else:
        say(render_comparison(comparison))
        if html is not None:
            say(f"Comparison: {html}")
        if out is not None:
            say(f"Report: {out}")


def register(app: typer.Typer) -> None:
    app.command("compare")(compare)
