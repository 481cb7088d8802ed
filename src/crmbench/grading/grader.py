"""Who holds the ground truth and grades: any trace, also one that is not finished."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from weakref import ref

from crmbench.core.backends import Backends
from crmbench.core.record import ParticipantRecords, with_joined_replies, with_judgements
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.errors import HarnessError, InputError
from crmbench.grading.expected_state import has_expected_state, state_problems
from crmbench.grading.gold import GoldRun, execute_gold, run_of_trace
from crmbench.grading.items import ItemVerdict, judge_items
from crmbench.grading.verdict import (
    EpisodeVerdict,
    TurnVerdict,
    judge_episode,
    judge_turns,
    passes,
)

GOLD_KEPT = 4096
"""Ids of tasks whose executed gold is kept; each takes some 100 kB."""
TWINS_KEPT = 4
"""Different tasks of one id whose gold is kept at a time."""


@dataclass(frozen=True)
class TaskFault:
    """A conversation whose ground truth contradicts itself."""

    conversation_id: str
    reason: str


class TaskError(HarnessError):
    """A task is broken: it cannot be set up, or its own gold fails. No score of it means anything.

    Args:
        task_id: Which task.
        problem: What is wrong with it.
    """

    def __init__(self, task_id: str, problem: str) -> None:
        super().__init__(f"task {task_id}{problem}")
        self.task_id = task_id
        self.problem = problem

    def __reduce__(self) -> tuple[type[TaskError], tuple[str, str]]:
        return type(self), (self.task_id, self.problem)

    @property
    def fault(self) -> TaskFault:
        """The same as a finding."""
        return TaskFault(self.task_id, self.problem.removeprefix(": ").removeprefix(" "))


class Grader:
    """Grades traces against the gold, which it executes once a task, when it is first needed.

    No agent and no model takes part, and the same trace gets the same verdict at any later time.

    Args:
        backends: Where gold is executed.
        gold: Gold that was executed elsewhere, beside its task; needs no database.
    """

    def __init__(
        self, backends: Backends, gold: Iterable[tuple[Task, tuple[GoldRun, ...]]] = ()
    ) -> None:
        self.backends = backends
        # A changed task keeps its id, and two sets may share ids: what is kept is looked up by id,
        # and holds only for a task with the same gold in the same world.
        self._gold: dict[str, list[tuple[Task, tuple[GoldRun, ...]]]] = {}
        for task, runs in gold:
            self._keep(task, runs)
        # By the task's identity, as long as it lives: a long run does not hold all its tasks, and a
        # digest of a task would take longer than a turn does.
        self._noted: dict[int, tuple[ref[Task], TaskFault | None]] = {}

    def grade(
        self,
        task: Task,
        trace: EpisodeTrace,
        participants: ParticipantRecords | None = None,
    ) -> EpisodeVerdict:
        """The verdict on a trace. One that is not finished gets a verdict on each turn that it has.

        An episode does not count if the simulated user failed in it, or if it would have succeeded
        but for a judge that gave no usable answer.

        Args:
            participants: Who took part in it; the judge's verdicts are those in the trace.

        Raises:
            TaskError: The gold fails.
        """
        domain, runs = self.backends.domain(task.domain), self.gold_runs(task)
        heard = with_joined_replies(trace) if participants and participants.user else trace
        verdict = judge_episode(domain, task, heard, runs)
        if trace.outcome == "user_error":
            return replace(verdict, counted=False)
        judge = participants.judge if participants else None
        if judge is not None and judge.left_open and verdict.success:
            return replace(verdict, counted=False, reason="the judge gave no usable answer")
        if judge is not None and judge.failed and not verdict.success:
            # Had the judge granted all that it was asked, would it have been a success? Then its
            # silence decides, and the episode counts for nobody; else it fails whatever it says.
            lenient = with_judgements(heard, judge.granting())
            if judge_episode(domain, task, lenient, runs).success:
                return replace(verdict, counted=False, reason="the judge gave no usable answer")
        return verdict

    def grade_turns(self, task: Task, trace: EpisodeTrace) -> tuple[TurnVerdict, ...]:
        """A verdict on each turn that a trace has so far: what rewards a turn.

        Raises:
            TaskError: The gold fails.
        """
        domain = self.backends.domain(task.domain)
        return tuple(judge_turns(domain, task, trace, self.gold_runs(task)))

    def passes(self, task: Task, trace: EpisodeTrace) -> bool:
        """Whether `grade` finds a success, looking no further than the first fault.

        Raises:
            TaskError: The gold fails.
        """
        domain = self.backends.domain(task.domain)
        return passes(domain, task, trace, self.gold_runs(task))

    def items(self, task: Task, trace: EpisodeTrace) -> tuple[ItemVerdict, ...]:
        """A verdict on each item of a task of many decisions; none for other tasks.

        Raises:
            TaskError: A gold call fails: no score of this task could be trusted.
        """
        if not task.gold.items or task.gold.grading != "state":
            return ()
        domain = self.backends.domain(task.domain)
        return judge_items(domain, task, trace, self.gold_runs(task)[0])

    def gold_runs(self, task: Task) -> tuple[GoldRun, ...]:
        """The gold path of a task graded by state, and its other accepted paths; kept.

        Raises:
            TaskError: A gold call fails: no score of this task could be trusted.
        """
        if task.gold.grading != "state":
            return ()
        runs = self._kept(task)
        if runs is None:
            others = [path for path in task.gold.paths if not path.same_effect]
            domain, backend = self.backends.place(task.domain)
            try:
                runs = tuple(execute_gold(domain, task, backend, path) for path in (None, *others))
            except InputError as error:
                raise TaskError(task.task_id, f" cannot be set up: {error}") from error
            faults = [fault for run in runs for fault in run.faults]
            if faults:
                raise TaskError(task.task_id, f": the gold fails: {faults[0]}")
            self._keep(task, runs)
        return runs

    def _kept(self, task: Task) -> tuple[GoldRun, ...] | None:
        known = self._gold.get(task.task_id, ())
        return next((runs for other, runs in known if _leads_to_the_same(other, task)), None)

    def _keep(self, task: Task, runs: tuple[GoldRun, ...]) -> None:
        # The oldest go first: trials of one task are played one after another.
        if task.task_id not in self._gold and len(self._gold) >= GOLD_KEPT:
            del self._gold[next(iter(self._gold))]
        known = self._gold.setdefault(task.task_id, [])
        del known[: max(len(known) + 1 - TWINS_KEPT, 0)]
        known.append((task, runs))

    def note_path(self, task: Task, trace: EpisodeTrace) -> None:
        """Look for the task's faults in an episode that may have followed its gold, and over which
        nothing was laid: `fault_of` then need not execute it.
        """
        if task.gold.grading == "state":
            return  # `gold_runs` executes it in any case
        if id(task) not in self._noted:
            run = run_of_trace(task, trace)
            if run is not None:
                self._note(task, self._fault_in(task, run))

    def _note(self, task: Task, fault: TaskFault | None) -> None:
        noted, key = self._noted, id(task)
        # Gone with its task, before another one can be at the same place.
        noted[key] = ref(task, lambda _: noted.pop(key, None)), fault

    def fault_of(self, task: Task) -> TaskFault | None:
        """Where a task's own gold does not do what it says it does, of whatever grading."""
        if id(task) in self._noted:
            return self._noted[id(task)][1]
        runs = self._kept(task)
        try:
            return self._fault_in(task, runs[0] if runs else self._execute(task))
        except InputError as error:
            return TaskFault(task.task_id, f"cannot be set up: {error}")

    def _fault_in(self, task: Task, run: GoldRun) -> TaskFault | None:
        faults = run.faults or self._stated_faults(task, run)
        return TaskFault(task.task_id, faults[0]) if faults else None

    def _stated_faults(self, task: Task, run: GoldRun) -> tuple[str, ...]:
        """Where the gold does not lead to the final state that its own file expects."""
        if not has_expected_state(task) or not run.effects:
            return ()
        schema = self.backends.domain(task.domain).schema
        problems = state_problems(schema, task, run.effects[-1])
        return tuple(f"the expected final state: {problem}" for problem in problems)

    def _execute(self, task: Task) -> GoldRun:
        domain, backend = self.backends.place(task.domain)
        return execute_gold(domain, task, backend)

    def close(self) -> None:
        """Close the databases."""
        self.backends.close()


def _leads_to_the_same(one: Task, other: Task) -> bool:
    """Whether the gold of two tasks, executed, gives the same."""
    return one is other or (
        (one.domain, one.world) == (other.domain, other.world)
        and one.gold == other.gold
        and one.seed_data == other.seed_data
    )
