"""A whole run: the tasks, the agent, the directory; what the command line and the API both call."""

from __future__ import annotations

import asyncio
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from crmbench.core.conditions import parse_conditions
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.grading.grader import Grader, TaskFault
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.runner.evaluate import AnyFactory, Circumstances, Evaluator, grader_on, jobs_for
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import open_participants, record_of_models
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import choose, digest_of_named, load_named

__all__ = ["Progress", "RunOptions", "RunOutcome", "TaskFault", "execute", "find_faults"]

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
    """By task and trial, those of an earlier sitting included; of a run with a directory without
    what tools gave back and changed."""
    seconds: float
    """Wall time of playing and grading in this sitting, set-up aside."""
    turns_played: int
    """In this sitting."""
    skipped: tuple[str, ...]
    """Why lines of the file were left out."""
    faults: tuple[TaskFault, ...]
    stopped: str | None = None
    """Why the run ended before all episodes were played; `resume` goes on."""
    run_dir: RunDir | None = None
    """Where the whole episodes are; None where they are here."""

    @property
    def episodes(self) -> Sequence[EpisodeRecord]:
        """The episodes as a whole, read from the directory if there is one."""
        return self.run_dir.episodes() if self.run_dir else self.outlines


Progress = Callable[[int, int], None]
"""Told the number of episodes done and of all, in this sitting."""


def execute(
    options: RunOptions,
    out: Path | None = None,
    on_progress: Progress | None = None,
    factory: AnyFactory | None = None,
) -> RunOutcome:
    """Play, grade and, if there is an `out`, keep every episode.

    Args:
        factory: The agents, where they come from code and not from `options.agent`.

    Raises:
        InputError: The file, the agent or the directory cannot be used.
        HarnessError: A task is broken.
    """
    loaded = load_named(options.file, skip_invalid=options.skip_invalid)
    tasks = choose(
        loaded.lazy_tasks, filters=options.filters, sample=options.sample, seed=options.seed
    )
    jobs = jobs_for(tasks, options.trials)
    run_dir = RunDir(out) if out else None
    if run_dir:
        _open(run_dir, options, tasks)
        if options.resume:
            jobs = run_dir.remaining(jobs)
    cast = open_participants(options, out, factory)
    evaluator = Evaluator(
        cast.agents,
        grader_on(options.backend),
        seed=options.seed,
        time_limit=options.time_limit,
        max_calls=options.max_calls,
        user=cast.user,
        judge=cast.judge,
        tools=options.tools,
        circumstances=circumstances_of(options),
    )
    # Only where there is no directory: a long run would hold every trace in memory.
    finished: list[EpisodeRecord] = []
    spent = TokenUsage()
    done = turns = 0

    def over_budget() -> bool:
        return options.max_cost is not None and (spent.cost or 0.0) >= options.max_cost

    def keep(episode: EpisodeRecord) -> None:
        nonlocal spent, done, turns
        spent = spent + episode.usage
        done += 1
        turns += len(episode.trace.turns)
        if run_dir:
            run_dir.append(episode)
        else:
            finished.append(episode)
        if on_progress:
            on_progress(done, len(jobs))

    async def play() -> float:
        evaluator.grader.backends.prepare(tasks, min(options.concurrency, max(len(jobs), 1)))
        started = perf_counter()
        try:
            await evaluator.run(jobs, keep, options.concurrency, over_budget)
        finally:
            await cast.close()
        return perf_counter() - started

    try:
        seconds = asyncio.run(play())
        faults = find_faults(tasks, evaluator.grader)
    finally:
        evaluator.grader.close()
        if run_dir:
            run_dir.settle(tasks)
    episodes = run_dir.outlines() if run_dir else _in_order(finished, tasks)
    return RunOutcome(
        tuple(tasks),
        tuple(episodes),
        seconds,
        turns,
        tuple(map(str, loaded.skipped)),
        faults,
        f"${spent.cost or 0.0:,.2f} were spent, of ${options.max_cost:,.2f} allowed"
        if over_budget() and done < len(jobs)
        else None,
        run_dir,
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


def find_faults(tasks: Sequence[Task], grader: Grader) -> tuple[TaskFault, ...]:
    """The tasks whose own gold does not do what it says it does."""
    return tuple(fault for task in tasks if (fault := grader.fault_of(task)) is not None)


def _in_order(records: Sequence[EpisodeRecord], tasks: Sequence[Task]) -> list[EpisodeRecord]:
    order = {task.task_id: index for index, task in enumerate(tasks)}
    return sorted(records, key=lambda record: (order[record.task_id], record.trial))


def _open(run_dir: RunDir, options: RunOptions, tasks: Sequence[Task]) -> None:
    config = configuration(options)
    if not options.resume:
        run_dir.create(config, tasks)
        return
    earlier = run_dir.config()
    for name in MUST_MATCH:
        # A run of an earlier version may lack a field whose value is none now.
        if (earlier.get(name) or None) != (config.get(name) or None):
            raise InputError(
                f"the run there has {name} {earlier.get(name)!r}, this one {config.get(name)!r}",
                file=str(run_dir.path),
                expected="the same command as before, with --resume",
            )
    run_dir.drop_torn_lines()


def configuration(options: RunOptions) -> dict[str, Any]:
    """What identifies a run: the options, the data's digest and the versions of what ran it."""
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
        "data": Path(options.file).name,
        "data_digest": digest_of_named(options.file),
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
