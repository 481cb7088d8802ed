"""A whole run: the tasks, the agent, the directory; what the command line and the API both call."""

from __future__ import annotations

import asyncio
import platform
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from crmbench.agents.python import PythonAgents
from crmbench.core.conditions import parse_conditions
from crmbench.core.episode import view_of
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.formats.arc_tasks import task_to_data
from crmbench.grading.grader import Grader, TaskError, TaskFault
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.runner.evaluate import (
    AnyFactory,
    Circumstances,
    Evaluator,
    Job,
    grader_on,
    jobs_for,
)
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import Participants, open_participants, record_of_models
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import choose, digest_of_named, load_named
from crmbench.runner.waiting import wait_for

__all__ = [
    "Progress",
    "RunData",
    "RunInterrupted",
    "RunOptions",
    "RunOutcome",
    "execute",
    "find_faults",
    "given_data",
    "play_run",
    "read_data",
]

MUST_MATCH = (
    "data_digest",
    "agent",
    "model",
    "trials",
    "seed",
    "filters",
    "sample",
    "grading_version",
    "user",
    "user_messages",
    "judge",
    "judge_all",
    "condition",
    "condition_seed",
    "budget",
)
"""What a resumed run must have in common with the one that it goes on with."""


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


@dataclass(frozen=True)
class RunData:
    """The tasks of a run, and how its record names them."""

    tasks: tuple[Task, ...]
    name: str
    digest: str
    skipped: tuple[str, ...] = ()
    """Why lines of the file were left out."""


def read_data(options: RunOptions) -> RunData:
    """The tasks that the options name, filters and sample applied.

    Raises:
        InputError: The file cannot be read, or no task fits.
    """
    loaded = load_named(options.file, skip_invalid=options.skip_invalid)
    tasks = _chosen(loaded.lazy_tasks, options)
    digest, name = digest_of_named(options.file), Path(options.file).name
    return RunData(tasks, name, digest, tuple(map(str, loaded.skipped)))


def given_data(tasks: Sequence[Task], options: RunOptions) -> RunData:
    """Tasks that come from code; their digest is that of the file that they would make.

    Raises:
        InputError: No task fits the filters.
    """
    digest = sha256()
    for task in tasks:
        digest.update(orjson.dumps(task_to_data(task)) + b"\n")
    return RunData(_chosen(tasks, options), "tasks.jsonl", digest.hexdigest())


def _chosen(tasks: Sequence[Task], options: RunOptions) -> tuple[Task, ...]:
    chosen = choose(tasks, filters=options.filters, sample=options.sample, seed=options.seed)
    return tuple(chosen)


def execute(
    options: RunOptions,
    out: Path | None = None,
    on_progress: Progress | None = None,
    factory: AnyFactory | None = None,
) -> RunOutcome:
    """`play_run` of the file that the options name, for callers without an event loop.

    Raises:
        InputError: The file, the agent or the directory cannot be used.
        HarnessError: A tool broke.
        RunInterrupted: Somebody pressed Ctrl-C.
    """
    data = read_data(options)
    said: list[str] = []
    try:
        return wait_for(
            lambda: play_run(data, options, out, on_progress, factory, on_cancelled=said.append)
        )
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
        run_dir = stack.enter_context(_directory(out, options, config)) if out else None
        jobs = jobs_for(data.tasks, options.trials)
        jobs = run_dir.remaining(jobs) if run_dir and options.resume else jobs
        grader = grader_on(options.backend)
        stack.callback(grader.close)
        participants = open_participants(options, out, factory)
        stack.push_async_callback(participants.close)
        await _try_agent(participants.agents, jobs, options)
        # Nothing is written before all that can be wrong with a start was tried.
        grader.backends.prepare(data.tasks, min(options.concurrency, max(len(jobs), 1)))
        if run_dir and not options.resume:
            run_dir.create(config, data.tasks)
        session = _Session(len(jobs), options.max_cost, run_dir, on_progress)
        try:
            return await _play(data, options, jobs, grader, participants, session)
        except asyncio.CancelledError:
            on_cancelled(session.left_off())
            raise


async def _play(
    data: RunData,
    options: RunOptions,
    jobs: Sequence[Job],
    grader: Grader,
    participants: Participants,
    session: _Session,
) -> RunOutcome:
    evaluator = Evaluator(
        participants.agents,
        grader,
        seed=options.seed,
        time_limit=options.time_limit,
        max_calls=options.max_calls,
        user=participants.user,
        judge=participants.judge,
        tools=options.tools,
        circumstances=circumstances_of(options),
    )
    run_dir, started = session.run_dir, perf_counter()
    try:
        await evaluator.run(
            jobs, session.keep, options.concurrency, session.over_budget, session.broken.append
        )
        seconds = perf_counter() - started
        faults = find_faults(data.tasks, grader)
    finally:
        if run_dir is not None:
            run_dir.settle(data.tasks)
    episodes = run_dir.outlines() if run_dir else _in_order(session.records, data.tasks)
    return RunOutcome(
        data.tasks,
        tuple(episodes),
        seconds,
        session.turns,
        data.skipped,
        faults,
        session.stopped(),
        run_dir,
        tuple(dict.fromkeys(error.fault for error in session.broken)),
    )


