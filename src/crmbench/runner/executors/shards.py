"""Episodes played by workers: what a worker makes ready once, and what it does with a shard."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc_results import ResultLines
from crmbench.formats.episode_store import EncodedEpisode, encode
from crmbench.grading.grader import Grader, TaskError, TaskFault
from crmbench.grading.items import ItemVerdict
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.executors.spread import check_executor, cores
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import Participants, models_of, open_participants

if TYPE_CHECKING:
    from crmbench.models import RawLog
    from crmbench.models.limits import RateSource

SHARD_TURNS = (60, 480)
"""Turns of the users in a shard, at least and at most: some 0.01 to 0.1 s of an agent that asks no
model, so that handing it out costs little beside it, and little is lost with a worker."""
SHARDS_A_WORKER = 16
"""How many there are at least, before they grow."""
EDGES = 2
"""A shard is at most this part of what was handed out before it, and of what is left: the first
results come soon, and all workers end at about the same time."""
WORTH_IT = 240
"""Turns from which on processes are started where nobody says how many: they take 0.1 s each."""
OURS = ("oracle", "mock", "heuristic", "slip", "recorded")
"""Agents that keep nothing between conversations and wait for nobody."""


class World(NamedTuple):
    """A world as bytes, so that workers need not build it."""

    image: bytes
    orders: dict[str, int]


@dataclass(frozen=True)
class PlaySetup:
    """What every worker of a run is given."""

    options: RunOptions
    tasks: Sequence[Task]
    worlds: Mapping[tuple[str, str], World]
    rates: RateSource | None = None
    """Where the workers take together what the models may be asked; None: nothing is limited."""
    agent: Mapping[str, str | None] | None = None
    """Whom the lines of ``results.jsonl`` name; None: nobody keeps them, and none are made."""
    items: bool = False
    """Whether what became of each item is wanted too."""


class Shard(NamedTuple):
    """Episodes that a worker plays in one go."""

    places: tuple[tuple[int, int], ...]
    """The number of the task and the trial of each."""


class Played(NamedTuple):
    """What came of a shard."""

    episodes: tuple[EncodedEpisode, ...]
    """In the order of the shard."""
    broken: tuple[TaskError, ...]
    faults: dict[int, TaskFault | None]
    """By the number of the task."""
    raw: bytes = b""
    """Lines of ``raw.jsonl``: what models were asked and replied."""
    items: tuple[tuple[ItemVerdict, ...], ...] = ()
    """What became of each item of each episode, if that is wanted."""


def workers_for(options: RunOptions, jobs: Sequence[Job], *, from_code: bool) -> int:
    """How many workers play; 0: the episodes are played here, and by nobody else; -1: as many as
    the cluster has CPUs.

    Args:
        from_code: Whether the agents are objects of this process.

    Raises:
        InputError: Workers are asked for, and cannot be had.
    """
    check_executor(options.executor)
    asked = options.executor not in ("", "inline") or (options.workers or 1) > 1
    if asked and from_code:
        raise InputError(
            "agents that are objects of this process cannot be given to others",
            field="workers",
            expected="the agent by its name, such as my_agent.py:MyAgent, or one worker",
        )
    if asked and options.max_cost is not None:
        raise InputError("workers keep to no limit of cost", expected="--max-cost with one worker")
    if from_code or options.executor == "inline" or not jobs:
        return 0
    if options.executor.startswith("ray"):
        return options.workers or -1
    workers = min(_useful_workers(options, jobs), len(jobs))
    return workers if workers > 1 or options.executor else 0


def _useful_workers(options: RunOptions, jobs: Sequence[Job]) -> int:
    """As many as are asked for; where nobody says, one for each core, or 1 where one serves best.

    Nobody else's code is played in several processes unless that is asked for, since it may keep
    something from one conversation to the next, nor is what waits for a model.
    """
    if options.workers is not None:
        return max(1, options.workers)
    if not _ours(options) or options.backend != "sqlite":
        return 1
    return cores() if sum(len(job.task.turns) for job in jobs) >= WORTH_IT else 1


def _ours(options: RunOptions) -> bool:
    """Whether the agent is one of ours, and nobody waits for a model."""
    trivial = options.agent in ("noop", "refuse_all", "random", "dump")
    named = options.agent.partition(":")[0] in OURS
    return (named or trivial) and not models_of(options)


def shards_of(jobs: Sequence[Job], tasks: Sequence[Task], turns_each: int) -> Iterator[Shard]:
    """The jobs in their order, cut into shards of so many turns of the users; fewer in the first
    and last ones.
    """
    numbers = {task.task_id: number for number, task in enumerate(tasks)}
    least = min(turns_each, SHARD_TURNS[0])
    done, left = 0, sum(len(job.task.turns) for job in jobs)
    places: list[tuple[int, int]] = []
    turns = 0
    for job in jobs:
        places.append((numbers[job.task.task_id], job.trial))
        turns += len(job.task.turns)
        if turns >= min(turns_each, max(least, min(done, left) // EDGES)):
            yield Shard(tuple(places))
            done, left = done + turns, left - turns
            places, turns = [], 0
    if places:
        yield Shard(tuple(places))


def shard_turns(options: RunOptions, jobs: Sequence[Job], workers: int) -> int:
    """How many turns of the users a shard has at most; the bytes of a run do not depend on it."""
    least, most = SHARD_TURNS
    if not _ours(options):  # a turn may take minutes, and is lost with its worker
        return least
    turns = sum(len(job.task.turns) for job in jobs)
    return min(max(turns // (SHARDS_A_WORKER * workers), least), most)


def setup_of(
    options: RunOptions,
    jobs: Sequence[Job],
    grader: Grader,
    tasks: Sequence[Task],
    rates: RateSource | None = None,
    agent: Mapping[str, str | None] | None = None,
) -> PlaySetup:
    """What workers need, with every world that is played in built once, here.

    Args:
        agent: See `PlaySetup.agent`.
    """
    worlds: dict[tuple[str, str], World] = {}
    if options.backend == "sqlite":
        for domain_name, name in sorted({(job.task.domain, job.task.world) for job in jobs}):
            domain, backend = grader.backends.place(domain_name)
            if isinstance(backend, SqliteBackend):
                made = backend.image(domain.world(name))
                if made is not None:
                    worlds[domain_name, name] = World(*made)
    return PlaySetup(options, tasks, worlds, rates, agent)


class _PlayWorker:
    """What a worker keeps between shards."""

    def __init__(self, setup: PlaySetup) -> None:
        self.setup = setup
        self.grader = grader_on(setup.options.backend)
        for (domain_name, name), world in setup.worlds.items():
            domain, backend = self.grader.backends.place(domain_name)
            if isinstance(backend, SqliteBackend):
                backend.adopt(domain.world(name), world.image, dict(world.orders))
        # One loop for all shards: what a participant opens in it, it finds there again.
        self.loop = asyncio.new_event_loop()
        self.raw = _raw_log() if setup.options.keep_raw and models_of(setup.options) else None
        self.participants: Participants = open_participants(
            setup.options, None, rates=setup.rates, raw=self.raw
        )
        self.evaluator = Evaluator.for_run(setup.options, self.participants, self.grader)
        tasks = {task.task_id: task for task in setup.tasks}
        self.results = None if setup.agent is None else ResultLines(tasks, setup.agent)

    def play(self, shard: Shard) -> Played:
        setup, found = self.setup, dict[tuple[str, int], EncodedEpisode]()
        items: dict[tuple[str, int], tuple[ItemVerdict, ...]] = {}
        broken: list[TaskError] = []
        jobs = [Job(setup.tasks[number], trial) for number, trial in shard.places]
        tasks = {job.task.task_id: job.task for job in jobs}

        def keep(record: EpisodeRecord) -> None:
            result = self.results.line(record) if self.results else b""
            found[record.key] = encode(record, result)
            if setup.items:
                # Here its world and its gold are at hand.
                items[record.key] = self.grader.items(tasks[record.task_id], record.trace)

        work = self.evaluator.run(jobs, keep, setup.options.concurrency, on_broken=broken.append)
        self.loop.run_until_complete(work)
        keys = [(job.task.task_id, job.trial) for job in jobs]
        faults = {number: self.grader.fault_of(setup.tasks[number]) for number, _ in shard.places}
        episodes = tuple(found[key] for key in keys if key in found)
        raw = self.raw.taken() if self.raw else b""
        judged = tuple(items[key] for key in keys if key in items)
        return Played(episodes, tuple(broken), faults, raw, judged)

    def close(self) -> None:
        self.loop.run_until_complete(self.participants.close())
        self.loop.close()
        self.grader.close()


def _raw_log() -> RawLog:
    # Imported where models are, which most workers never ask.
    from crmbench.models import RawLog

    return RawLog(None)


_worker: _PlayWorker | None = None


def begin(setup: PlaySetup) -> None:
    """Make a worker ready."""
    global _worker
    _worker = _PlayWorker(setup)


def play_shard(shard: Shard) -> Played:
    """Play, grade and encode the episodes of a shard."""
    assert _worker is not None, "begin() comes before the first shard"
    return _worker.play(shard)


def end() -> None:
    """Let go of what the worker holds."""
    global _worker
    worker, _worker = _worker, None
    if worker is not None:
        worker.close()
