"""``crmbench run``: evaluate an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.runner.options import RunOptions


def run(
    file: o.AnyFile = None,
    agent: o.Agent = None,
    model: o.ModelName = None,
    backend: o.BackendName = "sqlite",
    out: o.Out = None,
    output: o.Output = None,
    conversations: o.Conversations = None,
    trials: o.Trials = 1,
    sample: o.Sample = None,
    seed: o.Seed = 0,
    filter_: o.Filters = None,
    concurrency: o.Concurrency = 8,
    time_limit: o.TimeLimit = None,
    tool_limit: o.ToolLimit = 100,
    max_steps: o.MaxSteps = 20,
    max_output_tokens: o.MaxOutputTokens = 2048,
    temperature: o.Temperature = None,
    requests_per_minute: o.RequestsPerMinute = None,
    tokens_per_minute: o.TokensPerMinute = None,
    max_cost: o.MaxCost = None,
    user: o.UserModel = None,
    user_messages: o.UserMessages = 6,
    judge: o.JudgeModel = None,
    no_judge: o.NoJudge = False,
    judge_all: o.JudgeAll = False,
    judge_weight: o.JudgeWeight = 0.7,
    judge_pass: o.JudgePass = 0.8,
    prompts: o.Prompts = "",
    dry_run: o.DryRun = False,
    domain: o.DomainName = None,
    tools: o.ToolSet = None,
    condition: o.Condition = "",
    condition_seed: o.ConditionSeed = 0,
    budget: o.Budget = None,
    keep_raw: o.KeepRaw = False,
    resume: o.Resume = False,
    workers: o.Workers = None,
    executor: o.ExecutorName = "",
    skip_invalid: o.SkipInvalid = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Evaluate an agent on multi-turn CRM conversations.

    Examples:

      crmbench run conversations.jsonl --agent my_agent.py:MyAgent --out runs/mine --resume

      crmbench run demo --agent mcp:"python examples/mcp_agent.py" --out runs/mcp

      crmbench run sales/standard --condition timeouts,pages:5 --agent oracle:defensive

      crmbench run sales/standard --model openai/gpt-4.1 --judge openai/gpt-4.1 --dry-run
    """
    from crmbench.runner.options import usual_agent

    if agent is None:
        agent = usual_agent(model)
    _needs_out(out, keep_raw, resume)
    file = _data(file, conversations, domain)
    if no_judge and judge is not None:
        raise typer.BadParameter("--judge and --no-judge exclude each other")
    chosen = o.chosen(
        locals(), filters=tuple(filter_ or ()), max_calls=tool_limit, max_tokens=max_output_tokens
    )
    if dry_run:
        _estimate(chosen, as_json)
    else:
        _played(chosen, out, output, quiet, as_json)


def _played(
    options: RunOptions, out: Path | None, output: Path | None, quiet: bool, as_json: bool
) -> None:
    from crmbench.cli.console import progress_bar
    from crmbench.cli.outcome import conclude, write_arc_results
    from crmbench.formats.remote import kept_at
    from crmbench.runner.play_parts import is_for_parts
    from crmbench.runner.run import execute_on
    from crmbench.runner.task_sets import read_data

    if is_for_parts(options, out):
        _played_in_parts(options, out, output, quiet, as_json)
        return
    data = read_data(options.file, options)
    with kept_at(out) as folder:
        factory, options = o.conducted(options, folder)
        title = f"{options.agent} on {Path(options.file).name}"
        with progress_bar(title, quiet or as_json) as progress:
            outcome = execute_on(data, options, folder, progress, factory)
        if output is not None:
            write_arc_results(output, options, outcome)
        conclude(options, outcome, folder, as_json)


def _played_in_parts(
    options: RunOptions, out: Path | None, output: Path | None, quiet: bool, as_json: bool
) -> None:
    from crmbench.cli.console import progress_bar
    from crmbench.cli.outcome_parts import conclude_in_parts
    from crmbench.formats.remote import kept_at
    from crmbench.report.run_files import finish_part
    from crmbench.runner.play_parts import play_parts

    if output is not None:
        raise typer.BadParameter("--output is for a set in one piece; each part has results.jsonl")
    with kept_at(out) as folder:
        assert folder is not None, "a run without --out is in one piece"
        if options.agent.partition(":")[0] == "atlas":
            raise typer.BadParameter("atlas learns over all it plays: name one file of the set")
        title = f"{options.agent} on {Path(options.file).name}"
        with progress_bar(title, quiet or as_json) as progress:
            outcome = play_parts(options, folder, finish_part, progress)
        conclude_in_parts(options, outcome, folder, as_json)


def _needs_out(out: Path | None, keep_raw: bool, resume: bool) -> None:
    if keep_raw and out is None:
        raise typer.BadParameter("--keep-raw needs --out, the directory to keep requests in")
    if resume and out is None:
        raise typer.BadParameter("--resume needs the --out of the run to go on with")


def _data(file: str | None, conversations: str | None, domain: str | None) -> str:
    """What the three ways to name conversations name; two at once are refused."""
    from crmbench.domains.registry import domain_names

    if file is not None and conversations is not None:
        raise typer.BadParameter("--conversations names a file, and FILE another")
    named = file or conversations
    if domain is None:
        return named or "demo"
    if named is not None:
        raise typer.BadParameter("--domain names a published set, and FILE names another")
    if domain not in domain_names():
        raise typer.BadParameter(f"--domain is one of {', '.join(domain_names())}")
    return domain


def _estimate(options: RunOptions, as_json: bool) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.runner.estimate import estimate

    found = estimate(options)
    if as_json:
        print_json(found.to_data())
    else:
        say(found.render())


def register(app: typer.Typer) -> None:
    app.command("run")(run)
