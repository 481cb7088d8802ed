"""The figures of a run as tables for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table

from crmbench.core.trace import TokenUsage
from crmbench.grading.metrics import Interval
from crmbench.grading.metrics import Summary as Part
from crmbench.language.counts import counted
from crmbench.report.role_figures import figures_lines
from crmbench.report.summary import Summary

WIDTH = 80
BAR = 20
LONGEST = 12
"""Rows of a table at most; the page holds all."""


def render_terminal(summary: Summary, title: str = "", *, slices: bool = True) -> str:
    """The tables as text, 80 columns wide.

    Args:
        slices: Success by category, complexity, tag and persona too.
    """
    out = StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=False, color_system=None)
    console.print(title, style="bold")
    console.print("\n".join(_headline(summary)))
    for name in ("category", "complexity", "tag", "persona") if slices else ():
        _print_slices(console, name, summary.slices.get(name, {}))
    _print_effort(console, summary)
    _print_errors(console, summary)
    for passed in summary.passed[:LONGEST]:
        console.print(f"passed with little to do: {passed.conversation_id}: {passed.reason}")
    _print_rest(console, len(summary.passed), "passed with little to do")
    return out.getvalue().rstrip()


def _print_slices(console: Console, name: str, groups: Mapping[str, Part]) -> None:
    """The largest slices, in the order in which they come; nothing if there is only one."""
    if len(groups) < 2:
        return
    largest = sorted(groups, key=lambda value: -groups[value].tasks)[:LONGEST]
    table = new_table(name.capitalize(), "tasks", "success", "95 % interval", "")
    for value, found in groups.items():
        if value in largest:
            shown = percent(found.success)
            table.add_row(value, str(found.tasks), *shown, bar(found.success.value))
    console.print(table)
    _print_rest(console, len(groups), f"by {name}")


def _print_effort(console: Console, summary: Summary) -> None:
    """What a model took by category; the page holds it for other agents, too."""
    if not summary.usage.model_calls:
        return
    table = new_table(
        "A conversation, mean", "turns", "tool calls", "model calls", "tokens", "cost"
    )
    for name, found in list(summary.effort.items())[:LONGEST]:
        cost = "unknown" if found.cost is None else f"${found.cost:,.4f}"
        counts = (found.turns, found.calls, found.model_calls)
        table.add_row(name, *(f"{value:.1f}" for value in counts), f"{found.tokens:,.0f}", cost)
    console.print(table)
    _print_rest(console, len(summary.effort), "by category")


def _print_errors(console: Console, summary: Summary) -> None:
    if not summary.tool_errors:
        return
    table = new_table("Tool errors", "calls", "errors", "kinds")
    for entry in summary.tool_errors[:LONGEST]:
        kinds = ", ".join(f"{kind} {count}" for kind, count in entry.kinds.items())
        table.add_row(entry.tool, str(entry.calls), str(entry.errors), kinds)
    console.print(table)
    _print_rest(console, len(summary.tool_errors), "tools")


def _print_rest(console: Console, count: int, what: str) -> None:
    if count > LONGEST:
        console.print(f"  … and {count - LONGEST} more {what}, in the HTML report")


def render_overview(runs: Sequence[tuple[str, Summary]]) -> str:
    """Several runs, one line each."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=False, color_system=None)
    table = new_table("Run", "conversations", "success", "95 % interval", "calls", "")
    for name, summary in runs:
        shown = percent(summary.success) if summary.trials else ("unknown", "–")
        calls = f"{summary.calls:.1f}"
        table.add_row(name, str(summary.conversations), *shown, calls, bar(summary.success.value))
    console.print(table)
    for name, summary in runs:
        if summary.missing:
            console.print(f"{name}: not played: {counted(summary.missing, 'episode')}")
        if summary.not_counted.total:
            lost = summary.not_counted
            excluded = counted(lost.total, "episode")
            console.print(f"{name}: not counted: {excluded}: {lost.described()}")
    return out.getvalue().rstrip()


def _headline(summary: Summary) -> list[str]:
    value, interval = percent(summary.success)
    known = f"{value}  (95 % interval {interval})" if summary.trials else "unknown: none counts"
    lines = [
        f"success   {known}",
        (
            f"          {summary.succeeded:,} of {counted(summary.trials, 'episode')}, "
            f"{counted(summary.conversations, 'conversation')}, {counted(summary.turns, 'turn')}"
        ),
    ]
    if summary.undecided:
        most, bounds = percent(summary.at_most)
        why = ", ".join(f"{kind} {count}" for kind, count in summary.undecided_why.items())
        lines += [
            f"at most   {most}  (95 % interval {bounds})",
            f"undecided {summary.undecided:,} of {counted(summary.trials, 'episode')}: {why}",
        ]
    if any(summary.misreports.values()):
        told = ", ".join(f"{kind} {count:,}" for kind, count in summary.misreports.items())
        lines.append(f"misreport {told}")
    if summary.missing:
        lines.append(f"missing   {counted(summary.missing, 'episode')} not played; see --resume")
    if len(summary.pass_hat) > 1:
        lines.append("pass^k    " + _by_k(summary.pass_hat))
        lines.append("pass@k    " + _by_k(summary.pass_at))
    arc = summary.arc
    lines.append(
        f"Arc       strict success {_optional(arc.strict_success)}, "
        f"tool success {_optional(arc.tool_success)},\n"
        f"          response success {_optional(arc.response_success)}, "
        f"exact match {_optional(arc.exact_match)}"
    )
    if arc.chain_success is not None:
        lines.append(
            f"chains    all segments right {_optional(arc.chain_success)}, "
            f"segments {_optional(arc.segment_success)}"
        )
    if summary.answers:
        found = summary.answers
        lines.append(
            f"answers   exact match {_optional(found.exact_match)} of "
            f"{counted(found.exact_turns, 'turn')}, token F1 {_f1(found.token_f1)} over "
            f"{counted(found.text_turns, 'text')}"
        )
    if summary.reasons:
        reasons = ", ".join(f"{kind} {count:,}" for kind, count in summary.reasons.items())
        lines += _indented(f"failures  {reasons}")
    return lines + _models(summary)


def _f1(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


def _models(summary: Summary) -> list[str]:
    """What the models took, and who of them failed."""
    lines = []
    if summary.usage.model_calls:
        lines.append(f"tokens    {_taken(summary.usage)}")
    if summary.user or summary.judge:
        for line in figures_lines(summary.user, summary.judge):
            lines += _indented(line.strip())
        lines.append(f"in all    {_taken(summary.total_usage)}")
    lost = summary.not_counted
    if lost.total:
        lines += _indented(f"not counted: {counted(lost.total, 'episode')} ({lost.described()})")
    return lines


def _indented(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * 10)


def _taken(usage: TokenUsage) -> str:
    cost = "unknown" if usage.cost is None else f"${usage.cost:,.2f}"
    if usage.model_calls and not usage.total_tokens:
        # A server that sends no usage is not one that read nothing.
        return f"unknown, {counted(usage.model_calls, 'model call')}, cost {cost}"
    return (
        f"{usage.prompt_tokens:,} in, {usage.completion_tokens:,} out, "
        f"{counted(usage.model_calls, 'model call')}, cost {cost}"
    )


def _by_k(values: dict[int, float]) -> str:
    return "  ".join(f"{k}: {value:.1%}" for k, value in values.items())


def _optional(value: float | None) -> str:
    return "not judged" if value is None else f"{value:.1%}"


def new_table(first: str, *others: str) -> Table:
    """An empty table of figures: names at the left, which may fold, figures at the right."""
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
