"""The figures of a run: everything that its report, its tables and ``--json`` show.

All of it follows from traces and verdicts, so two runs of the same thing give the same bytes;
what was measured with a clock is apart, in `timings`. Each episode gives a row, and the rows the
figures: where they are stored (see `crmbench.formats.episode_rows`), no task and no trace is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.episode_rows import EpisodeRow, RowsHead
from crmbench.grading.record import EpisodeRecord
from crmbench.report.rows.figures import ArcMetrics, Passed, Summary, ToolErrors
from crmbench.report.rows.row import open_reading_kind, row_of, why_easy
from crmbench.report.rows.tally import SLICES, Tally
from crmbench.report.views.standing import fault_kind
from crmbench.runner.parts import PartedRun
from crmbench.runner.run_dir import RunDir

__all__ = [
    "SLICES",
    "ArcMetrics",
    "Passed",
    "Summary",
    "ToolErrors",
    "head_of",
    "open_reading_kind",
    "reason_kind",
    "rows_of",
    "summarise",
    "summary_of",
    "tallied",
    "tally_of",
    "why_easy",
]


def summarise(
    tasks: Sequence[Task],
    episodes: Iterable[EpisodeRecord],
    *,
    trivial: bool = False,
    trials: int | None = None,
) -> Summary:
    """The figures of a run's episodes; those that do not count are left out of every rate.

    Args:
        trivial: The agent does no work, so whatever it passed is listed with the reason.
        trials: Of each task, as they were asked for.
    """
    tally = tally_of(rows_of(tasks, episodes))
    return tally.summary(head_of(tasks), trivial=trivial, trials=trials)


def rows_of(tasks: Iterable[Task], episodes: Iterable[EpisodeRecord]) -> Iterator[EpisodeRow]:
    """The rows of episodes, in their order.

    Raises:
        KeyError: An episode belongs to none of the tasks.
    """
    by_id = {task.task_id: task for task in tasks}
    return (row_of(by_id[episode.task_id], episode) for episode in episodes)


def head_of(tasks: Sequence[Task]) -> RowsHead:
    """What is known of a run's tasks beside its rows."""
    return RowsHead(len(tasks), any(turn.answer for task in tasks for turn in task.gold.turns))


def tally_of(rows: Iterable[EpisodeRow]) -> Tally:
    """What rows add up to."""
    tally = Tally()
    for row in rows:
        tally.add(row)
    return tally


def summary_of(
    run_dir: RunDir,
    outlines: Sequence[EpisodeRecord] | None = None,
    tasks: Sequence[Task] | None = None,
) -> Summary:
    """The figures of a stored run.

    Args:
        outlines: Its episodes, where they were read already.
        tasks: Its tasks, likewise.

    Raises:
        InputError: The directory holds no run, or one that cannot be read.
    """
    return tallied(run_dir, outlines, tasks).summary


class Tallied(NamedTuple):
    """A stored run, added up."""

    tally: Tally
    summary: Summary


def tallied(
    run_dir: RunDir,
    outlines: Sequence[EpisodeRecord] | None = None,
    tasks: Sequence[Task] | None = None,
) -> Tallied:
    """What the episodes of a stored run add up to. One in parts is read row by row.

    Raises:
        InputError: As `summary_of`.
    """
    config = run_dir.config()
    if isinstance(run_dir, PartedRun):
        tally, head = tally_of(run_dir.rows()), run_dir.head()
    else:
        tasks = run_dir.tasks() if tasks is None else tasks
        episodes = run_dir.for_figures() if outlines is None else outlines
        _check_tasks(run_dir, tasks, episodes)
        tally, head = tally_of(rows_of(tasks, episodes)), head_of(tasks)
    trials, trivial = config.get("trials"), config.get("agent") in TRIVIAL_NAMES
    asked = trials if isinstance(trials, int) else None
    return Tallied(tally, tally.summary(head, trivial=trivial, trials=asked))


def _check_tasks(run_dir: RunDir, tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]) -> None:
    known = {task.task_id for task in tasks}
    lacking = sorted({e.trace.task_id for e in episodes} - known)
    if lacking:
        raise InputError(
            f"lacks '{lacking[0]}', of which there are episodes",
            file=str(run_dir.path / "tasks.jsonl"),
            expected="every conversation of the run; the file was cut or changed",
        )


def reason_kind(episode: EpisodeRecord) -> str:
    """The kind of fault that a failed conversation failed by first."""
    return fault_kind(episode.trace.outcome, episode.verdict)
