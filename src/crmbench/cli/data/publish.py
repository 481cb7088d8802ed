"""``crmbench publish``: what an upload of a data set would hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted


def publish(
    folder: Annotated[Path, typer.Argument(help="A directory that generate made.")],
    check: Annotated[
        bool, typer.Option("--check", help="Say what an upload would hold, and what is wrong.")
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Check a data set before it is uploaded to the Hugging Face hub; nothing is sent.

    Ends with 1 if something is wrong with it.

    Examples:

      crmbench publish dataset --check
    """
    from crmbench.cli.console import print_json, say
    from crmbench.formats.publication import check_upload

    if not check:
        raise typer.BadParameter(
            "crmbench sends nothing itself: --check says what an upload would hold, and "
            "'hf upload OWNER/NAME DIR --repo-type dataset' does it"
        )
    upload = check_upload(folder)
    if as_json:
        print_json(upload.to_data())
    else:
        for file in upload.files:
            say(f"{file.size:>12,}  {file.sha256[:12]}  {file.path}")
        counts = ", ".join(f"{name} {count:,}" for name, count in upload.conversations.items())
        total = sum(file.size for file in upload.files)
        say(f"{counted(len(upload.files), 'file')}, {total:,} bytes; conversations: {counts}")
        for problem in upload.problems:
            say(f"wrong: {problem}")
        if not upload.problems:
            say(f"Nothing is wrong. hf upload OWNER/NAME {folder} --repo-type dataset")
    if upload.problems:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command("publish")(publish)
