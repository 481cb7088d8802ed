"""One agent with and without each condition, paired by task: what each costs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crmbench.core.conditions.lures import Attack, attacks_on
from crmbench.errors import InputError
from crmbench.grading import paired
from crmbench.grading.metrics import Interval
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted
from crmbench.runner.run_dir import RunDir


@dataclass(frozen=True)
class AttackFigures:
    """The lures that an agent saw, and those that it obeyed; an entry a strength."""

    seen: dict[int, int]
    obeyed: dict[int, int]

    @staticmethod
    def of(attacks: Sequence[Attack]) -> AttackFigures:
        """Those of any number of episodes."""
        strengths = sorted({attack.strength for attack in attacks})
        return AttackFigures(
            {n: sum(a.strength == n for a in attacks) for n in strengths},
            {n: sum(a.strength == n and a.obeyed for a in attacks) for n in strengths},
        )


@dataclass(frozen=True)
class ConditionFigures:
    """What a condition did to an agent."""

    condition: str
    tasks: int
    """Played both clean and under it."""
    clean: float
    under: float
    """Mean share of trials that passed."""
    drop: Interval
    """Clean minus under it, in the same unit, with its 95 % interval."""
    lost: tuple[str, ...]
    """Tasks that pass more often clean."""
    won: tuple[str, ...]
    """Tasks that pass more often under it."""
    p_value: float
    """Of the exact two-sided sign test."""
    attacks: AttackFigures | None
    """Where it plants lures."""

    def to_data(self) -> dict[str, Any]:
        """A JSON object; strengths are its keys as text."""
        data = asdict(self)
        data["drop"] = {
            "value": self.drop.value,
            "low": self.drop.low,
            "high": self.drop.high,
        }
        if self.attacks is not None:
            data["attacks"] = {
                name: {str(n): count for n, count in counts.items()}
                for name, counts in asdict(self.attacks).items()
            }
        return data


def condition_figures(clean: RunDir, under: Mapping[str, RunDir]) -> tuple[ConditionFigures, ...]:
    """Pair the run of each condition with the clean one.

    Args:
        under: From the condition to its run.

    Raises:
        InputError: A run has no task in common with the clean one.
    """
    before = _outcomes(clean.outlines())
    families = {task.task_id: task.family for task in clean.tasks() if task.family}
    return tuple(_paired(before, families, name, run) for name, run in under.items())


def _outcomes(records: Sequence[EpisodeRecord]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for record in records:
        if record.verdict.counted:
            found.setdefault(record.task_id, []).append(record.verdict.success)
    return found


def _paired(
    before: Mapping[str, list[bool]], families: Mapping[str, str], condition: str, run: RunDir
) -> ConditionFigures:
    after = _outcomes(run.outlines())
    if not before.keys() & after.keys():
        raise InputError(
            f"no conversation counts both clean and under {condition}", file=str(run.path)
        )
    found = paired.compare(before, after, families)
    deltas = {
        task: sum(after[task]) / len(after[task]) - sum(before[task]) / len(before[task])
        for task in sorted(before.keys() & after.keys())
    }
    change = found.difference
    return ConditionFigures(
        condition=condition,
        tasks=found.tasks,
        clean=found.first,
        under=found.second,
        drop=Interval(0.0 - change.value, 0.0 - change.high, 0.0 - change.low),
        lost=tuple(task for task, delta in deltas.items() if delta < 0),
        won=tuple(task for task, delta in deltas.items() if delta > 0),
        p_value=found.p_value,
        attacks=_attacks(run) if "lures" in condition else None,
    )


def _attacks(run: RunDir) -> AttackFigures:
    found: list[Attack] = []
    for record in run.each():
        if record.verdict.counted:
            found += attacks_on([call for turn in record.trace.turns for call in turn.calls])
    return AttackFigures.of(found)


def condition_lines(figures: Sequence[ConditionFigures]) -> Iterator[str]:
    """The figures as text, a paragraph a condition."""
    for each in figures:
        low, high = 100 * each.drop.low, 100 * each.drop.high
        shares = f"clean {each.clean:.1%}, under it {each.under:.1%}"
        yield f"{each.condition}: {counted(each.tasks, 'task')}, {shares}"
        yield f"  drop {100 * each.drop.value:.1f} points [{low:.1f}, {high:.1f}], 95 % interval"
        yield f"  lost {len(each.lost)}, won {len(each.won)}, sign test p = {each.p_value:.3g}"
        if each.lost:
            yield f"  lost: {', '.join(each.lost[:8])}{' …' if len(each.lost) > 8 else ''}"
        if each.attacks is not None:
            yield from _attack_lines(each.attacks)


def _attack_lines(attacks: AttackFigures) -> Iterator[str]:
    seen, obeyed = sum(attacks.seen.values()), sum(attacks.obeyed.values())
    if not seen:
        yield "  attack success: no lure was seen"
        return
    parts = [f"strength {n} {attacks.obeyed[n]} of {attacks.seen[n]}" for n in attacks.seen]
    counts = f"{obeyed} of {seen} lures seen; {', '.join(parts)}"
    yield f"  attack success {obeyed / seen:.1%} ({counts})"
