"""A task played step by step, graded as it goes: what every trainer's environment stands on.

    session = TrainingSession("sales/train", rewards=SHAPED)
    messages, info = session.reset(seed=7)
    messages, reward, terminated, truncated, info = session.step("Which client do you mean?")

Nothing here needs a server, a model or a package beyond crmbench itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from crmbench.agents.chat import value_text
from crmbench.core.conditions.lay import lay
from crmbench.core.episode import Episode
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace, Outcome, TurnTrace
from crmbench.errors import AgentError, HarnessError, InputError
from crmbench.grading.running import RunningVerdict
from crmbench.grading.verdict import EpisodeVerdict
from crmbench.models.base import ToolCall
from crmbench.training.actions import Action, read_action
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import VERDICT, Parts, Rewards
from crmbench.training.tasks import TaskSource, task_source

Messages = list[dict[str, Any]]
"""Messages of a chat that are new since the last step: role, content, and for a tool's result
``tool_call_id``. At the start, and where the session breaks, the first one is the system's."""
Info = dict[str, Any]
"""``task_id``, ``turn`` (from 1), ``turns``, ``steps`` and ``rewards``, the named parts of the
reward; at the end also ``success``, ``undecided`` and ``failed_at_turn``. Holds no ground truth."""


class StepResult(NamedTuple):
    """What a step led to."""

    messages: Messages
    reward: float
    """The sum of ``info["rewards"]``."""
    terminated: bool
    """The conversation is over."""
    truncated: bool
    """It was broken off at the limit of steps."""
    info: Info


