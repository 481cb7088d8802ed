"""A whole run: the tasks, the agent, the directory; what the command line and the API both call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from crmbench.agents.protocol import AnyFactory
from crmbench.core.task import Task
from crmbench.core.trace import NO_USAGE, TokenUsage
from crmbench.formats.arc_results import ResultLines, agent_of
from crmbench.formats.episode_store import EncodedEpisode, decode
from crmbench.formats.lean import Lean
from crmbench.grading.grader import Grader, TaskError, TaskFault
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted
from crmbench.runner.configuration import check_same, configuration
from crmbench.runner.evaluate import Evaluator, Job, grader_on, jobs_for
from crmbench.runner.executors.rates import shared_rates
from crmbench.runner.executors.shards import (
    Played,
    begin,
    end,
    play_shard,
    setup_of,
    shard_turns,
    shards_of,
    workers_for,
)
from crmbench.runner.executors.spread import (
    collecting_rarely,
    open_executor,
)
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import open_participants
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import RunData, read_data
from crmbench.runner.waiting import wait_for

__all__ = [
    "Progress",
    "RunInterrupted",
    "RunOptions",
    "RunOutcome",
    "execute",
    "execute_on",
    "find_faults",
    "play_run",
]

MANY_WORLDS = 10
"""From so many worlds on it is said that they are built."""
_log = logging.getLogger("crmbench.data")


@dataclass(frozen=True)
class RunOutcome:
    """What came of a run."""

    tasks: tuple[Task, ...]
    outlines: tuple[EpisodeRecord, ...]
    """By task and trial, those of an earlier session included; of a run with a directory without
    what tools gave back and changed."""
    seconds: float
    """Wall time of playing and grading in this session, set-up aside."""
    turns_played: int
    """In this session."""
    skipped: tuple[str, ...]
    """Why lines of the file were left out."""
    faults: tuple[TaskFault, ...]
    stopped: str | None = None
    """Why the run ended before all episodes were played; `resume` goes on."""
    run_dir: RunDir | None = None
    """Where the whole episodes are; None where they are here."""
    spent: TokenUsage = NO_USAGE
    """By all who took part, in this session."""
    broken: tuple[TaskFault, ...] = ()
    """Those of the faults for which a task could not be played or graded at all."""

    @property
    def episodes(self) -> Sequence[EpisodeRecord]:
        """The episodes as a whole, read from the directory if there is one."""
        return self.run_dir.episodes() if self.run_dir else self.outlines


Progress = Callable[[int, int], None]
"""Told the number of episodes done and of all, in this session."""


class RunInterrupted(KeyboardInterrupt):
    """Somebody stopped a run; its text says what is kept and how to go on."""


def execute(
    options: RunOptions,
    out: Path | None = None,
    on_progress: Progress | None = None,
    factory: AnyFactory | None = None,
) -> RunOutcome:
    """`execute_on` the file that the options name.

    Raises:
        InputError: The file, the agent or the directory cannot be used.
        HarnessError: A tool broke.
        RunInterrupted: Somebody pressed Ctrl-C.
    """
    return execute_on(read_data(options.file, options), options, out, on_progress, factory)


def execute_on(
    data: RunData,
    options: RunOptions,
    out: Path | None = None,
    on_progress: Progress | None = None,
    factory: AnyFactory | None = None,
) -> RunOutcome:
    """`play_run` for callers without an event loop.

    Raises:
        InputError: The agent or the directory cannot be used.
        HarnessError: A tool broke.
        RunInterrupted: Somebody pressed Ctrl-C.
    """
    said: list[str] = []
    try:
        played = play_run(data, options, out, on_progress, factory, on_cancelled=said.append)
        return wait_for(played)
    except KeyboardInterrupt:
        raise RunInterrupted(said[0] if said else "no episode was played") from None


async def play_run(
    data: RunData,
    options: RunOptions,
    out: Path | None = None,
    on_progress: Progress | None = None,
    factory: AnyFactory | None = None,
    on_cancelled: Callable[[str], None] = lambda _text: None,
) -> RunOutcome:
    """Play, grade and, if there is an `out`, keep every episode.

    A task that is broken is named among the faults, and the others are played.

    Args:
        data: What is played; `options.file` is not read.
        out: The run's directory: a new one, or with `options.resume` the one to go on with.
        on_progress: Told after each episode.
        factory: The agents, where they come from code and not from `options.agent`.
        on_cancelled: Told what is kept, if the run is cancelled.

    Raises:
        InputError: The agent or the directory cannot be used.
        HarnessError: A tool broke.
    """
    config = configuration(options, data) if out else {}
    async with AsyncExitStack() as stack:
        # Left in the order opposite to this: databases first, the lock on the directory last.
        run_dir = stack.enter_context(directory_for(out, options, config)) if out else None
        played = run_dir.counted() if run_dir and options.resume else set()
        jobs = jobs_for(data.tasks, options.trials, played)
        grader = grader_on(options.backend)
        stack.callback(grader.close)
        participants = open_participants(options, out, factory)
        stack.push_async_callback(participants.close)
        evaluator = Evaluator.for_run(options, participants, grader)
        if jobs:
            await evaluator.try_agent(jobs[0])
        # Nothing is written before all that can be wrong with a start was tried.
        workers = workers_for(options, jobs, from_code=factory is not None)
        _prepare_worlds(grader, jobs, options.concurrency if workers == 0 else 1)
        results = ResultLines({task.task_id: task for task in data.tasks}, agent_of(config))
        session = _Session(len(jobs), options.max_cost, run_dir, on_progress, results)
        session.fresh = not options.resume
        try:
            agent = results.agent if run_dir else None
            with _playing(options, workers, jobs, grader, data, agent) as spread:
                if run_dir and not options.resume:
                    run_dir.create(config, data.tasks)  # while workers start
                return await _play(data, jobs, evaluator, session, options.concurrency, spread)
        except asyncio.CancelledError:
            on_cancelled(session.left_off())
            raise


def _prepare_worlds(grader: Grader, jobs: Sequence[Job], concurrency: int) -> None:
    """Build the worlds before the first episode, so that none times out for another's."""
    worlds = {(job.task.domain, job.task.world) for job in jobs}
    if len(worlds) >= MANY_WORLDS:
        _log.warning("Building the %d worlds of these conversations …", len(worlds))
    grader.backends.prepare(worlds, min(concurrency, max(len(jobs), 1)))


