"""``crmbench ladder``: find the size at which an agent passes half."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted

if TYPE_CHECKING:
    from crmbench.core.task import Task
    from crmbench.grading.items import ItemVerdict
    from crmbench.grading.record import EpisodeRecord
    from crmbench.ladder.run import Ladder
    from crmbench.report.ladder import MechanismFigures

Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Tasks with the tags mechanism and size; left out: the hard families of --domain, "
        "at every level.",
    ),
]
Ratio = Annotated[
    float,
    typer.Option(min=1.05, help="Enough when the interval's upper end is so many times its lower."),
]
Level = Annotated[
    list[int] | None, typer.Option(min=1, max=5, help="Only these levels; all of them.")
]
B50 = Annotated[
    bool,
    typer.Option(
        "--b50",
        help="Find the budget of calls instead, at one level (3): multiples of what a task allows.",
    ),
]
B50_LEVEL = 3
"""The published one."""


def ladder(
    files: Files = None,
    agent: Annotated[
        str | None, typer.Option(help="As for run; also slip:RATE, a simulated agent.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="As for run.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="sales or service; all that have hard families.")
    ] = None,
    mechanism: Annotated[list[str] | None, typer.Option(help="Only these; all of them.")] = None,
    level: Level = None,
    episodes: Annotated[int, typer.Option(min=1, help="Most episodes a mechanism.")] = 40,
    ratio: Ratio = 2.0,
    tasks: Annotated[int, typer.Option(min=1, help="Tasks made for each level.")] = 12,
    tasks_seed: Annotated[int, typer.Option("--tasks-seed", help="What they follow from.")] = 42,
    backend: o.BackendName = "sqlite",
    workers: o.Workers = None,
    executor: o.ExecutorName = "",
    out: o.Out = None,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = None,
    max_steps: o.MaxSteps = 400,
    temperature: o.Temperature = None,
    requests_per_minute: o.RequestsPerMinute = None,
    tokens_per_minute: o.TokensPerMinute = None,
    max_cost: o.MaxCost = None,
    condition: o.Condition = "",
    condition_seed: o.ConditionSeed = 0,
    budget: o.Budget = None,
    b50: B50 = False,
    resume: o.Resume = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Find n50, the size at which an agent passes half, with few episodes; or b50, the budget.

    Sizes are chosen as the outcomes come in: the next episode is played where it tells most.

    Examples:

      crmbench ladder --agent slip:0.02 --out ladders/slip

      crmbench ladder --domain sales --mechanism worklist --model openai/gpt-4.1 --out ladders/gpt

      crmbench ladder my-tasks.jsonl --agent my_agent.py:MyAgent --out ladders/mine --resume
    """
    from tempfile import TemporaryDirectory

    from crmbench.cli.console import remark
    from crmbench.ladder.budget import with_budgets
    from crmbench.ladder.climb import Stop
    from crmbench.ladder.pool import load_tasks
    from crmbench.ladder.run import run_ladder
    from crmbench.runner.options import usual_agent

    if resume and out is None:
        raise typer.BadParameter("--resume needs the --out of the ladder to go on with")
    options = o.chosen(
        locals(),
        file=",".join(files or domain or ["hard"]),
        agent=agent or usual_agent(model),
        resume=False,
    )
    families = (domain or [], mechanism or [], tasks, tasks_seed, level or _levels(b50))
    chosen = load_tasks(files or [], *families, workers=workers, executor=executor)
    with TemporaryDirectory() as scratch:
        found = run_ladder(
            with_budgets(chosen) if b50 else chosen,
            options,
            Stop(episodes, ratio),
            out or Path(scratch) / "ladder",
            resume=resume,
            on_progress=lambda done: None if quiet or as_json else _tell(done),
        )
        figures = _figures(found, out, backend)
    _print(found, figures, out, as_json)
    if found.stopped is not None:
        remark(f"Stopped early: {found.stopped}.")
        raise typer.Exit(1)


def _levels(b50: bool) -> Sequence[int]:
    """The levels that are played where none is named."""
    from crmbench.authoring.rungs import LEVELS

    return [B50_LEVEL] if b50 else LEVELS


def _print(
    found: Ladder, figures: tuple[MechanismFigures, ...], out: Path | None, as_json: bool
) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.report.ladder import ladder_lines

    if as_json:
        print_json({"mechanisms": [each.to_data() for each in figures], "stopped": found.stopped})
        return
    for line in ladder_lines(figures):
        say(line)
    if out is not None:
        say(f"Report: {out / 'report.html'}")


def _tell(done: int) -> None:
    import sys

    if sys.stderr.isatty():
        sys.stderr.write(f"\r{counted(done, 'episode')}")


def _figures(found: Ladder, out: Path | None, backend: str) -> tuple[MechanismFigures, ...]:
    """The figures; with `out` they are written there, with the report."""
    from crmbench.report.html import write_report
    from crmbench.report.ladder import ladder_figures
    from crmbench.runner.evaluate import grader_on
    from crmbench.runner.run_dir import RunDir

    grader = grader_on(backend)

    def items(task: Task, episode: EpisodeRecord) -> Sequence[ItemVerdict]:
        known = found.items.get(episode.key)
        # An episode of an earlier sitting: its world is made anew.
        return grader.items(task, episode.trace) if known is None else known

    try:
        figures = ladder_figures(found.tasks, found.episodes, items)
    finally:
        grader.close()
    if out is not None:
        run_dir = RunDir(out)
        run_dir.write_json("ladder.json", [each.to_data() for each in figures])
        write_report([run_dir], out / "report.html")
    return figures


def register(app: typer.Typer) -> None:
    app.command("ladder")(ladder)
