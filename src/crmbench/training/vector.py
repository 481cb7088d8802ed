"""Many sessions stepped together, in this process or spread over several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.training.actions import Action
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import VERDICT, Rewards
from crmbench.training.session import Info, Messages, StepResult, TrainingSession
from crmbench.training.tasks import TaskSource, task_source


@dataclass(frozen=True)
class _Recipe:
    """What a process makes its sessions of."""

    source: TaskSource
    rewards: Rewards
    max_steps: int | None
    count: int

    def sessions(self) -> list[TrainingSession]:
        shared = SessionResources()
        return [
            TrainingSession(
                self.source, rewards=self.rewards, max_steps=self.max_steps, resources=shared
            )
            for _ in range(self.count)
        ]


class VectorSession:
    """Sessions by their place, from 0. Each has an episode of its own; none waits for another.

    Args:
        tasks: As for `TrainingSession`; each process has a copy of its own.
        count: How many sessions.
        processes: Over how many processes they are spread; 0: all are in this one.
        rewards: What is paid for what.
        max_steps: After so many steps an episode is broken off.

    Raises:
        InputError: There are no tasks, or fewer sessions than processes.
    """

    def __init__(
        self,
        tasks: str | Path | Sequence[Task] | TaskSource,
        count: int,
        *,
        processes: int = 0,
        rewards: Rewards = VERDICT,
        max_steps: int | None = None,
    ) -> None:
        if count < max(1, processes):
            raise InputError(f"is {count}", field="count", expected="a session a process at least")
        self.count = count
        source = task_source(tasks)
        workers = max(1, processes)
        shares = [count // workers + (place < count % workers) for place in range(workers)]
        recipes = [_Recipe(source, rewards, max_steps, share) for share in shares]
        made: list[_Here | _Elsewhere] = []
        try:
            for recipe in recipes:
                made.append(_Elsewhere(recipe) if processes else _Here(recipe))
        except BaseException:
            for worker in made:
                worker.close()
            raise
        self._workers = made

    def reset(
        self, seeds: Sequence[int] | Mapping[int, int] | None = None
    ) -> dict[int, tuple[Messages, Info]]:
        """Begin episodes.

        Args:
            seeds: What each session's task is drawn by, or those of some sessions by place; None:
                each session's place.

        Returns:
            By place, what `TrainingSession.reset` returns.
        """
        if seeds is None:
            seeds = range(self.count)
        by_place = seeds if isinstance(seeds, Mapping) else dict(enumerate(seeds))
        return self._spread("reset", by_place)

    def step(self, actions: Sequence[Action] | Mapping[int, Action]) -> dict[int, StepResult]:
        """One step in each session, or in those named by place.

        Returns:
            By place, what `TrainingSession.step` returns. A session that has ended stands still
            until it is reset.

        Raises:
            InputError: An action is of no known form, or a place is none.
            HarnessError: A session has no episode.
        """
        by_place = actions if isinstance(actions, Mapping) else dict(enumerate(actions))
        return self._spread("step", by_place)

    def tools(self, place: int) -> list[dict[str, Any]]:
        """The tools of a session's episode, in OpenAI's form."""
        found: list[dict[str, Any]] = self._spread("tools", {place: None})[place]
        return found

    def _spread(self, what: str, by_place: Mapping[int, Any]) -> dict[int, Any]:
        """Have each worker do its part, all at once."""
        parts: list[dict[int, Any]] = [{} for _ in self._workers]
        for place, value in by_place.items():
            if not 0 <= place < self.count:
                raise InputError(f"there is no session {place}", expected=f"0 to {self.count - 1}")
            parts[place % len(parts)][place // len(parts)] = value
        asked = [(worker, part) for worker, part in zip(self._workers, parts, strict=True) if part]
        for worker, part in asked:
            worker.ask(what, part)
        # Everybody is heard before anything is raised: what is not fetched would answer next time.
        answers = [worker.answer() for worker, _ in asked]
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        found: dict[int, Any] = {}
        for (worker, _), answer in zip(asked, answers, strict=True):
            first = self._workers.index(worker)
            found |= {inner * len(parts) + first: each for inner, each in answer.items()}
        return {place: found[place] for place in by_place}

    def close(self) -> None:
        """End the processes, and free the databases."""
        for worker in self._workers:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _do(sessions: Sequence[TrainingSession], what: str, part: Mapping[int, Any]) -> dict[int, Any]:
    if what == "reset":
        return {place: sessions[place].reset(seed=seed) for place, seed in part.items()}
    if what == "step":
        return {place: sessions[place].step(action) for place, action in part.items()}
    return {place: sessions[place].tools for place in part}


class _Here:
    """Sessions of this process."""

    def __init__(self, recipe: _Recipe) -> None:
        self._sessions = recipe.sessions()
        self._answer: Any = None

    def ask(self, what: str, part: Mapping[int, Any]) -> None:
        try:
            self._answer = _do(self._sessions, what, part)
        except Exception as error:
            self._answer = error

    def answer(self) -> Any:
        return self._answer

    def close(self) -> None:
        for session in self._sessions:
            session.close()
        self._sessions[0].resources.close()


class _Elsewhere:
    """Sessions of another process, at the end of a pipe."""

    def __init__(self, recipe: _Recipe) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, recipe), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, what: str, part: Mapping[int, Any]) -> None:
        self._pipe.send((what, part))

    def answer(self) -> Any:
        return self._pipe.recv()

    def close(self) -> None:
        if self._process.is_alive():
            self._pipe.send(None)
            self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, recipe: _Recipe) -> None:
    """The life of a process: do what is asked until nothing more is."""
    here = _Here(recipe)
    while (asked := pipe.recv()) is not None:
        here.ask(*asked)
        pipe.send(here.answer())
    here.close()