async def _play(
    data: RunData,
    jobs: Sequence[Job],
    evaluator: Evaluator,
    session: _Session,
    concurrency: int,
    spread: Iterator[Played] | None,
) -> RunOutcome:
    run_dir, started = session.run_dir, perf_counter()
    try:
        with collecting_rarely():
            if spread is None:
                await evaluator.run(
                    jobs, session.keep, concurrency, session.over_budget, session.broken.append
                )
            else:
                # In a thread, so that whoever waits for the run can still cancel it.
                while (played := await asyncio.to_thread(next, spread, None)) is not None:
                    session.take(played)
        seconds = perf_counter() - started
        # Of every task, played or not: a resumed run says what the whole file's faults are.
        faults = find_faults(data.tasks, evaluator.grader, session.faults)
    finally:
        if run_dir is not None:
            run_dir.settle(data.tasks)
    if run_dir is None or session.fresh:
        episodes = _in_order(session.records, data.tasks)
    else:
        with collecting_rarely():
            episodes = run_dir.for_figures()
    return RunOutcome(
        data.tasks,
        tuple(episodes),
        seconds,
        session.turns,
        data.skipped,
        faults,
        session.stopped(),
        run_dir,
        session.spent,
        tuple(dict.fromkeys(error.fault for error in session.broken)),
    )


@contextmanager
def _playing(
    options: RunOptions,
    workers: int,
    jobs: Sequence[Job],
    grader: Grader,
    data: RunData,
    agent: Mapping[str, str | None] | None,
) -> Iterator[Iterator[Played] | None]:
    """The results of workers, shard by shard; None where there are none."""
    if workers == 0:
        yield None
        return
    with shared_rates(options) as rates:
        setup = setup_of(options, jobs, grader, data.tasks, rates, agent)
        with open_executor(options.executor, max(workers, 0), begin, (setup,), end) as executor:
            turns = shard_turns(options, jobs, executor.workers)
            yield executor.stream(play_shard, shards_of(jobs, data.tasks, turns))


