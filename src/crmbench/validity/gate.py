"""What a gate finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
