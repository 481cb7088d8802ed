"""Grading an old run again: from its traces, without playing it, with or without a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crmbench.core.record import ParticipantRecords
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.formats.arc_results import ResultLines, agent_of
from crmbench.formats.lean import Lean
from crmbench.grading.grader import Grader
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.roles.role_model import PROMPTS
from crmbench.runner.evaluate import grader_on
from crmbench.runner.executors.grading import (
    SHARD,
    Changed,
    Decisions,
    GradeSetup,
    Stored,
    begin,
    change,
    end,
    grade_shard,
    shards_of_keys,
    without_judge,
)
from crmbench.runner.executors.spread import check_executor, open_executor
from crmbench.runner.run_dir import RunDir

if TYPE_CHECKING:
    from crmbench.roles.judge import Judge


@dataclass(frozen=True)
class Regraded:
    """What grading again changed."""

    episodes: tuple[EpisodeRecord, ...]
    """Their outlines, where no judge was asked; else whole."""
    changed: tuple[Changed, ...]
    version_before: int
    version: int
    count: int
    """How many episodes were graded."""


def regrade(
    run: Path,
    out: Path | None = None,
    judge: Judge | Stored = "stored",
    concurrency: int = 8,
    decisions: Decisions | None = None,
    workers: int = 1,
    executor: str = "",
) -> Regraded:
    """Judge every stored trace again with the tasks of the run and today's rules.

    Args:
        out: Where to keep the graded run; None: only say what would change.
        judge: The run's own judge's verdicts as they are stored; none; or those of this judge,
            which is asked now, and closed.
        concurrency: Episodes about which the judge is asked at once.
        decisions: What a person decided of open readings, by task, trial and turn.
        workers: Processes that share the work, or actors on Ray, where no judge is asked.
        executor: See `crmbench.runner.executors.spread.open_executor`.

    Raises:
        InputError: The directory holds no run, or `out` holds one already.
    """
    source = RunDir(run)
    config, tasks = source.config(), source.tasks()
    check_executor(executor)
    stored = [] if isinstance(judge, str) else list(_with_tasks(source, tasks))
    target = RunDir(out) if out is not None else None
    if target is not None:
        # Before anything is asked of a judge, which costs.
        target.create(config_under(judge, config), tasks)
    try:
        if isinstance(judge, str):
            agent = agent_of(config) if target is not None else None
            setup = GradeSetup(run, tasks, judge, decisions or {}, agent)
            graded, changed = _spread(setup, source, target, workers, executor)
        else:
            results = ResultLines({task.task_id: task for task in tasks}, agent_of(config))
            graded = _asked(judge, stored, target, decisions or {}, results, concurrency)
            pairs = zip((episode for _, episode in stored), graded, strict=True)
            changed = [found for old, new in pairs if (found := change(old, new))]
    finally:
        if target is not None:
            target.settle(tasks)
    before = int(config.get("grading_version", 0))
    return Regraded(tuple(graded), tuple(changed), before, GRADING_VERSION, len(graded))


def _spread(
    setup: GradeSetup, source: RunDir, target: RunDir | None, workers: int, executor: str
) -> tuple[list[EpisodeRecord], list[Changed]]:
    """Grade by workers, who ask nobody."""
    graded: list[EpisodeRecord] = []
    changed: list[Changed] = []
    read, keys = Lean().read, source.keys()
    workers = min(workers, -(-len(keys) // SHARD)) if keys else 1
    with open_executor(executor, workers, begin, (setup,), end) as opened:
        for shard in opened.stream(grade_shard, shards_of_keys(keys)):
            changed += shard.changed
            graded += [read(each.line, each.seconds) for each in shard.episodes]
            if target is not None:
                target.write(shard.episodes)
    return graded, changed


def _asked(
    judge: Judge,
    stored: Sequence[tuple[Task, EpisodeRecord]],
    target: RunDir | None,
    decisions: Decisions,
    results: ResultLines,
    concurrency: int,
) -> list[EpisodeRecord]:
    """Grade here, and ask the judge."""
    grader = grader_on("sqlite")
    try:
        grading = _Grading(grader, judge, target, decisions, results)
        return asyncio.run(grading.all(stored, concurrency))
    finally:
        grader.close()


def config_under(judge: Judge | Stored, config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a run once it is graded again."""
    return {**config, **_record(judge, config), "grading_version": GRADING_VERSION}


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


@dataclass(frozen=True)
class _Grading:
    """Grades episodes, several at once where a judge has to be waited for."""

    grader: Grader
    judge: Judge
    target: RunDir | None
    decisions: Decisions
    results: ResultLines

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
            await self.judge.close()
        return [episode for episode in graded if episode is not None]

    async def _one(self, task: Task, episode: EpisodeRecord) -> EpisodeRecord:
        graded = without_judge(self.grader, "none", self.decisions, task, episode)
        if graded.verdict.counted:
            domain, participants = load_domain(task.domain), graded.participants
            trace, judging = await self.judge.consult(domain, task, graded.trace, graded.verdict)
            participants = ParticipantRecords(participants.user if participants else None, judging)
            verdict = self.grader.grade(task, trace, participants)
            graded = EpisodeRecord(trace, verdict, episode.seconds, participants)
        if self.target is not None:
            self.target.append(graded, self.results.line(graded))
        return graded
