"""A study's figures as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table

from crmbench.grading.metrics import Interval
from crmbench.report.compare import percent_or_unknown
from crmbench.report.study import ALL, PASS_HAT, Apart, ArmFigures, Ends, Pair, StudyFigures
from crmbench.report.study_words import TITLES, cautions, optional, success_range, verdict
from crmbench.report.terminal import new_table

WIDTH = 110


def render_study(figures: StudyFigures) -> str:
    """The tables as text."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=False, color_system=None)
    plan = figures.plan
    console.print(
        f"{TITLES[figures.kind]}, {plan['domain']}: {len(figures.arms)} of {len(plan['arms'])} arms"
    )
    console.print(_reached(figures.arms))
    console.print(_taken(figures.arms))
    if any(arm.k > 1 for arm in figures.arms):
        console.print(_steady(figures.arms))
    if figures.pairs:
        own = figures.kind == "latents"
        console.print("The same questions, paired" if own else "Paired by conversation")
        console.print(_pairs(figures.pairs))
    for apart in figures.apart:
        console.print(f"{apart.second} against {apart.first}, questions of the same kinds")
        console.print(_apart(apart))
    for line in cautions(figures):
        console.print(f"Note: {line}")
    return out.getvalue().rstrip()


def _reached(arms: Sequence[ArmFigures]) -> Table:
    table = new_table("Arm", "episodes", "success", "95 % interval", "exact match", "token F1")
    for arm in arms:
        exact = optional(arm.answers.exact_match, ".1%")
        f1 = optional(arm.answers.token_f1, ".2f")
        table.add_row(
            arm.name,
            f"{arm.summary.trials:,}",
            success_range(arm.summary.success.value, arm.summary.at_most.value),
            _bounds(arm.summary.success, ".0%"),
            exact,
            f1,
        )
    return table


def _taken(arms: Sequence[ArmFigures]) -> Table:
    table = new_table("Taken each", "tool calls", "model calls", "tokens", "cost", "cost in all")
    for arm in arms:
        table.add_row(
            arm.name,
            f"{arm.tool_calls:.1f}",
            optional(arm.model_calls, ".1f"),
            optional(arm.tokens, ",.0f"),
            optional(arm.cost, ".4f", "$"),
            optional(arm.total_cost, ",.2f", "$"),
        )
    return table


def _steady(arms: Sequence[ArmFigures]) -> Table:
    most = max(arm.k for arm in arms)
    table = new_table(
        "Consistency", *(f"pass^{k}" for k in range(1, most + 1)), "always", "sometimes", "never"
    )
    for arm in arms:
        s = arm.summary
        hats = [success_range(s.pass_hat.get(k), s.pass_hat_at_most.get(k)) for k in _to(most)]
        found = arm.steadiness
        table.add_row(arm.name, *hats, str(found.always), str(found.sometimes), str(found.never))
    return table


def _to(most: int) -> range:
    return range(1, most + 1)


def _pairs(pairs: Sequence[Pair]) -> Table:
    table = new_table(
        "Second against first", "tasks", "difference", "95 % interval", "could show", ""
    )
    for pair in pairs:
        c = pair.success
        table.add_row(
            f"{pair.second} - {pair.first}",
            str(c.tasks),
            f"{c.difference.value:+.1%}",
            _bounds(c.difference, "+.0%"),
            percent_or_unknown(c.detectable),
            verdict(c.difference, pair.ends.get(ALL)),
        )
        _add_ends(table, pair.ends.get(ALL), 2)
        if pair.consistency:
            s = pair.consistency
            table.add_row(
                f"  pass^{s.k}",
                "",
                f"{s.difference.value:+.1%}",
                _bounds(s.difference, "+.0%"),
                percent_or_unknown(s.detectable),
                verdict(s.difference, pair.ends.get(PASS_HAT)),
            )
            _add_ends(table, pair.ends.get(PASS_HAT), 2)
    return table


def _add_ends(table: Table, ends: Ends | None, before: int) -> None:
    """A row with the difference at both ends of what is undecided, `before` cells from the left."""
    if ends is not None:
        low, high = ends
        table.add_row(
            "  with what is undecided",
            *[""] * (before - 1),
            f"{low.value:+.1%} to {high.value:+.1%}",
            f"{low.low:+.0%} to {high.high:+.0%}",
        )


def _apart(apart: Apart) -> Table:
    table = new_table(
        "Category", "tasks", "with", "without", "difference", "95 % interval", "could show"
    )
    for category, found in apart.by_category.items():
        table.add_row(
            "all together" if category == ALL else category,
            f"{found.tasks_first}, {found.tasks_second}",
            f"{found.first:.1%}",
            f"{found.second:.1%}",
            f"{found.difference.value:+.1%}",
            _bounds(found.difference, "+.0%"),
            percent_or_unknown(found.detectable),
        )
        _add_ends(table, apart.ends.get(category), 4)
    return table


def _bounds(interval: Interval, form: str) -> str:
    return f"{interval.low:{form}} to {interval.high:{form}}"
