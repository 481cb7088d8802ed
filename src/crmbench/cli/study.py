"""``crmbench study``: the same tasks under conditions that differ in one thing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.runner.run import RunOutcome
    from crmbench.runner.run_dir import RunDir
    from crmbench.studies.plan import Kind, StudyOptions

StudyFile = Annotated[
    str | None,
    typer.Argument(
        help="Conversations, as for run; left out: the published set of --domain. For "
        "latents always the domain."
    ),
]
StudyAgent = Annotated[
    str | None,
    typer.Option(
        help="For tools, prompts and latents: an agent as for run, or with --model a framework. "
        "Without one: heuristic, or function_calling for a model."
    ),
]
Frameworks = Annotated[
    list[str] | None,
    typer.Option(
        "--framework",
        help="frameworks: one of those to hold to each other, repeatable. Without one: "
        "function_calling, react and act; there is also json.",
    ),
]
ToolSets = Annotated[
    list[str] | None,
    typer.Option(
        help="tools: a set of tools to study, repeatable; all if left out. In the other "
        "studies: the one set that agents have."
    ),
]
StudyPrompts = Annotated[
    list[str] | None,
    typer.Option(
        "--prompts",
        help="prompts: a folder of prompts, or one of our variants, repeatable; all variants if "
        "left out.",
    ),
]
Latents = Annotated[
    list[str] | None,
    typer.Option(
        "--latent",
        help="latents: one to switch off, repeatable; each of the domain's if left out.",
    ),
]
OrgSeed = Annotated[
    int | None,
    typer.Option(help="latents: the seed of org and questions; the published one if left out."),
]
ExpertTasks = Annotated[
    int, typer.Option("--tasks", min=1, help="experts: tasks that each person gets.")
]
ExpertPeople = Annotated[
    int, typer.Option("--people", min=1, help="experts: how many links are made.")
]
ExpertHost = Annotated[
    str, typer.Option("--host", help="experts: the address to listen on; others reach 0.0.0.0.")
]
ExpertPort = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="experts: 0: a free one.")
]
ExpertFigures = Annotated[
    bool, typer.Option("--figures", help="experts: make the report of what there is, and end.")
]
ExpertBeside = Annotated[
    list[Path] | None,
    typer.Option("--beside", help="experts, with --figures: a run to set beside, repeatable."),
]
StudySample = Annotated[
    int,
    typer.Option(
        "--sample", min=0, help="Conversations an arm, of each category in proportion; 0: all."
    ),
]
StudyTrials = Annotated[
    int | None,
    typer.Option(min=1, help="How often to play each; 4 for frameworks, else 1."),
]


def study(
    kind: Annotated[str, typer.Argument(help="frameworks, tools, prompts, latents or experts.")],
    file: StudyFile = None,
    agent: StudyAgent = None,
    model: o.ModelName = None,
    domain: Annotated[str, typer.Option(help="service or sales.")] = "service",
    framework: Frameworks = None,
    tools: ToolSets = None,
    prompts: StudyPrompts = None,
    latent: Latents = None,
    org_seed: OrgSeed = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory; study-KIND if left out.")
    ] = None,
    sample: StudySample = 45,
    trials: StudyTrials = None,
    seed: o.Seed = 0,
    filter_: o.Filters = None,
    backend: o.BackendName = "sqlite",
    concurrency: o.Concurrency = 8,
    time_limit: o.TimeLimit = None,
    max_steps: o.MaxSteps = 20,
    temperature: o.Temperature = None,
    requests_per_minute: o.RequestsPerMinute = None,
    tokens_per_minute: o.TokensPerMinute = None,
    max_cost: o.MaxCost = None,
    keep_raw: o.KeepRaw = False,
    dry_run: o.DryRun = False,
    resume: o.Resume = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
    tasks: ExpertTasks = 20,
    people: ExpertPeople = 5,
    host: ExpertHost = "127.0.0.1",
    port: ExpertPort = 8804,
    figures: ExpertFigures = False,
    beside: ExpertBeside = None,
) -> None:
    """Study what an agent's success depends on: one run for each condition, and one report.

    How the model is led to act, which tools it has, what it is told, or what shapes the records.

    Examples:

      crmbench study frameworks --model openai/gpt-4.1-mini --dry-run

      crmbench study prompts --model openai/gpt-4.1-mini --prompts with_examples

      crmbench study latents --agent heuristic --latent agent_skill --latent region_effects

      crmbench study experts sales/standard --tasks 20 --people 8 --out studies/people
    """
    if kind == "experts":
        from crmbench.cli.pages.experts import experts

        experts(file or domain, out, tasks, people, seed, host, port, figures, beside, as_json)
        return
    from crmbench.runner.options import usual_agent
    from crmbench.studies.plan import StudyOptions

    known = _known(kind)
    _refuse_others(kind, framework, latent, org_seed, prompts, file, agent, tools)
    one_set = tools[0] if tools and kind != "tools" else None
    run = o.chosen(
        locals(),
        file=domain if kind == "latents" else file or domain,
        agent=agent or usual_agent(model),
        tools=one_set,
        prompts="",
        trials=trials or (4 if kind == "frameworks" else 1),
        sample=sample or None,
        filters=tuple(filter_ or ()),
        resume=False,
    )
    arms = {"frameworks": framework, "tools": tools, "prompts": prompts, "latents": latent}[kind]
    options = StudyOptions(known, run, tuple(arms or ()), org_seed)
    if dry_run:
        _estimate(options, as_json)
    else:
        _study(options, out or Path(f"study-{kind}"), resume, quiet, as_json)


def _refuse_others(
    kind: str,
    framework: list[str] | None,
    latent: list[str] | None,
    org_seed: int | None,
    prompts: list[str] | None,
    file: str | None,
    agent: str | None,
    tools: list[str] | None,
) -> None:
    """See that nothing is given that belongs to another study."""
    if kind != "tools" and len(tools or ()) > 1:
        raise typer.BadParameter("--tools more than once is for the study of tools")
    _refuse_strangers(
        kind,
        {
            "--framework": (framework, ("frameworks",)),
            "--latent": (latent, ("latents",)),
            "--org-seed": (org_seed, ("latents",)),
            "--prompts": (prompts, ("prompts",)),
            "FILE": (file, ("frameworks", "tools", "prompts")),
            "--agent": (agent, ("tools", "prompts", "latents")),
        },
    )


def _known(kind: str) -> Kind:
    from crmbench.errors import InputError
    from crmbench.studies.plan import KINDS

    for known in KINDS:
        if known == kind:
            return known
    raise InputError(f"there is no study '{kind}'", expected=", ".join(KINDS))


def _refuse_strangers(kind: str, given: Mapping[str, tuple[object, tuple[str, ...]]]) -> None:
    """Refuse what says nothing in this study, rather than ignore it."""
    for name, (value, kinds) in given.items():
        if value is not None and kind not in kinds:
            raise typer.BadParameter(f"{name} is for the study of {' and '.join(kinds)}")


def _estimate(options: StudyOptions, as_json: bool) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.studies.estimate import estimate_study
    from crmbench.studies.plan import plan

    found = estimate_study(plan(options))
    if as_json:
        print_json(found.to_data())
    else:
        say(found.render())


def _study(options: StudyOptions, folder: Path, resume: bool, quiet: bool, as_json: bool) -> None:
    from functools import partial

    from crmbench.cli.console import if_interrupted, print_json, progress_bar, remark, say
    from crmbench.report.study import study_figures
    from crmbench.report.study_page import write_study
    from crmbench.report.study_terminal import render_study
    from crmbench.studies.plan import plan
    from crmbench.studies.run import open_study, play_study, write_plan

    planned = plan(options)
    open_study(planned, folder, resume=resume)
    with if_interrupted(f"what was played is kept in {folder}; go on with --resume"):
        played = play_study(planned, folder, partial(progress_bar, quiet=quiet or as_json), _keep)
    figures = study_figures(folder)
    write_plan(folder, figures.to_data())
    write_study(figures, folder / "study.html")
    if as_json:
        print_json({**figures.to_data(), "out": str(folder), "stopped": played.stopped})
    else:
        say(render_study(figures))
        say(f"\nReport: {folder / 'study.html'}")
    if played.stopped is not None:
        remark(f"Stopped early: {played.stopped}. Go on with --resume.")
        raise typer.Exit(1)
    if played.not_counted:
        remark("Some episodes do not count: their model or server failed. Go on with --resume.")
        raise typer.Exit(3)


def _keep(run_dir: RunDir, outcome: RunOutcome) -> None:
    """Write what `crmbench run` writes beside the episodes."""
    from crmbench.agents.trivial import TRIVIAL_NAMES
    from crmbench.formats.arc_results import write_results
    from crmbench.report.html import write_report
    from crmbench.report.summary import summarise

    trivial = run_dir.config()["agent"] in TRIVIAL_NAMES
    summary = summarise(outcome.tasks, outcome.outlines, trivial=trivial)
    write_results(run_dir.path / "results.jsonl", outcome.tasks, run_dir.each())
    run_dir.write_json("summary.json", summary.to_data())
    write_report([run_dir], run_dir.path / "report.html")


def register(app: typer.Typer) -> None:
    app.command("study")(study)