class _Session:
    """What is played from the start of a process to its end: counted, kept, and cut off in time."""

    def __init__(
        self,
        jobs: int,
        max_cost: float | None,
        run_dir: RunDir | None,
        on_progress: Progress | None,
        results: ResultLines,
    ) -> None:
        self.jobs = jobs
        self.done = self.turns = 0
        self.broken: list[TaskError] = []
        self.records: list[EpisodeRecord] = []
        """Whole without a directory, else lean: a long run would hold every trace in memory."""
        self._lean = Lean()
        self._read = self._lean.read
        self.fresh = True
        """Whether the directory holds nothing else."""
        self.faults: dict[int, TaskFault | None] = {}
        """That workers looked for, by the number of the task."""
        self._max_cost = max_cost
        self.spent = NO_USAGE
        """By all who took part."""
        self.run_dir = run_dir
        self._on_progress = on_progress
        self._results = results

    def keep(self, record: EpisodeRecord) -> None:
        if self.run_dir:
            self.run_dir.append(record, self._results.line(record))
            if self.fresh:
                self.records.append(self._lean.shorten(record, round(record.seconds, 6)))
        else:
            self.records.append(record)
        self._count(record.usage, len(record.trace.turns))

    def take(self, played: Played) -> None:
        if self.run_dir and played.raw:
            self.run_dir.keep_raw(played.raw)
        if self.run_dir:
            self._keep(self.run_dir, played.episodes)
        else:
            self.records += map(decode, played.episodes)
        for episode in played.episodes:
            self._count(episode.usage, episode.turns)
        self.broken += played.broken
        self.faults |= played.faults

    def _keep(self, run_dir: RunDir, episodes: Sequence[EncodedEpisode]) -> None:
        run_dir.write(episodes)
        if self.fresh:
            # While workers play, and as it would be read in the end.
            self.records += [self._read(each.line, round(each.seconds, 6)) for each in episodes]

    def _count(self, usage: TokenUsage, turns: int) -> None:
        self.spent = self.spent + usage
        self.done += 1
        self.turns += turns
        if self._on_progress:
            self._on_progress(self.done, self.jobs)

    def over_budget(self) -> bool:
        return self._max_cost is not None and (self.spent.cost or 0.0) >= self._max_cost

    def stopped(self) -> str | None:
        if self._max_cost is None or not self.over_budget() or self.done >= self.jobs:
            return None
        return f"${self.spent.cost or 0.0:,.2f} were spent, of ${self._max_cost:,.2f} allowed"

    def left_off(self) -> str:
        episodes = f"{self.done:,} of {counted(self.jobs, 'episode')} played"
        if self.run_dir is None:
            return f"{episodes}; nothing is kept without --out"
        return f"{episodes} and kept in {self.run_dir.path}; go on with --resume"


@contextmanager
def directory_for(
    path: Path,
    options: RunOptions,
    config: Mapping[str, Any],
    check: Callable[[RunDir, Mapping[str, Any]], None] = check_same,
) -> Iterator[RunDir]:
    """The run's directory, for this process alone; nothing is written into a new one yet.

    Args:
        check: Refuses to go on with a run that was configured otherwise.

    Raises:
        InputError: It holds another run, or cannot be written.
    """
    run_dir = RunDir(path)
    if not options.resume:
        run_dir.check_free()
        run_dir.make()
    # Checked before the lock, to leave a directory that is not ours without even a lock file, and
    # again under it, for another process may have begun a run meanwhile.
    with run_dir.locked():
        if options.resume:
            check(run_dir, config)
            run_dir.drop_torn_lines()
        else:
            run_dir.check_free()
        try:
            yield run_dir
        finally:
            run_dir.close()
            run_dir.remove_if_empty()


def find_faults(
    tasks: Sequence[Task], grader: Grader, known: Mapping[int, TaskFault | None] | None = None
) -> tuple[TaskFault, ...]:
    """The tasks whose own gold does not do what it says it does.

    Args:
        known: What was found already, by the number of the task.
    """
    known = known or {}
    found = (
        known[number] if number in known else grader.fault_of(task)
        for number, task in enumerate(tasks)
    )
    return tuple(fault for fault in found if fault is not None)


def _in_order(records: Sequence[EpisodeRecord], tasks: Sequence[Task]) -> list[EpisodeRecord]:
    order = {task.task_id: index for index, task in enumerate(tasks)}
    return sorted(records, key=lambda record: (order[record.task_id], record.trial))
