"""A study as one self-contained page, without a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from crmbench.grading.metrics import Interval
from crmbench.language.counts import counted
from crmbench.report import plots
from crmbench.report.compare import percent_or_unknown
from crmbench.report.html import write_page
from crmbench.report.study import ALL, PASS_HAT, Apart, ArmFigures, Ends, Pair, StudyFigures
from crmbench.report.study_words import (
    QUESTIONS,
    TITLES,
    cautions,
    optional,
    success_range,
    verdict,
)
from crmbench.report.views.templates import page_style, page_template


@dataclass(frozen=True)
class _Row:
    """A comparison as a row of a table."""

    what: str
    tasks: str
    first: float
    second: float
    difference: Interval
    could: str
    reading: str
    ends: Ends | None
    """The difference at both ends of what is undecided."""


@dataclass(frozen=True)
class _Block:
    """The rows of one comparison of two arms, under a title."""

    title: str
    rows: list[_Row]


def write_study(figures: StudyFigures, out: Path) -> None:
    """Write the page."""
    arms = figures.arms
    settings = figures.plan["settings"]
    page = page_template("study.html").render(
        style=page_style(),
        title=TITLES[figures.kind],
        question=QUESTIONS[figures.kind],
        plan=figures.plan,
        model=settings.get("model"),
        arms=arms,
        latents=figures.kind == "latents",
        legend=plots.legend([arm.name for arm in arms]),
        notes=list(cautions(figures)),
        optional=optional,
        success=plots.grouped_bars(
            [
                (arm.name, [_share(n, arm, arm.summary.success, arm.summary.at_most.value)])
                for n, arm in enumerate(arms)
            ]
        ),
        hats=_hats(arms),
        ks=range(1, max((arm.k for arm in arms), default=1) + 1),
        # What an org costs says nothing of it; that many points would only lie on each other.
        against=None if figures.apart else _against(arms),
        differences=_differences(figures),
        whole=[row for apart in figures.apart for row in _apart_rows(apart)[:1]],
        pairs=[row for pair in figures.pairs for row in _pair_rows(pair)],
        categories=_categories(arms),
        blocks=_blocks(figures),
    )
    write_page(out, page)


def _share(
    place: int, arm: ArmFigures, interval: Interval, at_most: float, part: str | None = None
) -> plots.Share:
    """A bar; `part` says what it is of, where that is not every episode of the arm."""
    part = part or counted(arm.summary.trials, "episode")
    remark = (
        f"{arm.name}: {success_range(interval.value, at_most)}, 95 % interval "
        f"{interval.low:.0%} to {interval.high:.0%}, {part}"
    )
    return plots.Share(place, interval.value, interval, remark)


def _hats(arms: Sequence[ArmFigures]) -> Markup | None:
    """pass^k by k, a bar an arm; None where nothing was repeated."""
    most = max((arm.k for arm in arms), default=1)
    if most < 2:
        return None
    groups = []
    for k in range(1, most + 1):
        shares = []
        for place, arm in enumerate(arms):
            value = arm.summary.pass_hat.get(k)
            if value is not None:
                most_value = arm.summary.pass_hat_at_most.get(k)
                remark = f"{arm.name}: pass^{k} {success_range(value, most_value)}"
                shares.append(plots.Share(place, value, None, remark))
        groups.append((f"pass^{k}", shares))
    return plots.grouped_bars(groups)


def _against(arms: Sequence[ArmFigures]) -> Markup | None:
    """Success against cost, or against tokens where no arm's cost is known."""
    money = any(arm.cost is not None for arm in arms)
    taken: Callable[[ArmFigures], float | None]
    taken = (lambda arm: arm.cost) if money else (lambda arm: arm.tokens)
    points = []
    for place, arm in enumerate(arms):
        x = taken(arm)
        if x is not None:
            each = f"${x:.4f}" if money else f"{x:,.0f} tokens"
            reached = success_range(arm.summary.success.value, arm.summary.at_most.value)
            remark = f"{reached} at {each} an episode"
            points.append(plots.Point(place, arm.name, x, arm.summary.success, remark))
    if not points:
        return None
    axis = "US dollars an episode" if money else "tokens an episode"
    return plots.scatter(points, axis, money)


def _differences(figures: StudyFigures) -> Markup | None:
    """The differences of success: of all that an arm was asked, or paired."""
    places = {arm.name: place for place, arm in enumerate(figures.arms)}
    deltas = []
    for apart in figures.apart:
        found = apart.by_category.get(ALL)
        if found:
            remark = f"{found.tasks_first:,} and {counted(found.tasks_second, 'conversation')}"
            place = places[apart.second]
            deltas.append(
                plots.Delta(place, apart.second, found.difference, found.detectable, remark)
            )
    for pair in () if figures.apart else figures.pairs:
        c, label = pair.success, f"{pair.second} − {pair.first}"
        remark = f"{counted(c.tasks, 'conversation')}, better on {c.better}, worse on {c.worse}"
        deltas.append(plots.Delta(places[pair.second], label, c.difference, c.detectable, remark))
    return plots.differences(deltas) if deltas else None


def _pair_rows(pair: Pair) -> list[_Row]:
    c, label = pair.success, f"{pair.second} − {pair.first}"
    could = percent_or_unknown(c.detectable)
    ends = pair.ends.get(ALL)
    words = verdict(c.difference, ends)
    rows = [_Row(label, str(c.tasks), c.first, c.second, c.difference, could, words, ends)]
    if pair.consistency:
        s = pair.consistency
        could = percent_or_unknown(s.detectable)
        name = f"{label}, pass^{s.k}"
        ends = pair.ends.get(PASS_HAT)
        words = verdict(s.difference, ends)
        rows.append(_Row(name, str(c.tasks), s.first, s.second, s.difference, could, words, ends))
    return rows


def _conversations(count: int) -> str:
    return counted(count, "conversation")


def _categories(arms: Sequence[ArmFigures]) -> Markup | None:
    """Success by category; None where there is but one."""
    found = [arm.summary.slices.get("category", {}) for arm in arms]
    names = sorted({name for slices in found for name in slices})
    if len(names) < 2:
        return None
    return plots.grouped_bars(
        [
            (
                name,
                [
                    _share(
                        *(place, arm, slices[name].success, arm.at_most[name]),
                        _conversations(slices[name].tasks),
                    )
                    for place, (arm, slices) in enumerate(zip(arms, found, strict=True))
                    if name in slices
                ],
            )
            for name in names
        ]
    )


def _blocks(figures: StudyFigures) -> list[_Block]:
    """The comparisons by category."""
    if figures.apart:
        return [_Block(f"{a.second} against {a.first}", _apart_rows(a)[1:]) for a in figures.apart]
    return [
        _Block(f"{pair.second} against {pair.first}", _category_rows(pair))
        for pair in figures.pairs
    ]


def _apart_rows(apart: Apart) -> list[_Row]:
    return [
        _Row(
            apart.second if category == ALL else category,
            f"{found.tasks_first}, {found.tasks_second}",
            found.first,
            found.second,
            found.difference,
            percent_or_unknown(found.detectable),
            verdict(found.difference, apart.ends.get(category)),
            apart.ends.get(category),
        )
        for category, found in apart.by_category.items()
    ]


def _category_rows(pair: Pair) -> list[_Row]:
    rows: list[_Row] = []
    for category, c in pair.by_category.items():
        could = percent_or_unknown(c.detectable)
        tasks, ends = str(c.tasks), pair.ends.get(category)
        words = verdict(c.difference, ends)
        rows.append(_Row(category, tasks, c.first, c.second, c.difference, could, words, ends))
    return rows
