"""The figures of a learning run, from the steps of its chains.

Intervals are at 95 %, from a bootstrap that draws whole families (`cluster_bootstrap`): tasks of
one family succeed and fail together, whatever the seed of the stream.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from crmbench.core.trace import TokenUsage
from crmbench.grading.metrics import Interval, cluster_bootstrap
from crmbench.learning.record import StepRecord

BINS = 12
"""Points of a curve, at most."""

Steps = Mapping[tuple[str, int], Sequence[StepRecord]]
"""Arm and seed to the steps of that chain."""


@dataclass(frozen=True)
class CurvePoint:
    """A stretch of the stream."""

    first: int
    """Conversations from here on, counted from 1."""
    last: int
    success: Interval
    gain: Interval
    """Over the stateless arm on the same tasks."""


@dataclass(frozen=True)
class Transfer:
    """How blocks of tasks bear on each other.

    R[i][j] is the success on the probes of block j after learning blocks 1 to i; its first row is
    that of the stateless arm. Lopez-Paz and Ranzato, "Gradient Episodic Memory" (2017), section 3:
    ACC is the mean of the last row, BWT the mean of R[T][j] - R[j][j], FWT the mean of
    R[j-1][j] - R[0][j]. Forgetting is the mean of max over l < T of R[l][j], less R[T][j]:
    Chaudhry et al., "Riemannian Walk" (2018), section 3.
    """

    blocks: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    acc: Interval
    bwt: Interval
    fwt: Interval
    forgetting: float


@dataclass(frozen=True)
class BreakEven:
    """When what a learner costs has paid for itself.

    A success costs what was spent so far, divided by the successes so far.
    """

    unit: str
    """``US dollars``, or ``tokens`` where a price is not known."""
    stateless: float | None
    """A success of the stateless arm; None without one."""
    learner: float | None
    after: int | None
    """Conversations after which a success is no dearer than without a memory, and stays so; None
    if it does not come to that."""


@dataclass(frozen=True)
class LearnerFigures:
    """One arm, over all seeds."""

    arm: str
    episodes: int
    success: Interval
    """Of what was learnt from, in the order in which it came."""
    undecided: float
    gain: Interval
    """Success less that of the stateless arm, paired by task and seed."""
    worse: Interval
    """Negative transfer: of the tasks that the stateless arm passed, the share that this one
    failed."""
    blocks: dict[str, Interval]
    """Gain by block."""
    held_out: dict[str, Interval]
    """Gain on tasks that nothing was learnt from, at the end, by group."""
    curve: tuple[CurvePoint, ...]
    transfer: Transfer | None
    recalled: float
    """Tokens of a recalled text, on average."""
    memory: float
    """Tokens of all that was known at the end of a stream, on average."""
    agent: TokenUsage
    """Of the agent, all attempts and probes included."""
    learner: dict[str, TokenUsage]
    """Of the learner's own calls, by role."""
    attempts: float
    """Episodes that were played for a conversation, on average."""
    counts: dict[str, int] = field(default_factory=dict)
    """What else the learner counted."""
    break_even: BreakEven | None = None

    @property
    def total(self) -> TokenUsage:
        """Agent and learner."""
        return sum(self.learner.values(), self.agent)


@dataclass(frozen=True)
class _Pair:
    """The same task in the same stream, with and without a memory."""

    place: int
    block: str
    group: str
    family: str
    own: bool
    stateless: bool

    @property
    def gain(self) -> float:
        return float(self.own) - float(self.stateless)


def learning_figures(steps: Steps, stateless: str = "none") -> tuple[LearnerFigures, ...]:
    """The figures of every arm of which something was played; the stateless one first.

    Args:
        stateless: The arm that the others are held to.
    """
    arms = list(dict.fromkeys(arm for arm, _ in steps))
    arms.sort(key=lambda arm: arm != stateless)
    return tuple(_arm(arm, steps, stateless) for arm in arms if _of(steps, arm))


def _of(steps: Steps, arm: str) -> list[StepRecord]:
    return [step for (name, _), each in steps.items() if name == arm for step in each]


