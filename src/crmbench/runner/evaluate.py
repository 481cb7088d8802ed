"""Many episodes at once: every task, every trial, graded as it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from crmbench.agents.command import CommandAgent
from crmbench.agents.protocol import Agent, AnyFactory, ConductingFactory, Session
from crmbench.agents.python import PythonAgent, PythonAgents
from crmbench.core.backends import Backends, backend_maker
from crmbench.core.conditions import Laid, Spec, lay, parse_conditions
from crmbench.core.conditions.lay import budget_calls
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode, view_of
from crmbench.core.overlay import DomainOverlay
from crmbench.core.record import ParticipantRecords
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import EpisodeTrace
from crmbench.domains.registry import load_domain
from crmbench.errors import AgentError, CrmbenchError, DisplacedError, InputError
from crmbench.grading.grader import Grader, TaskError
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import EpisodeVerdict
from crmbench.roles.user import ModelUser, SimulatedUser, UserEpisode
from crmbench.runner.episode import play

if TYPE_CHECKING:
    from crmbench.roles.judge import Judge
    from crmbench.runner.options import RunOptions
    from crmbench.runner.participants import Participants


def grader_on(backend: str) -> Grader:
    """A grader, with the databases that episodes play on, on the backend of that name.

    Raises:
        InputError: There is no such backend.
    """
    return Grader(Backends(load_domain, backend_maker(backend)))


@dataclass(frozen=True)
class Circumstances:
    """What is laid over every task; see `crmbench.core.conditions`."""

    conditions: tuple[Spec, ...] = ()
    seed: int = 0
    """Of the conditions' chance."""
    budget: float | None = None
    """Tool calls a conversation, as a multiple of the gold's."""

    @classmethod
    def of(cls, options: RunOptions) -> Circumstances:
        """The conditions and the budget of a run.

        Raises:
            InputError: There is no such condition, or the budget is not above zero.
        """
        if options.budget is not None and options.budget <= 0:
            raise InputError("is not above zero", field="--budget", expected="a number such as 1.5")
        specs = parse_conditions(options.condition)
        return cls(specs, options.condition_seed, options.budget)

    def lay(self, domain: Domain, task: Task, max_calls: int) -> Laid:
        """The task under them, afresh for an episode.

        Args:
            max_calls: Tool calls a turn, where the task has no limit of its own.
        """
        calls = None if self.budget is None else budget_calls(task, self.budget)
        return lay(domain, task, self.conditions, seed=self.seed, budget=calls, max_calls=max_calls)


@dataclass(frozen=True)
class Job:
    """One episode to play."""

    task: Task
    trial: int
    told: str = ""
    """What the agent is told after the house rules, whatever the domain: what was learnt from
    earlier conversations."""
    policy: str | None = None
    """The house rules of this episode's day; None: those of the domain."""


class _Conversation(NamedTuple):
    """What came of playing, before it is graded."""

    domain: Domain
    trace: EpisodeTrace
    user: SimulatedUser | None
    agents: list[Agent]
    """The agent; several where the session broke, the one that ended it last."""


class _Unmade:
    """Stands for an agent whose factory raised."""

    def __init__(self, why: str) -> None:
        self._why = why

    async def turn(self, session: Session, utterance: str) -> str:
        raise AgentError(self._why)


def _dismiss(agents: Iterable[Agent]) -> None:
    """Let agents go that hold something for their conversation."""
    for agent in agents:
        if isinstance(agent, PythonAgent | CommandAgent):
            agent.leave()


def jobs_for(
    tasks: Iterable[Task], trials: int, played: Collection[tuple[str, int]] = ()
) -> list[Job]:
    """Every trial of every task, task by task.

    Args:
        played: Task and trial of episodes that are there already, and are not played again.
    """
    return [
        Job(task, trial)
        for task in tasks
        for trial in range(trials)
        if (task.task_id, trial) not in played
    ]


