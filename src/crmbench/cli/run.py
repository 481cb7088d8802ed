"""``crmbench run``: evaluate an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.runner.options import RunOptions


def run(
    file: Annotated[
        str | None,
        typer.Argument(
            help="Conversations: a JSONL file, 'demo', a published set ('sales', 'service', "
            "'sales/standard') or a directory that generate made. Left out: demo, or the "
            "published set of --domain."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="heuristic, oracle, noop, refuse_all, random, dump, recorded:FILE, "
            "module:factory, http://…; with --model: function_calling, react, act or json. "
            "Without one: heuristic, or function_calling for a model."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="openai/NAME, anthropic/NAME, http://HOST/v1#NAME, litellm/NAME, …"),
    ] = None,
    backend: o.BackendName = "sqlite",
    out: o.Out = None,
    trials: Annotated[int, typer.Option(min=1, help="How often to play each conversation.")] = 1,
    sample: o.Sample = None,
    seed: o.Seed = 0,
    filter_: o.Filters = None,
    concurrency: o.Concurrency = 8,
    time_limit: o.TimeLimit = None,
    tool_limit: Annotated[int, typer.Option(min=1, help="Tool calls a turn at most.")] = 100,
    max_steps: o.MaxSteps = 20,
    temperature: o.Temperature = None,
    requests_per_minute: o.RequestsPerMinute = None,
    tokens_per_minute: o.TokensPerMinute = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0.0, help="US dollars; past them no further episode begins."),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(help="A model that plays the users, in its own words, bit by bit."),
    ] = None,
    user_messages: Annotated[
        int, typer.Option(min=1, help="Messages it may send for one request at most.")
    ] = 6,
    judge: Annotated[
        str | None,
        typer.Option(help="A model that is asked where the checks cannot decide."),
    ] = None,
    judge_all: Annotated[
        bool, typer.Option("--judge-all", help="Ask it about every turn, to measure agreement.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Estimate calls, tokens and cost; ask no model."),
    ] = False,
    domain: Annotated[
        str | None, typer.Option(help="With no FILE: the published set of a domain.")
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(help="A part of the tools, in service: tasks, soql or both."),
    ] = None,
    condition: o.Condition = "",
    condition_seed: o.ConditionSeed = 0,
    budget: o.Budget = None,
    keep_raw: Annotated[
        bool, typer.Option("--keep-raw", help="Keep every request and reply in --out.")
    ] = False,
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out.")] = False,
    skip_invalid: o.SkipInvalid = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Evaluate an agent on multi-turn CRM conversations.

    Examples:

      crmbench run demo --agent noop --out runs/noop

      crmbench run conversations.jsonl --agent my_agent.py:MyAgent --trials 4 --out runs/mine

      crmbench run conversations.jsonl --agent my_agent.py:MyAgent --out runs/mine --resume

      crmbench run --domain service --agent heuristic

      crmbench run sales/standard --condition timeouts,pages:5 --agent oracle:defensive

      crmbench run sales/standard --model openai/gpt-4.1 --judge openai/gpt-4.1 --dry-run
    """
    from crmbench.cli.console import progress_bar
    from crmbench.cli.outcome import conclude
    from crmbench.runner.options import RunOptions, usual_agent
    from crmbench.runner.run import execute

    if agent is None:
        agent = usual_agent(model)
    if keep_raw and out is None:
        raise typer.BadParameter("--keep-raw needs --out, the directory to keep requests in")
    if resume and out is None:
        raise typer.BadParameter("--resume needs the --out of the run to go on with")
    if domain is not None:
        _check_domain(domain, file)
    file = file or domain or "demo"
    chosen = RunOptions(
        file=file,
        tools=tools,
        agent=agent,
        backend=backend,
        trials=trials,
        sample=sample,
        seed=seed,
        filters=tuple(filter_ or ()),
        concurrency=concurrency,
        time_limit=time_limit,
        max_calls=tool_limit,
        model=model,
        max_steps=max_steps,
        temperature=temperature,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        keep_raw=keep_raw,
        max_cost=max_cost,
        user=user,
        user_messages=user_messages,
        judge=judge,
        judge_all=judge_all,
        condition=condition,
        condition_seed=condition_seed,
        budget=budget,
        skip_invalid=skip_invalid,
        resume=resume,
    )
    if dry_run:
        _estimate(chosen, as_json)
        return
    with progress_bar(f"{agent} on {Path(file).name}", quiet or as_json) as progress:
        outcome = execute(chosen, out, progress)
    conclude(chosen, outcome, out, as_json)


def _check_domain(domain: str, file: str | None) -> None:
    from crmbench.domains.registry import domain_names

    if file is not None:
        raise typer.BadParameter("--domain names a published set, and FILE names another")
    if domain not in domain_names():
        raise typer.BadParameter(f"--domain is one of {', '.join(domain_names())}")


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
