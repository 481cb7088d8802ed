"""``crmbench learn``: what an agent that remembers gains over one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.learning.plan import LearnOptions

LearnerNames = Annotated[
    str,
    typer.Option(
        "--learner",
        help="playbook, history, retrieval, atlas, placebo (as long as the first other one "
        "recalls), placebo:TOKENS, simulated:RATE or module:Class; several with commas. The arm "
        "without a memory is always played.",
    ),
]
StreamName = Annotated[
    str,
    typer.Option(
        "--stream",
        help="shuffled, blocked (by family, with a matrix of transfer), drift (a house rule "
        "changes), drift-unwritten, compositional or split (families and worlds held out).",
    ),
]
FeedbackLevel = Annotated[
    str,
    typer.Option(
        help="none, binary, message (what is wrong, not what would be right) or gold (an upper "
        "bound, never for a board)."
    ),
]
LearnAgent = Annotated[
    str | None,
    typer.Option(help="As for run; or simulated, which is as able as simulated:RATE recalls."),
]


def learn(
    file: o.File,
    learner: LearnerNames = "playbook",
    agent: LearnAgent = None,
    model: o.ModelName = None,
    learner_model: Annotated[
        str | None, typer.Option(help="The model that learners ask; --model if left out.")
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="A teacher's model, for atlas; the learner's if left out.")
    ] = None,
    stream: StreamName = "shuffled",
    seeds: Annotated[int, typer.Option(min=1, help="Streams, each in an order of its own.")] = 3,
    feedback: FeedbackLevel = "binary",
    memory: Annotated[int, typer.Option(min=1, help="Tokens of a recalled text at most.")] = 2000,
    blocks: Annotated[int, typer.Option(min=2, help="Blocks of a blocked stream.")] = 4,
    probes: Annotated[int, typer.Option(min=1, help="Probes of each of these at most.")] = 4,
    out: Annotated[Path, typer.Option("--out", help="Directory to keep it in.")] = Path("learn"),
    sample: o.Sample = None,
    seed: Annotated[int, typer.Option(help="The first stream's seed; the next ones follow.")] = 0,
    filter_: o.Filters = None,
    backend: o.BackendName = "sqlite",
    concurrency: o.Concurrency = 8,
    time_limit: o.TimeLimit = None,
    max_steps: o.MaxSteps = 20,
    temperature: o.Temperature = None,
    requests_per_minute: o.RequestsPerMinute = None,
    tokens_per_minute: o.TokensPerMinute = None,
    max_cost: o.MaxCost = None,
    condition: o.Condition = "",
    condition_seed: o.ConditionSeed = 0,
    resume: o.Resume = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Measure what an agent learns: each learner and the same agent without a memory, on the same
    conversations, one after the other.

    Examples:

      crmbench learn demo --learner simulated:0.1,placebo --agent simulated --out learn-demo

      crmbench learn sales/standard --learner playbook,placebo --model openai/gpt-4.1-mini

      crmbench learn sales/standard --learner atlas --model openai/gpt-4.1-mini --stream blocked
    """
    from crmbench.learning.plan import LearnOptions
    from crmbench.learning.streams import StreamOptions
    from crmbench.runner.options import usual_agent

    run = o.chosen(
        locals(),
        agent=agent or usual_agent(model),
        filters=tuple(filter_ or ()),
        resume=False,
    )
    options = LearnOptions(
        run,
        tuple(name.strip() for name in learner.split(",") if name.strip()),
        StreamOptions(stream, blocks, probes),
        seeds,
        feedback,  # type: ignore[arg-type]  # LearnOptions refuses any other word
        memory,
        learner_model,
        teacher,
    )
    _learn(options, out, resume, quiet, as_json)


def _learn(options: LearnOptions, out: Path, resume: bool, quiet: bool, as_json: bool) -> None:
    from crmbench.cli.console import if_interrupted, print_json, progress_bar, remark, say
    from crmbench.learning.run import play_learning, write_plan
    from crmbench.report.learning.figures import learning_report, render_learning
    from crmbench.report.learning.page import write_learning
    from crmbench.runner.task_sets import read_data
    from crmbench.runner.waiting import wait_for

    data = read_data(options.run.file, options.run)
    title = f"{', '.join(options.learners)} on {data.name}"
    with (
        if_interrupted(f"what was played is kept in {out}; go on with --resume"),
        progress_bar(title, quiet or as_json) as progress,
    ):
        played = wait_for(play_learning(data, options, out, resume=resume, on_progress=progress))
    report = learning_report(out)
    write_plan(out, report.to_data())
    write_learning(report, out / "learn.html")
    if as_json:
        print_json({**report.to_data(), "out": str(out), "stopped": played.stopped})
    else:
        say(render_learning(report))
        say(f"\nReport: {out / 'learn.html'}")
    for fault in played.faults:
        remark(f"Left out: {fault.conversation_id}: {fault.reason}")
    if played.stopped is not None:
        remark(f"Stopped early: {played.stopped}. Go on with --resume.")
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command("learn")(learn)
