"""Plays graded, and kept as a run that reports show beside others."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.grading.evidence import TextsSeen, texts_seen
from crmbench.grading.items import ItemVerdict
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.runner.evaluate import grader_on
from crmbench.runner.play import UNFINISHED, PlaySettings, read_settings, task_of, trace_of
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named


@dataclass(frozen=True)
class GradedPlay:
    """A play with its verdict."""

    directory: Path
    settings: PlaySettings
    task: Task
    episode: EpisodeRecord
    items: tuple[ItemVerdict, ...] = ()
    """A verdict on each item of a task of many decisions."""

    @property
    def finished(self) -> bool:
        """Whether it was played to its end."""
        return self.episode.trace.error != UNFINISHED

    @property
    def texts(self) -> TextsSeen:
        """How far the player came to the texts that decide the items."""
        return texts_seen(item.evidence for item in self.items)


def grade_plays(directories: Sequence[Path], out: Path | None = None) -> list[GradedPlay]:
    """Replay and judge plays; with `out`, keep them as a run.

    Several plays of one task are its trials, in the order given.

    Args:
        out: A new directory for the run.

    Raises:
        InputError: A directory holds no play, its task has changed, or `out` holds a run already;
            or the plays for one run are of several agents.
    """
    settings = [read_settings(directory) for directory in directories]
    if out is not None:
        for name, several in (("agent", "agents"), ("condition", "conditions")):
            values = sorted({getattr(each, name) or "none" for each in settings})
            if len(values) > 1:
                raise InputError(
                    f"the plays are of several {several}: {', '.join(values)}",
                    expected=f"one run for each of the {several}",
                )
    files: dict[str, list[Task]] = {}
    tries: Counter[str] = Counter()
    grader = grader_on("sqlite")
    graded = []
    try:
        for directory, each in zip(directories, settings, strict=True):
            if each.file not in files:
                files[each.file] = load_named(each.file).tasks()
            task = task_of(each, directory, files[each.file])
            trace = trace_of(each, task, directory, tries[each.task_id])
            tries[each.task_id] += 1
            episode = EpisodeRecord(trace, grader.grade(task, trace))
            graded.append(GradedPlay(directory, each, task, episode, grader.items(task, trace)))
    finally:
        grader.close()
    if out is not None:
        _keep(out, graded)
    return graded


def _keep(out: Path, graded: Sequence[GradedPlay]) -> None:
    tasks = list({play.task.task_id: play.task for play in graded}.values())
    target = RunDir(out)
    target.create(_configuration(graded, len(tasks)), tasks)
    try:
        for play in graded:
            target.append(play.episode)
    finally:
        target.settle(tasks)


def _configuration(graded: Sequence[GradedPlay], tasks: int) -> dict[str, Any]:
    first = graded[0].settings
    circumstances = {
        "condition": first.condition,
        "condition_seed": first.condition_seed,
        "budget_calls": first.budget,
    }
    files = sorted({play.settings.file for play in graded})
    digests = sorted({play.settings.task_digest for play in graded})
    return {
        "agent": first.agent,
        "model": None,
        "backend": "sqlite",
        "trials": max(play.episode.trace.trial for play in graded) + 1,
        "max_calls": first.max_calls,
        "played": True,
        **{name: value for name, value in circumstances.items() if value},
        "data": ", ".join(Path(file).name if Path(file).exists() else file for file in files),
        "data_digest": blake2b("".join(digests).encode(), digest_size=16).hexdigest(),
        "sample": tasks,
        "grading_version": GRADING_VERSION,
        "crmbench": version("crmbench"),
        "python": platform.python_version(),
    }
