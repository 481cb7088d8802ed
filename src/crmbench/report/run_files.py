"""The files that a run leaves beside its episodes: results, figures, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.core.task import Task
from crmbench.formats.arc_results import write_results
from crmbench.formats.episode_rows import ROWS, EpisodeRow, RowsHead, write_rows
from crmbench.report.summary import Summary, head_of, rows_of, summarise, summary_of, tally_of
from crmbench.runner.options import RunOptions
from crmbench.runner.parts import PartedRun
from crmbench.runner.run import RunOutcome
from crmbench.runner.run_dir import RESULTS, RunDir


def conclude_run(options: RunOptions, outcome: RunOutcome, out: Path | None) -> Summary:
    """The figures of a run; with `out` also its results.jsonl, summary.json and report.html.

    Raises:
        InputError: A file cannot be written.
    """
    trivial = options.agent in TRIVIAL_NAMES
    tasks = _played(outcome)
    summary = summarise(tasks, outcome.outlines, trivial=trivial, trials=options.trials)
    if out is not None:
        # Pages bring templates and charts with them, which a run without a directory never needs.
        from crmbench.report.html import write_report

        run_dir = RunDir(out)
        _complete_results(run_dir, outcome.tasks)
        run_dir.write_json("summary.json", summary.to_data())
        # Of broken tasks the page says that episodes are missing, and the summary does not.
        figures = None if outcome.broken else summary
        write_report([run_dir], out / "report.html", outcome.outlines, figures)
    return summary


def finish_part(options: RunOptions, outcome: RunOutcome, out: Path) -> None:
    """Write what a part of a run holds beside its episodes; its page is left to `crmbench report`,
    since a page takes as long as a hundred episodes.

    Raises:
        InputError: A file cannot be written.
    """
    tasks = _played(outcome)
    run_dir = RunDir(out)
    _complete_results(run_dir, outcome.tasks)
    write_part_figures(run_dir, list(rows_of(tasks, outcome.outlines)), head_of(tasks))


def _played(outcome: RunOutcome) -> list[Task]:
    """The tasks without those that could not be played or graded at all."""
    broken = {fault.conversation_id for fault in outcome.broken}
    return [task for task in outcome.tasks if task.task_id not in broken]


def _complete_results(run_dir: RunDir, tasks: Sequence[Task]) -> None:
    """Write results.jsonl where some of the episodes are of before its lines were kept as they
    come.
    """
    path = run_dir.path / RESULTS
    if not path.exists():
        write_results(path, tasks, run_dir.each(), run_dir.config())


def write_part_figures(run_dir: RunDir, rows: Sequence[EpisodeRow], head: RowsHead) -> None:
    """Write the figures of a part and, last, its rows: with them it is finished.

    Raises:
        InputError: A file cannot be written.
    """
    config = run_dir.config()
    trivial = config.get("agent") in TRIVIAL_NAMES
    summary = tally_of(rows).summary(head, trivial=trivial, trials=config.get("trials"))
    run_dir.write_json("summary.json", summary.to_data())
    write_rows(run_dir.path / ROWS, rows, head)


def conclude_parts(run: PartedRun) -> Summary:
    """The figures of a run in parts, after writing its summary.json and report.html.

    Raises:
        InputError: A file cannot be read or written.
    """
    from crmbench.report.html import write_report

    summary = summary_of(run)
    run.write_json("summary.json", summary.to_data())
    write_report([run], run.path / "report.html", summary=summary)
    return summary
