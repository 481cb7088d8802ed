"""``crmbench show``: conversations as a person reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.core.task import Task


def show(
    file: o.File = "demo",
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, help="So many, chosen at random; all if left out."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="What the choice follows from.")] = 0,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="tag=, category=, complexity=, family=, persona= or id=."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Of a run: what failed.")] = False,
    id_: Annotated[
        str | None, typer.Option("--id", help="The conversation of that id, as --filter id=.")
    ] = None,
    sheet: Annotated[
        bool,
        typer.Option(
            "--sheet",
            help="Of one task of many decisions: its records as CSV, and the method; no gold.",
        ),
    ] = False,
) -> None:
    """Print conversations with what is right in each turn. It shows the ground truth.

    Of a directory that `crmbench run --out` made, the conversations as they were played: what was
    expected beside what was done.

    Examples:

      crmbench show demo --sample 3

      crmbench show dataset/test.jsonl --filter tag=undo --sample 5 --seed 1

      crmbench show runs/mine --failed --sample 1

      crmbench show sales/hard --sheet --sample 1
    """
    from crmbench.cli.console import say
    from crmbench.formats.readable import read_aloud
    from crmbench.runner.task_sets import choose, load_named

    asked = [*(filters or ()), *([f"id={id_}"] if id_ else [])]
    if (Path(file) / "config.json").exists():
        _show_run(Path(file), failed, asked, sample, seed)
        return
    if failed:
        raise typer.BadParameter("--failed is for a directory that `crmbench run --out` made")
    chosen = choose(load_named(file).lazy_tasks, filters=asked, sample=sample, seed=seed)
    if sheet:
        _show_sheet(list(chosen))
        return
    for task in chosen:
        say(read_aloud(task))


def _show_sheet(tasks: list[Task]) -> None:
    from crmbench.authoring.sheet import sheet_of
    from crmbench.cli.console import say
    from crmbench.domains.registry import load_domain

    if len(tasks) != 1:
        raise typer.BadParameter(f"--sheet shows one task, and {len(tasks)} are chosen: add --id")
    say(sheet_of(load_domain(tasks[0].domain), tasks[0]).csv().rstrip())


def _show_run(path: Path, failed: bool, filters: list[str], sample: int | None, seed: int) -> None:
    from crmbench.cli.console import say
    from crmbench.report.played import render_played
    from crmbench.runner.parts import open_run
    from crmbench.runner.task_sets import choose

    run_dir = open_run(path)
    wrong = {e.trace.task_id for e in run_dir.outlines() if not e.verdict.success}
    tasks = [task for task in run_dir.tasks() if not failed or task.task_id in wrong]
    if not tasks:
        say("No conversation failed.")
        return
    chosen = {t.task_id: t for t in choose(tasks, filters=filters, sample=sample, seed=seed)}
    for record in run_dir.each():
        task = chosen.get(record.trace.task_id)
        if task is not None and not (failed and record.verdict.success):
            say(render_played(task, record))


def register(app: typer.Typer) -> None:
    app.command("show")(show)
