"""What the models beside the agent did in a run: the user's part, the judge's, and agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crmbench.core.counts import counted
from crmbench.core.record import TurnJudgement
from crmbench.core.trace import TokenUsage
from crmbench.grading.metrics import cohen_kappa
from crmbench.grading.record import EpisodeRecord


@dataclass(frozen=True, slots=True)
class Agreement:
    """Judge and checks on the turns on which both gave a verdict."""

    turns: int
    both_pass: int
    only_judge_passes: int
    only_checks_pass: int
    both_fail: int
    share: float
    """Of turns on which they agree."""
    kappa: float | None
    """Cohen's; see `crmbench.grading.metrics.cohen_kappa`. None where it is undefined: both
    gave all turns the same verdict."""


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What a judge did in a run."""

    model: str
    asked: int
    passed: int
    failed: int
    """Turns about which nothing usable was answered."""
    open_calls: int
    """Turns that it decided, or was to decide: a call that ran and is not the expected one."""
    open_calls_passed: int
    not_counted: int
    """Episodes that do not count because the judge failed."""
    agreement: Agreement | None
    usage: TokenUsage


def judge_figures(episodes: Sequence[EpisodeRecord]) -> JudgeFigures | None:
    """The judge's part in a run; None if there was none."""
    judgings = [e.participants.judge for e in episodes if e.participants and e.participants.judge]
    if not judgings:
        return None
    turns = [turn for judging in judgings for turn in judging.turns]
    usage = TokenUsage()
    for judging in judgings:
        usage = usage + judging.usage
    calls = [turn for turn in turns if turn.why == "call"]
    return JudgeFigures(
        judgings[0].model,
        len(turns),
        sum(turn.passed is True for turn in turns),
        sum(turn.passed is None for turn in turns),
        len(calls),
        sum(turn.passed is True for turn in calls),
        sum(not e.verdict.counted and e.trace.outcome == "finished" for e in episodes),
        agreement(turns),
        usage,
    )


def agreement(turns: Sequence[TurnJudgement]) -> Agreement | None:
    """How far judge and checks agree; None if no turn has both verdicts.

    Cohen's kappa: Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and
    Psychological Measurement 20 (1960).
    """
    both = [(t.passed, t.checks) for t in turns if t.passed is not None and t.checks is not None]
    if not both:
        return None
    kappa = cohen_kappa([judge for judge, _ in both], [checks for _, checks in both])
    agreed = sum(judge == checks for judge, checks in both)
    return Agreement(
        len(both),
        both.count((True, True)),
        both.count((True, False)),
        both.count((False, True)),
        both.count((False, False)),
        round(agreed / len(both), 6),
        None if math.isnan(kappa) else round(kappa, 6),
    )


@dataclass(frozen=True, slots=True)
class UserFigures:
    """What the model that played the user did in a run."""

    model: str
    messages: int
    corrections: int
    """Messages that were sent back to it, because of a made-up value for example."""
    user_errors: int
    """Episodes that do not count because it did not keep to its part."""
    usage: TokenUsage


def user_figures(episodes: Sequence[EpisodeRecord]) -> UserFigures | None:
    """The user's part in a run; None if the users were scripted."""
    users = [e.participants.user for e in episodes if e.participants and e.participants.user]
    if not users:
        return None
    usage = TokenUsage()
    for user in users:
        usage = usage + user.usage
    return UserFigures(
        users[0].model,
        sum(user.messages for user in users),
        sum(user.corrections for user in users),
        sum(e.trace.outcome == "user_error" for e in episodes),
        usage,
    )


def figures_lines(user: UserFigures | None, judge: JudgeFigures | None) -> Iterator[str]:
    """Both parts for people, a line each."""
    if user:
        spoilt = counted(user.user_errors, "episode")
        yield (
            f"User played by {user.model}: {counted(user.messages, 'message')}, "
            f"{user.corrections:,} sent back to it, {spoilt} spoilt by it{_cost(user.usage)}"
        )
    if judge is None:
        return
    yield (
        f"Judge {judge.model}: asked about {counted(judge.asked, 'turn')}, "
        f"{judge.passed:,} passed, {judge.failed:,} without a usable answer{_cost(judge.usage)}"
    )
    yield (
        f"  It decided {counted(judge.open_calls, 'turn')} that the checks left open and passed "
        f"{judge.open_calls_passed:,}; not counted as it failed: "
        f"{counted(judge.not_counted, 'episode')}"
    )
    found = judge.agreement
    if found:
        kappa = "undefined (all verdicts alike)" if found.kappa is None else f"{found.kappa:.2f}"
        yield (
            f"  Judge and checks agree on {found.share:.0%} of {counted(found.turns, 'turn')}, "
            f"Cohen's kappa {kappa}: both pass {found.both_pass:,}, only the judge "
            f"{found.only_judge_passes:,}, only the checks {found.only_checks_pass:,}, neither "
            f"{found.both_fail:,}"
        )


def _cost(usage: TokenUsage) -> str:
    cost = "" if usage.cost is None else f", ${usage.cost:,.2f}"
    return f" ({counted(usage.model_calls, 'call')}, {usage.total_tokens:,} tokens{cost})"
