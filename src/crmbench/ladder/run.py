"""A ladder on disk: a run directory whose episodes were chosen as they came in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from crmbench.agents.protocol import AnyFactory
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.formats.arc_tasks import task_to_data
from crmbench.grading.record import EpisodeRecord
from crmbench.ladder.climb import Climb, Stop, climb
from crmbench.ladder.pool import rungs_of
from crmbench.ladder.spread import climb_shared, climb_workers
from crmbench.runner.configuration import check_same, configuration
from crmbench.runner.evaluate import Evaluator, grader_on
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import open_participants
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import RunData

MUST_MATCH = ("data_digest", "agent", "model", "condition", "condition_seed", "budget", "seed")
"""What a ladder that goes on must have in common with the one that it goes on with."""


@dataclass(frozen=True)
class Ladder:
    """What came of a ladder."""

    tasks: tuple[Task, ...]
    climbs: dict[str, Climb]
    episodes: tuple[EpisodeRecord, ...]
    """Those of earlier sittings included."""
    stopped: str | None = None
    """Why it ended before all mechanisms were measured."""


def run_ladder(
    tasks: Sequence[Task],
    options: RunOptions,
    stop: Stop,
    out: Path,
    *,
    resume: bool = False,
    factory: AnyFactory | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Ladder:
    """Measure n50 of every mechanism among the tasks; every episode is kept as it ends, by workers
    every mechanism when it is measured.

    Args:
        options: The agent and how it is run; what it says of files and trials is not used.
        resume: Go on with the ladder in `out`.
        on_progress: Told the number of episodes, after each; with workers after each mechanism.

    Raises:
        InputError: `out` holds another ladder, or holds one and `resume` is not asked for.
    """
    run_dir = RunDir(out)
    _open(run_dir, options, tasks, resume)
    climbs = {name: Climb(rungs, stop) for name, rungs in rungs_of(tasks).items()}
    for record in run_dir.outlines() if resume else ():
        if record.verdict.counted:
            for each in climbs.values():
                each.record(record.task_id, record.trial, record.verdict.success)
    workers = climb_workers(options, len(climbs), factory is not None)
    try:
        if workers:
            over_budget = False
            done = 0
            for found in climb_shared(tasks, climbs, stop, options, workers):
                run_dir.write(found.episodes)
                climbs[found.mechanism].outcomes.update(found.outcomes)
                done += len(found.episodes)
                on_progress(done)
        else:
            over_budget = _climb_here(climbs, options, run_dir, factory, on_progress)
    finally:
        run_dir.settle(tasks)
    return Ladder(tuple(tasks), climbs, tuple(run_dir.episodes()), _why(climbs, over_budget))


def _climb_here(
    climbs: Mapping[str, Climb],
    options: RunOptions,
    run_dir: RunDir,
    factory: AnyFactory | None,
    on_progress: Callable[[int], None],
) -> bool:
    """Measure every mechanism in this process; whether the money ended it."""
    participants = open_participants(options, run_dir.path, factory)
    grader = grader_on(options.backend)
    evaluator = Evaluator.for_run(options, participants, grader)
    spent = TokenUsage()
    done = 0

    def keep(record: EpisodeRecord) -> None:
        nonlocal spent, done
        spent, done = spent + record.usage, done + 1
        run_dir.append(record)
        on_progress(done)

    def over_budget() -> bool:
        return options.max_cost is not None and (spent.cost or 0.0) >= options.max_cost

    async def play() -> None:
        try:
            await climb(climbs, evaluator, keep, over_budget)
        finally:
            await participants.close()

    try:
        asyncio.run(play())
    finally:
        grader.close()
    return over_budget()


def _why(climbs: dict[str, Climb], over_budget: bool) -> str | None:
    if over_budget:
        return "the money that was allowed is spent"
    open_ones = [name for name, each in climbs.items() if each.next_jobs()]
    if open_ones:
        return f"no episode counted of {', '.join(open_ones)}: the model or its server failed"
    return None


def _open(run_dir: RunDir, options: RunOptions, tasks: Sequence[Task], resume: bool) -> None:
    data = RunData(tuple(tasks), options.file, digest_of_tasks(tasks))
    config = {**configuration(options, data), "ladder": True}
    if not resume:
        run_dir.create(config, tasks)
        return
    check_same(run_dir, config, MUST_MATCH, "ladder")
    run_dir.drop_torn_lines()


def digest_of_tasks(tasks: Sequence[Task]) -> str:
    """A digest of tasks, gold and all."""
    hasher = blake2b(digest_size=16)
    for task in tasks:
        hasher.update(msgspec.json.encode(task_to_data(task)))
    return hasher.hexdigest()
