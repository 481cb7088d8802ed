"""Runs side by side, paired by task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.grading import paired
from crmbench.grading.metrics import Interval
from crmbench.language.counts import counted
from crmbench.report.exclusions import NotCounted
from crmbench.report.role_figures import JudgeFigures, UserFigures, figures_lines
from crmbench.report.rows.tally import Tally
from crmbench.report.summary import Summary, tallied
from crmbench.runner.run_dir import RunDir


@dataclass(frozen=True)
class Compared:
    """One run held to the first."""

    run: str
    agent: str
    whole: paired.Comparison
    ends: tuple[Interval, Interval] | None
    """The difference at both ends, where either run has undecided episodes: theirs all taken to
    fail and the first run's to succeed, and the other way round.
    """
    by_category: dict[str, paired.Comparison]


@dataclass(frozen=True)
class RunFigures:
    """What stands beside the success of one run."""

    run: str
    agent: str
    episodes: int
    """That count."""
    missing: int
    not_counted: NotCounted
    usage: TokenUsage
    """Of the agent."""
    user: UserFigures | None
    judge: JudgeFigures | None
    total_usage: TokenUsage

    @staticmethod
    def of(run: str, agent: str, summary: Summary) -> RunFigures:
        """Those of a summary."""
        s = summary
        return RunFigures(
            *(run, agent, s.trials, s.missing, s.not_counted),
            *(s.usage, s.user, s.judge, s.total_usage),
        )

    def lines(self) -> Iterator[str]:
        """What other models did in the run, and what does not count in it, in sentences."""
        yield from (line.strip() for line in figures_lines(self.user, self.judge))
        if self.not_counted.total:
            left_out = counted(self.not_counted.total, "episode")
            yield f"{left_out} left out: {self.not_counted.described()}"


@dataclass(frozen=True)
class RunComparison:
    """Two or more runs; the first is what the others are held to."""

    first_run: str
    first_agent: str
    others: tuple[Compared, ...]
    runs: tuple[RunFigures, ...] = ()
    """All of them, in their order."""
    notes: tuple[str, ...] = ()
    """What makes the runs less alike, or one of them incomplete, in sentences."""

    def to_data(self) -> dict[str, Any]:
        """A JSON object; figures that cannot be known are null."""
        data: dict[str, Any] = _finite(asdict(self))
        return data


def _finite(value: Any) -> Any:
    """`value` as JSON can hold it: figures that are not numbers are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def compare_runs(run_dirs: Sequence[RunDir]) -> RunComparison:
    """Compare every run with the first.

    Raises:
        InputError: A directory holds no run, or two runs have no task in common.
    """
    for run_dir in run_dirs:
        run_dir.config()  # says so if there is no run
    runs = [tallied(run_dir) for run_dir in run_dirs]
    first, before = run_dirs[0], runs[0].tally
    clusters = {key: task.facts.family for key, task in before.tasks.items() if task.facts.family}
    compared = []
    for other, after in zip(run_dirs[1:], (run.tally for run in runs[1:]), strict=True):
        if not before.tasks.keys() & after.tasks.keys():
            raise InputError(
                "the runs have no conversation in common",
                file=str(other.path),
                expected=f"a run over the data of {first.path}",
            )
        whole = paired.compare(before.outcomes(), after.outcomes(), clusters)
        ends = _ends(before, after, clusters)
        by_category = dict(_by_category(before, after, clusters))
        compared.append(Compared(_name(other), _agent(other), whole, ends, by_category))
    figures = tuple(
        RunFigures.of(_name(run_dir), _agent(run_dir), run.summary)
        for run_dir, run in zip(run_dirs, runs, strict=True)
    )
    return RunComparison(
        _name(first),
        _agent(first),
        tuple(compared),
        figures,
        (*_differences(run_dirs), *(note for run in figures for note in _missing(run))),
    )


def _by_category(
    before: Tally, after: Tally, clusters: Mapping[str, str]
) -> Iterator[tuple[str, paired.Comparison]]:
    for category in sorted({task.facts.category for task in before.tasks.values()}):

        def within(key: str, of: str = category) -> bool:
            # A conversation that only the other run played has its category there.
            return (before.tasks.get(key) or after.tasks[key]).facts.category == of

        one, two = before.outcomes(only=within), after.outcomes(only=within)
        if one.keys() & two.keys():
            yield category, paired.compare(one, two, clusters)


