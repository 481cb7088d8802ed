"""A learning run: its chains side by side, each kept step by step, and going on where it stopped.

learn.json       the plan, and once played the figures
learn.html       the figures to look at
ARM/seed-N/      a chain: a run's directory with its steps and its learner's state
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crmbench.agents.protocol import AnyFactory
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.errors import CrmbenchError, InputError
from crmbench.formats.whole_file import read_record, write_record
from crmbench.grading.grader import Grader, TaskFault
from crmbench.learning.asker import Asker
from crmbench.learning.chain import ChainPlayer
from crmbench.learning.learners.registry import open_learner
from crmbench.learning.plan import LearningChain, LearnOptions, Plan, make_plan
from crmbench.learning.protocol import LearnerContext, close_learner
from crmbench.learning.record import ChainFiles, StepRecord
from crmbench.learning.simulated import SimulatedAgents
from crmbench.models.base import Model
from crmbench.runner.configuration import configuration
from crmbench.runner.evaluate import Evaluator, grader_on
from crmbench.runner.participants import Participants, open_participants
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import RunData

PLAN = "learn.json"
SIMULATED = "simulated"
"""The agent that is as able as the learner of that name says."""
MAY_DIFFER = ("episodes", "blocks")
"""Follow from the rest of the plan."""


@dataclass(frozen=True)
class LearnOutcome:
    """What came of a sitting."""

    plan: Plan
    faults: tuple[TaskFault, ...]
    """Tasks that were left out, for their own ground truth fails."""
    stopped: str | None = None
    """Why it ended before all was played."""


Progress = Callable[[int, int], None]


async def play_learning(
    data: RunData,
    options: LearnOptions,
    out: Path,
    *,
    resume: bool = False,
    on_progress: Progress = lambda _done, _all: None,
) -> LearnOutcome:
    """Play every chain that is not finished.

    Args:
        data: The tasks; `options.run` names no others.
        out: A new directory, or with `resume` that of the run to go on with.
        on_progress: Told the number of episodes done and of all.

    Raises:
        InputError: An option, a model or the directory cannot be used.
        InfrastructureError: A model or server failed; every step before is kept.
        HarnessError: A tool broke.
    """
    async with AsyncExitStack() as stack:
        grader = grader_on(options.run.backend)
        stack.callback(grader.close)
        faults = tuple(fault for task in data.tasks if (fault := grader.fault_of(task)))
        broken = {fault.conversation_id for fault in faults}
        tasks = [task for task in data.tasks if task.task_id not in broken]
        plan = make_plan(options, tasks, data.name, data.digest)
        participants = _participants(options)
        stack.push_async_callback(participants.close)
        model = _open_model(options, options.learner_model or options.run.model)
        teacher = _open_model(options, options.teacher)
        for opened in (model, teacher):
            if opened is not None:
                stack.push_async_callback(opened.close)
        await _try_learners(options, model)
        _open_folder(plan, out, resume)
        models = (model, teacher)
        session = _LearningSession(plan, out, grader, participants, models, on_progress)
        # A placebo is as long as what the paired learner recalled, which has to be known.
        await session.play([chain for chain in plan.chains if not chain.is_placebo])
        await session.play([chain for chain in plan.chains if chain.is_placebo])
    return LearnOutcome(plan, faults, session.stopped())


async def _try_learners(options: LearnOptions, model: Model | None) -> None:
    """Make each learner once, before anything is written.

    Raises:
        InputError: One cannot be made.
    """
    for arm in options.arms:
        context = LearnerContext(
            ask=_asker(model), feedback=options.feedback, lengths=lambda _step: 0
        )
        await close_learner(open_learner(arm, context))


def _participants(options: LearnOptions) -> Participants:
    run = options.run
    if run.agent == SIMULATED:
        return Participants(SimulatedAgents(SIMULATED))
    return open_participants(run, None)


def _open_model(options: LearnOptions, name: str | None) -> Model | None:
    """A learner's model, apart from the agent's: its connections are closed apart."""
    if name is None:
        return None
    from crmbench.models import Limits, open_model

    return open_model(name, limits=Limits(concurrency=options.run.concurrency))


class _LearningSession:
    """What is played from the start of a process to its end."""

    def __init__(
        self,
        plan: Plan,
        out: Path,
        grader: Grader,
        participants: Participants,
        models: tuple[Model | None, Model | None],
        on_progress: Progress,
    ) -> None:
        self.plan = plan
        self._out = out
        self._grader = grader
        self._participants = participants
        self._model, self._teacher = models
        self._on_progress = on_progress
        self._gate = asyncio.Semaphore(plan.options.run.concurrency)
        self._spent = TokenUsage()
        self._done = sum(ChainFiles(out / chain.name).state().steps for chain in plan.chains)

    async def play(self, chains: Sequence[LearningChain]) -> None:
        """Play chains side by side.

        Raises:
            CrmbenchError: The first thing that went wrong in one; the others were stopped.
        """
        players = [self._player(chain) for chain in chains]
        try:
            async with asyncio.TaskGroup() as group:
                for player in players:
                    group.create_task(player.play())
        except BaseExceptionGroup as failures:
            raise _first(failures) from None
        finally:
            for player in players:
                player.run_dir.close()
                await close_learner(player.learner)

    def stopped(self) -> str | None:
        """Why it ended early, if it did."""
        limit = self.plan.options.run.max_cost
        if limit is None or not self._over() or self._done >= self.plan.episodes:
            return None
        return f"${self._spent.cost or 0.0:,.2f} were spent, of ${limit:,.2f} allowed"

    def _over(self) -> bool:
        limit = self.plan.options.run.max_cost
        return limit is not None and (self._spent.cost or 0.0) >= limit

    def _kept(self, step: StepRecord) -> None:
        self._done += 1
        self._spent = sum(step.learner.values(), self._spent + step.agent)
        self._on_progress(self._done, self.plan.episodes)

    def _player(self, chain: LearningChain) -> ChainPlayer:
        options = self.plan.options
        folder = self._out / chain.name
        run_dir = RunDir(folder)
        seeded = replace(options.run, seed=chain.seed, trials=1)
        if not (folder / "config.json").exists():
            data = RunData(chain.schedule.tasks, self.plan.data, self.plan.digest)
            about = {"arm": chain.arm, "stream": options.stream.name, "feedback": options.feedback}
            run_dir.create({**configuration(seeded, data), "learning": about}, _once(data.tasks))
        ask = _asker(self._model)
        context = LearnerContext(
            ask=ask,
            feedback=options.feedback,
            model=options.learner_model or options.run.model,
            folder=folder,
            key=f"{self.plan.digest[:12]}:{chain.name}",
            lengths=self._lengths(chain),
            teach=_asker(self._teacher),
        )
        agents: AnyFactory = self._participants.agents
        if options.run.agent == SIMULATED:
            agents = SimulatedAgents(chain.name)
        participants = replace(self._participants, agents=agents)
        evaluator = Evaluator.for_run(seeded, participants, self._grader)
        return ChainPlayer(
            chain,
            open_learner(chain.arm, context),
            evaluator,
            run_dir,
            options.memory,
            options.feedback,
            self._gate,
            ask,
            self._kept,
            self._over,
        )

    def _lengths(self, chain: LearningChain) -> Callable[[int], int] | None:
        paired = self.plan.paired(chain)
        if paired is None:
            return None
        recalled = [step.recalled for step in ChainFiles(self._out / paired.name).steps()]
        return lambda step: recalled[step] if step < len(recalled) else 0


def _asker(model: Model | None) -> Asker | None:
    if model is None:
        return None
    from crmbench.models.prices import Prices

    return Asker(model, Prices.builtin())


def _once(tasks: Sequence[Task]) -> list[Task]:
    return list({task.task_id: task for task in tasks}.values())


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure that is the cause; one of ours before any other, from within probes too."""
    found: list[BaseException] = []
    for each in failures.exceptions:
        found.append(_first(each) if isinstance(each, BaseExceptionGroup) else each)
    return next((each for each in found if isinstance(each, CrmbenchError)), found[0])


def _open_folder(plan: Plan, out: Path, resume: bool) -> None:
    """Write the plan, or see that the directory holds the same one.

    Raises:
        InputError: It holds one already, or, to go on, another one.
    """
    path = out / PLAN
    data = plan.to_data()
    if not path.exists():
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=str(out)) from error
        write_plan(out, data)
        return
    if not resume:
        raise InputError(
            "the directory already holds a learning run",
            file=str(out),
            expected="a new directory, or --resume to go on with that one",
        )
    earlier = read_plan(out)
    for name, value in data.items():
        if name not in MAY_DIFFER and earlier.get(name) != value:
            raise InputError(
                f"the learning run there has {name} {earlier.get(name)!r}, this one {value!r}",
                file=str(path),
                expected="the same command as before, with --resume",
            )


def read_plan(folder: Path) -> dict[str, Any]:
    """The record of a learning run; its figures too, once it was played.

    Raises:
        InputError: The directory holds none.
    """
    return read_record(folder / PLAN, dict[str, Any], "learning run", "crmbench learn --out")


def write_plan(folder: Path, data: dict[str, Any]) -> None:
    """Write the record, whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    write_record(folder / PLAN, data)
