"""Where the verdicts of graded sessions go: run directories, which every command reads."""

from __future__ import annotations

import platform
import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crmbench.core.episode import MAX_CALLS
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.errors import InputError
from crmbench.formats.arc import save_tasks
from crmbench.grading.grader import Grader
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.runner.play import task_digest
from crmbench.runner.run_dir import RunDir


@dataclass(frozen=True)
class RunKey:
    """Which run a session belongs to."""

    agent: str
    set_name: str
    """The tasks' file or published set."""
    max_calls: int
    salesforce_tools: bool = False
    """Whether the agent has Salesforce's tools beside the tasks' own."""

    @property
    def folder(self) -> str:
        """The name of the run's directory."""
        words = (self.agent, Path(self.set_name).stem if "." in self.set_name else self.set_name)
        name = "-".join(re.sub(r"[^A-Za-z0-9_]+", "-", word).strip("-") for word in words)
        name += "-salesforce" if self.salesforce_tools else ""
        return name if self.max_calls == MAX_CALLS else f"{name}-{self.max_calls}"


@dataclass
class _Run:
    directory: RunDir
    tasks: dict[str, Task] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    trials: Counter[str] = field(default_factory=Counter)
    config: dict[str, Any] = field(default_factory=dict)
    """As it was written last."""

    def add(self, task: Task) -> None:
        self.tasks[task.task_id] = task
        self.digests[task.task_id] = task_digest(task)


class Verdicts:
    """Grades what was played and keeps it, one run directory for each agent and set.

    Args:
        grader: Grades.
        root: Where the directories are; None: nothing is kept.
        shared: Whether other processes write into the same runs: each is then opened for the time
            of one episode. Else it is this process's alone from its first session on.
    """

    def __init__(self, grader: Grader, root: Path | None, *, shared: bool = False) -> None:
        self._grader = grader
        self._root = root
        self._shared = shared
        self._runs: dict[RunKey, _Run] = {}
        self._locks = ExitStack()

    def judge(self, key: RunKey, task: Task, trace: EpisodeTrace, seconds: float) -> EpisodeRecord:
        """Grade an episode as the next trial of its task. It is on disk when this returns.

        Raises:
            TaskError: The task's own gold fails.
            InputError: The directory cannot be written.
        """
        verdict = self._grader.grade(task, trace)
        run = self._run(key)
        trial = run.trials[task.task_id] if run else 0
        record = EpisodeRecord(replace(trace, trial=trial), verdict, seconds)
        if run is not None:
            run.trials[task.task_id] += 1
            self._keep(key, run, task, record)
        if self._shared:
            self.close()
        return record

    def gold_runs(self, task: Task) -> None:
        """See that a task can be graded, before anybody plays it.

        Raises:
            TaskError: Its gold fails.
        """
        self._grader.gold_runs(task)

    def open(self, key: RunKey) -> None:
        """See that the run of a session can be written, before anybody plays it.

        Raises:
            InputError: Its directory holds another run, or cannot be written.
        """
        self._run(key)
        if self._shared:
            self.close()

    def close(self) -> None:
        """Put every run into the order of its tasks and trials."""
        for run in self._runs.values():
            if run.tasks:
                run.directory.settle(list(run.tasks.values()))
            run.directory.close()
            run.directory.remove_if_empty()
        self._runs.clear()
        self._locks.close()

    def _run(self, key: RunKey) -> _Run | None:
        if self._root is None:
            return None
        if key not in self._runs:
            self._runs[key] = self._opened(key, RunDir(self._root / key.folder))
        return self._runs[key]

    def _opened(self, key: RunKey, directory: RunDir) -> _Run:
        directory.make()
        self._locks.enter_context(directory.locked(wait=self._shared))
        run = _Run(directory)
        if not (directory.path / "config.json").exists():
            directory.check_free()
            return run
        kept = directory.config()
        expected = configuration(key, run)
        for name in ("agent", "data", "max_calls", "grading_version"):
            if kept.get(name) != expected[name]:
                raise InputError(
                    f"the run there has {name} {kept.get(name)!r}, this one {expected[name]!r}",
                    file=str(directory.path),
                    expected="another --out",
                )
        directory.drop_torn_lines()
        for task in directory.tasks():
            run.add(task)
        for task_id, trial in directory.counted():
            run.trials[task_id] = max(run.trials[task_id], trial + 1)
        return run

    def _keep(self, key: RunKey, run: _Run, task: Task, record: EpisodeRecord) -> None:
        """Keep an episode, and before it what it cannot be read without."""
        if task.task_id not in run.tasks:
            run.add(task)
            save_tasks(run.directory.path / "tasks.jsonl", run.tasks.values())
        now = configuration(key, run)
        if now != run.config:
            run.directory.write_json("config.json", now)
            run.config = now
        run.directory.append(record)


def configuration(key: RunKey, run: _Run) -> dict[str, Any]:
    """What the run's record says of it."""
    digests = sorted(run.digests.values())
    return {
        "agent": key.agent,
        "model": None,
        "backend": "sqlite",
        "trials": max(run.trials.values(), default=1),
        "max_calls": key.max_calls,
        "played": True,
        **({"salesforce_tools": True} if key.salesforce_tools else {}),
        "data": Path(key.set_name).name if Path(key.set_name).exists() else key.set_name,
        "data_digest": blake2b("".join(digests).encode(), digest_size=16).hexdigest(),
        "sample": len(run.tasks),
        "grading_version": GRADING_VERSION,
        "crmbench": version("crmbench"),
        "python": platform.python_version(),
    }
