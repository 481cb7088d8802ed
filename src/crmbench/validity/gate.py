"""What a gate finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Offender:
    """One task, or one thing in it, that a gate objects to."""

    task_id: str
    reason: str


@dataclass(frozen=True)
class GateResult:
    """One gate's finding on one set of tasks."""

    gate: str
    """Its name."""
    question: str
    """What it asks, in one sentence."""
    passed: bool
    figure: float | int
    """What was measured."""
    of: int | None
    """What it is a part of, if it is a count."""
    required: str
    """What it has to be."""
    offenders: tuple[Offender, ...] = ()
    applies: bool = True
    """False: nothing in this set can be asked that; passes, and says so."""


@dataclass(frozen=True)
class AuditReport:
    """All gates on one set of tasks."""

    data: str
    tasks: int
    turns: int
    gates: tuple[GateResult, ...]

    @property
    def passed(self) -> bool:
        return all(gate.passed for gate in self.gates)


def none_wrong(
    gate: str, question: str, offenders: Sequence[Offender], of: int, *, applies: bool = True
) -> GateResult:
    """A gate that tolerates no offender."""
    return GateResult(
        gate, question, not offenders, len(offenders), of, "0", tuple(offenders), applies
    )


def at_least(
    gate: str,
    question: str,
    good: int,
    of: int,
    share: float,
    offenders: Sequence[Offender] = (),
) -> GateResult:
    """A gate that wants a share of good ones; with none to ask about it does not apply."""
    passed = of == 0 or good >= share * of
    required = f"≥ {share:.1%}"
    return GateResult(gate, question, passed, good, of, required, tuple(offenders), of > 0)


NAMED = 1000
"""Offenders of a gate that are kept of a set that is audited in parts."""


def merged(name: str, reports: Iterable[AuditReport]) -> AuditReport:
    """The audits of a set's parts as one: a gate passes where it passes in every part.

    Counts are added up; of shares the worst is shown. No more than `NAMED` offenders are kept.
    """
    tasks = turns = 0
    gates: dict[str, GateResult] = {}
    for report in reports:
        tasks, turns = tasks + report.tasks, turns + report.turns
        for gate in report.gates:
            known = gates.get(gate.gate)
            gates[gate.gate] = _both(known, gate) if known else gate
    return AuditReport(name, tasks, turns, tuple(gates.values()))


def _both(one: GateResult, two: GateResult) -> GateResult:
    if not (one.applies and two.applies):
        found = one if one.applies else two
        return replace(found, passed=one.passed and two.passed)
    if one.of is None or two.of is None:
        worst = min if one.required.startswith("≥") else max
        figure, of = worst(one.figure, two.figure), None
    else:
        figure, of = one.figure + two.figure, one.of + two.of
    return replace(
        one,
        passed=one.passed and two.passed,
        figure=figure,
        of=of,
        offenders=(*one.offenders, *two.offenders)[:NAMED],
    )
