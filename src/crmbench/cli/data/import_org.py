"""``crmbench import-org``: records of one's own org as a world that tools and tasks run on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted


def import_org(
    folder: Annotated[Path, typer.Argument(help="CSV or JSON files, one an object: Case.csv, …")],
    out: Annotated[Path, typer.Option("--out", help="The world's file to write.")] = Path(
        "my-org.world"
    ),
    domain: Annotated[str, typer.Option("--domain", help="service or service_hard.")] = "service",
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            help="The world's clock, such as 2026-01-31T09:00:00 (UTC); that of the files, or the "
            "latest moment in them, if left out.",
        ),
    ] = None,
    about: Annotated[
        str, typer.Option("--about", help="What agents are told of the org beside the house rules.")
    ] = "",
    as_json: o.AsJson = False,
) -> None:
    """Read an org's records into a world of one's own; nothing leaves this machine.

    Takes what `crmbench export --format salesforce` writes, and dumps by Data Loader, sf or
    simple-salesforce. Tasks name the world "file:PATH".

    Examples:

      crmbench import-org dump --out my-org.world

      crmbench soql --world file:my-org.world "SELECT COUNT() FROM Case"
    """
    from crmbench.cli.console import print_json, say
    from crmbench.domains.registry import load_domain
    from crmbench.domains.service.own_world import write_own_world
    from crmbench.formats.org_import import ignored_lines, read_org

    found = load_domain(domain)
    imported = read_org(folder, found, _moment(now))
    written = write_own_world(out, found, imported.rows, imported.now, about)
    if as_json:
        print_json(
            {
                "world": f"file:{out}",
                "now": imported.now.isoformat(),
                "rows": written,
                "ignored": imported.ignored,
                "left_out": imported.left_out,
                "renamed": len(imported.renamed),
            }
        )
        return
    for name, count in written.items():
        say(f"{count:>9,}  {name}")
    for line in ignored_lines(imported):
        say(f"left out: {line}")
    records = counted(sum(written.values()), "record")
    say(f"{records} at {imported.now:%Y-%m-%d %H:%M} UTC in {out}")


def _moment(text: str | None) -> datetime | None:
    from crmbench.errors import InputError

    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"'{text}' is no moment", field="--now", expected="2026-01-31T09:00:00"
        ) from error
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def register(app: typer.Typer) -> None:
    app.command("import-org")(import_org)
