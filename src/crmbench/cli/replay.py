"""``crmbench replay``: walk the ground truth of a file and say where it contradicts itself."""

from __future__ import annotations

from pathlib import Path

import typer

from crmbench.cli import options as o


def replay(
    file: o.File = "demo",
    backend: o.BackendName = "sqlite",
    out: o.Out = None,
    concurrency: o.Concurrency = 1,
    sample: o.Sample = None,
    seed: o.Seed = 0,
    workers: o.Workers = None,
    executor: o.ExecutorName = "",
    skip_invalid: o.SkipInvalid = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Replay the ground truth of every conversation, and name those that fail their own.

    A conversation whose ground truth is wrong is named with the reason. That is a finding about
    the file, so the exit code is 0 all the same.

    Examples:

      crmbench replay conversations.jsonl

      crmbench replay conversations.jsonl --backend postgres --json
    """
    from crmbench.cli.console import progress_bar
    from crmbench.cli.outcome import conclude
    from crmbench.formats.remote import kept_at
    from crmbench.runner.run import RunOptions, execute

    chosen = RunOptions(
        file=file,
        agent="oracle",
        backend=backend,
        sample=sample,
        seed=seed,
        concurrency=concurrency,
        skip_invalid=skip_invalid,
        workers=workers,
        executor=executor,
    )
    with kept_at(out) as folder:
        with progress_bar(f"replaying {Path(file).name}", quiet or as_json) as progress:
            outcome = execute(chosen, folder, progress)
        conclude(chosen, outcome, folder, as_json)


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)
