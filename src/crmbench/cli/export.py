"""``crmbench export``: a run's results, or conversations, in a format that others read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o


class Format(StrEnum):
    """What can be written."""

    arc = "arc"
    tasks = "tasks"


def export(
    run: Annotated[Path, typer.Argument(help="A directory that `crmbench run --out` made.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    format_: Annotated[
        Format,
        typer.Option("--format", help="arc: result records (JSONL); tasks: the conversations."),
    ] = Format.arc,
    as_json: o.AsJson = False,
) -> None:
    """Write the results of a run for other programs.

    Examples:

      crmbench export runs/mine --format arc --out results.jsonl

      crmbench export runs/mine --format tasks --out conversations.jsonl
    """
    from crmbench.cli.console import print_json, say
    from crmbench.formats.arc import save_tasks
    from crmbench.formats.arc_results import write_results
    from crmbench.harness.run_dir import RunDir

    run_dir = RunDir(run)
    run_dir.config()
    tasks = run_dir.tasks()
    if format_ is Format.arc:
        written = write_results(out, tasks, run_dir.episodes())
    else:
        written = save_tasks(out, tasks)
    if as_json:
        print_json({"format": format_.value, "records": written, "out": str(out)})
    else:
        say(f"{written} records written to {out}")


def register(app: typer.Typer) -> None:
    app.command("export")(export)
