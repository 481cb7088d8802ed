"""The figures of a run as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table

from crmbench.core.score.metrics import Interval
from crmbench.report.summary import Summary

WIDTH = 80
BAR = 20


def render_terminal(summary: Summary, title: str = "") -> str:
    """The tables as text, 80 columns wide."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=False, color_system=None)
    console.print(title, style="bold")
    console.print(_headline(summary))
    for name in ("category", "complexity", "tag", "persona"):
        groups = summary.slices.get(name, {})
        if len(groups) > 1:
            table = _table(name.capitalize(), "tasks", "success", "95 % interval", "")
            for value, found in groups.items():
                shown = percent(found.success)
                table.add_row(value, str(found.tasks), *shown, bar(found.success.value))
            console.print(table)
    if summary.tool_errors:
        table = _table("Tool errors", "calls", "errors", "kinds")
        for entry in summary.tool_errors[:12]:
            kinds = ", ".join(f"{kind} {count}" for kind, count in entry.kinds.items())
            table.add_row(entry.tool, str(entry.calls), str(entry.errors), kinds)
        console.print(table)
    for passed in summary.passed[:20]:
        console.print(f"passed with little to do: {passed.conversation_id}: {passed.reason}")
    return out.getvalue().rstrip()


def render_overview(runs: Sequence[tuple[str, Summary]]) -> str:
    """Several runs, one line each."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=False, color_system=None)
    table = _table("Run", "conversations", "success", "95 % interval", "calls", "")
    for name, summary in runs:
        shown = percent(summary.success)
        calls = f"{summary.calls:.1f}"
        table.add_row(name, str(summary.conversations), *shown, calls, bar(summary.success.value))
    console.print(table)
    return out.getvalue().rstrip()


def _headline(summary: Summary) -> str:
    value, interval = percent(summary.success)
    lines = [
        (
            f"success   {value}  (95 % interval {interval}; {summary.succeeded} of "
            f"{summary.trials} episodes, {summary.conversations} conversations, "
            f"{summary.turns} turns)"
        )
    ]
    if len(summary.pass_hat) > 1:
        lines.append("pass^k    " + _by_k(summary.pass_hat))
        lines.append("pass@k    " + _by_k(summary.pass_at))
    arc = summary.arc
    lines.append(
        f"Arc       strict success {arc.strict_success:.1%}, tool success {arc.tool_success:.1%}, "
        f"response success {_optional(arc.response_success)}, exact match {arc.exact_match:.1%}"
    )
    if summary.reasons:
        reasons = ", ".join(f"{kind} {count}" for kind, count in summary.reasons.items())
        lines.append(f"failures  {reasons}")
    usage = summary.usage
    if usage.model_calls:
        cost = "unknown" if usage.cost is None else f"${usage.cost:,.2f}"
        lines.append(
            f"tokens    {usage.prompt_tokens:,} in, {usage.completion_tokens:,} out, "
            f"{usage.model_calls:,} model calls, cost {cost}"
        )
    if summary.infrastructure_failures:
        lines.append(f"not counted: {summary.infrastructure_failures} (model or server failed)")
    return "\n".join(lines)


def _by_k(values: dict[int, float]) -> str:
    return "  ".join(f"{k}: {value:.1%}" for k, value in values.items())


def _optional(value: float | None) -> str:
    return "not judged" if value is None else f"{value:.1%}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="left" if name in ("", "kinds") else "right")
    return table


def percent(interval: Interval) -> tuple[str, str]:
    """A share and its interval, as people read them."""
    return f"{interval.value:.1%}", f"{interval.low:.0%} to {interval.high:.0%}"


def bar(share: float) -> str:
    """A share as a bar."""
    return "█" * round(share * BAR) or "·"
