"""Stored episodes graded again by workers: each reads its own from the run's directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from crmbench.core.record import ParticipantRecords, with_judgements
from crmbench.core.task import Task
from crmbench.core.trace import Decision
from crmbench.errors import InputError
from crmbench.formats.arc_results import ResultLines
from crmbench.formats.episode_store import EncodedEpisode, Key, encode
from crmbench.grading.decisions import with_decisions, without_decisions_by
from crmbench.grading.grader import Grader
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.evaluate import grader_on
from crmbench.runner.run_dir import RunDir

SHARD = 20
"""Episodes that a worker grades in one go."""
Stored = Literal["stored", "none"]
"""The judge's verdicts that the run holds, or none."""
Decisions = Mapping[tuple[str, int, int], Sequence[Decision]]
"""What a person decided of open readings, by task, trial and turn."""


@dataclass(frozen=True)
class GradeSetup:
    """What every worker is given."""

    run: Path
    tasks: Sequence[Task]
    judge: Stored
    decisions: Decisions
    agent: Mapping[str, str | None] | None = None
    """Whom the lines of ``results.jsonl`` name; None: none are made."""


@dataclass(frozen=True)
class Changed:
    """An episode that is judged otherwise now."""

    task_id: str
    trial: int
    success: bool
    counted: bool


class GradedShard(NamedTuple):
    """What came of a shard."""

    episodes: tuple[EncodedEpisode, ...]
    changed: tuple[Changed, ...]


def without_judge(
    grader: Grader, judge: Stored, decisions: Decisions, task: Task, episode: EpisodeRecord
) -> EpisodeRecord:
    """The episode with today's verdict, no judge being asked."""
    trace = with_decisions(episode.trace, decisions)
    participants = episode.participants
    if judge != "stored":
        trace = with_judgements(trace, None)
        if participants and participants.judge:
            trace = without_decisions_by(trace, participants.judge.model)
        user = participants.user if participants else None
        participants = ParticipantRecords(user) if user else None
    verdict = grader.grade(task, trace, participants)
    return EpisodeRecord(trace, verdict, episode.seconds, participants)


def change(old: EpisodeRecord, new: EpisodeRecord) -> Changed | None:
    """What is judged otherwise now, if anything is."""
    one, two = old.verdict, new.verdict
    if (one.success, one.counted) == (two.success, two.counted):
        return None
    return Changed(two.task_id, two.trial, two.success, two.counted)


def shards_of_keys(keys: Iterable[Key]) -> Iterator[tuple[Key, ...]]:
    """The episodes in their order, cut into shards."""
    rest = iter(keys)
    while shard := tuple(islice(rest, SHARD)):
        yield shard


class _GradeWorker:
    """What a worker keeps between shards."""

    def __init__(self, setup: GradeSetup) -> None:
        self.setup = setup
        self.tasks = {task.task_id: task for task in setup.tasks}
        self.results = None if setup.agent is None else ResultLines(self.tasks, setup.agent)
        self.grader = grader_on("sqlite")
        self.episodes = RunDir(setup.run).by_key()

    def grade(self, keys: Sequence[Key]) -> GradedShard:
        graded: list[EncodedEpisode] = []
        changed: list[Changed] = []
        for old in self.episodes(keys):
            task = self.tasks.get(old.task_id)
            if task is None:
                raise InputError(
                    f"tasks.jsonl lacks the task {old.task_id}", file=str(self.setup.run)
                )
            new = without_judge(self.grader, self.setup.judge, self.setup.decisions, task, old)
            graded.append(encode(new, self.results.line(new) if self.results else b""))
            differs = change(old, new)
            if differs is not None:
                changed.append(differs)
        return GradedShard(tuple(graded), tuple(changed))


_worker: _GradeWorker | None = None


def begin(setup: GradeSetup) -> None:
    """Make a worker ready."""
    global _worker
    _worker = _GradeWorker(setup)


def grade_shard(keys: Sequence[Key]) -> GradedShard:
    """Grade the episodes of a shard again."""
    assert _worker is not None, "begin() comes before the first shard"
    return _worker.grade(keys)


def end() -> None:
    """Let go of what the worker holds."""
    global _worker
    worker, _worker = _worker, None
    if worker is not None:
        worker.grader.close()
