"""``crmbench generate``: the data set, or a fresh private one, from a seed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o
from crmbench.core.counts import counted


def generate(
    domain: Annotated[
        str, typer.Argument(help="A domain: sales, service or an installed one.")
    ] = "sales",
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory to write; crmbench-DOMAIN if left out.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="42 is the published set; any other makes a private one.")
    ] = 42,
    size: Annotated[
        int | None, typer.Option("--size", help="How many conversations; the full set if left out.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            "--level", help="The hard set of the domain at a level, 1 to 5; 3 is published."
        ),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Write the conversations of a domain: JSONL, Parquet and a card with the statistics.

    The same seed gives the same bytes on any machine.

    Examples:

      crmbench generate --out dataset

      crmbench generate sales --seed 7 --out private

      crmbench generate service --out service

      crmbench generate sales --level 3
    """
    from crmbench.cli.console import if_interrupted, print_json, remark, say
    from crmbench.domains.registry import load_generator
    from crmbench.errors import InputError
    from crmbench.formats.dataset_dir import save_dataset

    if seed < 0:
        raise InputError(f"the seed is {seed}", field="--seed", expected="a whole number from 0 on")
    make = load_generator(domain)
    folder = out or Path(f"crmbench-{domain}")
    if level is not None:
        make = partial(load_generator(domain, "hard"), level=level)
        folder = out or Path(f"crmbench-{domain}-hard-L{level}")
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file", file=str(folder), expected="a directory, new or of your own")
    if (folder / "config.json").exists():
        raise InputError(
            "holds a run", file=str(folder), expected="a directory of its own for a data set"
        )
    if not as_json:
        remark(f"Making the conversations of {domain}; a full set takes some seconds …")
    with if_interrupted("nothing was written; the same command begins anew"):
        dataset = make(seed) if size is None else make(seed, size)
    with if_interrupted(f"{folder} is not complete; the same command writes it anew"):
        files = save_dataset(dataset, folder)
    counts = {name: len(tasks) for name, tasks in dataset.splits.items()}
    if as_json:
        print_json({"files": [str(f) for f in files], "splits": counts, "canary": dataset.canary})
        return
    shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    turns = sum(len(task.turns) for task in dataset.tasks)
    held = f"{counted(len(dataset.tasks), 'conversation')}, {counted(turns, 'turn')}"
    say(f"{held} ({shown}) in {folder}")


def register(app: typer.Typer) -> None:
    app.command("generate")(generate)
