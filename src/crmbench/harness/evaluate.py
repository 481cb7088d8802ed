"""Many episodes at once: every task, every trial, graded as it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from zlib import crc32

from crmbench.agents.protocol import Agent, AgentFactory, GoldAgentFactory
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.gold import GoldRun, walk
from crmbench.core.score.verdict import EpisodeVerdict, judge_episode
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.core.world import Backend
from crmbench.domains import load_domain
from crmbench.errors import HarnessError, InputError
from crmbench.harness.play import play

AnyFactory = AgentFactory | GoldAgentFactory


@dataclass(frozen=True, slots=True)
class Finished:
    """One episode, played and graded."""

    task: Task
    trace: EpisodeTrace
    verdict: EpisodeVerdict
    seconds: float
    """Wall time."""


@dataclass(frozen=True)
class Job:
    """One episode to play."""

    task: Task
    trial: int


def jobs_for(tasks: Iterable[Task], trials: int) -> list[Job]:
    """Every trial of every task, task by task."""
    return [Job(task, trial) for task in tasks for trial in range(trials)]


class Evaluator:
    """Plays and grades episodes on one backend.

    Args:
        agent: Makes the agents.
        backends: Gives the backend for a domain; called once for each.
        seed: For agents that do anything at random.
        time_limit: Seconds an episode.
    """

    def __init__(
        self,
        agent: AnyFactory,
        backends: Callable[[Domain], Backend],
        *,
        seed: int = 0,
        time_limit: float | None = None,
        max_calls: int = 100,
    ) -> None:
        self._agent = agent
        self._make_backend = backends
        self._backends: dict[str, Backend] = {}
        self._gold: dict[str, tuple[GoldRun, ...]] = {}
        self._seed = seed
        self._time_limit = time_limit
        self._max_calls = max_calls

    @classmethod
    def sharing(cls, other: Evaluator, agent: AnyFactory) -> Evaluator:
        """An evaluator of another agent on the same databases, which the first one closes."""
        twin = cls(
            agent,
            other._make_backend,
            seed=other._seed,
            time_limit=other._time_limit,
            max_calls=other._max_calls,
        )
        twin._backends, twin._gold = other._backends, other._gold
        return twin

    async def run(
        self,
        jobs: Sequence[Job],
        on_finished: Callable[[Finished], None],
        concurrency: int = 1,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play every job, `concurrency` at once, and hand each on as it ends.

        Args:
            stop: Asked before each job; once it says yes, no further one begins.

        Raises:
            HarnessError: A task is broken; the episodes that had ended were handed on.
        """
        queue = iter(jobs)

        async def work() -> None:
            for job in queue:
                if stop():
                    return
                on_finished(await self.play(job))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(concurrency, len(jobs)))):
                    group.create_task(work())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def play(self, job: Job) -> Finished:
        """Play and grade one episode."""
        domain, backend = self._place(job.task.domain)
        started = perf_counter()
        try:
            episode = Episode(domain, job.task, backend, trial=job.trial, max_calls=self._max_calls)
        except InputError as error:
            raise HarnessError(f"task {job.task.task_id} cannot be set up: {error}") from error
        with episode:
            trace = await play(episode, self._start(episode, job), self._time_limit)
        seconds = perf_counter() - started
        return Finished(job.task, trace, self.grade(job.task, trace), seconds)

    def grade(self, task: Task, trace: EpisodeTrace) -> EpisodeVerdict:
        """The verdict on a trace, the gold walked where the task is graded by state."""
        domain, _ = self._place(task.domain)
        return judge_episode(domain, task, trace, self.gold_runs(task))

    def gold_runs(self, task: Task) -> tuple[GoldRun, ...]:
        """The gold path of a task graded by state, and its other accepted paths; kept.

        Raises:
            HarnessError: A gold call fails: no score of this task could be trusted.
        """
        if task.gold.grading != "state":
            return ()
        runs = self._gold.get(task.task_id)
        if runs is None:
            domain, backend = self._place(task.domain)
            others = [path for path in task.gold.paths if not path.same_effect]
            runs = tuple(walk(domain, task, backend, path) for path in (None, *others))
            faults = [fault for run in runs for fault in run.faults]
            if faults:
                raise HarnessError(f"task {task.task_id}: the gold fails: {faults[0]}")
            self._gold[task.task_id] = runs
        return runs

    def prepare(self, tasks: Iterable[Task], copies: int) -> None:
        """Build each world that the tasks play in, once, and one copy for each episode at once."""
        worlds = {(task.domain, task.world) for task in tasks}
        for domain_name, world_name in sorted(worlds):
            domain, backend = self._place(domain_name)
            world = domain.world(world_name)
            held = [backend.acquire(world) for _ in range(copies if len(worlds) == 1 else 1)]
            for database in held:
                backend.release(world, database)

    def backend_for(self, domain_name: str) -> Backend:
        """The backend on which tasks of a domain play."""
        return self._place(domain_name)[1]

    def close(self) -> None:
        for backend in self._backends.values():
            backend.close()
        self._backends.clear()

    def _place(self, name: str) -> tuple[Domain, Backend]:
        domain = load_domain(name)
        if name not in self._backends:
            self._backends[name] = self._make_backend(domain)
        return domain, self._backends[name]

    def _start(self, episode: Episode, job: Job) -> Agent:
        agent = self._agent
        # Only the oracle's factory and its like have the method that takes a whole task.
        if hasattr(agent, "start_with_gold"):
            return agent.start_with_gold(job.task)
        seed = crc32(f"{self._seed}/{job.task.task_id}/{job.trial}".encode())
        return agent.start(episode.view, seed)
