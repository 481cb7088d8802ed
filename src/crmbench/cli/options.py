"""Options that several verbs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from crmbench.errors import InputError

File = Annotated[
    str,
    typer.Argument(
        help="Conversations: a JSONL file, 'demo' for those that come along, a published set "
        "('sales', 'service', 'sales/test') or a directory that generate made."
    ),
]
BackendName = Annotated[
    str,
    typer.Option(
        "--backend",
        help="sqlite, or postgres (DATABASE_URL if set, else an embedded server).",
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
Out = Annotated[Path | None, typer.Option("--out", help="Directory to keep the run in.")]
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
