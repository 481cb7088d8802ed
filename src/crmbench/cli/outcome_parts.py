"""How a run in parts ends: its files, its figures, and an exit code."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

from crmbench.cli.console import print_json, say
from crmbench.cli.outcome import AGENT_ERRORS, end, figures, remark_agent_errors, why
from crmbench.report.labels import player
from crmbench.report.run_files import conclude_parts
from crmbench.report.summary import Summary
from crmbench.report.terminal import render_terminal
from crmbench.runner.options import RunOptions
from crmbench.runner.play_parts import PartsOutcome


def conclude_in_parts(options: RunOptions, outcome: PartsOutcome, out: Path, as_json: bool) -> None:
    """Write the figures and the report of the whole into `out`, and print the figures.

    Raises:
        typer.Exit: As `crmbench.cli.outcome.conclude`.
    """
    summary = conclude_parts(outcome.run)
    if as_json:
        print_json(figures(options, outcome, summary, out))
    else:
        _print(options, outcome, summary, out)
    failed, left_out, episodes = Counter[str](), Counter[str](), 0
    for row in outcome.run.rows():
        episodes += 1
        if row.outcome in AGENT_ERRORS:
            failed[why(row.error, row.reason)] += 1
        if not row.counted:
            left_out[why(row.error, row.reason)] += 1
    remark_agent_errors(failed, episodes)
    end(outcome, summary, left_out, out)


def _print(options: RunOptions, outcome: PartsOutcome, summary: Summary, out: Path) -> None:
    title = f"{player(asdict(options))} on {Path(options.file).name}"
    say(render_terminal(summary, title, slices=False))
    if outcome.seconds:
        rate = outcome.turns_played / outcome.seconds
        turns = f"{outcome.turns_played:,} in {outcome.seconds:.2f} s"
        say(f"Turns played: {turns}, {rate:,.0f} a second")
    for fault in outcome.faults:
        say(f"  {fault.conversation_id}: {fault.reason}")
    say(f"\nBy category, tag and persona: crmbench report {out}")
    say(f"A part by itself: crmbench report {outcome.run.part(0)}")
    say(f"Conversations: {out / 'report.html'}")
