"""``crmbench show``: conversations as a person reads them."""

from __future__ import annotations

from typing import Annotated

import typer

from crmbench.cli import options as o


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
) -> None:
    """Print conversations with what is right in each turn. It shows the ground truth.

    Examples:

      crmbench show demo --sample 3

      crmbench show dataset/test.jsonl --filter tag=undo --sample 5 --seed 1
    """
    from crmbench.cli.console import say
    from crmbench.formats.readable import read_aloud
    from crmbench.runner.task_sets import choose, load_named

    tasks = load_named(file).tasks()
    for task in choose(tasks, filters=filters or (), sample=sample, seed=seed):
        say(read_aloud(task))


def register(app: typer.Typer) -> None:
    app.command("show")(show)
