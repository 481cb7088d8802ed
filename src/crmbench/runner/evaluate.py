"""Many episodes at once: every task, every trial, graded as it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING
from zlib import crc32

from crmbench.agents.protocol import Agent, AgentFactory, GoldAgentFactory
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace, TokenUsage
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.errors import HarnessError, InputError
from crmbench.grading.gold import GoldRun, walk
from crmbench.grading.verdict import EpisodeVerdict, judge_episode, passes
from crmbench.roles.records import Aside, with_judgements
from crmbench.roles.user import ModelUser, SimulatedUser, UserEpisode, joined
from crmbench.runner.episode import play

if TYPE_CHECKING:
    from crmbench.roles.judge import Judge

AnyFactory = AgentFactory | GoldAgentFactory


@dataclass(frozen=True, slots=True)
class Finished:
    """One episode, played and graded."""

    task: Task
    trace: EpisodeTrace
    verdict: EpisodeVerdict
    seconds: float
    """Wall time of playing it."""
    aside: Aside | None = None
    """Who took part beside the agent."""

    @property
    def usage(self) -> TokenUsage:
        """Tokens of all who took part."""
        return self.trace.usage + (self.aside.usage if self.aside else TokenUsage())


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
        time_limit: Seconds an episode, a judge's time aside.
        user: Plays the users; else they say the tasks' own words.
        judge: Asked about finished episodes.
        tools: A named part of the domain's tools; else agents have all of them.
    """

    def __init__(
        self,
        agent: AnyFactory,
        backends: Callable[[Domain], Backend],
        *,
        seed: int = 0,
        time_limit: float | None = None,
        max_calls: int = 100,
        user: ModelUser | None = None,
        judge: Judge | None = None,
        tools: str | None = None,
    ) -> None:
        self._tools = tools
        self._agent = agent
        self._user = user
        self._judge = judge
        self._make_backend = backends
        self._backends: dict[str, Backend] = {}
        self._gold: dict[str, tuple[GoldRun, ...]] = {}
        self._seed = seed
        self._time_limit = time_limit
        self._max_calls = max_calls
        self._owns = True

    @classmethod
    def sharing(cls, other: Evaluator, agent: AnyFactory) -> Evaluator:
        """An evaluator of another agent on the same databases, which only the first one closes."""
        twin = cls(
            agent,
            other._make_backend,
            seed=other._seed,
            time_limit=other._time_limit,
            max_calls=other._max_calls,
        )
        twin._backends, twin._gold, twin._owns = other._backends, other._gold, False
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
        started = perf_counter()
        domain, trace, user = await self._converse(job)
        seconds = perf_counter() - started
        trace, verdict, aside = await self._settle(domain, job.task, trace, user)
        return Finished(job.task, trace, verdict, seconds, aside)

    async def succeeds(self, job: Job) -> bool:
        """Play one episode and say only whether it succeeds: what `play` says, often sooner."""
        _, trace, _ = await self._converse(job)
        domain, _ = self._place(job.task.domain)
        return passes(domain, job.task, trace, self.gold_runs(job.task))

    async def _converse(self, job: Job) -> tuple[Domain, EpisodeTrace, SimulatedUser | None]:
        whole, backend = self._place(job.task.domain)
        kind = Episode if self._user is None else UserEpisode
        # Ground truth and verdicts are those of the whole domain.
        domain = whole.with_tools(self._tools) if self._tools else whole
        try:
            episode = kind(domain, job.task, backend, trial=job.trial, max_calls=self._max_calls)
        except InputError as error:
            raise HarnessError(f"task {job.task.task_id} cannot be set up: {error}") from error
        user = self._user.start(job.task, episode.sandbox.today) if self._user else None
        with episode:
            trace = await play(episode, self._start(episode, job), self._time_limit, user)
        return domain, trace, user

    async def _settle(
        self, domain: Domain, task: Task, trace: EpisodeTrace, user: SimulatedUser | None
    ) -> tuple[EpisodeTrace, EpisodeVerdict, Aside | None]:
        """The verdict, the judge asked where there is one."""
        aside = Aside(user.record) if user else None
        verdict = self.grade(task, trace, aside)
        if self._judge is None or not verdict.counted:
            return trace, verdict, aside
        judging = await self._judge.judge(domain, task, trace, verdict)
        aside = Aside(user.record if user else None, judging)
        trace = with_judgements(trace, judging)
        return trace, self.grade(task, trace, aside), aside

    def grade(self, task: Task, trace: EpisodeTrace, aside: Aside | None = None) -> EpisodeVerdict:
        """The verdict on a trace, the gold walked where the task is graded by state.

        An episode does not count if the simulated user spoilt it, or if it would have succeeded
        but for a judge that gave no usable answer.

        Args:
            aside: Who took part in it; the judge's verdicts are those in the trace.
        """
        domain, _ = self._place(task.domain)
        runs = self.gold_runs(task)
        heard = joined(trace) if aside and aside.user else trace
        verdict = judge_episode(domain, task, heard, runs)
        if trace.outcome == "user_error":
            return replace(verdict, counted=False)
        if aside and aside.judge and aside.judge.failed and not verdict.success:
            lenient = with_judgements(heard, aside.judge.granting())
            if judge_episode(domain, task, lenient, runs).success:
                return replace(verdict, counted=False, reason="the judge gave no usable answer")
        return verdict

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
        """Close the databases, unless they are another evaluator's."""
        if not self._owns:
            return
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
