"""The figures of a study: what each arm reached and took, and how the arms differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.grading import metrics, paired
from crmbench.grading.metrics import Interval
from crmbench.grading.record import EpisodeRecord
from crmbench.report.answers import AnswerFigures, answer_figures
from crmbench.report.study_compare import (
    Consistency,
    Independent,
    Outcomes,
    consistency,
    independent,
)
from crmbench.report.summary import Summary, summarise
from crmbench.runner.run_dir import RunDir
from crmbench.studies.data import question
from crmbench.studies.run import read_plan

ALL = "all"
"""Stands for all categories together."""
PASS_HAT = "pass^k"
Ends = tuple[Interval, Interval]
"""A difference with the first arm's undecided episodes taken to succeed and the second's to fail,
and the other way round."""


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
    at_most: Mapping[str, float]
    """By category, the success with every undecided episode taken to succeed."""

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
            "undecided": self.summary.undecided,
            "at_most": self.summary.at_most._asdict(),
            "method": self.summary.method,
            "pass_hat": self.summary.pass_hat,
            "pass_hat_at_most": self.summary.pass_hat_at_most,
            "steadiness": asdict(self.steadiness),
            **asdict(self.answers),
            "tool_calls_each": self.tool_calls,
            "model_calls_each": self.model_calls,
            "tokens_each": self.tokens,
            "cost_each": self.cost,
            "cost": self.total_cost,
            "reasons": self.summary.reasons,
            "categories": {
                name: {
                    "conversations": found.tasks,
                    **found.success._asdict(),
                    "at_most": self.at_most[name],
                }
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
    ends: dict[str, Ends]
    """Where either arm has undecided episodes, the difference at both ends: of a category, of `ALL`
    together, and of `PASS_HAT`."""


@dataclass(frozen=True)
class Apart:
    """An arm with tasks of its own, held to the first arm, by category; `ALL` is all together."""

    first: str
    second: str
    by_category: dict[str, Independent]
    left_out: tuple[str, ...]
    """Categories that only one of the arms has; they are not in `ALL` either."""
    ends: dict[str, Ends]
    """Where either arm has undecided episodes, the difference at both ends, likewise."""


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

    @cached_property
    def outcomes(self) -> Outcomes:
        return self._outcomes(at_most=False)

    @cached_property
    def most(self) -> Outcomes:
        """The outcomes with every undecided episode taken to succeed."""
        return self._outcomes(at_most=True)

    def _outcomes(self, *, at_most: bool) -> Outcomes:
        found: dict[str, list[bool]] = defaultdict(list)
        for episode in self.episodes:
            verdict = episode.verdict
            if verdict.counted:
                found[verdict.task_id].append(verdict.success or (at_most and verdict.undecided))
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
        at_most={
            category: metrics.summarise(outcomes).success.value
            for category, outcomes in _by_category(run, run.most).items()
        },
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
    names = {task.task_id for task in same}
    sides = _Sides.of(one, two, names)
    if not sides.before.keys() & sides.after.keys():
        return None
    clusters = {task.task_id: task.family for task in same if task.family}

    def difference(before: Outcomes, after: Outcomes) -> Interval:
        return paired.compare(before, after, clusters).difference

    def of_pass_hat(before: Outcomes, after: Outcomes) -> Interval | None:
        found = consistency(before, after, clusters)
        return found.difference if found else None

    ends = {ALL: sides.ends(difference), PASS_HAT: sides.ends(of_pass_hat)}
    by_category = {}
    for category in sorted({task.category for task in same}):
        part = sides.only({task.task_id for task in same if task.category == category})
        if part.before.keys() & part.after.keys():
            by_category[category] = paired.compare(part.before, part.after, clusters)
            ends[category] = part.ends(difference)
    return Pair(
        first,
        second,
        paired.compare(sides.before, sides.after, clusters),
        consistency(sides.before, sides.after, clusters),
        by_category,
        {name: found for name, found in ends.items() if found is not None},
    )


@dataclass(frozen=True)
class _Sides:
    """Two arms' outcomes, as decided and with all that is undecided taken to succeed."""

    before: Outcomes
    after: Outcomes
    most_before: Outcomes
    most_after: Outcomes

    @staticmethod
    def of(one: _Run, two: _Run, names: Set[str]) -> _Sides:
        return _Sides(one.outcomes, two.outcomes, one.most, two.most).only(names)

    def only(self, names: Set[str]) -> _Sides:
        """Those of some tasks."""
        sides = (self.before, self.after, self.most_before, self.most_after)
        return _Sides(*({k: v for k, v in side.items() if k in names} for side in sides))

    def ends(self, difference: Callable[[Outcomes, Outcomes], Interval | None]) -> Ends | None:
        """The difference at both ends; None where nothing is undecided."""
        if (self.before, self.after) == (self.most_before, self.most_after):
            return None
        low = difference(self.most_before, self.after)
        high = difference(self.before, self.most_after)
        return None if low is None or high is None else (low, high)


def _apart(first: str, second: str, runs: Mapping[str, _Run]) -> Apart:
    one, two = runs[first], runs[second]
    before, after = _by_category(one, one.outcomes), _by_category(two, two.outcomes)
    most_before, most_after = _by_category(one, one.most), _by_category(two, two.most)
    shared = sorted(before.keys() & after.keys())
    found, ends = {}, {}
    for name, parts in {ALL: shared, **{category: [category] for category in shared}}.items():
        if not parts:
            continue
        grouped = (before, after, most_before, most_after)
        sides = _Sides(*(_joined(groups, parts) for groups in grouped))
        found[name] = independent(sides.before, sides.after)
        range_ = sides.ends(lambda first, other: independent(first, other).difference)
        if range_ is not None:
            ends[name] = range_
    return Apart(first, second, found, tuple(sorted(before.keys() ^ after.keys())), ends)


def _by_category(run: _Run, outcomes: Outcomes) -> dict[str, dict[str, Sequence[bool]]]:
    found: dict[str, dict[str, Sequence[bool]]] = defaultdict(dict)
    for task in run.tasks:
        if task.task_id in outcomes:
            found[task.category][task.task_id] = outcomes[task.task_id]
    return dict(found)


def _joined(
    groups: Mapping[str, Mapping[str, Sequence[bool]]], names: Sequence[str]
) -> dict[str, Sequence[bool]]:
    return {task: trials for name in names for task, trials in groups[name].items()}
