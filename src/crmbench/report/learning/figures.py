"""The figures of a learning run, read from its directory, for files and the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from crmbench.grading.metrics import Interval
from crmbench.language.counts import counted
from crmbench.learning.figures import LearnerFigures, learning_figures
from crmbench.learning.plan import STATELESS, LearningChain
from crmbench.learning.record import ChainFiles, StepRecord
from crmbench.learning.run import read_plan
from crmbench.learning.streams import Schedule
from crmbench.report.terminal import new_table

WIDTH = 110


@dataclass(frozen=True)
class LearningReport:
    """A learning run's plan and figures."""

    plan: dict[str, Any]
    arms: tuple[LearnerFigures, ...]

    def to_data(self) -> dict[str, Any]:
        """For ``learn.json``; figures of nothing are null."""
        figures = [_known(asdict(arm)) for arm in self.arms]
        return {**self.plan, "results": {"arms": figures}}

    @property
    def learners(self) -> tuple[LearnerFigures, ...]:
        """All arms but the stateless one."""
        return tuple(arm for arm in self.arms if arm.arm != STATELESS)


def _known(value: Any) -> Any:
    """The value with null for what is no number, which JSON does not have."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_known(each) for each in value]
    return value


def learning_report(folder: Path) -> LearningReport:
    """The figures of what was played so far.

    Raises:
        InputError: The directory holds no learning run, or a line in it cannot be read.
    """
    plan = read_plan(folder)
    plan.pop("results", None)
    steps: dict[tuple[str, int], list[StepRecord]] = {}
    for arm in plan["arms"]:
        for seed in range(plan["seed"], plan["seed"] + plan["seeds"]):
            name = LearningChain(arm, seed, Schedule(())).name
            steps[arm, seed] = ChainFiles(folder / name).steps()
    return LearningReport(plan, learning_figures(steps))


def cautions(report: LearningReport) -> list[str]:
    """What a reader has to know before the figures."""
    notes = []
    if not report.plan["on_boards"]:
        notes.append("Learners were told the gold: this is an upper bound, and no result to rank.")
    if not any(arm.arm.startswith("placebo") for arm in report.arms):
        notes.append(
            "There is no placebo: whether a gain is of what was learnt, or only of a longer "
            "prompt, cannot be told. Add placebo to --learner."
        )
    if report.arms and report.arms[0].episodes == 0:
        notes.append("Nothing was played yet.")
    return notes


def render_learning(report: LearningReport) -> str:
    """The figures as tables for a terminal."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=False, color_system=None)
    plan = report.plan
    console.print(
        f"Learning on {plan['data']}, stream {plan['stream']}, feedback {plan['feedback']}, "
        f"{plan['seeds']} seed{'s' if plan['seeds'] > 1 else ''}"
    )
    console.print(_gains(report.arms))
    console.print(_taken(report.arms))
    if parts := _parts(report.learners):
        console.print(parts)
    for arm in report.learners:
        if arm.transfer is not None:
            t = arm.transfer
            console.print(
                f"{arm.arm}: ACC {t.acc.value:.1%} ({bounds(t.acc)}), BWT {points(t.bwt)}, "
                f"FWT {points(t.fwt)}, forgetting {100 * t.forgetting:.1f} points"
            )
        console.print(f"{arm.arm}: {break_even_words(arm)}")
    for note in cautions(report):
        console.print(f"Note: {note}")
    return out.getvalue().rstrip()


def _gains(arms: Sequence[LearnerFigures]) -> Table:
    table = new_table("Arm", "episodes", "success", "95 % interval", "gain, points", "failed anew")
    for arm in arms:
        table.add_row(
            arm.arm,
            f"{arm.episodes:,}",
            percent(arm.success.value),
            bounds(arm.success),
            "" if arm.arm == STATELESS else points(arm.gain),
            "" if arm.arm == STATELESS else percent(arm.worse.value),
        )
    return table


def _taken(arms: Sequence[LearnerFigures]) -> Table:
    table = new_table(
        "Arm", "recalled", "memory", "agent tokens", "learner tokens", "cost", "attempts"
    )
    for arm in arms:
        roles = ", ".join(f"{role} {use.total_tokens:,}" for role, use in arm.learner.items())
        cost = arm.total.cost
        table.add_row(
            arm.arm,
            f"{arm.recalled:,.0f}",
            f"{arm.memory:,.0f}",
            f"{arm.agent.total_tokens:,}",
            roles or "0",
            "unknown" if cost is None else f"${cost:,.4f}",
            f"{arm.attempts:.2f}",
        )
    return table


def _parts(arms: Sequence[LearnerFigures]) -> Table | None:
    """Gain by block and on what was held out; None where there is but one block."""
    if not any(len(arm.blocks) > 1 or arm.held_out for arm in arms):
        return None
    table = new_table("Arm", "part", "gain, points")
    for arm in arms:
        for name, gain in arm.blocks.items():
            table.add_row(arm.arm, f"while learning, {name}", points(gain))
        for name, gain in arm.held_out.items():
            table.add_row(arm.arm, f"held out, {name}", points(gain))
    return table


def break_even_words(arm: LearnerFigures) -> str:
    """When the learner has paid for itself, in words."""
    found = arm.break_even
    if found is None or found.learner is None:
        return "no success yet"
    if not arm.total.total_tokens:
        return "no model was asked"
    each = f"a success costs {amount(found.learner, found.unit)}"
    if found.stateless is not None:
        each += f", without a memory {amount(found.stateless, found.unit)}"
    if found.after is None:
        return f"{each}; it has not paid for itself"
    return f"{each}; it has paid for itself after {counted(found.after, 'conversation')}"


def amount(value: float, unit: str) -> str:
    """Money or tokens."""
    return f"${value:,.4f}" if unit == "US dollars" else f"{value:,.0f} tokens"


def percent(value: float) -> str:
    """A share, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.1%}"


def bounds(interval: Interval) -> str:
    """The interval of a share."""
    return "–" if math.isnan(interval.low) else f"{interval.low:.0%} to {interval.high:.0%}"


def points(interval: Interval) -> str:
    """A difference of shares in points, with its interval."""
    if math.isnan(interval.value):
        return "–"
    value, low, high = (100 * part for part in interval)
    return f"{value:+.1f} ({low:+.0f} to {high:+.0f})"