DIFFERENT = {
    "data_digest": "data",
    "grading_version": "versions of the grading",
    "user": "users",
    "tools": "parts of the tools",
    "temperature": "temperatures",
    "time_limit": "limits of time",
    "judge": "judges",
    "backend": "backends",
    "max_calls": "limits of tool calls",
    "condition": "conditions",
    "budget": "budgets of calls",
    "max_steps": "limits of model calls",
}
"""Settings that make runs less alike, and what to call them."""


def _differences(run_dirs: Sequence[RunDir]) -> Iterator[str]:
    configs = [run_dir.config() for run_dir in run_dirs]
    for name, what in DIFFERENT.items():
        # A run of an earlier version may lack a field whose value is none now.
        if len({str(config.get(name) or None) for config in configs}) > 1:
            yield f"The runs are of different {what}."


def _missing(run: RunFigures) -> Iterator[str]:
    if run.missing:
        yield (
            f"{run.run}: not played: {counted(run.missing, 'episode')}; those that end first are "
            "not like the rest."
        )


def run_notes(comparison: RunComparison) -> list[str]:
    """What stands in the way of comparing the runs, in sentences."""
    notes = list(comparison.notes)
    for other in comparison.others:
        alone = other.whole.only_first + other.whole.only_second
        if alone:
            notes.append(
                f"{other.run}: {counted(alone, 'conversation')} counted in only one of the "
                "two runs, and left out of the difference."
            )
    return notes


def _agent(run_dir: RunDir) -> str:
    config = run_dir.config()
    return str(config.get("model") or config.get("agent"))


def _name(run_dir: RunDir) -> str:
    return run_dir.path.resolve().name


def _ends(
    before: Tally, after: Tally, clusters: Mapping[str, str]
) -> tuple[Interval, Interval] | None:
    if not any(t.at_most != t.right for run in (before, after) for t in run.tasks.values()):
        return None
    low = paired.compare(before.outcomes(at_most=True), after.outcomes(), clusters).difference
    high = paired.compare(before.outcomes(), after.outcomes(at_most=True), clusters).difference
    return low, high


def render_comparison(comparison: RunComparison) -> str:
    """The comparison in words and figures."""
    lines = []
    for other in comparison.others:
        c = other.whole
        alone = c.only_first + c.only_second
        lines += [
            (
                f"{other.agent} ({other.run}) against {comparison.first_agent} "
                f"({comparison.first_run}), {counted(c.tasks, 'conversation')} in both"
            ),
            *([f"  left out    {alone} that count in only one of them"] if alone else []),
            f"  success     {c.first:.1%} -> {c.second:.1%}",
            (
                f"  difference  {c.difference.value:+.1%}, 95 % interval "
                f"{c.difference.low:+.1%} to {c.difference.high:+.1%}"
            ),
            *_ends_lines(other),
            f"  better on {c.better}, worse on {c.worse} (sign test p = {c.p_value:.3g})",
            f"  smallest difference that these could show: {percent_or_unknown(c.detectable)}",
        ]
        for category, part in other.by_category.items():
            lines.append(
                f"    {category:<28} {part.first:>6.1%} -> {part.second:>6.1%}  "
                f"({counted(part.tasks, 'conversation')})"
            )
        lines.append("")
    for run in comparison.runs:
        lines += [f"{run.run}: {line}" for line in run.lines()]
    return "\n".join(lines + list(comparison.notes)).rstrip()


def _ends_lines(other: Compared) -> Iterator[str]:
    if other.ends is None:
        return
    low, high = other.ends
    yield (
        f"  with what is undecided, the difference is between {low.value:+.1%} "
        f"({low.low:+.1%} to {low.high:+.1%}) and {high.value:+.1%} "
        f"({high.low:+.1%} to {high.high:+.1%})"
    )


def percent_or_unknown(value: float) -> str:
    """A smallest detectable difference as a percentage, or a word.

    It is zero where all conversations changed alike: their spread is then not known to be nothing.
    """
    return f"{value:.1%}" if math.isfinite(value) and value > 0 else "unknown"
