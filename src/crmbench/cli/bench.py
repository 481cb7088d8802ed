"""``crmbench bench``: how fast it is on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crmbench.cli import options as o


def bench(
    out: Annotated[Path, typer.Option("--out", help="Directory for JSON and plots.")] = Path(
        "bench-results"
    ),
    file: Annotated[
        str | None, typer.Option("--file", help="Conversations to replay; bundled ones if absent.")
    ] = None,
    models_only: Annotated[
        bool, typer.Option("--models-only", help="Only how fast models are driven, and the start.")
    ] = False,
    rest_only: Annotated[
        bool,
        typer.Option("--rest-only", help="Only what a query costs over Salesforce's REST API."),
    ] = False,
    training_only: Annotated[
        bool,
        typer.Option("--training-only", help="Only sessions for training: steps, resets, memory."),
    ] = False,
    scale: Annotated[
        bool,
        typer.Option("--scale", help="Only several workers, Ray, and what a run directory costs."),
    ] = False,
    quick: Annotated[bool, typer.Option(help="Fewer rounds and smaller worlds.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Measure speed as ratios taken in one run: replay, tool calls, resets, memory, growth, models.

    Examples:

      crmbench bench --quick

      crmbench bench --models-only

      crmbench bench --rest-only

      crmbench bench --training-only

      crmbench bench --scale --file conversations.jsonl

      crmbench bench --file conversations.jsonl --out bench-results --json
    """
    from crmbench.bench.bench import render, run_benchmarks
    from crmbench.cli.console import if_interrupted, print_json, say

    if rest_only:
        _rest(as_json, 30 if quick else 300)
        return
    if training_only:
        _training(as_json, quick)
        return
    if scale:
        _scale(as_json, file or "demo", quick)
        return
    o.usable_directory(out, "--out")
    with if_interrupted("nothing was measured to its end, so nothing was written"):
        results = run_benchmarks(out, quick=quick, file=file, models_only=models_only)
    if as_json:
        print_json(results)
    else:
        say(render(results))
        say(f"Written to {out}")


def _rest(as_json: bool, rounds: int) -> None:
    from crmbench.cli.console import if_interrupted, print_json, say
    from crmbench.serve.salesforce.measure import as_results, measure_rest, render_rest

    with if_interrupted("nothing was measured to its end"):
        results = as_results(measure_rest(rounds))
    if as_json:
        print_json(results)
    else:
        say(render_rest(results))


def _scale(as_json: bool, file: str, quick: bool) -> None:
    from crmbench.bench.scale import measure_scale, render_scale, results_data
    from crmbench.cli.console import if_interrupted, print_json, say

    # Some twenty seconds of one worker, so that what starts weighs as little as in a long run.
    effort = (1, 3_000, 64) if quick else (5, 160_000, 200)
    with if_interrupted("nothing was measured to its end"):
        results = measure_scale(file, *effort)
    if as_json:
        print_json(results_data(results))
    else:
        say(render_scale(results))


def _training(as_json: bool, quick: bool) -> None:
    from crmbench.bench.training import measure_training, render_training
    from crmbench.cli.console import if_interrupted, print_json, say

    with if_interrupted("nothing was measured to its end"):
        results = measure_training(*((2, 2_000) if quick else (9, 100_000)))
    if as_json:
        print_json(results)
    else:
        say(render_training(results))


def register(app: typer.Typer) -> None:
    app.command("bench")(bench)
