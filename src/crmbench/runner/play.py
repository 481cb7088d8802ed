"""A conversation played one command at a time, by a person or by any agent that has a shell.

A play is a directory: ``play.json`` names the task, ``steps.jsonl`` is the journal of what the
player did, one line a call or a reply. Nothing else is kept: every command replays the journal on a
fresh copy of the world, so the state cannot drift from the steps, and grading replays it once more.
Neither file holds ground truth, results, or words that were not said yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import orjson

from crmbench.core.backends import backend_maker
from crmbench.core.conditions import lay, parse_conditions
from crmbench.core.conditions.asked import AskedFor
from crmbench.core.conditions.lay import budget_calls, budget_left
from crmbench.core.domain import Domain
from crmbench.core.episode import MAX_CALLS, Episode, ToolResult
from crmbench.core.overlay import DomainOverlay
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.errors import HarnessError, InputError
from crmbench.runner.play_cache import PlayCache, PublicTask

SETTINGS, STEPS = "play.json", "steps.jsonl"
UNFINISHED = "the conversation was left before its end"


@dataclass(frozen=True)
class PlaySettings:
    """What ``play.json`` holds."""

    file: str
    """The set that the task is from: a path or a published set's name."""
    task_id: str
    task_digest: str
    """Of the task as it stands in the file; grading refuses another."""
    agent: str = "player"
    """Who plays, for reports."""
    max_calls: int = MAX_CALLS
    """Tool calls a turn, where the task names no limit of its own."""
    condition: str = ""
    """Conditions that are laid over the task."""
    condition_seed: int = 0
    budget: int | None = None
    """Tool calls for the whole conversation."""


@dataclass(frozen=True)
class Step:
    """One thing that the player did: a call, or a reply."""

    call: str | None = None
    arguments: Any = None
    reply: str | None = None
    result: str = ""
    """Digest of what came back, so that a replay that differs is noticed."""


def start_play(
    directory: Path,
    file: str,
    which: str,
    *,
    agent: str = "player",
    max_calls: int = MAX_CALLS,
    condition: str = "",
    condition_seed: int = 0,
    budget: float | None = None,
    cache: PlayCache | None = None,
) -> Play:
    """Begin a play of one task in a new directory.

    Args:
        which: The task's number in the file, counted from 1, or its id.
        condition: Conditions to lay over it, such as ``timeouts,pages:5``.
        budget: Tool calls for the whole conversation, as a multiple of the gold's.

    Raises:
        InputError: The file, the task or the directory cannot be used.
    """
    if (directory / SETTINGS).exists():
        raise InputError(
            "the directory already holds a play", file=str(directory), expected="a new directory"
        )
    # Imported where a file is read, which most commands of a play never do.
    from crmbench.runner.task_sets import load_named

    source = str(Path(file).resolve()) if Path(file).exists() else file
    task = pick(load_named(file).tasks(), which, file)
    settings = PlaySettings(
        source,
        task.task_id,
        task_digest(task),
        agent,
        max_calls,
        ",".join(map(str, parse_conditions(condition))),
        condition_seed,
        None if budget is None else budget_calls(task, budget),
    )
    cache = cache or PlayCache()
    cache.put_task(settings.task_digest, PublicTask.of(task))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / STEPS).write_bytes(b"")
        data = orjson.dumps(asdict(settings), option=orjson.OPT_INDENT_2)
        (directory / SETTINGS).write_bytes(data + b"\n")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(directory)) from error
    return Play(directory, cache)


def pick(tasks: Sequence[Task], which: str, file: str) -> Task:
    """A task by its number, counted from 1, or by its id.

    Raises:
        InputError: There is none.
    """
    for task in tasks:
        if task.task_id == which:
            return task
    if which.isdigit() and 1 <= int(which) <= len(tasks):
        return tasks[int(which) - 1]
    raise InputError(
        f"has no task '{which}'",
        file=file,
        expected=f"a number from 1 to {len(tasks)}, or an id such as {tasks[0].task_id}",
    )


def task_digest(task: Task) -> str:
    """A digest of a task, gold and all."""
    from crmbench.formats.arc_tasks import task_to_data

    data = msgspec.json.encode(task_to_data(task))
    return blake2b(data, digest_size=16).hexdigest()


