"""Grading an old run again: from its traces, without playing it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from crmbench.agents.oracle import OracleFactory
from crmbench.core.score.verdict import GRADING_VERSION
from crmbench.errors import InputError
from crmbench.harness.backends import backend_maker
from crmbench.harness.evaluate import Evaluator, Finished
from crmbench.harness.run_dir import Episode, RunDir


@dataclass(frozen=True)
class Regraded:
    """What grading again changed."""

    episodes: tuple[Episode, ...]
    changed: tuple[tuple[str, int, bool], ...]
    """Task, trial and the new verdict of every episode that is judged otherwise now."""
    version_before: int
    version: int


def regrade(run: Path, out: Path | None = None) -> Regraded:
    """Judge every stored trace again with the tasks of the run and today's rules.

    Args:
        out: Where to keep the graded run; None: only say what would change.

    Raises:
        InputError: The directory holds no run, or `out` holds one already.
    """
    source = RunDir(run)
    config, tasks = source.config(), source.tasks()
    by_id = {task.task_id: task for task in tasks}
    evaluator = Evaluator(OracleFactory(), backend_maker("sqlite"))
    graded: list[Episode] = []
    changed = []
    try:
        for episode in source.episodes():
            task = by_id.get(episode.trace.task_id)
            if task is None:
                raise InputError(
                    f"tasks.jsonl lacks the task {episode.trace.task_id}", file=str(run)
                )
            verdict = evaluator.grade(task, episode.trace)
            if verdict.success != episode.verdict.success:
                changed.append((task.task_id, episode.trace.trial, verdict.success))
            graded.append(replace(episode, verdict=verdict))
    finally:
        evaluator.close()
    if out is not None:
        target = RunDir(out)
        target.create({**config, "grading_version": GRADING_VERSION}, tasks)
        for episode in graded:
            target.append(
                Finished(
                    by_id[episode.trace.task_id], episode.trace, episode.verdict, episode.seconds
                )
            )
        target.settle(tasks)
    before = int(config.get("grading_version", 0))
    return Regraded(tuple(graded), tuple(changed), before, GRADING_VERSION)
