"""``crmbench export``: a run's results, or conversations, in a format that others read."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted

if TYPE_CHECKING:
    from crmbench.runner.run_dir import RunDir


class Format(StrEnum):
    """What can be written."""

    arc = "arc"
    tasks = "tasks"
    inspect = "inspect"
    salesforce = "salesforce"
    chat = "chat"
    pairs = "pairs"


def export(
    run: Annotated[
        Path | None,
        typer.Argument(
            help="A directory that `crmbench run --out` made; for salesforce a world, the domain's "
            "usual one if left out."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file, for salesforce the directory, to write.")
    ] = None,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="arc: result records (JSONL); tasks: the conversations; inspect: a log for "
            "`inspect view`, by the name's ending .eval or .json (extra `inspect`); salesforce: a "
            "world's records as CSV files to load into an org; chat: successful episodes for "
            "fine-tuning (JSONL); pairs: a right and a wrong step at the same place, for "
            "preference training (JSONL).",
        ),
    ] = Format.arc,
    domain: Annotated[str, typer.Option("--domain", help="salesforce: the world's.")] = "service",
    also: Annotated[
        list[Path] | None,
        typer.Option("--also", help="chat, pairs: a further run; may be given several times."),
    ] = None,
    keep_tests: Annotated[
        bool,
        typer.Option(
            "--keep-tests",
            help="chat, pairs: keep episodes that are too near to a published test set.",
        ),
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Write the results of a run, or the records of a world, for other programs.

    Examples:

      crmbench export runs/mine --format arc --out results.jsonl

      crmbench export runs/mine --format tasks --out conversations.jsonl

      crmbench export runs/mine --format inspect --out logs/mine.eval

      crmbench export org-42 --format salesforce --out org-42

      crmbench export runs/mine --format chat --out chats.jsonl

      crmbench export runs/mine --also runs/other --format pairs --out pairs.jsonl
    """
    from crmbench.cli.console import print_json, say
    from crmbench.runner.parts import open_run

    if format_ == Format.salesforce:
        _export_org(domain, str(run) if run else None, out or Path("crmbench-org"), as_json)
        return
    if run is None or out is None:
        raise typer.BadParameter("a run's directory and --out are needed")
    if format_ in (Format.chat, Format.pairs):
        _export_training(format_, [run, *(also or [])], out, keep_tests, as_json)
        return
    run_dir = open_run(run)
    run_dir.config()
    written = _WRITERS[format_](run_dir, out)
    if as_json:
        print_json({"format": format_.value, "records": written, "out": str(out)})
    else:
        say(f"{counted(written, 'record')} written to {out}")


def _export_org(domain: str, world: str | None, folder: Path, as_json: bool) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.domains.registry import load_domain
    from crmbench.formats.salesforce_csv import export_org

    found = load_domain(domain)
    written = export_org(found, world or found.default_world, folder)
    counts = {each.file: each.rows for each in written}
    if as_json:
        print_json({"format": "salesforce", "files": counts, "out": str(folder)})
        return
    for file, rows in counts.items():
        say(f"{rows:>9,}  {file}")
    total = counted(sum(counts.values()), "record")
    say(f"{total} in {folder}; its README.md says how to load them")


def _export_training(
    format_: Format, runs: list[Path], out: Path, keep_tests: bool, as_json: bool
) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.training.decontaminate import Contamination
    from crmbench.training.export import export_chats, export_pairs, read_runs

    contamination = None if keep_tests else Contamination.published()
    make = export_chats if format_ == Format.chat else export_pairs
    exported = make(read_runs(runs), contamination)
    exported.write(out)
    dropped = dict(sorted(exported.dropped.items()))
    if as_json:
        counts = {"records": len(exported.rows), "dropped": dropped}
        print_json({"format": format_.value, **counts, "out": str(out)})
        return
    say(f"{len(exported.rows):,} rows written to {out}")
    for why, count in dropped.items():
        say(f"{count:>9,}  left out: {why}")


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
