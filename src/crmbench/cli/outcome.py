"""How ``run`` and ``replay`` end: files, figures, and an exit code."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.cli.console import print_json, remark, say
from crmbench.formats.arc_results import write_results
from crmbench.harness.run import RunOptions, RunOutcome
from crmbench.harness.run_dir import RunDir
from crmbench.report.html import write_report
from crmbench.report.summary import Summary, summarise
from crmbench.report.terminal import render_terminal


def conclude(options: RunOptions, outcome: RunOutcome, out: Path | None, as_json: bool) -> None:
    """Write the results and the report into `out`, and print the figures.

    Raises:
        typer.Exit: With 3 when a model or server failed for some episodes, with 1 when the run
            was stopped before its end.
    """
    summary = summarise(outcome.tasks, outcome.episodes, trivial=options.agent in TRIVIAL_NAMES)
    if out is not None:
        run_dir = RunDir(out)
        write_results(out / "results.jsonl", outcome.tasks, outcome.episodes)
        run_dir.write_json("summary.json", summary.to_data())
        write_report([run_dir], out / "report.html")
    if as_json:
        print_json(figures(options, outcome, summary, out))
    else:
        _print(options, outcome, summary, out)
    if outcome.stopped is not None:
        remark(f"Stopped early: {outcome.stopped}. Go on with --resume.")
        raise typer.Exit(1)
    if any(not episode.verdict.counted for episode in outcome.episodes):
        remark("Some episodes do not count: their model or server failed. Go on with --resume.")
        raise typer.Exit(3)


def figures(
    options: RunOptions, outcome: RunOutcome, summary: Summary, out: Path | None
) -> dict[str, Any]:
    """What ``--json`` prints."""
    rate = outcome.turns_played / outcome.seconds if outcome.seconds else 0.0
    return {
        "agent": options.agent,
        "backend": options.backend,
        "conversations": summary.conversations,
        "turns": summary.turns,
        "succeeded": summary.succeeded,
        "success_rate": summary.success.value,
        "success_interval": [summary.success.low, summary.success.high],
        "seconds": round(outcome.seconds, 3),
        "turns_per_s": round(rate, 1),
        "ground_truth_faults": [asdict(fault) for fault in outcome.faults],
        "skipped": list(outcome.skipped),
        "stopped": outcome.stopped,
        "passed_by_doing_nothing": [asdict(item) for item in summary.passed],
        "out": str(out) if out else None,
    }


def _print(options: RunOptions, outcome: RunOutcome, summary: Summary, out: Path | None) -> None:
    say(render_terminal(summary, title=f"{options.agent} on {Path(options.file).name}"))
    if outcome.seconds:
        rate = outcome.turns_played / outcome.seconds
        say(f"{outcome.turns_played:,} turns in {outcome.seconds:.2f} s: {rate:,.0f} a second")
    if outcome.faults:
        say(f"\nGround truth that contradicts itself: {len(outcome.faults)} conversations")
        for fault in outcome.faults:
            say(f"  {fault.conversation_id}: {fault.reason}")
    if outcome.skipped:
        say(f"\nSkipped {len(outcome.skipped)} invalid lines:")
        for reason in outcome.skipped:
            say(f"  {reason}")
    if out is not None:
        say(f"\nReport: {out / 'report.html'}")
