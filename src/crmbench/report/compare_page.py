"""The comparison as one self-contained page, without a script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from crmbench.grading.metrics import Interval
from crmbench.grading.paired import Comparison
from crmbench.language.counts import counted
from crmbench.report import plots
from crmbench.report.compare import RunComparison, compare_runs, percent_or_unknown, run_notes
from crmbench.report.html import write_page
from crmbench.report.labels import labels_of, player
from crmbench.report.summary import Summary, summary_of
from crmbench.report.views.templates import page_style, page_template
from crmbench.runner.run_dir import RunDir

ALPHA = 0.05
"""Of the sign test, which the interval of a difference is held to."""


@dataclass(frozen=True)
class _Run:
    """A run as the page shows it."""

    label: str
    name: str
    agent: str
    config: dict[str, Any]
    summary: Summary

    @property
    def k(self) -> int:
        """The most trials that every conversation had."""
        return max(self.summary.pass_hat, default=1)

    @property
    def tokens(self) -> float | None:
        """A conversation; None where no model's tokens are known."""
        usage = self.summary.usage
        return usage.total_tokens / max(self.summary.trials, 1) if usage.total_tokens else None

    @property
    def cost(self) -> float | None:
        """US dollars a conversation; None where no price is known."""
        cost = self.summary.usage.cost
        return None if cost is None else cost / max(self.summary.trials, 1)


@dataclass(frozen=True)
class _Compared:
    """A run held to the first."""

    label: str
    whole: Comparison
    detectable: str
    reading: str
    ends: tuple[Interval, Interval] | None
    """The difference at both ends of what is undecided; None where nothing is."""


@dataclass(frozen=True)
class _CategoryRow:
    category: str
    label: str
    part: Comparison
    detectable: str


@dataclass(frozen=True)
class _Against:
    """Success against what it takes."""

    what: str
    plot: Markup | None
    left_out: list[str] = field(default_factory=list)


def write_comparison(run_dirs: Sequence[RunDir], out: Path) -> RunComparison:
    """Write the page and return the figures that are on it.

    Raises:
        InputError: A directory holds no run, or two runs have no conversation in common.
    """
    comparison = compare_runs(run_dirs)
    runs = _runs(run_dirs)
    labels = [run.label for run in runs]
    page = page_template("compare.html").render(
        style=page_style(),
        runs=runs,
        legend=plots.legend(labels),
        notes=run_notes(comparison),
        success=_success(runs),
        beside=[
            f"{label}: {line}"
            for label, figures in zip(labels, comparison.runs, strict=True)
            for line in figures.lines()
        ],
        compared=[
            _Compared(
                label, c.whole, percent_or_unknown(c.whole.detectable), reading(c.whole), c.ends
            )
            for label, c in zip(labels[1:], comparison.others, strict=True)
        ],
        differences=_differences(labels, comparison),
        against=_against(runs),
        categories=_categories(runs),
        category_rows=_category_rows(labels, comparison),
        turns=_turns(runs),
        reasons=_reasons(runs),
        tool_errors=_tool_errors(runs),
    )
    write_page(out, page)
    return comparison


def _runs(run_dirs: Sequence[RunDir]) -> list[_Run]:
    configs = [run_dir.config() for run_dir in run_dirs]
    names = [run_dir.path.resolve().name for run_dir in run_dirs]
    return [
        _Run(label, name, player(config), config, summary_of(run_dir))
        for run_dir, config, label, name in zip(
            run_dirs, configs, labels_of(configs, names), names, strict=True
        )
    ]


def reading(c: Comparison) -> str:
    """A comparison in words, with no more in them than the figures hold."""
    if c.significant:
        word = "better" if c.difference.value > 0 else "worse"
        # An interval from few conversations that changed is too narrow; the sign test is exact.
        return word if c.p_value < ALPHA else f"perhaps {word}: the sign test does not show it"
    if c.better == c.worse == 0:
        return "every conversation came out the same"
    return f"not shown to differ; {percent_or_unknown(c.detectable)} could have been seen"


def _success(runs: Sequence[_Run]) -> Markup:
    return plots.grouped_bars(
        [
            (run.label, [_share(place, run.label, run.summary.success, run.summary.trials)])
            for place, run in enumerate(runs)
        ]
    )


