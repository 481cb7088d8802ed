"""From episodes to figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from crmbench.core.score import metrics
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.formats.arc_results import tool_success, verification
from crmbench.harness.run_dir import Episode
from crmbench.report.causes import failure_kind, worthless_success
from crmbench.report.figures import (
    UNKNOWN,
    ArcMetrics,
    Estimate,
    PassedBy,
    Slice,
    Summary,
    Timings,
    ToolFigures,
    Usage,
)

TRIVIAL_AGENTS = ("noop", "refuse_all", "random", "dump")
"""Agents that do no work: whatever they pass is listed."""

__all__ = ["TRIVIAL_AGENTS", "Outcomes", "Summary", "outcomes_of", "summarise"]

Outcomes = dict[str, list[bool]]
"""Task to whether each trial that counts succeeded, in the order of the trials."""


@dataclass(frozen=True, slots=True)
class _Played:
    """An episode that counts, with its task."""

    task: Task
    episode: Episode


def summarise(
    tasks: Iterable[Task],
    episodes: Iterable[Episode],
    config: Mapping[str, Any] | None = None,
) -> Summary:
    """The figures of a run.

    The interval of a success rate is Wilson's where every task was played once and stands alone,
    else a bootstrap over task families (see `crmbench.core.score.metrics.summarise`).

    Args:
        tasks: The tasks of the run; those without an episode are left out.
        episodes: Each of one of the tasks.
        config: The run's configuration; its agent decides what `Summary.passed` lists.

    Raises:
        KeyError: An episode belongs to none of the tasks.
    """
    by_id = {task.task_id: task for task in tasks}
    everything = [_Played(by_id[e.trace.task_id], e) for e in episodes]
    played = [p for p in everything if p.episode.verdict.counted]
    agent = (config or {}).get("agent")
    outcomes = outcomes_of(p.episode for p in played)
    clusters = {task_id: task.family for task_id, task in by_id.items() if task.family}
    overall = metrics.summarise(outcomes, clusters) if outcomes else None
    calls = sum(p.episode.verdict.calls for p in played)
    succeeded = sum(p.episode.verdict.success for p in played)
    return Summary(
        agent=agent,
        conversations=len(outcomes),
        trials=max(map(len, outcomes.values()), default=0),
        episodes=len(played),
        turns=sum(len(p.task.turns) for p in played),
        turns_succeeded=sum(t.success for p in played for t in p.episode.verdict.turns),
        succeeded=succeeded,
        infrastructure_failures=len(everything) - len(played),
        outcomes=_counted(p.episode.trace.outcome for p in everything),
        success=_estimate(overall) if overall else UNKNOWN,
        pass_hat=_by_k(overall.pass_hat) if overall else (),
        pass_at=_by_k(overall.pass_at) if overall else (),
        slices=_slices(played, outcomes, clusters),
        calls=calls,
        calls_per_conversation=calls / len(played) if played else 0.0,
        tool_errors=sum(p.episode.verdict.tool_errors for p in played),
        tools=_tools(p.episode for p in played),
        failures=_counted(
            failure_kind(p.episode.trace, p.episode.verdict)
            for p in played
            if not p.episode.verdict.success
        ),
        arc=_arc(played),
        usage=_usage([p.episode for p in everything], len(played), succeeded),
        passed=_passed(played, agent in TRIVIAL_AGENTS),
        timings=_timings([p.episode for p in played], succeeded),
    )


def outcomes_of(episodes: Iterable[Episode]) -> Outcomes:
    """The outcomes by task of the episodes that count."""
    outcomes: Outcomes = defaultdict(list)
    for episode in episodes:
        if episode.verdict.counted:
            outcomes[episode.trace.task_id].append(episode.verdict.success)
    return dict(outcomes)


def headings(task: Task) -> dict[str, tuple[str, ...]]:
    """What a task is counted under: heading to its values."""
    return {
        "category": (task.category,),
        "complexity": (task.complexity,),
        "tag": tuple(sorted(set(task.tags))),
        "domain": (task.domain,),
        "persona": (task.persona,) if task.persona else (),
    }


def _estimate(found: metrics.Summary) -> Estimate:
    return Estimate(*found.success, method=found.method)


def _by_k(by_k: Mapping[int, float]) -> tuple[float, ...]:
    return tuple(by_k[k] for k in sorted(by_k))


def _counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, most often first, then by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


# --- slices ---------------------------------------------------------------------------------------


def _slices(
    played: Sequence[_Played], outcomes: Outcomes, clusters: Mapping[str, str]
) -> dict[str, tuple[Slice, ...]]:
    tasks = {p.task.task_id: p.task for p in played}
    named = {task_id: headings(task) for task_id, task in tasks.items()}
    found = {}
    for heading in ("category", "complexity", "tag", "domain", "persona"):
        members = {task_id: by_heading[heading] for task_id, by_heading in named.items()}
        slices = metrics.summarise_by(outcomes, members, clusters)
        if slices:
            found[heading] = tuple(
                _slice(name, slices[name], [o for t, o in outcomes.items() if name in members[t]])
                for name in sorted(slices, key=_natural if heading != "complexity" else _by_effort)
            )
    turns = _turn_slices(played, clusters)
    return {**found, "turn": turns} if turns else found


def _natural(name: str) -> tuple[bool, str]:
    return name == "", name


def _by_effort(name: str) -> tuple[int, str]:
    order = ("simple", "medium", "complex")
    return (order.index(name) if name in order else len(order), name)


def _slice(name: str, found: metrics.Summary, outcomes: Sequence[Sequence[bool]]) -> Slice:
    return Slice(
        name=name,
        conversations=found.tasks,
        episodes=found.trials,
        succeeded=sum(map(sum, outcomes)),
        success=_estimate(found),
        pass_hat=_by_k(found.pass_hat),
    )


def _turn_slices(played: Sequence[_Played], clusters: Mapping[str, str]) -> tuple[Slice, ...]:
    """Success of the first, second, … turns; one that was never reached has failed."""
    by_turn: defaultdict[int, Outcomes] = defaultdict(dict)
    for p in played:
        done = {turn.turn_id: turn.success for turn in p.episode.verdict.turns}
        for turn in p.task.turns:
            outcomes = by_turn[turn.turn_id].setdefault(p.task.task_id, [])
            outcomes.append(done.get(turn.turn_id, False))
    return tuple(
        _slice(
            str(number),
            metrics.summarise(by_turn[number], clusters),
            list(by_turn[number].values()),
        )
        for number in sorted(by_turn)
    )


# --- calls, Arc's metrics, costs ------------------------------------------------------------------


def _tools(episodes: Iterable[Episode]) -> tuple[ToolFigures, ...]:
    calls: Counter[str] = Counter()
    errors: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for episode in episodes:
        for turn in episode.trace.turns:
            for call in turn.calls:
                calls[call.tool] += 1
                if not call.ok:
                    errors[call.tool][call.error_kind or "other"] += 1
    return tuple(
        ToolFigures(tool, calls[tool], errors[tool].total(), _counted(errors[tool].elements()))
        for tool in sorted(calls)
    )


def _arc(played: Sequence[_Played]) -> ArcMetrics:
    strict = any_tool = any_response = 0
    tool_turns = replies_right = replies_checked = judged = approved = 0
    methods: list[str] = []
    for p in played:
        verdicts = p.episode.verdict.turns
        turns = list(zip(p.task.gold.turns, p.episode.trace.turns, verdicts, strict=False))
        right = [tool_success(turn, verdict) for _, turn, verdict in turns]
        replies = [verdict.facts for verdict in verdicts if verdict.facts is not None]
        strict += len(verdicts) == len(p.task.turns) and all(v.success for v in verdicts)
        any_tool += any(right)
        any_response += any(replies)
        tool_turns += sum(right)
        replies_right += sum(replies)
        replies_checked += len(replies)
        judgements = [turn.judgement for _, turn, _ in turns if turn.judgement is not None]
        judged += len(judgements)
        approved += sum(judgement.passed for judgement in judgements)
        methods += [verification(*turn) for turn in turns]
    counted = _counted(methods)
    all_turns = sum(len(p.task.turns) for p in played)
    return ArcMetrics(
        strict_success=_ratio(strict, len(played)) or 0.0,
        tool_success=_ratio(any_tool, len(played)) or 0.0,
        response_success=_ratio(any_response, len(played)) if replies_checked else None,
        turn_tool_accuracy=_ratio(tool_turns, all_turns) or 0.0,
        turn_response_accuracy=_ratio(replies_right, replies_checked),
        exact_match_count=counted.get("exact_match", 0),
        judge_evaluated_count=judged,
        judge_approved_count=approved,
        verification=counted,
    )


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _usage(episodes: Sequence[Episode], played: int, succeeded: int) -> Usage:
    total = sum((episode.trace.usage for episode in episodes), TokenUsage())
    cost = total.cost
    return Usage(
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
        cached_tokens=total.cached_tokens,
        reasoning_tokens=total.reasoning_tokens,
        total_tokens=total.total_tokens,
        model_calls=total.model_calls,
        cost=cost,
        tokens_per_conversation=_ratio(total.total_tokens, played),
        tokens_per_success=_ratio(total.total_tokens, succeeded),
        cost_per_conversation=None if cost is None else _ratio(cost, played),
        cost_per_success=None if cost is None else _ratio(cost, succeeded),
    )


def _passed(played: Sequence[_Played], trivial: bool) -> tuple[PassedBy, ...]:
    found = []
    for p in played:
        trace, verdict = p.episode.trace, p.episode.verdict
        reason = worthless_success(p.task, trace, trivial) if verdict.success else None
        if reason is not None:
            found.append(PassedBy(trace.task_id, trace.trial, reason))
    return tuple(found)


def _timings(episodes: Sequence[Episode], succeeded: int) -> Timings:
    seconds = [episode.seconds for episode in episodes]
    total = sum(seconds)
    return Timings(
        seconds=total,
        per_conversation=_ratio(total, len(seconds)),
        per_success=_ratio(total, succeeded),
        median=median(seconds) if seconds else None,
        slowest=max(seconds, default=None),
    )
