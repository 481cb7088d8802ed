"""The figures of a study: what each arm reached and took, and how the arms differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.grading import paired
from crmbench.grading.metrics import Interval
from crmbench.grading.record import EpisodeRecord
from crmbench.report.answers import AnswerFigures, answer_figures
from crmbench.report.study_compare import Consistency, Independent, consistency, independent
from crmbench.report.summary import Summary, summarise
from crmbench.runner.run_dir import RunDir
from crmbench.studies.data import question
from crmbench.studies.run import read_plan

ALL = "all"
"""Stands for all categories together."""


@dataclass(frozen=True)
class Steadiness:
    """Of the conversations with two trials or more: how many always, sometimes, never succeed."""

    always: int
    sometimes: int
    never: int


@dataclass(frozen=True)
class ArmFigures:
    """One arm. What is given each is a mean over episodes."""

    name: str
    agent: str
    tools: str | None
    latent: str | None
    planned: int
    """Episodes that the arm is to have."""
    summary: Summary
    not_counted: int
    """Episodes that a model or server spoilt."""
    steadiness: Steadiness
    answers: AnswerFigures
    tool_calls: float
    model_calls: float | None
    """Each; None where no model of ours took part."""
    tokens: float | None
    cost: float | None
    """US dollars each; None where no price is known."""
    total_cost: float | None

    @property
    def missing(self) -> int:
        """Episodes that the figures lack."""
        return self.planned - self.summary.trials

    @property
    def k(self) -> int:
        """The most trials that every conversation had."""
        return max(self.summary.pass_hat, default=1)

    def to_data(self) -> dict[str, Any]:
        """A JSON object."""
        categories = self.summary.slices.get("category", {})
        return {
            **{n: getattr(self, n) for n in ("name", "agent", "tools", "latent")},
            "conversations": self.summary.conversations,
            "episodes": self.summary.trials,
            "planned": self.planned,
            "not_counted": self.not_counted,
            "success": self.summary.success._asdict(),
            "method": self.summary.method,
            "pass_hat": self.summary.pass_hat,
            "steadiness": asdict(self.steadiness),
            **asdict(self.answers),
            "tool_calls_each": self.tool_calls,
            "model_calls_each": self.model_calls,
            "tokens_each": self.tokens,
            "cost_each": self.cost,
            "cost": self.total_cost,
            "reasons": self.summary.reasons,
            "categories": {
                name: {"conversations": found.tasks, **found.success._asdict()}
                for name, found in categories.items()
            },
        }


@dataclass(frozen=True)
class Pair:
    """Two arms that played the same tasks, or of two sets of tasks the same questions."""

    first: str
    second: str
    success: paired.Comparison
    consistency: Consistency | None
    by_category: dict[str, paired.Comparison]


@dataclass(frozen=True)
class Apart:
    """An arm with tasks of its own, held to the first arm, by category; `ALL` is all together."""

    first: str
    second: str
    by_category: dict[str, Independent]
    left_out: tuple[str, ...]
    """Categories that only one of the arms has; they are not in `ALL` either."""


@dataclass(frozen=True)
class StudyFigures:
    """A study as it was played so far."""

    plan: dict[str, Any]
    arms: tuple[ArmFigures, ...]
    pairs: tuple[Pair, ...]
    apart: tuple[Apart, ...]

    @property
    def kind(self) -> str:
        return str(self.plan["study"])

    def to_data(self) -> dict[str, Any]:
        """The plan and the figures as a JSON object; what cannot be known is null."""
        data: dict[str, Any] = _plain(
            {
                **self.plan,
                "results": {
                    "arms": [arm.to_data() for arm in self.arms],
                    "pairs": [asdict(pair) for pair in self.pairs],
                    "apart": [asdict(apart) for apart in self.apart],
                },
            }
        )
        return data


def _plain(value: Any) -> Any:
    """As JSON has it: intervals as objects, null for what cannot be known."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Interval):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True)
class _Run:
    """An arm's run, read once."""

    tasks: list[Task]
    episodes: list[EpisodeRecord]

    @property
    def outcomes(self) -> dict[str, list[bool]]:
        found: dict[str, list[bool]] = defaultdict(list)
        for episode in self.episodes:
            if episode.verdict.counted:
                found[episode.verdict.task_id].append(episode.verdict.success)
        return dict(found)


