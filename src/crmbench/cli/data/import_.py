"""``crmbench import``: check a file of conversations and write it down clean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted


def import_file(
    file: o.File,
    out: Annotated[Path, typer.Option("--out", help="The JSONL file to write.")],
    skip_invalid: o.SkipInvalid = False,
    as_json: o.AsJson = False,
) -> None:
    """Read conversations in the Arc format, check every line, and write those that hold.

    Examples:

      crmbench import downloaded.jsonl --out clean.jsonl

      crmbench import downloaded.jsonl --out clean.jsonl --skip-invalid
    """
    from crmbench.cli.console import print_json, say
    from crmbench.formats.arc import save
    from crmbench.runner.task_sets import load_named

    loaded = load_named(file, skip_invalid=skip_invalid)
    written = save(out, loaded.conversations)
    skipped = [str(error) for error in loaded.skipped]
    if as_json:
        print_json({"conversations": written, "skipped": skipped, "out": str(out)})
        return
    say(f"{counted(written, 'conversation')} written to {out}")
    for reason in skipped:
        say(f"  skipped: {reason}")


def register(app: typer.Typer) -> None:
    app.command("import")(import_file)