class Evaluator:
    """Plays episodes, and has each graded as it ends.

    Args:
        agent: Makes the agents.
        grader: Grades; its databases are played on. Several evaluators may share one.
        seed: For agents that do anything at random.
        time_limit: Seconds an episode, a judge's time aside.
        max_calls: Tool calls a turn.
        user: Plays the users; else they say the tasks' own words.
        judge: Asked about finished episodes.
        tools: A named part of the domain's tools; else agents have all of them.
        circumstances: Conditions and a budget that hold for every episode.
    """

    def __init__(
        self,
        agent: AnyFactory,
        grader: Grader,
        *,
        seed: int = 0,
        time_limit: float | None = None,
        max_calls: int = 100,
        user: ModelUser | None = None,
        judge: Judge | None = None,
        tools: str | None = None,
        circumstances: Circumstances | None = None,
    ) -> None:
        self.grader = grader
        self._tools = tools
        self._circumstances = circumstances or Circumstances()
        self._agent = agent
        # Asked once: to look whether an object has a protocol's methods takes as long as a call.
        self._conductor = agent if isinstance(agent, ConductingFactory) else None
        self._user = user
        self._judge = judge
        self._seed = seed
        self._time_limit = time_limit
        self._max_calls = max_calls

    @classmethod
    def for_run(cls, options: RunOptions, participants: Participants, grader: Grader) -> Evaluator:
        """One that plays as the options say, with those who take part.

        Raises:
            InputError: There is no such condition, or the budget is not above zero.
        """
        return cls(
            participants.agents,
            grader,
            seed=options.seed,
            time_limit=options.time_limit,
            max_calls=options.max_calls,
            user=participants.user,
            judge=participants.judge,
            tools=options.tools,
            circumstances=Circumstances.of(options),
        )

    async def try_agent(self, job: Job) -> None:
        """Make an agent of somebody's code once, before anything is written for a run.

        Raises:
            InputError: It cannot be made, or is no agent.
        """
        if isinstance(self._agent, PythonAgents):
            _, laid = self._laid(job)
            await self._agent.try_one(view_of(laid.domain, laid.task), self._time_limit)

    async def run(
        self,
        jobs: Sequence[Job],
        on_finished: Callable[[EpisodeRecord], None],
        concurrency: int = 1,
        stop: Callable[[], bool] = lambda: False,
        on_broken: Callable[[TaskError], None] | None = None,
    ) -> None:
        """Play every job, `concurrency` at once, and hand each on as it ends.

        Args:
            stop: Asked before each job; once it says yes, no further one begins.
            on_broken: Told of a task that is broken, and the others are played; else it is raised.

        Raises:
            TaskError: A task is broken; the episodes that had ended were handed on.
            HarnessError: A tool broke.
            AgentError: The agent's `observe` raised.
        """
        queue = iter(jobs)

        async def work() -> None:
            for job in queue:
                if stop():
                    return
                try:
                    await self.play(job, on_finished)
                except TaskError as error:
                    if on_broken is None:
                        raise
                    on_broken(error)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(concurrency, len(jobs)))):
                    group.create_task(work())
        except BaseExceptionGroup as failures:
            # The first is the cause; the others are those that it cancelled.
            raise failures.exceptions[0] from None

    async def play(
        self, job: Job, on_finished: Callable[[EpisodeRecord], None] = lambda _record: None
    ) -> EpisodeRecord:
        """Play and grade one episode, and let the agent hear what came of it.

        Args:
            on_finished: Told of it before the agent is.

        Raises:
            TaskError: The task cannot be set up, or its gold fails.
            HarnessError: A tool broke.
            AgentError: The agent's `observe` raised.
        """
        # First, for a task whose gold fails is not worth what playing it costs.
        self.grader.gold_runs(job.task)
        if self._conductor is not None:
            return await self._conducted(self._conductor, job, on_finished)
        return await self._played(job, on_finished)

    async def _conducted(
        self, agents: ConductingFactory, job: Job, on_finished: Callable[[EpisodeRecord], None]
    ) -> EpisodeRecord:
        """Let the agents' factory lead: it may have several attempts, each a fresh episode."""

        async def attempt(told: str) -> EpisodeRecord:
            return await self._played(replace(job, told=told), lambda _record: None)

        record = await agents.conduct(self.view(job), job.task.turns[0].utterance, attempt)
        on_finished(record)
        await agents.learn(record)
        return record

    async def _played(
        self, job: Job, on_finished: Callable[[EpisodeRecord], None]
    ) -> EpisodeRecord:
        started = perf_counter()
        domain, trace, user, agents = await self._converse(job)
        seconds = perf_counter() - started
        try:
            trace, verdict, participants = await self._grade(domain, job.task, trace, user)
            record = EpisodeRecord(trace, verdict, seconds, participants)
            on_finished(record)
            await self._tell(agents[-1], record)
        finally:
            _dismiss(agents)
        return record

    async def succeeds(self, job: Job) -> bool:
        """Play one episode and say only whether it succeeds: what `play` says, often sooner."""
        _, trace, _, agents = await self._converse(job)
        _dismiss(agents)
        return self.grader.passes(job.task, trace)

    async def _converse(self, job: Job) -> _Conversation:
        """Play a conversation; again from its start where another one's agent held it up."""
        while True:
            try:
                return await self._converse_once(job)
            except DisplacedError:
                # Where every agent blocks, one a round is found out, and the others have another.
                continue

    async def _converse_once(self, job: Job) -> _Conversation:
        # A model's user decides for itself when a turn is over; the words of a task do not.
        kind = Episode if self._user is None else UserEpisode
        domain, laid = self._laid(job)
        try:
            episode = kind(
                laid.domain,
                laid.task,
                self.grader.backends.backend(job.task.domain),
                trial=job.trial,
                max_calls=laid.max_calls,
                conditions=laid.conditions,
            )
        except InputError as error:
            raise TaskError(job.task.task_id, f" cannot be set up: {error}") from error
        user = self._user.start(job.task, episode.sandbox.today) if self._user else None
        with episode:
            made = [self._made(episode, job)]
            trace = await play(
                episode, made[0], self._time_limit, user, self._renewal(episode, job, made)
            )
        bare = laid.conditions is None and domain is laid.domain and self._tools is None
        if bare and user is None:
            self.grader.note_path(job.task, trace)
        return _Conversation(domain, trace, user, made)

    def view(self, job: Job) -> TaskView:
        """What the agent of an episode knows before the user speaks."""
        _, laid = self._laid(job)
        return view_of(laid.domain, laid.task)

    def _laid(self, job: Job) -> tuple[Domain, Laid]:
        """What agents play with, bare and with what is laid over the task; ground truth and
        verdicts are those of the whole domain.
        """
        whole = self.grader.backends.domain(job.task.domain)
        domain = whole.with_tools(self._tools) if self._tools else whole
        if job.policy is not None:
            domain = DomainOverlay(domain, policy=job.policy)
        laid = self._circumstances.lay(domain, job.task, self._max_calls)
        if job.told:
            # Last, so that no condition hides what was learnt, as a handbook does with the rules.
            policy = f"{laid.domain.policy.rstrip()}\n\n{job.told.strip()}\n"
            laid = replace(laid, domain=DomainOverlay(laid.domain, policy=policy))
        return domain, laid

    async def _tell(self, agent: Agent, record: EpisodeRecord) -> None:
        """Let agent and factory hear the record, if they have an `observe`, a coroutine or not."""
        for listener in (agent, self._agent):
            observe = getattr(listener, "observe", None)
            if observe is None:
                continue
            try:
                heard = observe(record)
                if isawaitable(heard):
                    await heard
            except Exception as error:
                # One that learns from outcomes and fails to is not worth going on with.
                raise AgentError(
                    f"observe() of the agent '{self._agent.name}' raised "
                    f"{type(error).__name__}: {error}"
                ) from error

    async def _grade(
        self, domain: Domain, task: Task, trace: EpisodeTrace, user: SimulatedUser | None
    ) -> tuple[EpisodeTrace, EpisodeVerdict, ParticipantRecords | None]:
        """The verdict, the judge asked where there is one."""
        participants = ParticipantRecords(user.record) if user else None
        verdict = self.grader.grade(task, trace, participants)
        # Asked after the first verdict, which says what is left open; then graded anew, with its
        # answers as data like any other.
        if self._judge is None or not verdict.counted:
            return trace, verdict, participants
        trace, judging = await self._judge.consult(domain, task, trace, verdict)
        participants = ParticipantRecords(user.record if user else None, judging)
        return trace, self.grader.grade(task, trace, participants), participants

    def _renewal(self, episode: Episode, job: Job, made: list[Agent]) -> Callable[[], Agent] | None:
        """What makes the agent after a break, and adds it to those `made`.

        Agents that follow the gold remember, unless their factory says that they forget.
        """
        follows_gold = hasattr(self._agent, "start_with_gold")
        if follows_gold and not getattr(self._agent, "forgets", False):
            return None

        def renew() -> Agent:
            made.append(self._made(episode, job))
            return made[-1]

        return renew

    def _made(self, episode: Episode, job: Job) -> Agent:
        try:
            return self._start(episode, job)
        except CrmbenchError:
            raise
        except Exception as error:
            # An episode like any other, failed in its first turn: it has a trace and a verdict that
            # say why.
            return _Unmade(f"it cannot be made: {type(error).__name__}: {error}")

    def _start(self, episode: Episode, job: Job) -> Agent:
        agent = self._agent
        # Only the oracle's factory and its like have the method that takes a whole task.
        if hasattr(agent, "start_with_gold"):
            return agent.start_with_gold(job.task)
        # Of the task and the trial alone: what an agent draws does not depend on who played before
        # it.
        seed = crc32(f"{self._seed}/{job.task.task_id}/{job.trial}".encode())
        return agent.start(episode.view, seed)
