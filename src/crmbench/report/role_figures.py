"""What the models beside the agent did in a run: the user's part, the judge's, and agreement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from crmbench.core.record import TurnJudgement
from crmbench.core.trace import TokenUsage
from crmbench.formats.episode_rows import JudgePart, UserPart
from crmbench.grading.metrics import cohen_kappa
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted


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


def judge_figures(episodes: Iterable[EpisodeRecord]) -> JudgeFigures | None:
    """The judge's part in a run; None if there was none."""
    whole: JudgePart | None = None
    for episode in episodes:
        whole = sum_of_parts(whole, judge_part(episode))
    return judge_total(whole)


def judge_part(episode: EpisodeRecord) -> JudgePart | None:
    """The judge's part in an episode; None if it had none."""
    judging = episode.participants.judge if episode.participants else None
    if judging is None:
        return None
    turns = judging.turns
    calls = [turn for turn in turns if turn.why == "call"]
    both = Counter(_compared(turns))
    return JudgePart(
        model=judging.model,
        asked=len(turns),
        passed=sum(turn.passed is True for turn in turns),
        failed=sum(turn.passed is None for turn in turns),
        open_calls=len(calls),
        open_calls_passed=sum(turn.passed is True for turn in calls),
        not_counted=int(not episode.verdict.counted and episode.trace.outcome == "finished"),
        both_pass=both[True, True],
        only_judge_passes=both[True, False],
        only_checks_pass=both[False, True],
        both_fail=both[False, False],
        usage=judging.usage,
    )


Part = TypeVar("Part", UserPart, JudgePart)


def sum_of_parts(first: Part | None, second: Part | None) -> Part | None:
    """Two parts of one model added up; None where there are none."""
    if first is None or second is None:
        return first or second
    pairs = zip(
        msgspec.structs.astuple(first)[1:], msgspec.structs.astuple(second)[1:], strict=True
    )
    return type(first)(first.model, *(one + two for one, two in pairs))


def judge_total(part: JudgePart | None) -> JudgeFigures | None:
    """The figures of all parts added up."""
    if part is None:
        return None
    p = part
    return JudgeFigures(
        *(p.model, p.asked, p.passed, p.failed, p.open_calls, p.open_calls_passed, p.not_counted),
        _agreement(p.both_pass, p.only_judge_passes, p.only_checks_pass, p.both_fail),
        p.usage,
    )


def _compared(turns: Iterable[TurnJudgement]) -> Iterator[tuple[bool, bool]]:
    """What judge and checks say of the turns on which both gave a verdict."""
    for turn in turns:
        if turn.passed is not None and turn.checks is not None:
            yield turn.passed, turn.checks


def agreement(turns: Sequence[TurnJudgement]) -> Agreement | None:
    """How far judge and checks agree; None if no turn has both verdicts.

    Cohen's kappa: Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and
    Psychological Measurement 20 (1960).
    """
    both = Counter(_compared(turns))
    return _agreement(both[True, True], both[True, False], both[False, True], both[False, False])


_PAIRS = ((True, True), (True, False), (False, True), (False, False))
"""What judge and checks say of a turn, in the order of `Agreement`'s fields."""


def _agreement(
    both_pass: int, only_judge_passes: int, only_checks_pass: int, both_fail: int
) -> Agreement | None:
    counts = (both_pass, only_judge_passes, only_checks_pass, both_fail)
    both = [pair for pair, count in zip(_PAIRS, counts, strict=True) for _ in range(count)]
    if not both:
        return None
    kappa = cohen_kappa([judge for judge, _ in both], [checks for _, checks in both])
    agreed = sum(judge == checks for judge, checks in both)
    return Agreement(
        len(both),
        both_pass,
        only_judge_passes,
        only_checks_pass,
        both_fail,
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


def user_figures(episodes: Iterable[EpisodeRecord]) -> UserFigures | None:
    """The user's part in a run; None if the users were scripted."""
    whole: UserPart | None = None
    for episode in episodes:
        whole = sum_of_parts(whole, user_part(episode))
    return user_total(whole)


def user_part(episode: EpisodeRecord) -> UserPart | None:
    """The part in an episode of the model that played the user; None if there was none."""
    user = episode.participants.user if episode.participants else None
    if user is None:
        return None
    spoilt = int(episode.trace.outcome == "user_error")
    return UserPart(user.model, user.messages, user.corrections, spoilt, user.usage)


def user_total(part: UserPart | None) -> UserFigures | None:
    """The figures of all parts added up."""
    if part is None:
        return None
    return UserFigures(part.model, part.messages, part.corrections, part.errors, part.usage)


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
