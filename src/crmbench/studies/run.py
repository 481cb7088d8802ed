"""Playing a study: arm by arm into one directory, and going on where it stopped.

study.json       the plan, and once played the figures
study.html       the figures to look at
data/*.jsonl     the tasks
ARM/             a run's directory for each arm, as `crmbench run --out` makes it
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crmbench.agents.protocol import AnyFactory
from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.formats.arc import save_tasks
from crmbench.formats.whole_file import read_record, write_record
from crmbench.runner.run import Progress, RunOutcome, execute
from crmbench.runner.run_dir import RunDir
from crmbench.studies.plan import Arm, Study

PLAN = "study.json"

Bar = Callable[[str], AbstractContextManager[Progress]]
"""Opens a progress bar with that title."""
Keep = Callable[[RunDir, RunOutcome], None]
"""Told when an arm has ended."""
Factories = Callable[[Arm], AnyFactory]
"""Makes an arm's agents, where they come from code."""


@dataclass(frozen=True)
class StudyOutcome:
    """What came of a sitting."""

    arms: tuple[Arm, ...]
    """Those that were begun, in this sitting or before."""
    not_counted: int
    """Episodes that a model or server spoilt."""
    spent: float
    """US dollars in this sitting, as far as prices are known."""
    stopped: str | None = None
    """Why it ended before all was played."""


def open_study(study: Study, folder: Path, *, resume: bool) -> None:
    """Write the plan and the tasks into the directory, or see that it is the same study.

    Raises:
        InputError: It holds a study already, or, to go on, another one.
    """
    path = folder / PLAN
    plan = study.to_data()
    if path.exists():
        if not resume:
            raise InputError(
                "the directory already holds a study",
                file=str(folder),
                expected="a new directory, or --resume to go on with that study",
            )
        _check_same(read_plan(folder), plan, folder)
        return
    try:
        (folder / "data").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(folder)) from error
    write_tasks(study, folder)
    write_plan(folder, plan)


def write_tasks(study: Study, folder: Path) -> None:
    """Write the arms' tasks where `Study.run_options` looks for them."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for name, tasks in study.tasks.items():
        save_tasks(folder / name, tasks)


def read_plan(folder: Path) -> dict[str, Any]:
    """The study's record; its figures too, once it was played.

    Raises:
        InputError: The directory holds no study.
    """
    return read_record(folder / PLAN, dict[str, Any], "study", "crmbench study")


def write_plan(folder: Path, data: dict[str, Any]) -> None:
    """Write the study's record, whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    write_record(folder / PLAN, data)


def _check_same(earlier: dict[str, Any], plan: dict[str, Any], folder: Path) -> None:
    for name, value in plan.items():
        if earlier.get(name) != value:
            raise InputError(
                f"the study there has {name} {earlier.get(name)!r}, this one {value!r}",
                file=str(folder / PLAN),
                expected="the same command as before, with --resume",
            )


def play_study(
    study: Study, folder: Path, bar: Bar, keep: Keep, factories: Factories | None = None
) -> StudyOutcome:
    """Play every arm that is not finished, one after the other; the limit of cost is for all.

    Args:
        folder: As `open_study` left it.
        factories: The agents, where they come from code and not from the options.

    Raises:
        InputError: An agent, a model or a directory cannot be used.
        HarnessError: A task is broken.
    """
    limit = study.options.run.max_cost
    begun: list[Arm] = []
    spent, lost = 0.0, 0
    for arm in study.arms:
        run_dir = RunDir(folder / arm.name)
        run_dir.drop_torn_lines()
        before = _played(run_dir)
        options = replace(
            study.run_options(arm, folder),
            resume=(run_dir.path / "config.json").exists(),
            max_cost=None if limit is None else max(limit - spent, 0.0),
        )
        with bar(f"{arm.name}") as progress:
            made = factories(arm) if factories else None
            outcome = execute(options, run_dir.path, progress, made)
        begun.append(arm)
        keep(run_dir, outcome)
        lost += sum(not episode.verdict.counted for episode in outcome.outlines)
        spent += _cost(outcome, before)
        if outcome.stopped is not None:
            why = f"${spent:,.2f} were spent, of ${limit or 0.0:,.2f} allowed"
            return StudyOutcome(tuple(begun), lost, spent, why)
    return StudyOutcome(tuple(begun), lost, spent)


def _played(run_dir: RunDir) -> set[tuple[str, int]]:
    return run_dir.counted()


def _cost(outcome: RunOutcome, before: set[tuple[str, int]]) -> float:
    """What the episodes cost that were not there before."""
    usage = TokenUsage()
    for episode in outcome.outlines:
        if (episode.trace.task_id, episode.trace.trial) not in before:
            usage = usage + episode.trace.usage
            usage = usage + (episode.participants.usage if episode.participants else TokenUsage())
    return usage.cost or 0.0