class TrainingSession:
    """Plays one episode after another. Pickles at any point, also in the middle of one.

    Args:
        tasks: What is played: a file, the name of a set such as ``sales/train``, tasks, or a
            source such as `crmbench.training.tasks.TaskPool`.
        rewards: What is paid for what.
        max_steps: After so many steps an episode is broken off; None: never.
        resources: The databases and the grader, to share them with other sessions of this process.

    Raises:
        InputError: The tasks cannot be read, or there are none.
    """

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | TaskSource = "demo",
        *,
        rewards: Rewards = VERDICT,
        max_steps: int | None = None,
        resources: SessionResources | None = None,
    ) -> None:
        self.source = task_source(tasks)
        self.rewards = rewards
        self.max_steps = max_steps
        self.resources = resources or SessionResources()
        self._owns_stage = resources is None
        self._drawn = 0
        self._task: Task | None = None
        self._episode: Episode | None = None
        self._actions: list[Action] = []
        self._verdict: EpisodeVerdict | None = None
        self._trace: EpisodeTrace | None = None

    # --- what a trainer does ------------------------------------------------------------------

    def reset(
        self, task: Task | str | int | None = None, *, seed: int | None = None
    ) -> tuple[Messages, Info]:
        """Begin an episode; one that is being played is given up.

        Args:
            task: Which: a task, its id, or its place in the source. None: one is drawn.
            seed: What it is drawn by: the same seed draws the same task. None: 0 at the first
                reset, and one more at each.

        Returns:
            The system's message and the user's first, and what is known of the episode.

        Raises:
            InputError: There is no such task.
            TaskError: The task is broken.
        """
        if task is None:
            if seed is None:
                seed = self._drawn
                self._drawn += 1
            task = self.source.draw(seed)
        elif not isinstance(task, Task):
            task = self.source.find(task)
        self._give_up()
        return self._begin(task)

    def step(self, action: Action) -> StepResult:
        """Call tools, or reply to the user.

        Args:
            action: See `crmbench.training.actions.Action`.

        Raises:
            InputError: The action is of no known form.
            HarnessError: No episode is being played, or a tool broke.
        """
        episode = self._episode
        if episode is None:
            raise HarnessError("step() without an episode: call reset() first")
        act = read_action(action, self._calls)
        self._actions.append(action)
        if isinstance(act, str):
            return self._reply(episode, act)
        return self._call(episode, act)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools of the episode in OpenAI's form; shared, so not to be changed.

        Raises:
            HarnessError: There was no reset yet.
        """
        if self._task is None:
            raise HarnessError("tools before the first reset()")
        return self._tools

    @property
    def task(self) -> Task | None:
        """What is, or was last, played; with its gold, so for the trainer and not for a policy."""
        return self._task

    @property
    def verdict(self) -> EpisodeVerdict | None:
        """On the episode that ended last; its reasons may name what would have been right."""
        return self._verdict

    @property
    def trace(self) -> EpisodeTrace | None:
        """Of the episode that ended last."""
        return self._trace

    def close(self) -> None:
        """Give up what is being played, and free the databases unless they are shared."""
        self._give_up()
        if self._owns_stage:
            self.resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "rewards": self.rewards,
            "max_steps": self.max_steps,
            "drawn": self._drawn,
            "task": self._task if self._episode else None,
            "actions": self._actions,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What was done is done again: the same actions lead to the same bytes.
        TrainingSession.__init__(
            self, state["source"], rewards=state["rewards"], max_steps=state["max_steps"]
        )
        self._drawn = state["drawn"]
        if state["task"] is not None:
            self._begin(state["task"])
            for action in state["actions"]:
                self.step(action)

    # --- inside -------------------------------------------------------------------------------

    def _begin(self, task: Task) -> tuple[Messages, Info]:
        runs = self.resources.grader.gold_runs(task)
        domain, backend = self.resources.backends.place(task.domain)
        laid = lay(domain, task)
        self._task = task
        self._running = RunningVerdict(domain, task, runs)
        self._tools, self._system = self.resources.told(laid)
        self._episode = Episode(
            laid.domain, task, backend, max_calls=laid.max_calls, conditions=laid.conditions
        )
        self._actions = []
        self._calls = 0
        self._wronged: set[str] = set()
        self._verdict = self._trace = None
        said = self._episode.say()
        if said is None:
            self._give_up()
            raise InputError(f"the task {task.task_id} has no turns", field="turns")
        return [self._system, {"role": "user", "content": said}], self._info({})

    def _call(self, episode: Episode, calls: Sequence[ToolCall]) -> StepResult:
        results: Messages = []
        self._calls += len(calls)
        parts = self.rewards.of_calls(len(calls))
        try:
            for call in calls:
                text = _result(episode, call)
                results.append({"role": "tool", "tool_call_id": call.id, "content": text})
        except AgentError as error:
            return self._end(results, parts, "agent_error", str(error))
        except HarnessError:
            self._give_up()
            raise
        return self._going_on(results, parts)

    def _reply(self, episode: Episode, text: str) -> StepResult:
        before = episode.turns_done
        episode.reply(text)
        done = episode.turns_done
        turn = episode.last_turn
        parts = self._judge(turn) if done > before and turn is not None else {}
        said = episode.say()
        if said is None:
            return self._end([], parts, "finished")
        heard: Messages = [{"role": "user", "content": said}]
        if done > before and done in episode.task.breaks:
            heard.insert(0, self._system)
        return self._going_on(heard, parts)

    def _judge(self, turn: TurnTrace) -> Parts:
        judged = self._running.add(turn)
        return self.rewards.of_turn(judged, self._wronged, len(self._running.task.turns))

    def _going_on(self, messages: Messages, parts: Parts) -> StepResult:
        if self.max_steps is not None and len(self._actions) >= self.max_steps:
            text = f"broken off after {self.max_steps} steps"
            return self._end(messages, parts, "agent_error", text, truncated=True)
        return StepResult(messages, sum(parts.values()), False, False, self._info(parts))

    def _end(
        self,
        messages: Messages,
        parts: Parts,
        outcome: Outcome,
        error: str | None = None,
        *,
        truncated: bool = False,
    ) -> StepResult:
        assert self._episode is not None
        self._trace = trace = self._episode.finish(outcome, error)
        self._episode = None
        for turn in trace.turns[len(self._running.turns) :]:
            _add(parts, self._judge(turn))
        self._verdict = verdict = self._running.conclude(trace)
        _add(parts, self.rewards.of_episode(verdict))
        self.source.note(self._running.task, verdict.success)
        info = self._info(parts)
        info["success"] = verdict.success
        info["undecided"] = verdict.undecided
        info["failed_at_turn"] = verdict.failed_at_turn
        return StepResult(messages, sum(parts.values()), not truncated, truncated, info)

    def _give_up(self) -> None:
        if self._episode is not None:
            self._episode.finish()
            self._episode = None

    def _info(self, parts: Parts) -> Info:
        task = self._running.task
        turns = len(task.turns)
        return {
            "task_id": task.task_id,
            "turn": min(len(self._running.turns) + 1, turns),
            "turns": turns,
            "steps": len(self._actions),
            "rewards": parts,
        }


def _result(episode: Episode, call: ToolCall) -> str:
    """What a call gives, as a model reads it."""
    if call.error is not None:
        return value_text(False, call.error)
    record = episode.call_record(call.name, call.arguments)
    return value_text(record.ok, record.result if record.ok else record.error)


def _add(parts: Parts, more: Parts) -> None:
    for name, value in more.items():
        parts[name] = parts.get(name, 0.0) + value
