"""A ladder on disk: a run directory whose episodes were chosen as they came in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

import msgspec

from crmbench.agents.protocol import AnyFactory
from crmbench.core.task import Task
from crmbench.core.trace import NO_USAGE
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.episode_store import EncodedEpisode, encode
from crmbench.formats.lean import Lean
from crmbench.grading.items import ItemVerdict
from crmbench.grading.record import EpisodeRecord
from crmbench.ladder.climb import Climb, Stop, climb
from crmbench.ladder.pool import rungs_of
from crmbench.runner.configuration import check_same, configuration
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.executors.rates import shared_rates
from crmbench.runner.executors.shards import (
    PlaySetup,
    Shard,
    begin,
    end,
    play_shard,
    workers_for,
)
from crmbench.runner.executors.spread import open_executor
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import Participants, open_participants
from crmbench.runner.run import directory_for
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import RunData

MUST_MATCH = ("data_digest", "agent", "model", "condition", "condition_seed", "budget", "seed")
"""What a ladder that goes on must have in common with the one that it goes on with."""
_CHECK = partial(check_same, names=MUST_MATCH, what="ladder")


@dataclass(frozen=True)
class Ladder:
    """What came of a ladder."""

    tasks: tuple[Task, ...]
    climbs: dict[str, Climb]
    episodes: tuple[EpisodeRecord, ...]
    """Those of earlier sittings included."""
    stopped: str | None = None
    """Why it ended before all mechanisms were measured."""
    items: Mapping[tuple[str, int], tuple[ItemVerdict, ...]] = field(default_factory=dict)
    """Task and trial to what became of each item, of the episodes of this sitting."""


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
    """Measure n50 of every mechanism among the tasks; every episode is kept as it ends.

    Args:
        options: The agent and how it is run; what it says of files and trials is not used.
        resume: Go on with the ladder in `out`.
        on_progress: Told the number of episodes, after each.

    Raises:
        InputError: `out` holds another ladder, or holds one and `resume` is not asked for.
    """
    options = replace(options, resume=resume)
    jobs = [Job(task, 0) for task in tasks]
    workers = workers_for(options, jobs, from_code=factory is not None)
    data = RunData(tuple(tasks), options.file, digest_of_tasks(tasks))
    config = {**configuration(options, data), "ladder": True}
    over_budget = False
    with directory_for(out, options, config, _CHECK) as run_dir:
        # Before anything is written, also where others play.
        participants = open_participants(options, out, factory)
        if workers:
            asyncio.run(participants.close())
        stored = _stored(run_dir) if resume else {}
        climbs = {name: Climb(rungs, stop, stored) for name, rungs in rungs_of(tasks).items()}
        if not resume:
            run_dir.create(config, tasks)
        playing = _Measuring(climbs, options, run_dir, on_progress)
        try:
            if workers:
                playing.shared(tuple(tasks), workers)
            else:
                over_budget = asyncio.run(playing.here(participants))
        finally:
            run_dir.settle(tasks)
        played = tuple(run_dir.episodes())
        return Ladder(tuple(tasks), climbs, played, _why(climbs, over_budget), playing.items)


def _stored(run_dir: RunDir) -> dict[tuple[str, int], bool]:
    """Whether the episodes of an earlier sitting passed that count."""
    return {e.key: e.verdict.success for e in run_dir.outlines() if e.verdict.counted}


class _Measuring:
    """The episodes of a sitting: played, and each kept as it ends."""

    def __init__(
        self,
        climbs: Mapping[str, Climb],
        options: RunOptions,
        run_dir: RunDir,
        on_progress: Callable[[int], None],
    ) -> None:
        self._climbs = climbs
        self._options = options
        self._run_dir = run_dir
        self._on_progress = on_progress
        self._done = 0
        self.items: dict[tuple[str, int], tuple[ItemVerdict, ...]] = {}

    async def here(self, participants: Participants) -> bool:
        """Measure in this process, one mechanism after the other; whether the money ended it."""
        options = self._options
        spent = NO_USAGE
        tasks = {t.task_id: t for c in self._climbs.values() for r in c.rungs for t in r.tasks}

        def keep(record: EpisodeRecord) -> None:
            nonlocal spent
            spent = spent + record.usage
            self._keep(encode(record))
            # While its world and its gold are at hand.
            self.items[record.key] = grader.items(tasks[record.task_id], record.trace)

        def over_budget() -> bool:
            return options.max_cost is not None and (spent.cost or 0.0) >= options.max_cost

        grader = grader_on(options.backend)
        try:
            evaluator = Evaluator.for_run(options, participants, grader)
            await climb(self._climbs, evaluator, keep, over_budget)
        finally:
            await participants.close()
            grader.close()
        return over_budget()

    def shared(self, tasks: Sequence[Task], workers: int) -> None:
        """Measure by workers, all mechanisms side by side: the batches of all are handed out
        episode by episode, and the next ones chosen when these have ended.
        """
        numbers = {task.task_id: number for number, task in enumerate(tasks)}
        read = Lean().read
        with shared_rates(self._options) as rates:
            setup = PlaySetup(self._options, tasks, {}, rates, items=True)
            executor = open_executor(self._options.executor, max(workers, 0), begin, (setup,), end)
            with executor:
                while batches := self._batches():
                    places = [(numbers[job.task.task_id], job.trial) for _, job in batches]
                    before = {name: len(self._climbs[name].outcomes) for name, _ in batches}
                    results = executor.stream(play_shard, (Shard((each,)) for each in places))
                    for (name, _), played in zip(batches, results, strict=True):
                        if played.broken:
                            raise played.broken[0]
                        for episode, items in zip(played.episodes, played.items, strict=True):
                            self._keep(episode)
                            record = read(episode.line, episode.seconds)
                            self.items[record.key] = items
                            self._climbs[name].take(record)
                    if any(len(self._climbs[name].outcomes) == n for name, n in before.items()):
                        # Nothing of a batch counts: the model or its server is down.
                        return

    def _batches(self) -> list[tuple[str, Job]]:
        return [(name, job) for name, each in self._climbs.items() for job in each.batch()]

    def _keep(self, episode: EncodedEpisode) -> None:
        self._run_dir.write([episode])
        self._done += 1
        self._on_progress(self._done)


def _why(climbs: Mapping[str, Climb], over_budget: bool) -> str | None:
    if over_budget:
        return "the money that was allowed is spent"
    open_ones = [name for name, each in climbs.items() if each.next_jobs()]
    if open_ones:
        return f"no episode counted of {', '.join(open_ones)}: the model or its server failed"
    return None


def digest_of_tasks(tasks: Sequence[Task]) -> str:
    """A digest of tasks, gold and all."""
    hasher = blake2b(digest_size=16)
    for task in tasks:
        hasher.update(msgspec.json.encode(task_to_data(task)))
    return hasher.hexdigest()