def study_figures(folder: Path) -> StudyFigures:
    """The figures of a study's directory; arms that were not begun are left out.

    Raises:
        InputError: The directory holds no study.
    """
    plan = {name: value for name, value in read_plan(folder).items() if name != "results"}
    begun = [arm for arm in plan["arms"] if (folder / arm["name"] / "config.json").exists()]
    runs = {arm["name"]: _read(RunDir(folder / arm["name"])) for arm in begun}
    trials = int(plan["settings"]["trials"])
    arms = tuple(_arm(arm, runs[arm["name"]], trials) for arm in begun)
    names = [arm.name for arm in arms if arm.summary.trials]
    own_tasks = plan["study"] == "latents"
    couples = [(names[0], name) for name in names[1:]] if own_tasks else combinations(names, 2)
    pairs = [_pair(first, second, runs) for first, second in couples]
    return StudyFigures(
        plan,
        arms,
        tuple(pair for pair in pairs if pair is not None),
        tuple(_apart(names[0], name, runs) for name in names[1:]) if own_tasks else (),
    )


def _read(run_dir: RunDir) -> _Run:
    return _Run(run_dir.tasks(), run_dir.for_figures())


def _arm(arm: Mapping[str, Any], run: _Run, trials: int) -> ArmFigures:
    counted = [episode for episode in run.episodes if episode.verdict.counted]
    summary = summarise(run.tasks, run.episodes)
    usage = sum((episode.trace.usage for episode in counted), TokenUsage())
    many = max(len(counted), 1)
    asked = usage.model_calls > 0
    priced = usage.cost is not None
    return ArmFigures(
        arm["name"],
        arm["agent"],
        arm["tools"],
        arm["latent"],
        planned=arm["conversations"] * trials,
        summary=summary,
        not_counted=len(run.episodes) - len(counted),
        steadiness=_steadiness(run.outcomes),
        answers=answer_figures(run.tasks, run.episodes),
        tool_calls=summary.calls,
        model_calls=round(usage.model_calls / many, 3) if asked else None,
        tokens=round(usage.total_tokens / many, 1) if asked else None,
        cost=round((usage.cost or 0.0) / many, 6) if priced else None,
        total_cost=_total_cost(run.episodes),
    )


def _total_cost(episodes: Sequence[EpisodeRecord]) -> float | None:
    """Of all stored episodes, those that do not count included: they were paid for too."""
    usage = sum((episode.trace.usage for episode in episodes), TokenUsage())
    return None if usage.cost is None else round(usage.cost, 6)


def _steadiness(outcomes: Mapping[str, Sequence[bool]]) -> Steadiness:
    repeated = [trials for trials in outcomes.values() if len(trials) > 1]
    always, never = sum(map(all, repeated)), sum(not any(trials) for trials in repeated)
    return Steadiness(always, len(repeated) - always - never, never)


def _pair(first: str, second: str, runs: Mapping[str, _Run]) -> Pair | None:
    """None where the two have no question in common."""
    one, two = runs[first], runs[second]
    asked = {task.task_id: question(task) for task in two.tasks}
    same = [task for task in one.tasks if asked.get(task.task_id) == question(task)]
    before = {t.task_id: one.outcomes[t.task_id] for t in same if t.task_id in one.outcomes}
    after = {t.task_id: two.outcomes[t.task_id] for t in same if t.task_id in two.outcomes}
    if not before.keys() & after.keys():
        return None
    clusters = {task.task_id: task.family for task in same if task.family}
    by_category = {}
    for category in sorted({task.category for task in same}):
        names = {task.task_id for task in same if task.category == category}
        within, beside = (
            {k: v for k, v in outcomes.items() if k in names} for outcomes in (before, after)
        )
        if within.keys() & beside.keys():
            by_category[category] = paired.compare(within, beside, clusters)
    return Pair(
        first,
        second,
        paired.compare(before, after, clusters),
        consistency(before, after, clusters),
        by_category,
    )


def _apart(first: str, second: str, runs: Mapping[str, _Run]) -> Apart:
    one, two = _by_category(runs[first]), _by_category(runs[second])
    shared = sorted(one.keys() & two.keys())
    found = {category: independent(one[category], two[category]) for category in shared}
    if shared:
        found = {ALL: independent(_joined(one, shared), _joined(two, shared)), **found}
    return Apart(first, second, found, tuple(sorted(one.keys() ^ two.keys())))


def _by_category(run: _Run) -> dict[str, dict[str, list[bool]]]:
    outcomes = run.outcomes
    found: dict[str, dict[str, list[bool]]] = defaultdict(dict)
    for task in run.tasks:
        if task.task_id in outcomes:
            found[task.category][task.task_id] = outcomes[task.task_id]
    return dict(found)


def _joined(
    groups: Mapping[str, Mapping[str, list[bool]]], names: Sequence[str]
) -> dict[str, list[bool]]:
    return {task: trials for name in names for task, trials in groups[name].items()}