def _arm(arm: str, steps: Steps, stateless: str) -> LearnerFigures:
    every = _of(steps, arm)
    online = [step for step in every if step.phase == "online"]
    pairs = list(_pairs(steps, arm, stateless, "online"))
    held = list(_pairs(steps, arm, stateless, "probe"))
    last = max((step.stage for step in every if step.phase == "probe"), default=0)
    return LearnerFigures(
        arm,
        len(online),
        _share((float(s.success) for s in online), [s.family for s in online]),
        fmean(step.undecided for step in online) if online else 0.0,
        _mean(pairs, lambda pair: pair.gain),
        _mean([pair for pair in pairs if pair.stateless], lambda pair: float(not pair.own)),
        {name: _mean(each, _gain) for name, each in _grouped(pairs, lambda p: p.block).items()},
        {name: _mean(each, _gain) for name, each in _grouped(held, lambda p: p.group).items()},
        _curve(pairs),
        _transfer(steps, arm, stateless, last),
        fmean(step.recalled for step in every),
        fmean(each[-1].memory for (name, _), each in steps.items() if name == arm and each),
        sum((step.agent for step in every), TokenUsage()),
        _by_role(every),
        fmean(step.attempts for step in every),
        _counted(every),
        None if arm == stateless else _break_even(steps, arm, stateless),
    )


def _gain(pair: _Pair) -> float:
    return pair.gain


def _pairs(steps: Steps, arm: str, stateless: str, phase: str) -> Iterable[_Pair]:
    """Of probes only those after the last block, when all was learnt."""
    for (name, seed), each in steps.items():
        if name != arm:
            continue
        other = {s.task_id: s for s in steps.get((stateless, seed), ()) if s.phase == phase}
        last = max((s.stage for s in each if s.phase == "probe"), default=0)
        chosen = [s for s in each if s.phase == phase and (phase == "online" or s.stage == last)]
        for place, step in enumerate(chosen):
            twin = other.get(step.task_id)
            if twin is not None:
                yield _Pair(place, step.block, step.group, step.family, step.success, twin.success)


def _grouped(pairs: Iterable[_Pair], key: Callable[[_Pair], str]) -> dict[str, list[_Pair]]:
    found: defaultdict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        found[key(pair)].append(pair)
    return dict(found)


NOTHING = Interval(math.nan, math.nan, math.nan)
"""Where there is nothing to take a mean of."""


def _mean(pairs: Sequence[_Pair], value: Callable[[_Pair], float]) -> Interval:
    return _share((value(pair) for pair in pairs), [pair.family for pair in pairs])


def _share(values: Iterable[float], families: Sequence[str]) -> Interval:
    return cluster_bootstrap(list(values), families) if families else NOTHING


