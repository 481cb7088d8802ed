"""Grading an old run again: from its traces, without playing it, with or without a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crmbench.core.record import ParticipantRecords, with_judgements
from crmbench.core.task import Task
from crmbench.core.trace import Decision
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.grading.decisions import with_decisions, without_decisions_by
from crmbench.grading.grader import Grader
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.roles.role_model import PROMPTS
from crmbench.runner.evaluate import grader_on
from crmbench.runner.run_dir import RunDir

if TYPE_CHECKING:
    from crmbench.roles.judge import Judge


Stored = Literal["stored", "none"]
"""The judge's verdicts that the run holds, or none."""


@dataclass(frozen=True)
class Changed:
    """An episode that is judged otherwise now."""

    task_id: str
    trial: int
    success: bool
    counted: bool


@dataclass(frozen=True)
class Regraded:
    """What grading again changed."""

    episodes: tuple[EpisodeRecord, ...]
    changed: tuple[Changed, ...]
    version_before: int
    version: int


def regrade(
    run: Path,
    out: Path | None = None,
    judge: Judge | Stored = "stored",
    concurrency: int = 8,
    decisions: Mapping[tuple[str, int, int], Sequence[Decision]] | None = None,
) -> Regraded:
    """Judge every stored trace again with the tasks of the run and today's rules.

    Args:
        out: Where to keep the graded run; None: only say what would change.
        judge: The run's own judge's verdicts as they are stored; none; or those of this judge,
            which is asked now, and closed.
        concurrency: Episodes about which the judge is asked at once.
        decisions: What a person decided of open readings, by task, trial and turn.

    Raises:
        InputError: The directory holds no run, or `out` holds one already.
    """
    source = RunDir(run)
    config, tasks = source.config(), source.tasks()
    stored = list(_with_tasks(source, tasks))
    target = RunDir(out) if out is not None else None
    if target is not None:
        # Before anything is asked of a judge, which costs.
        target.create(
            {**config, **_record(judge, config), "grading_version": GRADING_VERSION}, tasks
        )
    grader = grader_on("sqlite")
    try:
        graded = asyncio.run(
            _Grading(grader, judge, target, decisions or {}).all(stored, concurrency)
        )
    finally:
        grader.close()
        if target is not None:
            target.settle(tasks)
    return Regraded(
        tuple(graded),
        tuple(_changes([episode for _, episode in stored], graded)),
        int(config.get("grading_version", 0)),
        GRADING_VERSION,
    )


def _record(judge: Judge | Stored, config: Mapping[str, Any]) -> dict[str, Any]:
    """What changes in the run's configuration."""
    if judge == "stored":
        return {}
    own = {f"{name}.md" for name in PROMPTS["judge"]}
    prompts = {name: of for name, of in config.get("prompts", {}).items() if name not in own}
    if judge == "none":
        return {"judge": None, "judge_all": False} | ({"prompts": prompts} if prompts else {})
    from crmbench.models.prices import Prices

    return {
        "judge": judge.name,
        "judge_all": judge.everything,
        **judge.rules.record(),
        "prompts": {**prompts, **judge.role_model.prompts.digests(PROMPTS["judge"])},
        "prices_as_of": Prices.builtin().as_of,
    }


def _with_tasks(source: RunDir, tasks: Sequence[Task]) -> Iterator[tuple[Task, EpisodeRecord]]:
    by_id = {task.task_id: task for task in tasks}
    for episode in source.episodes():
        task = by_id.get(episode.trace.task_id)
        if task is None:
            raise InputError(
                f"tasks.jsonl lacks the task {episode.trace.task_id}", file=str(source.path)
            )
        yield task, episode


def _changes(before: Sequence[EpisodeRecord], after: Sequence[EpisodeRecord]) -> Iterator[Changed]:
    for old, new in zip(before, after, strict=True):
        one, two = old.verdict, new.verdict
        if (one.success, one.counted) != (two.success, two.counted):
            yield Changed(two.task_id, two.trial, two.success, two.counted)


@dataclass(frozen=True)
class _Grading:
    """Grades episodes, several at once where a judge has to be waited for."""

    grader: Grader
    judge: Judge | Stored
    target: RunDir | None
    decisions: Mapping[tuple[str, int, int], Sequence[Decision]]

    async def all(
        self, stored: Sequence[tuple[Task, EpisodeRecord]], concurrency: int
    ) -> list[EpisodeRecord]:
        graded: list[EpisodeRecord | None] = [None] * len(stored)
        queue = iter(enumerate(stored))

        async def work() -> None:
            for place, (task, episode) in queue:
                graded[place] = await self._one(task, episode)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(concurrency, len(stored)))):
                    group.create_task(work())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            if not isinstance(self.judge, str):
                await self.judge.close()
        return [episode for episode in graded if episode is not None]

    async def _one(self, task: Task, episode: EpisodeRecord) -> EpisodeRecord:
        trace = with_decisions(episode.trace, self.decisions)
        participants = episode.participants
        if self.judge != "stored":
            trace = with_judgements(trace, None)
            if participants and participants.judge:
                trace = without_decisions_by(trace, participants.judge.model)
            participants = (
                ParticipantRecords(participants.user)
                if participants and participants.user
                else None
            )
        verdict = self.grader.grade(task, trace, participants)
        if not isinstance(self.judge, str) and verdict.counted:
            domain = load_domain(task.domain)
            trace, judging = await self.judge.consult(domain, task, trace, verdict)
            participants = ParticipantRecords(participants.user if participants else None, judging)
            verdict = self.grader.grade(task, trace, participants)
        graded = EpisodeRecord(trace, verdict, episode.seconds, participants)
        if self.target is not None:
            self.target.append(graded)
        return graded
