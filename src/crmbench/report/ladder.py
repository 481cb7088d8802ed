"""The figures of the ladder: n50 by mechanism, success by level, items, blame, false success."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import msgspec
from markupsafe import Markup

from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.grading.evidence import texts_seen
from crmbench.grading.items import ItemVerdict
from crmbench.grading.metrics import Interval, pass_hat_k, wilson_interval
from crmbench.grading.record import EpisodeRecord
from crmbench.ladder.fit import Half, half_of
from crmbench.ladder.pool import harder, measured, rungs_of, size_of
from crmbench.language.counts import counted
from crmbench.language.refusals import claims_success
from crmbench.report.plots import Course, size_course, size_courses

Items = Callable[[Task, EpisodeRecord], Sequence[ItemVerdict]]
"""From a task and an episode of it what became of each item."""
TRIALS = 4
"""Trials of the pass^k that is reported beside success."""


@dataclass(frozen=True)
class LevelFigures:
    """One rung of a mechanism."""

    level: str
    size: float
    passed: int
    played: int
    success: Interval
    calls: float
    """Tool calls an episode, on average."""
    items: float | None
    """Share of items that were right; None where tasks have none."""
    items_to_act: float | None
    """The same of those on which something was to be done."""
    opened: float | None
    """Share of the texts that decide the tasks' items that the agent opened, pooled over the
    episodes; None where no item hangs on a text."""


@dataclass(frozen=True)
class MechanismFigures:
    """One mechanism, over all its sizes."""

    mechanism: str
    n50: Half
    """The size at which half is passed; of tasks at several budgets the budget, which is b50."""
    levels: tuple[LevelFigures, ...]
    pass_hat_4: float | None
    """None where no task was played four times."""
    false_success: float | None
    """Share of the episodes with a wrong end of which the last reply claims success; None where
    none ended wrong."""
    blame: dict[str, int]
    """What explains the wrong items, the most frequent first."""
    tokens: float
    """An episode, on average."""
    cost: float | None
    """US dollars an episode, on average; None where no price is known."""
    measure: str = "n50"
    """Or "b50"."""

    @property
    def described(self) -> str:
        """Where half is passed, in words."""
        return f"{self.measure} {self.n50.described()}"

    def to_data(self) -> dict[str, Any]:
        """For ``ladder.json``."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


def ladder_figures(
    tasks: Sequence[Task], episodes: Iterable[EpisodeRecord], items: Items = lambda *_: ()
) -> tuple[MechanismFigures, ...]:
    """The figures of all mechanisms of which something was played.

    Args:
        episodes: Whole ones where items are to be judged.
        items: What became of the items of an episode; of none if left out.
    """
    counted = [each for each in episodes if each.verdict.counted]
    found = []
    for mechanism, rungs in rungs_of([t for t in tasks if size_of(t) is not None]).items():
        members = {task.task_id: task for rung in rungs for task in rung.tasks}
        played = [each for each in counted if each.task_id in members]
        if played:
            found.append(_mechanism(mechanism, members, played, items))
    return tuple(found)


def _mechanism(
    mechanism: str,
    members: dict[str, Task],
    played: Sequence[EpisodeRecord],
    items_of: Items,
) -> MechanismFigures:
    items = {id(each): items_of(members[each.task_id], each) for each in played}
    levels = []
    for rung in rungs_of(list(members.values()))[mechanism]:
        ids = {task.task_id for task in rung.tasks}
        here = [each for each in played if each.task_id in ids]
        if here:
            judged = [items[id(each)] for each in here]
            levels.append(_level(rung.level, rung.size, here, judged))
    sizes = [float(size) for task in members.values() if (size := measured(task))]
    direction = harder(members.values())
    wrong = [verdict for each in items.values() for verdict in each if not verdict.right]
    usage = sum((each.usage for each in played), TokenUsage())
    return MechanismFigures(
        mechanism,
        half_of(
            (
                (float(measured(members[each.task_id]) or 0), each.verdict.success)
                for each in played
            ),
            sizes,
            direction,
        ),
        tuple(levels),
        _pass_hat(played),
        _false_success(played),
        dict(Counter(verdict.explained() for verdict in wrong).most_common(12)),
        usage.total_tokens / len(played),
        None if usage.cost is None else usage.cost / len(played),
        "n50" if direction == "more" else "b50",
    )


