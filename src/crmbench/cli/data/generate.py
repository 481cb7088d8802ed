"""``crmbench generate``: the data set, or a fresh private one, from a seed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted

if TYPE_CHECKING:
    from crmbench.authoring.dataset import Dataset
    from crmbench.formats.shards import ShardPlan


def generate(
    domain: Annotated[
        str, typer.Argument(help="A domain: sales, service or an installed one.")
    ] = "sales",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory to write, or s3://…; else crmbench-DOMAIN."),
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
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards",
            min=1,
            max=10_000,
            help="Write that many shards of Parquet, each with worlds of its own: for any --size.",
        ),
    ] = None,
    workers: o.Workers = None,
    executor: o.ExecutorName = "",
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Write the conversations of a domain: JSONL, Parquet and a card with the statistics.

    The same seed gives the same bytes on any machine. With --shards no more than a shard for each
    worker is held, and a set that was cut off is gone on with.

    Examples:

      crmbench generate --out dataset

      crmbench generate sales --seed 7 --out private

      crmbench generate service --out service

      crmbench generate sales --level 3

      crmbench generate sales --seed 7 --size 1000000 --shards 1000 --out large
    """
    from crmbench.cli.console import if_interrupted, remark
    from crmbench.domains.registry import load_generator
    from crmbench.errors import InputError
    from crmbench.formats.remote import kept_at
    from crmbench.runner.executors.generating import plan_shards

    if seed < 0:
        raise InputError(f"the seed is {seed}", field="--seed", expected="a whole number from 0 on")
    make = load_generator(domain)
    folder = out or Path(f"crmbench-{domain}")
    if level is not None:
        make = partial(load_generator(domain, "hard"), level=level)
        folder = out or Path(f"crmbench-{domain}-hard-L{level}")
    if shards is None and (executor or workers is not None):
        raise typer.BadParameter("--workers and --executor need --shards: one set is one piece")
    with kept_at(folder) as place:
        assert place is not None, "a folder was given"
        _check_free(place, in_shards=shards is not None)
        if shards is not None:
            if size is None:
                raise typer.BadParameter("--shards needs --size, the conversations of all of them")
            plan = plan_shards(domain, seed, size, shards, level)
            _in_shards(plan, place, workers, executor, quiet, as_json)
            return
        if not (as_json or quiet):
            remark(f"Making the conversations of {domain}; a full set takes {_takes(level)} …")
        with if_interrupted("nothing was written; the same command begins anew"):
            dataset = make(seed) if size is None else make(seed, size)
        _in_one_piece(dataset, place, as_json)


def _check_free(folder: Path, *, in_shards: bool) -> None:
    """See that a set may be written there."""
    from crmbench.errors import InputError
    from crmbench.formats.shards import ShardedSet

    if folder.exists() and not folder.is_dir():
        raise InputError("is a file", file=str(folder), expected="a directory, new or of your own")
    if (folder / "config.json").exists():
        raise InputError(
            "holds a run", file=str(folder), expected="a directory of its own for a data set"
        )
    if not in_shards and ShardedSet(folder).exists:
        raise InputError("holds a set in shards", file=str(folder), expected="a new directory")


def _takes(level: int | None) -> str:
    return "some seconds" if level is None else "up to some minutes"


def _in_one_piece(dataset: Dataset, folder: Path, as_json: bool) -> None:
    from crmbench.cli.console import if_interrupted, print_json, say
    from crmbench.formats.dataset_dir import save_dataset

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


def _in_shards(
    plan: ShardPlan,
    folder: Path,
    workers: int | None,
    executor: str,
    quiet: bool,
    as_json: bool,
) -> None:
    from crmbench.cli.console import if_interrupted, print_json, progress_bar, say
    from crmbench.runner.executors.generating import generate_shards

    with (
        if_interrupted(f"{folder} is not complete; the same command goes on with it"),
        progress_bar(f"making {plan.domain}, in shards", quiet or as_json) as progress,
    ):
        written = generate_shards(
            plan, folder, workers=workers, executor=executor, on_progress=progress
        )
    splits = {name: part.conversations for name, part in written.splits().items()}
    if as_json:
        print_json(
            {
                "directory": str(folder),
                "shards": plan.shards,
                "splits": splits,
                "canary": plan.canary,
            }
        )
        return
    shown = ", ".join(f"{name} {count:,}" for name, count in splits.items())
    held = counted(plan.size * plan.shards, "conversation")
    say(f"{held} ({shown}) in {counted(plan.shards, 'shard')} in {folder}")


def register(app: typer.Typer) -> None:
    app.command("generate")(generate)