def is_play(path: Path) -> bool:
    """Whether a directory holds a play."""
    return (path / SETTINGS).is_file()


class Play:
    """A play, replayed up to where it is. Close it, or use it as a context manager.

    Raises:
        InputError: The directory holds no play, or what is in it cannot be read.
        HarnessError: A step does not give what it gave when it was made.
    """

    def __init__(self, directory: Path, cache: PlayCache | None = None) -> None:
        self.directory = directory
        self.settings = read_settings(directory)
        cache = cache or PlayCache()
        public = cache.task(self.settings.task_digest)
        if public is None:
            public = PublicTask.of(task_of(self.settings, directory))
            cache.put_task(self.settings.task_digest, public)
        whole = load_domain(public.domain)
        self._backend, world = cache.backend(whole, public.world)
        domain = DomainOverlay(whole, worlds=lambda _: world)
        self.episode = _open_episode(
            domain, public.task(), self._backend, self.settings, asked=public.asked
        )
        self._turns_done = 0
        self.forgotten = 0
        """Messages of the user that lie before the last break of the session."""
        self._size = (directory / STEPS).stat().st_size
        self.steps = read_steps(directory)
        self.heard: list[str] = []
        """What the user said so far."""
        self.said: list[str] = []
        """What the player answered so far."""
        try:
            self.heard.append(_said(self.episode))
            for number, step in enumerate(self.steps, start=1):
                self._replay(step, number)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Play:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def over(self) -> bool:
        """Whether the user has nothing more to say."""
        return len(self.said) == len(self.heard)

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """Name, description and argument schema of each tool."""
        return self.episode.view.tools

    @property
    def ending(self) -> str:
        """What becomes of it at the end; said to who asks, and not to a player who has replied."""
        return f"To grade it: crmbench grade {self.directory}"

    @property
    def calls(self) -> int:
        """Calls made so far."""
        return sum(step.call is not None for step in self.steps)

    @property
    def calls_left(self) -> int | None:
        """Calls that may still be made before the next reply; None where that is all that are left
        for the whole conversation."""
        budget, turn = self.budget_left, self.episode.calls_left
        return None if budget is not None and budget <= turn else turn

    @property
    def budget_left(self) -> int | None:
        """Calls that the whole conversation still allows; None where it has no such limit."""
        return budget_left(self.episode.sandbox.conditions)

    def call(self, tool: str, arguments: Any) -> ToolResult:
        """Run a tool and take the step down."""
        self._must_go_on()
        result = self.episode.call(tool, arguments)
        self._append(Step(tool, arguments, None, digest_of_result(result)))
        return result

    def reply(self, text: str) -> str | None:
        """Hand the turn back; gives the user's next words, None at the end.

        Raises:
            InputError: The reply is empty, or the conversation is over.
        """
        self._must_go_on()
        if not text.strip():
            raise InputError("the reply is empty", expected="what you say to the user")
        heard = self._reply(text)
        self._append(Step(reply=text))
        return heard

    def close(self) -> None:
        """Free the database."""
        self.episode.finish()
        self._backend.close()

    def _replay(self, step: Step, number: int) -> None:
        replay_step(self.episode, step, self.directory, number)
        if step.reply is not None:
            self._heard_after(step.reply)

    def _reply(self, text: str) -> str | None:
        self.episode.reply(text)
        return self._heard_after(text)

    def _heard_after(self, text: str) -> str | None:
        self.said.append(text)
        before, done = self._turns_done, self.episode.turns_done
        self._turns_done = done
        heard = self.episode.say()
        if any(before < turn <= done for turn in self.episode.task.breaks):
            self.forgotten = len(self.heard)
        if heard is not None:
            self.heard.append(heard)
        return heard

    def _must_go_on(self) -> None:
        if self.over:
            raise InputError(
                "the conversation is over",
                file=str(self.directory),
                expected="nothing more; `crmbench play status` shows what was said",
            )

    def _append(self, step: Step) -> None:
        path = self.directory / STEPS
        if path.stat().st_size != self._size:
            raise InputError(
                "another command took a step meanwhile",
                file=str(path),
                expected="one command at a time; repeat this one",
            )
        kept = {name: value for name, value in asdict(step).items() if value not in (None, "")}
        line = orjson.dumps(kept) + b"\n"
        with path.open("ab") as file:
            file.write(line)
        self._size += len(line)
        self.steps.append(step)