def _curve(pairs: Sequence[_Pair]) -> tuple[CurvePoint, ...]:
    """Success and gain by stretches of the stream of nearly equal length."""
    if not pairs:
        return ()
    length = max(pair.place for pair in pairs) + 1
    count = min(BINS, max(1, length // 3))
    points = []
    for number in range(count):
        first, last = number * length // count, (number + 1) * length // count
        here = [pair for pair in pairs if first <= pair.place < last]
        if here:
            success = _mean(here, lambda pair: float(pair.own))
            points.append(CurvePoint(first + 1, last, success, _mean(here, _gain)))
    return tuple(points)


def transfer_of(matrix: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    """ACC, BWT, FWT and forgetting of a matrix R, shape (T + 1, T): row 0 before any learning."""
    blocks = len(matrix) - 1
    end = matrix[blocks]
    acc = fmean(end)
    bwt = fmean(end[j] - matrix[j + 1][j] for j in range(blocks - 1))
    fwt = fmean(matrix[j][j] - matrix[0][j] for j in range(1, blocks))
    forgotten = fmean(
        max(matrix[row][j] for row in range(1, blocks)) - end[j] for j in range(blocks - 1)
    )
    return acc, bwt, fwt, forgotten


def _transfer(steps: Steps, arm: str, stateless: str, last: int) -> Transfer | None:
    """None where probes are played only once."""
    cells = _cells(steps, arm)
    cells.update({key: v for key, v in _cells(steps, stateless).items() if key[0] == 0})
    groups = list(dict.fromkeys(group for _, group in cells))
    if arm == stateless or last < 2 or len(groups) != last:
        return None
    rows = [[cells.get((stage, group), []) for group in groups] for stage in range(last + 1)]
    if not all(cell for row in rows for cell in row):
        return None
    matrix = tuple(tuple(fmean(step.success for step in cell) for cell in row) for row in rows)
    acc, bwt, fwt, forgotten = transfer_of(matrix)
    ends = [step for cell in rows[last] for step in cell]
    return Transfer(
        tuple(groups),
        matrix,
        _share((float(s.success) for s in ends), [s.family for s in ends])._replace(value=acc),
        _between(rows[last][:-1], [rows[j + 1][j] for j in range(last - 1)], bwt),
        _between([rows[j][j] for j in range(1, last)], rows[0][1:], fwt),
        forgotten,
    )


def _cells(steps: Steps, arm: str) -> dict[tuple[int, str], list[StepRecord]]:
    found: defaultdict[tuple[int, str], list[StepRecord]] = defaultdict(list)
    for (name, seed), each in sorted(steps.items()):
        del seed
        for step in each if name == arm else ():
            if step.phase == "probe":
                found[step.stage, step.group].append(step)
    return dict(sorted(found.items()))


def _between(
    after: Sequence[list[StepRecord]], before: Sequence[list[StepRecord]], value: float
) -> Interval:
    """The interval of a mean difference between cells that hold the same tasks in one order."""
    pairs = [
        (float(new.success) - float(old.success), new.family)
        for one, other in zip(after, before, strict=True)
        for new, old in zip(one, other, strict=True)
    ]
    found = _share((delta for delta, _ in pairs), [family for _, family in pairs])
    return found._replace(value=value)


def _by_role(steps: Iterable[StepRecord]) -> dict[str, TokenUsage]:
    found: dict[str, TokenUsage] = {}
    for step in steps:
        for role, usage in step.learner.items():
            found[role] = found.get(role, TokenUsage()) + usage
    return found


def _counted(steps: Iterable[StepRecord]) -> dict[str, int]:
    found: dict[str, int] = {}
    for step in steps:
        for name, number in step.counts.items():
            found[name] = found.get(name, 0) + number
    return found


def _break_even(steps: Steps, arm: str, stateless: str) -> BreakEven:
    own, other = _courses(steps, arm), _courses(steps, stateless)
    known = all(spent.cost is not None for course in (own, other) for spent, _ in course)
    unit = "US dollars" if known and own else "tokens"
    mine, theirs = _prices(own, unit), _prices(other, unit)
    after = None
    for place in reversed(range(min(len(mine), len(theirs)))):
        one, two = mine[place], theirs[place]
        if two is not None and (one is None or one > two):
            break
        if one is not None:
            after = place + 1
    return BreakEven(unit, theirs[-1] if theirs else None, mine[-1] if mine else None, after)


def _courses(steps: Steps, arm: str) -> list[tuple[TokenUsage, int]]:
    """What was spent and how often it went well, at each place of the stream, over seeds."""
    found: list[tuple[TokenUsage, int]] = []
    for (name, _), each in sorted(steps.items()):
        online = [s for s in each if s.phase == "online"] if name == arm else []
        for place, step in enumerate(online):
            spent = sum(step.learner.values(), step.agent)
            if place == len(found):
                found.append((TokenUsage(), 0))
            found[place] = (found[place][0] + spent, found[place][1] + step.success)
    return found


def _prices(course: Sequence[tuple[TokenUsage, int]], unit: str) -> list[float | None]:
    """What a success has cost so far, at each place; None before the first."""
    found: list[float | None] = []
    spent, won = TokenUsage(), 0
    for usage, successes in course:
        spent, won = spent + usage, won + successes
        amount = (spent.cost or 0.0) if unit == "US dollars" else spent.total_tokens
        found.append(amount / won if won else None)
    return found
