"""``crmbench conditions``: what each condition costs an agent, paired by task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from crmbench.runner.options import RunOptions, usual_agent
    from crmbench.runner.run_dir import RunDir


def conditions(
    file: Annotated[str, typer.Argument(help="Conversations, as for run.")],
    agent: Annotated[str | None, typer.Option(help="As for run.")] = None,
    model: Annotated[str | None, typer.Option(help="As for run.")] = None,
    conditions: Annotated[
        str,
        typer.Option(
            "--conditions",
            help="Conditions, each played by itself; a + lays two at once: a,b,c+d.",
        ),
    ] = "timeouts,pages:5,stale,colleague,automation,lures,names,break",
    backend: o.BackendName = "sqlite",
    out: o.Out = None,
    trials: Annotated[int, typer.Option(min=1, help="How often to play each conversation.")] = 1,
    sample: o.Sample = None,
    seed: o.Seed = 0,
    filter_: o.Filters = None,
    concurrency: o.Concurrency = 8,
    max_steps: o.MaxSteps = 100,
    condition_seed: o.ConditionSeed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Play tasks clean and under each condition, and pair them: drop, flips, attack success.

    Examples:

      crmbench conditions demo --agent oracle:naive --conditions timeouts,pages:5

      crmbench conditions sales/standard --sample 20 --model openai/gpt-4.1 --out runs/conditions
    """
    from tempfile import TemporaryDirectory

    from crmbench.cli.console import print_json, say
    from crmbench.report.conditions import condition_figures, condition_lines
    from crmbench.runner.options import RunOptions

    names = _names(conditions)
    options = RunOptions(
        file=file,
        agent=agent or usual_agent(model),
        model=model,
        backend=backend,
        trials=trials,
        sample=sample,
        seed=seed,
        filters=tuple(filter_ or ()),
        concurrency=concurrency,
        max_steps=max_steps,
        condition_seed=condition_seed,
    )
    with TemporaryDirectory() as scratch:
        place = out or Path(scratch) / "conditions"
        clean = _played(options, "", place / "clean")
        under = {name: _played(options, name, place / _folder(name)) for name in names}
        figures = condition_figures(clean, under)
    if as_json:
        print_json([each.to_data() for each in figures])
    else:
        for line in condition_lines(figures):
            say(line)


def _names(text: str) -> tuple[str, ...]:
    """The conditions that are each played by themselves, as `parse_conditions` writes them."""
    from crmbench.core.conditions import parse_conditions
    from crmbench.errors import InputError

    groups = [parse_conditions(part.replace("+", ",")) for part in text.split(",")]
    names = tuple(",".join(map(str, specs)) for specs in groups)
    if not all(names) or len(set(names)) < len(names):
        raise InputError(
            f"'{text}' names a condition twice, or none", expected="such as timeouts,pages:5"
        )
    return names


def _folder(name: str) -> str:
    return name.replace(":", "-").replace(",", "+")


def _played(options: RunOptions, condition: str, out: Path) -> RunDir:
    from dataclasses import replace

    from crmbench.runner.run import execute
    from crmbench.runner.run_dir import RunDir

    execute(replace(options, condition=condition), out)
    return RunDir(out)


def register(app: typer.Typer) -> None:
    app.command("conditions")(conditions)
