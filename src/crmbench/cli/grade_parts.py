"""Grading a run in parts again, part by part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.formats.episode_rows import RowsHead
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.report.rows.tally import Tally
from crmbench.report.run_files import conclude_parts, write_part_figures
from crmbench.report.summary import Summary, head_of, rows_of
from crmbench.roles.judge import Judge
from crmbench.runner.executors.grading import Changed, Stored
from crmbench.runner.parts import PartedRun
from crmbench.runner.regrade import Regraded, config_under
from crmbench.runner.run_dir import RunDir


def grade_parts(
    run: PartedRun,
    out: Path | None,
    again: Callable[..., Regraded],
    judge: Callable[[], Judge | Stored],
) -> tuple[Regraded, Summary]:
    """Grade every part again; with `out` into the parts of a run there, with its figures and page.

    Args:
        again: `crmbench.runner.regrade.regrade`, with its options.
        judge: Gives a judge for a part, each of which closes its own.

    Returns:
        What changed, of the episodes those that are undecided; and the figures.

    Raises:
        InputError: The directory holds no run, or `out` holds one already.
    """
    config, asked = run.config(), judge()
    target = PartedRun(out) if out is not None else None
    if target is not None:
        target.check_free()
        target.make()
        target.write_json("config.json", config_under(asked, config))
    tally, head = Tally(), RowsHead(0, False)
    undecided: list[EpisodeRecord] = []
    changed: list[Changed] = []
    before = GRADING_VERSION
    for number, part in enumerate(run.parts()):
        folder = None if target is None else target.path / part.path.relative_to(run.path)
        graded = again(part.path, folder, judge=asked if number == 0 else judge())
        tasks = part.tasks()
        rows, own = list(rows_of(tasks, graded.episodes)), head_of(tasks)
        for row in rows:
            tally.add(row)
        head = RowsHead(head.tasks + own.tasks, head.asks or own.asks)
        if folder is not None:
            write_part_figures(RunDir(folder), rows, own)
        undecided += [episode for episode in graded.episodes if episode.verdict.undecided]
        changed += graded.changed
        before = min(before, graded.version_before)
    found = Regraded(tuple(undecided), tuple(changed), before, GRADING_VERSION, tally.episodes)
    if target is not None:
        target.join()
        return found, conclude_parts(target)
    trivial, trials = config.get("agent") in TRIVIAL_NAMES, config.get("trials")
    return found, tally.summary(head, trivial=trivial, trials=trials)
