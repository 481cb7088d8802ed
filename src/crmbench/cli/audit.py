"""``crmbench audit``: is a set of tasks valid?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o


def audit(
    file: o.File = "demo",
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory for audit.json and audit.html.")
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option("--backend", help="Where the oracle plays; both unless one is named."),
    ] = None,
    skip_invalid: o.SkipInvalid = False,
    workers: o.Workers = None,
    executor: o.ExecutorName = "",
    as_json: o.AsJson = False,
) -> None:
    """Ask every gate of a valid benchmark of a file, and name what offends.

    The exit code is 1 when a gate does not pass. FILE may be a directory that `crmbench generate`
    made; of a set in shards the gates are asked of each shard by itself.

    Examples:

      crmbench audit demo

      crmbench audit conversations.jsonl --out audit --json

      crmbench audit sales --workers 2
    """
    from crmbench.cli.console import if_interrupted, print_json, remark, say
    from crmbench.runner.executors.spread import check_executor, cores
    from crmbench.runner.task_sets import load_named, parts_named
    from crmbench.validity.audit import audit as audit_tasks
    from crmbench.validity.gate import merged
    from crmbench.validity.page import render_html, render_text

    check_executor(executor)
    o.usable_directory(out, "--out")

    def tell(done: int, of: int) -> None:
        if of > 1:
            remark(f"round {done} of {of} is done")

    ask = partial(
        audit_tasks,
        name=Path(file).name,
        backends=tuple(backend or ("sqlite", "postgres")),
        workers=workers or cores(),
        executor=executor,
        on_gate=lambda gate: remark(f"{'pass' if gate.passed else 'FAIL'}  {gate.gate}"),
        on_round=tell,
    )
    parts = parts_named(file)
    with if_interrupted("no report was written; the gates named so far are done"):
        if parts is None:
            loaded = load_named(file, skip_invalid=skip_invalid)
            report, skipped = ask(loaded.tasks()), len(loaded.skipped)
        else:
            report, skipped = merged(Path(file).name, map(ask, parts)), 0
    if out is not None:
        (out / "audit.html").write_text(render_html(report), encoding="utf-8")
        with (out / "audit.json").open("wb") as page:
            page.write(to_json(asdict(report) | {"passed": report.passed}))
    if as_json:
        print_json(asdict(report) | {"passed": report.passed, "skipped": skipped})
    else:
        say(render_text(report))
    if not report.passed:
        raise typer.Exit(1)


def to_json(data: object) -> bytes:
    """Readable JSON."""
    import orjson

    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def register(app: typer.Typer) -> None:
    app.command("audit")(audit)