def _share(place: int, label: str, interval: Interval, episodes: int) -> plots.Share:
    remark = (
        f"{label}: {interval.value:.1%}, 95 % interval {interval.low:.0%} to {interval.high:.0%}, "
        f"{counted(episodes, 'episode')}"
    )
    return plots.Share(place, interval.value, interval, remark)


def _differences(labels: Sequence[str], comparison: RunComparison) -> Markup:
    return plots.differences(
        [
            plots.Delta(
                place,
                labels[place],
                c.whole.difference,
                c.whole.detectable,
                f"{counted(c.whole.tasks, 'conversation')}, better on {c.whole.better}, worse on "
                f"{c.whole.worse}",
            )
            for place, c in enumerate(comparison.others, start=1)
        ]
    )


def _against(runs: Sequence[_Run]) -> _Against:
    """Success against cost; against tokens where no run's cost is known."""
    money = any(run.cost is not None for run in runs)
    what = "cost" if money else "tokens"
    taken = [run.cost if money else run.tokens for run in runs]
    points = [
        plots.Point(place, run.label, x, run.summary.success, _remark(run, x, money))
        for place, (run, x) in enumerate(zip(runs, taken, strict=True))
        if x is not None
    ]
    absent = [run.label for run, x in zip(runs, taken, strict=True) if x is None]
    if not points:
        return _Against("cost", None, ["No run has a cost or counted tokens."])
    axis = "US dollars a conversation" if money else "tokens a conversation"
    left_out = []
    if not money:
        left_out.append("No run's price is known, so tokens stand in for cost.")
    if absent:
        left_out.append(f"Without a known {what}, and left out: {', '.join(absent)}.")
    return _Against(what, plots.scatter(points, axis, money), left_out)


def _remark(run: _Run, x: float, money: bool) -> str:
    each = f"${x:.4f}" if money else f"{x:,.0f} tokens"
    return f"{run.summary.success.value:.1%} at {each} a conversation"


def _categories(runs: Sequence[_Run]) -> Markup:
    names = sorted({name for run in runs for name in run.summary.slices.get("category", {})})
    groups = []
    for name in names:
        shares = []
        for place, run in enumerate(runs):
            found = run.summary.slices.get("category", {}).get(name)
            if found is not None:
                label = f"{name}, {run.label}"
                shares.append(_share(place, label, found.success, found.trials))
        groups.append((name, shares))
    return plots.grouped_bars(groups)


def _category_rows(labels: Sequence[str], comparison: RunComparison) -> list[_CategoryRow]:
    rows = [
        _CategoryRow(category, label, part, percent_or_unknown(part.detectable))
        for label, other in zip(labels[1:], comparison.others, strict=True)
        for category, part in other.by_category.items()
    ]
    return sorted(rows, key=lambda row: row.category)


def _turns(runs: Sequence[_Run]) -> Markup:
    return plots.turn_courses(
        [
            [
                (turn, right / played, f"{run.label}, turn {turn}: {right} of {played}")
                for turn, (right, played) in run.summary.by_turn.items()
            ]
            for run in runs
        ]
    )


def _reasons(runs: Sequence[_Run]) -> Markup | None:
    total = Counter[str]()
    for run in runs:
        total.update(run.summary.reasons)
    if not total:
        return None
    groups = []
    for kind, _ in sorted(total.items(), key=lambda item: (-item[1], item[0])):
        shares = []
        for place, run in enumerate(runs):
            count, episodes = run.summary.reasons.get(kind, 0), run.summary.trials
            remark = f"{run.label}: {count:,} of {counted(episodes, 'episode')}"
            shares.append(plots.Share(place, count / max(episodes, 1), None, remark))
        groups.append((kind.replace("_", " "), shares))
    return plots.grouped_bars(groups)


def _tool_errors(runs: Sequence[_Run]) -> dict[str, list[tuple[int, float]]]:
    """Kind of refusal to each run's number of them, in all and a conversation."""
    by_run = []
    for run in runs:
        kinds = Counter[str]()
        for entry in run.summary.tool_errors:
            kinds.update(entry.kinds)
        by_run.append(kinds)
    total = sum(by_run, Counter[str]())
    return {
        kind: [
            (kinds[kind], kinds[kind] / max(run.summary.trials, 1))
            for kinds, run in zip(by_run, runs, strict=True)
        ]
        for kind in sorted(total, key=lambda kind: (-total[kind], kind))
    }
