"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crmbench.errors import InputError

if TYPE_CHECKING:
    from crmbench.integrations.atlas.agents import AtlasAgents
    from crmbench.runner.options import RunOptions

File = Annotated[
    str,
    typer.Argument(
        help="Conversations: a file of JSON Lines or Parquet, 'demo' for those that come along, a "
        "published set ('sales', 'service', 'sales/test') or a directory that generate made."
    ),
]
BackendName = Annotated[
    str,
    typer.Option(
        "--backend",
        help="sqlite (or mock, as Arc says), or postgres (DATABASE_URL if set, else an embedded "
        "server).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
SkipInvalid = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave out invalid lines, and say how many.")
]
Concurrency = Annotated[
    int, typer.Option("--concurrency", min=1, max=10_000, help="Episodes at once.")
]
Sample = Annotated[
    int | None, typer.Option("--sample", min=1, help="Only so many conversations, by the seed.")
]
Seed = Annotated[int, typer.Option("--seed", help="For sampling and for agents that use chance.")]
Out = Annotated[Path | None, typer.Option("--out", help="Directory to keep the run in, or s3://….")]


def here(place: str) -> Path:
    """Where a run is on this machine, copied from its address if it has one."""
    from crmbench.formats import remote

    return remote.here(place)


RunDirs = Annotated[
    list[Path],
    typer.Argument(
        parser=here,
        metavar="RUN...",
        help="Directories that `crmbench run --out` made, or addresses such as s3://bucket/run.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", help="tag=…, category=…, complexity=…, family=…, persona=… or id=…."),
]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", min=0.001, help="Seconds an episode may take.")
]
MaxSteps = Annotated[int, typer.Option("--max-steps", min=1, help="Model calls a turn at most.")]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", help="Of the model; its provider's default if left out."),
]
RequestsPerMinute = Annotated[
    float | None, typer.Option("--requests-per-minute", help="Rate limit.")
]
TokensPerMinute = Annotated[float | None, typer.Option("--tokens-per-minute", help="Rate limit.")]


def usable_directory(path: Path | None, what: str) -> None:
    """Make an output directory before work begins whose result it is to hold.

    Args:
        what: The option that named it.

    Raises:
        InputError: It cannot be made, or not be written to.
    """
    if path is None:
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be made: {error.strerror}",
            file=str(path),
            field=what,
            expected="a directory, new or of your own",
        ) from error
    if not os.access(path, os.W_OK):
        raise InputError(
            "cannot be written to", file=str(path), field=what, expected="a directory of your own"
        )


Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Processes that share the work, or actors on Ray; as many as serve if left out. The "
        "results are the same.",
    ),
]
ExecutorName = Annotated[
    str,
    typer.Option(
        "--executor", help="inline, processes, ray (RAY_ADDRESS, or here) or ray://HOST:PORT."
    ),
]
JudgeWeight = Annotated[
    float,
    typer.Option(
        "--judge-weight",
        min=0,
        max=1,
        help="Share of a judge's first score (goal, or calls); the rest is the second's.",
    ),
]
JudgePass = Annotated[
    float, typer.Option("--judge-pass", min=0, max=1, help="The least score that passes.")
]
Prompts = Annotated[
    str,
    typer.Option(
        "--prompts", help="A folder of prompts in place of ours, or the name of a variant."
    ),
]
Condition = Annotated[
    str,
    typer.Option(
        "--condition",
        help="Conditions laid over every task, with commas: timeouts, pages:5, rate:4, stale:3, "
        "handbook, break, …",
    ),
]
ConditionSeed = Annotated[
    int, typer.Option("--condition-seed", help="What the conditions' chance follows from.")
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget",
        help="Tool calls a conversation, as a multiple of the gold's; the agent is told how many.",
    ),
]
AnyFile = Annotated[
    str | None,
    typer.Argument(
        help="Conversations: a JSONL file, 'demo', a published set ('sales', 'service', "
        "'sales/standard') or a directory that generate made. Left out: demo, or the "
        "published set of --domain."
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        help="heuristic, oracle, noop, refuse_all, random, dump, recorded:FILE, "
        "module:factory, http://…; with --model: function_calling, react, act, json or atlas. "
        "Without one: heuristic, or function_calling for a model."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(help="openai/NAME, anthropic/NAME, http://HOST/v1#NAME, litellm/NAME, …"),
]
Trials = Annotated[int, typer.Option(min=1, help="How often to play each conversation.")]
ToolLimit = Annotated[int, typer.Option(min=1, help="Tool calls a turn at most.")]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0.0, help="US dollars; past them no further episode begins."),
]
UserModel = Annotated[
    str | None,
    typer.Option(help="A model that plays the users, in its own words, bit by bit."),
]
UserMessages = Annotated[
    int, typer.Option(min=1, help="Messages it may send for one request at most.")
]
JudgeModel = Annotated[
    str | None,
    typer.Option(help="A model that is asked where the checks cannot decide."),
]
NoJudge = Annotated[
    bool, typer.Option("--no-judge", help="Ask none, which is usual; for commands of Arc's.")
]
Conversations = Annotated[
    str | None, typer.Option("--conversations", help="The same as FILE; for commands of Arc's.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", help="A file for Arc's result records, seconds included."),
]
MaxOutputTokens = Annotated[
    int, typer.Option("--max-output-tokens", min=1, help="Tokens of a model's reply at most.")
]
JudgeAll = Annotated[
    bool, typer.Option("--judge-all", help="Ask it about every turn, to measure agreement.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Estimate calls, tokens and cost; ask no model."),
]
DomainName = Annotated[
    str | None, typer.Option(help="With no FILE: the published set of a domain.")
]
ToolSet = Annotated[
    str | None,
    typer.Option(help="A part of the tools, in service: tasks, soql or both."),
]
KeepRaw = Annotated[bool, typer.Option("--keep-raw", help="Keep every request and reply in --out.")]
Resume = Annotated[bool, typer.Option(help="Go on with what is in --out.")]


def conducted(options: RunOptions, out: Path | None) -> tuple[AtlasAgents | None, RunOptions]:
    """The agents of ``--agent atlas``, which leads its conversations itself, one after the other.

    Raises:
        InputError: No model is named.
        MissingExtraError: The extra ``atlas`` is not installed.
    """
    from dataclasses import replace

    if options.agent.partition(":")[0] != "atlas":
        return None, options
    # By its name, for the library behind it is an extra.
    opened = import_module("crmbench.integrations.atlas.agents").open_atlas_agents(options, out)
    return opened, replace(options, concurrency=1)


def chosen(flags: Mapping[str, Any], **others: Any) -> RunOptions:
    """The options of a run from a command's parameters that bear their names.

    Args:
        flags: The command's ``locals()``; what is no option of a run is passed over.
        others: Options under other names, or with other values; they go before.
    """
    from dataclasses import fields

    from crmbench.runner.options import RunOptions

    names = {field.name for field in fields(RunOptions)}
    return RunOptions(**{n: v for n, v in {**flags, **others}.items() if n in names})
