"""``crmbench grade``: judge an old run again, without playing it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o


def grade(
    run: Annotated[Path, typer.Argument(help="A directory that `crmbench run --out` made.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="A new directory for the graded run.")
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Judge the stored traces of a run with today's rules, and say which verdicts change.

    No model and no agent is asked: a trace holds everything that a verdict needs.

    Examples:

      crmbench grade runs/mine

      crmbench grade runs/mine --out runs/mine-graded
    """
    from crmbench.cli.console import print_json, say
    from crmbench.formats.arc_results import write_results
    from crmbench.harness.grade import regrade
    from crmbench.harness.run_dir import RunDir
    from crmbench.report.html import write_report
    from crmbench.report.summary import summarise

    graded = regrade(run, out)
    tasks = RunDir(run).tasks()
    summary = summarise(tasks, graded.episodes)
    if out is not None:
        target = RunDir(out)
        write_results(out / "results.jsonl", tasks, graded.episodes)
        target.write_json("summary.json", summary.to_data())
        write_report([target], out / "report.html")
    if as_json:
        print_json(
            {
                "episodes": len(graded.episodes),
                "succeeded": summary.succeeded,
                "grading_version_before": graded.version_before,
                "grading_version": graded.version,
                "changed": [
                    {"conversation_id": task, "trial": trial, "success": success}
                    for task, trial, success in graded.changed
                ],
                "out": str(out) if out else None,
            }
        )
        return
    say(
        f"{len(graded.episodes)} episodes graded by version {graded.version} "
        f"(before: {graded.version_before}); {len(graded.changed)} verdicts change"
    )
    for task, trial, success in graded.changed:
        say(f"  {task}, trial {trial + 1}: {'succeeds' if success else 'fails'} now")
    if out is not None:
        say(f"Report: {out / 'report.html'}")


def register(app: typer.Typer) -> None:
    app.command("grade")(grade)