def _level(
    level: str,
    size: float,
    here: Sequence[EpisodeRecord],
    by_episode: Sequence[Sequence[ItemVerdict]],
) -> LevelFigures:
    judged = [verdict for each in by_episode for verdict in each]
    passed = sum(each.verdict.success for each in here)
    to_act = [verdict for verdict in judged if verdict.to_act]
    return LevelFigures(
        level,
        size,
        passed,
        len(here),
        wilson_interval(passed, len(here)),
        fmean(each.verdict.calls for each in here),
        fmean(verdict.right for verdict in judged) if judged else None,
        fmean(verdict.right for verdict in to_act) if to_act else None,
        _opened(by_episode),
    )


def _opened(by_episode: Sequence[Sequence[ItemVerdict]]) -> float | None:
    """The share of the texts that decide that was opened."""
    counts = [texts_seen(verdict.evidence for verdict in each) for each in by_episode]
    total = sum(map(sum, counts))
    return sum(each.opened for each in counts) / total if total else None


def _pass_hat(played: Sequence[EpisodeRecord]) -> float | None:
    by_task: defaultdict[str, list[bool]] = defaultdict(list)
    for each in played:
        by_task[each.task_id].append(each.verdict.success)
    often = [outcomes for outcomes in by_task.values() if len(outcomes) >= TRIALS]
    if not often:
        return None
    return fmean(pass_hat_k(sum(outcomes), len(outcomes), TRIALS) for outcomes in often)


def _false_success(played: Sequence[EpisodeRecord]) -> float | None:
    """Of the episodes that ended with the org wrong, how many say at the end that it is done."""
    wrong = [each for each in played if each.verdict.final_state is False]
    if not wrong:
        return None
    return fmean(
        bool(each.trace.turns) and claims_success(each.trace.turns[-1].reply) for each in wrong
    )


def ladder_lines(figures: Sequence[MechanismFigures]) -> list[str]:
    """The figures for a terminal."""
    lines = []
    for each in figures:
        played = counted(each.n50.played, "episode")
        lines.append(f"{each.mechanism}: {each.described}, {played}")
        for level in each.levels:
            lines.append("  " + _level_line(level))
        beside = [f"{each.tokens:,.0f} tokens an episode"] if each.tokens else []
        if each.cost is not None:
            beside.append(f"${each.cost:.3f} an episode")
        if each.pass_hat_4 is not None:
            beside.append(f"pass^4 {each.pass_hat_4:.0%}")
        if each.false_success is not None:
            beside.append(f"{each.false_success:.0%} of the wrong ends claimed as done")
        if beside:
            lines.append("  " + ", ".join(beside))
        lines += [f"  {count} wrong items {what}" for what, count in each.blame.items()]
    return lines


def _level_line(level: LevelFigures) -> str:
    parts = [
        f"{level.level} (size {level.size:g}): {level.passed} of {level.played} passed",
        f"{level.calls:.0f} calls",
    ]
    if level.items is not None:
        parts.append(f"{level.items:.1%} of items right")
    if level.items_to_act is not None:
        parts.append(f"{level.items_to_act:.1%} of those to act on")
    if level.opened is not None:
        parts.append(f"{level.opened:.0%} of the texts that decide opened")
    return ", ".join(parts)


def ladder_charts(
    tasks: Sequence[Task], episodes: Iterable[EpisodeRecord]
) -> list[tuple[str, Markup]]:
    """Title and plot of each mechanism of which more than one size was played."""
    made = []
    for each in ladder_figures(tasks, episodes):
        if len(each.levels) < 2:
            continue
        points = [
            (level.size, level.success, f"{level.level}: {level.passed} of {level.played}")
            for level in each.levels
        ]
        bounds = (each.n50.low or 0.0, each.n50.high or float("inf"))
        plot = size_course(points, each.n50.value, bounds)
        by = "size" if each.measure == "n50" else "budget"
        made.append((f"Success by {by}, {each.mechanism}: {each.described}", plot))
    return made


def ladder_overlays(
    runs: Sequence[tuple[str, Sequence[Task], Sequence[EpisodeRecord]]],
) -> list[tuple[str, Markup]]:
    """Title and plot of each mechanism that several agents climbed.

    Args:
        runs: Each agent's label, tasks and episodes.
    """
    found: defaultdict[str, list[Course]] = defaultdict(list)
    for label, tasks, episodes in runs:
        for each in ladder_figures(tasks, episodes):
            if len(each.levels) > 1:
                points = [
                    (level.size, level.success, f"{label}, {level.level}") for level in each.levels
                ]
                said = f"{label}: {each.described}"
                found[each.mechanism].append(Course(said, points, each.n50.value))
    return [
        (f"Success by size or budget, {mechanism}", size_courses(courses))
        for mechanism, courses in sorted(found.items())
        if len(courses) > 1
    ]