def read_settings(directory: Path) -> PlaySettings:
    """What a play was begun with.

    Raises:
        InputError: The directory holds none.
    """
    path = directory / SETTINGS
    try:
        return msgspec.json.decode(path.read_bytes(), type=PlaySettings)
    except FileNotFoundError as error:
        raise InputError(
            "holds no play", file=str(directory), expected="a directory that `play start` made"
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error


def read_steps(directory: Path) -> list[Step]:
    """The journal of a play.

    Raises:
        InputError: It is missing, or a line of it is no step.
    """
    path = directory / STEPS
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    steps = []
    for number, line in enumerate(lines, start=1):
        try:
            steps.append(msgspec.json.decode(line, type=Step))
        except msgspec.DecodeError as error:
            raise InputError(
                f"is no step: {error}",
                file=str(path),
                line=number,
                expected="a line that `crmbench play` wrote",
            ) from error
    return steps


def replay_step(episode: Episode, step: Step, directory: Path, number: int) -> None:
    """Take a step of the journal again.

    Raises:
        HarnessError: A call gives something else than it gave when it was made.
    """
    if step.call is None:
        episode.reply(step.reply or "")
        return
    arguments = {} if step.arguments is None else step.arguments
    result = episode.call(step.call, arguments)
    if step.result != digest_of_result(result):
        raise HarnessError(
            f"{directory / STEPS}:{number}: {step.call} gives something else than when it was "
            "played; the tools or the world have changed since, so the play cannot go on"
        )


def digest_of_result(result: ToolResult) -> str:
    """A short digest of what a call gave back."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    data = orjson.dumps([result.ok, result.value], option=options)
    return blake2b(data, digest_size=6).hexdigest()


def task_of(settings: PlaySettings, directory: Path, tasks: Sequence[Task] | None = None) -> Task:
    """The whole task of a play, gold included, from its file.

    Args:
        tasks: What the file holds, where it was read already.

    Raises:
        InputError: The file no longer holds it, or holds another version of it.
    """
    from crmbench.runner.task_sets import load_named

    known = load_named(settings.file).tasks() if tasks is None else tasks
    task = pick(known, settings.task_id, settings.file)
    if task_digest(task) != settings.task_digest:
        raise InputError(
            f"the task {task.task_id} has changed since the play was begun",
            file=str(directory),
            expected="the file as it was; or begin the play anew",
        )
    return task


def trace_of(settings: PlaySettings, task: Task, directory: Path, trial: int = 0) -> EpisodeTrace:
    """The episode that a play is, replayed on a fresh world.

    A play that was left before its end is an agent that gave up.
    """
    domain = load_domain(task.domain)
    backend = backend_maker("sqlite")(domain)
    try:
        episode = _open_episode(domain, task, backend, settings, trial)
        with episode:
            words = episode.say()
            for number, step in enumerate(read_steps(directory), start=1):
                replay_step(episode, step, directory, number)
                if step.reply is not None:
                    words = episode.say()
            if words is not None:
                return episode.finish("agent_error", UNFINISHED)
            return episode.finish()
    finally:
        backend.close()


def _open_episode(
    domain: Domain,
    task: Task,
    backend: Backend,
    settings: PlaySettings,
    trial: int = 0,
    *,
    asked: AskedFor | None = None,
) -> Episode:
    laid = lay(
        domain,
        task,
        parse_conditions(settings.condition),
        seed=settings.condition_seed,
        budget=settings.budget,
        max_calls=settings.max_calls,
        asked=asked,
    )
    return Episode(
        laid.domain,
        laid.task,
        backend,
        trial=trial,
        max_calls=laid.max_calls,
        conditions=laid.conditions,
    )


def _said(episode: Episode) -> str:
    words = episode.say()
    if words is None:
        raise HarnessError(f"the task {episode.task.task_id} has no turns")
    return words
