"""How ``run`` and ``replay`` end: files, figures, and an exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer

from crmbench.cli.console import print_json, remark, say
from crmbench.formats.arc_results import result_records
from crmbench.formats.jsonl import write_lines
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted
from crmbench.report.labels import player
from crmbench.report.played import commonest_faults
from crmbench.report.run_files import conclude_run
from crmbench.report.summary import Summary
from crmbench.report.terminal import WIDTH, render_terminal
from crmbench.runner.options import RunOptions
from crmbench.runner.play_parts import PartsOutcome
from crmbench.runner.run import RunOutcome

REASONS = 3
"""Reasons of failures that are said; the report has them all."""


def conclude(options: RunOptions, outcome: RunOutcome, out: Path | None, as_json: bool) -> None:
    """Write the results and the report into `out`, and print the figures.

    Raises:
        typer.Exit: With 4 when tasks are broken and were not played, with 3 when some episodes do
            not count, since a model or server failed, with 1 when the run was stopped before its
            end.
    """
    summary = conclude_run(options, outcome, out)
    if as_json:
        print_json(figures(options, outcome, summary, out))
    else:
        _print(options, outcome, summary, out)
    failed = [e for e in outcome.outlines if e.trace.outcome in AGENT_ERRORS]
    left_out = [e for e in outcome.outlines if not e.verdict.counted]
    remark_agent_errors(_whys(failed), all_episodes=len(outcome.outlines))
    end(outcome, summary, _whys(left_out), out)


def end(
    outcome: RunOutcome | PartsOutcome, summary: Summary, left_out: Counter[str], out: Path | None
) -> None:
    """Say what was not played or does not count, and leave with the exit code that says so.

    Args:
        left_out: Why episodes do not count.

    Raises:
        typer.Exit: As `conclude`.
    """
    if outcome.broken:
        remark(f"{counted(len(outcome.broken), 'task')} could not be played; see the ground truth.")
    if outcome.stopped is not None:
        again = " Go on with --resume." if out else ""
        remark(f"Stopped early: {outcome.stopped}.{again}")
        raise typer.Exit(4 if outcome.broken else 1)
    excluded = summary.not_counted
    if excluded.total:
        again = "Play them again with --resume." if out else "With --out they could be resumed."
        episodes = counted(excluded.total, "episode")
        verb = "does" if excluded.total == 1 else "do"
        remark(f"{episodes} {verb} not count: {excluded.described()}. {again}")
        for line in _commonest(left_out):
            remark(f"  {line}")
    if outcome.broken:
        raise typer.Exit(4)
    if excluded.total:
        raise typer.Exit(3)


def write_arc_results(path: Path, options: RunOptions, outcome: RunOutcome) -> None:
    """Write Arc's result records with the seconds that each episode took, which records in a run's
    directory leave out, since two runs that did the same are to give the same bytes.
    """
    records = result_records(outcome.tasks, outcome.episodes, asdict(options))
    timed = (
        {**record, "metadata": {**record["metadata"], "seconds": round(episode.seconds, 3)}}
        for record, episode in zip(records, outcome.episodes, strict=True)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, timed)


AGENT_ERRORS = ("agent_error", "timeout")
"""Outcomes that an agent's own error leads to."""


def remark_agent_errors(failed: Counter[str], all_episodes: int) -> None:
    """Say what agents raised: such a failure is rarely what was to be measured."""
    if not failed:
        return
    if failed.total() == all_episodes:
        remark("Every episode ended by an error of the agent, so the figures say nothing else:")
    else:
        remark(f"{counted(failed.total(), 'episode')} ended by an error of the agent:")
    for line in _commonest(failed):
        remark(f"  {line}")


def why(error: str | None, reason: str | None) -> str:
    """Why an episode ended as it did, in a line."""
    return error or reason or "no reason is known"


def _whys(episodes: Iterable[EpisodeRecord]) -> Counter[str]:
    return Counter(why(e.trace.error, e.verdict.reason) for e in episodes)


def _commonest(counts: Counter[str]) -> list[str]:
    """What went wrong, the most frequent first; several models may have failed in several ways."""
    most = counts.most_common(REASONS)
    return [f"{counted(count, 'time')}: {error}" for error, count in most]


def _failed(episode: EpisodeRecord) -> bool:
    return episode.verdict.counted and not episode.verdict.success


def _why(episodes: Sequence[EpisodeRecord]) -> Iterator[str]:
    """The commonest faults; what agents raised is said apart."""
    found = commonest_faults(e for e in episodes if _failed(e) and e.trace.error is None)
    if found:
        yield "\nThe commonest first faults, each with a conversation that has it:"
    for count, example in found[:REASONS]:
        yield from wrap(f"{count:>6,}  {example}", WIDTH, subsequent_indent=" " * 8)


def figures(
    options: RunOptions, outcome: RunOutcome | PartsOutcome, summary: Summary, out: Path | None
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
    title = f"{player(asdict(options))} on {Path(options.file).name}"
    # Slices of a first run are forty lines that say little; why it failed is what is asked for.
    say(render_terminal(summary, title, slices=False))
    for line in _why(outcome.outlines):
        say(line)
    if outcome.seconds:
        rate = outcome.turns_played / outcome.seconds
        turns = f"{outcome.turns_played:,} in {outcome.seconds:.2f} s"
        say(f"Turns played: {turns}, {rate:,.0f} a second")
    if outcome.faults:
        conversations = counted(len(outcome.faults), "conversation")
        say(f"\nGround truth that contradicts itself: {conversations}")
        for fault in outcome.faults:
            say(f"  {fault.conversation_id}: {fault.reason}")
    if outcome.skipped:
        say(f"\nSkipped {counted(len(outcome.skipped), 'invalid line')}:")
        for reason in outcome.skipped:
            say(f"  {reason}")
    if out is not None:
        say(f"\nBy category, tag and persona: crmbench report {out}")
        if any(_failed(episode) for episode in outcome.outlines):
            say(f"A conversation that failed: crmbench show {out} --failed --sample 1")
        say(f"Every conversation: {out / 'report.html'}")
