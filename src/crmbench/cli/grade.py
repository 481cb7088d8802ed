"""``crmbench grade``: judge an old run again, without playing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.report.summary import Summary
    from crmbench.runner.regrade import Regraded


def grade(
    run: Annotated[Path, typer.Argument(help="A directory that `crmbench run --out` made.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="A new directory for the graded run.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="A model that is asked where the checks cannot decide."),
    ] = None,
    judge_all: Annotated[
        bool, typer.Option("--judge-all", help="Ask it about every turn, to measure agreement.")
    ] = False,
    without_judge: Annotated[
        bool, typer.Option("--without-judge", help="Leave out what the run's judge said.")
    ] = False,
    concurrency: o.Concurrency = 8,
    as_json: o.AsJson = False,
) -> None:
    """Judge the stored traces of a run with today's rules, and say which verdicts change.

    No agent is asked, and no model but the judge that you name: a trace holds everything that a
    verdict needs, and what a judge said in the run is kept with it.

    Examples:

      crmbench grade runs/mine

      crmbench grade runs/mine --out runs/mine-graded

      crmbench grade runs/mine --judge openai/gpt-4.1 --judge-all --out runs/mine-judged
    """
    from crmbench.agents.trivial import TRIVIAL_NAMES
    from crmbench.cli.console import print_json
    from crmbench.formats.arc_results import write_results
    from crmbench.report.html import write_report
    from crmbench.report.summary import summarise
    from crmbench.runner.options import RunOptions
    from crmbench.runner.participants import open_judge
    from crmbench.runner.regrade import Stored, regrade
    from crmbench.runner.run_dir import RunDir

    if judge_all and judge is None:
        raise typer.BadParameter("--judge-all needs a --judge")
    if judge and without_judge:
        raise typer.BadParameter("--judge and --without-judge exclude each other")
    options = RunOptions("", judge=judge, judge_all=judge_all, concurrency=concurrency)
    stored: Stored = "none" if without_judge else "stored"
    graded = regrade(run, out, open_judge(options) or stored, concurrency)
    tasks, config = RunDir(run).tasks(), RunDir(run).config()
    trivial, trials = config.get("agent") in TRIVIAL_NAMES, config.get("trials")
    summary = summarise(tasks, graded.episodes, trivial=trivial, trials=trials)
    if out is not None:
        target = RunDir(out)
        write_results(out / "results.jsonl", tasks, graded.episodes, target.config())
        target.write_json("summary.json", summary.to_data())
        write_report([target], out / "report.html")
    if as_json:
        print_json({**_figures(graded, summary), "out": str(out) if out else None})
    else:
        _print(graded, summary, out)


def _figures(graded: Regraded, summary: Summary) -> dict[str, Any]:
    from crmbench.cli.outcome import parts_of

    return {
        "episodes": len(graded.episodes),
        "succeeded": summary.succeeded,
        "grading_version_before": graded.version_before,
        "grading_version": graded.version,
        "changed": [
            {
                "conversation_id": each.task_id,
                "trial": each.trial,
                "success": each.success,
                "counted": each.counted,
            }
            for each in graded.changed
        ],
        **parts_of(summary),
    }


def _print(graded: Regraded, summary: Summary, out: Path | None) -> None:
    from crmbench.cli.console import say
    from crmbench.report.role_figures import figures_lines

    say(
        f"{len(graded.episodes)} episodes graded by version {graded.version} "
        f"(before: {graded.version_before}); {len(graded.changed)} verdicts change"
    )
    for each in graded.changed:
        outcome = "succeeds" if each.success else "fails" if each.counted else "does not count"
        say(f"  {each.task_id}, trial {each.trial + 1}: {outcome} now")
    for line in figures_lines(summary.user, summary.judge):
        say(line)
    lost = summary.not_counted
    if lost.total:
        say(f"Not counted: {lost.total:,} episodes ({lost.described()})")
    if out is not None:
        say(f"Report: {out / 'report.html'}")


def register(app: typer.Typer) -> None:
    app.command("grade")(grade)
