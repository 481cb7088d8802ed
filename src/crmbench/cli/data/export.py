"""``crmbench export``: a run's results, or conversations, in a format that others read."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.runner.run_dir import RunDir


class Format(StrEnum):
    """What can be written."""

    arc = "arc"
    tasks = "tasks"
    inspect = "inspect"


def export(
    run: Annotated[Path, typer.Argument(help="A directory that `crmbench run --out` made.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="arc: result records (JSONL); tasks: the conversations; inspect: a log for "
            "`inspect view`, by the name's ending .eval or .json (extra `inspect`).",
        ),
    ] = Format.arc,
    as_json: o.AsJson = False,
) -> None:
    """Write the results of a run for other programs.

    Examples:

      crmbench export runs/mine --format arc --out results.jsonl

      crmbench export runs/mine --format tasks --out conversations.jsonl

      crmbench export runs/mine --format inspect --out logs/mine.eval
    """
    from crmbench.cli.console import print_json, say
    from crmbench.runner.run_dir import RunDir

    run_dir = RunDir(run)
    run_dir.config()
    written = _WRITERS[format_](run_dir, out)
    if as_json:
        print_json({"format": format_.value, "records": written, "out": str(out)})
    else:
        say(f"{written} records written to {out}")


def _arc(run_dir: RunDir, out: Path) -> int:
    from crmbench.formats.arc_results import write_results

    return write_results(out, run_dir.tasks(), run_dir.each(), run_dir.config())


def _tasks(run_dir: RunDir, out: Path) -> int:
    from crmbench.formats.arc import save_tasks

    return save_tasks(out, run_dir.tasks())


def _inspect(run_dir: RunDir, out: Path) -> int:
    from crmbench.errors import InputError
    from crmbench.integrations.inspect import write_log

    if out.suffix not in (".eval", ".json"):
        raise InputError(
            "Inspect does not know such a file", file=str(out), expected=".eval or .json"
        )
    return write_log(run_dir, out)


_WRITERS: dict[Format, Callable[[RunDir, Path], int]] = {
    Format.arc: _arc,
    Format.tasks: _tasks,
    Format.inspect: _inspect,
}


def register(app: typer.Typer) -> None:
    app.command("export")(export)