def circumstances_of(options: RunOptions) -> Circumstances:
    """The conditions and the budget of a run.

    Raises:
        InputError: There is no such condition, or the budget is not above zero.
    """
    if options.budget is not None and options.budget <= 0:
        raise InputError("is not above zero", field="--budget", expected="a number such as 1.5")
    specs = parse_conditions(options.condition)
    return Circumstances(specs, options.condition_seed, options.budget)


class _Session:
    """What is played from the start of a process to its end: counted, kept, and cut off in time."""

    def __init__(
        self,
        jobs: int,
        max_cost: float | None,
        run_dir: RunDir | None,
        on_progress: Progress | None,
    ) -> None:
        self.jobs = jobs
        self.done = self.turns = 0
        self.broken: list[TaskError] = []
        self.records: list[EpisodeRecord] = []
        """Only where there is no directory: a long run would hold every trace in memory."""
        self._max_cost = max_cost
        self._spent = TokenUsage()
        self.run_dir = run_dir
        self._on_progress = on_progress

    def keep(self, record: EpisodeRecord) -> None:
        self._spent = self._spent + record.usage
        self.done += 1
        self.turns += len(record.trace.turns)
        if self.run_dir:
            self.run_dir.append(record)
        else:
            self.records.append(record)
        if self._on_progress:
            self._on_progress(self.done, self.jobs)

    def over_budget(self) -> bool:
        return self._max_cost is not None and (self._spent.cost or 0.0) >= self._max_cost

    def stopped(self) -> str | None:
        if self._max_cost is None or not self.over_budget() or self.done >= self.jobs:
            return None
        return f"${self._spent.cost or 0.0:,.2f} were spent, of ${self._max_cost:,.2f} allowed"

    def left_off(self) -> str:
        episodes = f"{self.done:,} of {self.jobs:,} episodes were played"
        if self.run_dir is None:
            return f"{episodes}; nothing is kept without --out"
        return f"{episodes} and are kept in {self.run_dir.path}; go on with --resume"


async def _try_agent(agents: AnyFactory, jobs: Sequence[Job], options: RunOptions) -> None:
    """Make one agent of somebody's code before anything is written."""
    if not isinstance(agents, PythonAgents) or not jobs:
        return
    task = jobs[0].task
    whole = load_domain(task.domain)
    domain = whole.with_tools(options.tools) if options.tools else whole
    laid = circumstances_of(options).lay(domain, task)
    await agents.try_one(view_of(laid.domain, laid.task), options.time_limit)


@contextmanager
def _directory(path: Path, options: RunOptions, config: Mapping[str, Any]) -> Iterator[RunDir]:
    """The run's directory, for this process alone; nothing is written into a new one yet."""
    run_dir = RunDir(path)
    if not options.resume:
        run_dir.check_free()
        run_dir.make()
    with run_dir.locked():
        if options.resume:
            _check_same(run_dir, config)
            run_dir.drop_torn_lines()
        else:
            run_dir.check_free()
        try:
            yield run_dir
        finally:
            run_dir.close()
            run_dir.remove_if_empty()


def find_faults(tasks: Sequence[Task], grader: Grader) -> tuple[TaskFault, ...]:
    """The tasks whose own gold does not do what it says it does."""
    return tuple(fault for task in tasks if (fault := grader.fault_of(task)) is not None)


def _in_order(records: Sequence[EpisodeRecord], tasks: Sequence[Task]) -> list[EpisodeRecord]:
    order = {task.task_id: index for index, task in enumerate(tasks)}
    return sorted(records, key=lambda record: (order[record.task_id], record.trial))


def _check_same(run_dir: RunDir, config: Mapping[str, Any]) -> None:
    earlier = run_dir.config()
    for name in MUST_MATCH:
        # A run of an earlier version may lack a field whose value is none now.
        if (earlier.get(name) or None) != (config.get(name) or None):
            raise InputError(
                f"the run there has {name} {earlier.get(name)!r}, this one {config.get(name)!r}",
                file=str(run_dir.path),
                expected="the same command as before, with --resume",
            )


def configuration(options: RunOptions, data: RunData) -> dict[str, Any]:
    """What identifies a run: the options, the data's digest and the versions of what ran it."""
    from importlib.metadata import version

    settings = asdict(replace(options, resume=False, concurrency=0))
    for name in ("resume", "concurrency", "file", "max_cost"):
        del settings[name]
    settings["condition"] = ",".join(map(str, parse_conditions(options.condition)))
    for name in ("condition", "condition_seed", "budget"):
        # Absent from a run that has none, which is stored as it always was.
        if not settings[name]:
            del settings[name]
    settings |= record_of_models(options)
    return {
        **settings,
        "filters": list(options.filters),
        "data": data.name,
        "data_digest": data.digest,
        "grading_version": GRADING_VERSION,
        "crmbench": version("crmbench"),
        "python": platform.python_version(),
        "git_revision": _revision(),
    }


def _revision() -> str | None:
    """The commit of the code, where it runs from a checkout."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return found.stdout.strip() or None
