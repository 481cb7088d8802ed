"""How ``run`` and ``replay`` end: files, figures, and an exit code."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.cli.console import print_json, remark, say
from crmbench.formats.arc_results import write_results
from crmbench.report.html import write_report
from crmbench.report.labels import player
from crmbench.report.summary import Summary, summarise
from crmbench.report.terminal import render_terminal
from crmbench.runner.run import RunOptions, RunOutcome
from crmbench.runner.run_dir import RunDir


def conclude(options: RunOptions, outcome: RunOutcome, out: Path | None, as_json: bool) -> None:
    """Write the results and the report into `out`, and print the figures.

    Raises:
        typer.Exit: With 3 when some episodes do not count, since a model or server failed, with
            1 when the run was stopped before its end.
    """
    trivial = options.agent in TRIVIAL_NAMES
    summary = summarise(outcome.tasks, outcome.outlines, trivial=trivial, trials=options.trials)
    if out is not None:
        run_dir = RunDir(out)
        config = run_dir.config()
        write_results(out / "results.jsonl", outcome.tasks, run_dir.each(), config)
        run_dir.write_json("summary.json", summary.to_data())
        write_report([run_dir], out / "report.html")
    if as_json:
        print_json(figures(options, outcome, summary, out))
    else:
        _print(options, outcome, summary, out)
    if outcome.stopped is not None:
        again = " Go on with --resume." if out else ""
        remark(f"Stopped early: {outcome.stopped}.{again}")
        raise typer.Exit(1)
    lost = summary.not_counted
    if lost.total:
        again = "Play them again with --resume." if out else "With --out they could be resumed."
        remark(f"{lost.total:,} episodes do not count: {lost.described()}. {again}")
        for line in _first_errors(outcome):
            remark(f"  {line}")
        raise typer.Exit(3)


def _first_errors(outcome: RunOutcome) -> list[str]:
    """What went wrong, the most frequent first; several models may have failed in several ways."""
    counts = Counter(
        episode.trace.error or episode.verdict.reason or "no reason is known"
        for episode in outcome.outlines
        if not episode.verdict.counted
    )
    return [
        f"{count:,} time{'' if count == 1 else 's'}: {error}"
        for error, count in counts.most_common(3)
    ]


def figures(
    options: RunOptions, outcome: RunOutcome, summary: Summary, out: Path | None
) -> dict[str, Any]:
    """What ``--json`` prints; the names are explained in docs/reading_a_report.md."""
    rate = outcome.turns_played / outcome.seconds if outcome.seconds else 0.0
    return {
        "agent": options.agent,
        "model": options.model,
        "backend": options.backend,
        "conversations": summary.conversations,
        "turns": summary.turns,
        "succeeded": summary.succeeded,
        "success_rate": summary.success.value if summary.trials else None,
        "success_interval": [summary.success.low, summary.success.high],
        "missing": summary.missing,
        **parts_of(summary),
        "seconds": round(outcome.seconds, 3),
        "turns_per_s": round(rate, 1),
        "ground_truth_faults": [asdict(fault) for fault in outcome.faults],
        "skipped": list(outcome.skipped),
        "stopped": outcome.stopped,
        "passed_by_doing_nothing": [asdict(item) for item in summary.passed],
        "out": str(out) if out else None,
    }


def parts_of(summary: Summary) -> dict[str, Any]:
    """The fields of ``summary.json`` on who failed, and on what each model did and took."""
    data = summary.to_data()
    return {name: data[name] for name in ("not_counted", "usage", "user", "judge", "total_usage")}


def _print(options: RunOptions, outcome: RunOutcome, summary: Summary, out: Path | None) -> None:
    say(render_terminal(summary, title=f"{player(asdict(options))} on {Path(options.file).name}"))
    if outcome.seconds:
        rate = outcome.turns_played / outcome.seconds
        turns = f"{outcome.turns_played:,} in {outcome.seconds:.2f} s"
        say(f"Turns played: {turns}, {rate:,.0f} a second")
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
