"""Several runs in one drawing, as SVG: grouped bars, courses over turns, points, differences.

A run has the same colour in every drawing: the classes ``c0`` to ``c7`` of the page's style.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from crmbench.grading.metrics import Interval

WIDTH = 780
COLOURS = 8
LABEL = 220
SCALE = 420
"""Pixels from 0 to 1 in drawings of bars and differences."""
BAR = 13
NOTHING = 1e-6
"""A cost below this is as good as none: its logarithm would fill the axis."""
LONGEST = 28
"""Characters of a label at the left."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of one run, in a group of bars or at a point."""

    run: int
    """The run's place, which is its colour."""
    value: float
    interval: Interval | None
    remark: str


@dataclass(frozen=True, slots=True)
class Point:
    """A run in the plane of cost and success."""

    run: int
    label: str
    x: float
    success: Interval
    remark: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference to the first run."""

    run: int
    label: str
    difference: Interval
    detectable: float
    """NaN where it cannot be known."""
    remark: str


def colour(run: int) -> str:
    """The class of a run's colour."""
    return f"c{run % COLOURS}"


def legend(labels: Sequence[str]) -> Markup:
    """Colours and names of the runs, in HTML."""
    items = "".join(
        f'<span><i class="{colour(run)}"></i>{escape(label)}</span>'
        for run, label in enumerate(labels)
    )
    return Markup(f'<p class="legend">{items}</p>')


def grouped_bars(groups: Sequence[tuple[str, Sequence[Share]]], most: float = 1.0) -> Markup:
    """Groups of horizontal bars, one bar a run, each with its interval if it has one.

    Args:
        most: The share at the right end.
    """
    parts: list[str] = []
    y = 4.0
    for name, shares in groups:
        height = BAR * len(shares)
        parts.append(_label(LABEL - 8, y + height / 2 + 4, name, LONGEST))
        for place, share in enumerate(shares):
            parts.append(_bar(share, y + place * BAR, most))
        y += height + 12
    grid = "".join(
        _tick(LABEL + step * SCALE, y, f"{step * most:.0%}") for step in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    return _svg([grid, *parts], y + 20)


def _bar(share: Share, y: float, most: float) -> str:
    scale = SCALE / most
    middle, end = y + BAR / 2, share.value
    parts = [
        f"<g><title>{escape(share.remark)}</title>",
        (
            f'<rect class="{colour(share.run)}" x="{LABEL}" y="{y + 1:.1f}" '
            f'width="{max(share.value * scale, 1):.1f}" height="{BAR - 2}" rx="1.5"/>'
        ),
    ]
    if share.interval is not None:
        left, right = LABEL + share.interval.low * scale, LABEL + share.interval.high * scale
        parts.append(f'<path class="interval" d="M{left:.1f} {middle:.1f}H{right:.1f}"/>')
        end = max(end, share.interval.high)
    parts.append(
        f'<text class="small" x="{LABEL + end * scale + 6:.1f}" y="{middle + 4:.1f}">'
        f"{share.value:.0%}</text></g>"
    )
    return "".join(parts)


def turn_courses(runs: Sequence[Sequence[tuple[int, float, str]]]) -> Markup:
    """Success over the number of the turn, a line a run.

    Args:
        runs: Of each run turn number, share and remark, in order.
    """
    turns = sorted({turn for course in runs for turn, _, _ in course})
    if not turns:
        return Markup("")
    left, right, top, bottom = 52.0, 620.0, 14.0, 250.0
    step = (right - left) / max(len(turns) - 1, 1)
    place = {turn: left + 16 + number * step for number, turn in enumerate(turns)}
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line class="grid" x1="{left}" x2="{right + 32}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="axis" x="{left - 8}" y="{y + 4}" text-anchor="end">')
        parts.append(f"{share:.0%}</text>")
    every = math.ceil(len(turns) / 15)
    parts += [
        f'<text class="axis" x="{place[turn]:.1f}" y="{bottom + 18}" text-anchor="middle">'
        f"turn {turn}</text>"
        for turn in turns[::every]
    ]
    for run, course in enumerate(runs):
        spots = [(place[t], bottom - v * (bottom - top), text) for t, v, text in course]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)
        parts.append(f'<path class="course {colour(run)}" d="M{line}"/>' if line else "")
        parts += [
            f'<circle class="{colour(run)}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
            f"<title>{escape(text)}</title></circle>"
            for x, y, text in spots
        ]
    return _svg(parts, bottom + 28)


def learning_curves(runs: Sequence[Sequence[tuple[float, Interval, str]]]) -> Markup:
    """Success over the place in a stream, a line a run with its interval at each stretch.

    Args:
        runs: Of each run the middle of a stretch, its success and a remark, in order.
    """
    middles = sorted({middle for course in runs for middle, _, _ in course})
    if not middles:
        return Markup("")
    left, right, top, bottom = 52.0, 720.0, 14.0, 250.0
    scale = (right - left) / (max(middles) + 1)
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="axis" x="{left - 8}" y="{y + 4}" text-anchor="end">')
        parts.append(f"{share:.0%}</text>")
    for middle in middles:
        x = left + middle * scale
        parts.append(f'<text class="axis" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">')
        parts.append(f"{middle:.0f}</text>")
    for run, course in enumerate(runs):
        # A little apart, so that the intervals of two runs do not cover each other.
        shift = 3.0 * (run - (len(runs) - 1) / 2)
        spots = []
        for middle, success, remark in course:
            x = left + middle * scale + shift
            y, low, high = (bottom - share * (bottom - top) for share in success)
            spots.append(f"{x:.1f} {y:.1f}")
            parts.append(
                f'<g><title>{escape(remark)}</title><path class="course thin {colour(run)}" '
                f'd="M{x:.1f} {low:.1f}V{high:.1f}"/><circle class="{colour(run)}" cx="{x:.1f}" '
                f'cy="{y:.1f}" r="4"/></g>'
            )
        parts.append(
            f'<path class="course {colour(run)}" d="M{"L".join(spots)}"/>' if spots else ""
        )
    return _svg(parts, bottom + 28)


def size_course(
    points: Sequence[tuple[float, Interval, str]], half: float | None, bounds: tuple[float, float]
) -> Markup:
    """Success with its interval against size, on a logarithmic axis, with the size of the half.

    Args:
        points: Size, success and remark.
        half: The size at which half is passed, if it is known.
        bounds: Its interval; beyond the sizes where it is open.
    """
    left, right, top, bottom = 52.0, 620.0, 14.0, 200.0
    low = math.log(min(size for size, _, _ in points)) - 0.3
    high = math.log(max(size for size, _, _ in points)) + 0.3

    def across(size: float) -> float:
        place = (math.log(max(size, 1e-9)) - low) / (high - low)
        return left + min(max(place, 0.0), 1.0) * (right - left)

    parts = []
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="axis" x="{left - 8}" y="{y + 4}" text-anchor="end">')
        parts.append(f"{share:.0%}</text>")
    if half is not None:
        begin, end = across(bounds[0]), across(bounds[1])
        parts.append(
            f'<rect class="unseen" x="{begin:.1f}" y="{top}" width="{max(end - begin, 1):.1f}" '
            f'height="{bottom - top}"/><line class="zero" x1="{across(half):.1f}" '
            f'x2="{across(half):.1f}" y1="{top}" y2="{bottom}"/>'
        )
    for size, success, remark in points:
        x = across(size)
        one, two = (bottom - share * (bottom - top) for share in (success.low, success.high))
        y = bottom - success.value * (bottom - top)
        parts.append(
            f'<g><title>{escape(remark)}</title><path class="interval" d="M{x:.1f} {one:.1f}'
            f'V{two:.1f}"/><circle class="{colour(0)}" cx="{x:.1f}" cy="{y:.1f}" r="4"/></g>'
            f'<text class="axis" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
            f"{size:g}</text>"
        )
    return _svg(parts, bottom + 28)


@dataclass(frozen=True)
class Course:
    """One agent's success against size."""

    label: str
    points: Sequence[tuple[float, Interval, str]]
    """Size, success and remark, the smallest size first."""
    half: float | None
    """The size at which half is passed, if it is known."""


def size_courses(courses: Sequence[Course]) -> Markup:
    """Success of several agents against size, on one logarithmic axis, each with its half."""
    left, right, top, bottom = 52.0, 620.0, 14.0, 200.0
    sizes = sorted({size for course in courses for size, _, _ in course.points})
    low, high = math.log(sizes[0]) - 0.3, math.log(sizes[-1]) + 0.3

    def across(size: float) -> float:
        place = (math.log(max(size, 1e-9)) - low) / (high - low)
        return left + min(max(place, 0.0), 1.0) * (right - left)

    def up(share: float) -> float:
        return bottom - share * (bottom - top)

    parts = []
    for share in (0.0, 0.5, 1.0):
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{up(share)}"')
        parts.append(f' y2="{up(share)}"/><text class="axis" x="{left - 8}" y="{up(share) + 4}"')
        parts.append(f' text-anchor="end">{share:.0%}</text>')
    for size in sizes:
        parts.append(f'<text class="axis" x="{across(size):.1f}" y="{bottom + 18}"')
        parts.append(f' text-anchor="middle">{size:g}</text>')
    for place, course in enumerate(courses):
        parts += _course(colour(place), course, across, up)
    return legend([course.label for course in courses]) + _svg(parts, bottom + 28)


def _course(
    name: str, course: Course, across: Callable[[float], float], up: Callable[[float], float]
) -> Iterator[str]:
    """The dots and intervals of one agent, and a square at half where its half is."""
    for size, success, remark in course.points:
        x = across(size)
        yield (
            f'<g><title>{escape(remark)}</title><path class="interval" d="M{x:.1f} '
            f'{up(success.low):.1f}V{up(success.high):.1f}"/><circle class="{name}" '
            f'cx="{x:.1f}" cy="{up(success.value):.1f}" r="4"/></g>'
        )
    if course.half is not None:
        x, y = across(course.half), up(0.5)
        yield (
            f"<g><title>{escape(course.label)}</title>"
            f'<rect class="{name}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/></g>'
        )


def scatter(points: Sequence[Point], axis: str, money: bool) -> Markup:
    """Success with its interval against what a conversation takes.

    Args:
        axis: What the horizontal axis shows.
        money: Whether that is US dollars.
    """
    left, right, top, bottom = 60.0, 640.0, 14.0, 300.0
    scale = _Axis.over([point.x for point in points], left, right)
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="axis" x="{left - 8}" y="{y + 4}" text-anchor="end">')
        parts.append(f"{share:.0%}</text>")
    for value in scale.ticks:
        x = scale.place(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
        parts.append(f'<text class="axis" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">')
        parts.append(f"{_amount(value, money)}</text>")
    note = f"{axis}{' (logarithmic)' if scale.logarithmic else ''}"
    parts.append(
        f'<text class="axis" x="{(left + right) / 2}" y="{bottom + 38}" text-anchor="middle">'
        f"{escape(note)}</text>"
    )
    taken: list[tuple[float, float]] = []
    for point in points:
        parts.append(_spot(point, scale.place(point.x), top, bottom, taken))
    return _svg(parts, bottom + 46)


def _spot(
    point: Point, x: float, top: float, bottom: float, taken: list[tuple[float, float]]
) -> str:
    def height(share: float) -> float:
        return bottom - share * (bottom - top)

    y = height(point.success.value)
    ends = f"M{x:.1f} {height(point.success.low):.1f}V{height(point.success.high):.1f}"
    beside = x < 480
    text_y = y + 4
    while any(abs(text_y - other) < 14 and abs(x - place) < 160 for place, other in taken):
        text_y += 14 if y < (top + bottom) / 2 else -14
    taken.append((x, text_y))
    anchor = "start" if beside else "end"
    return (
        f"<g><title>{escape(point.label)}: {escape(point.remark)}</title>"
        f'<path class="course thin {colour(point.run)}" d="{ends}"/>'
        f'<circle class="{colour(point.run)}" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>'
        f'<text class="label" x="{x + (10 if beside else -10):.1f}" y="{text_y:.1f}" '
        f'text-anchor="{anchor}">{escape(_short(point.label, 34))}</text></g>'
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """A horizontal axis: linear from zero, or logarithmic where values lie far apart."""

    low: float
    high: float
    left: float
    right: float
    logarithmic: bool
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Sequence[float], left: float, right: float) -> _Axis:
        least, most = min(values), max(values)
        if least >= NOTHING and most / least >= 20:
            low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
            ticks = tuple(10.0**power for power in range(low, high + 1))
            return cls(low, high, left, right, True, ticks)
        step = _round_step(most / 4) if most >= NOTHING else 0.25
        count = max(math.ceil(most / step - 1e-9), 1)
        ticks = tuple(step * number for number in range(count + 1))
        return cls(0.0, step * count, left, right, False, ticks)

    def place(self, value: float) -> float:
        given = math.log10(value) if self.logarithmic else value
        return self.left + (given - self.low) / (self.high - self.low) * (self.right - self.left)


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5, 10 … times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= rough * (1 - 1e-9))


def _amount(value: float, money: bool) -> str:
    if not money:
        return f"{value:,.0f}" if value >= 1_000 else f"{value:.4g}"
    cents = value * 100
    return f"${value:,.2f}" if abs(cents - round(cents)) < 1e-6 else f"${value:.4g}"


def differences(deltas: Sequence[Delta]) -> Markup:
    """Paired differences with their intervals around zero; what is too small to show is shaded."""
    reach = max(
        [0.1]
        + [max(abs(d.difference.low), abs(d.difference.high)) for d in deltas]
        + [d.detectable for d in deltas if math.isfinite(d.detectable)]
    )
    reach = min(math.ceil(reach * 10) / 10, 1.0)
    middle, scale, row = LABEL + SCALE / 2, SCALE / 2 / reach, 30
    height = row * len(deltas)
    parts = [
        _tick(middle + share * SCALE / 2, height, f"{share * reach:+.0%}")
        for share in (-1.0, -0.5, 0.5, 1.0)
    ]
    parts.append(_tick(middle, height, "0", "zero"))
    for number, delta in enumerate(deltas):
        y = number * row + row / 2
        if math.isfinite(delta.detectable):
            half = min(delta.detectable, reach) * scale
            parts.append(
                f'<rect class="unseen" x="{middle - half:.1f}" y="{y - 9:.1f}" '
                f'width="{2 * half:.1f}" height="18" rx="3"/>'
            )
        d = delta.difference
        left, right = middle + d.low * scale, middle + d.high * scale
        parts.append(
            f"<g><title>{escape(delta.label)}: {escape(delta.remark)}</title>"
            + _label(LABEL - 8, y + 4, delta.label, LONGEST)
            + f'<path class="course {colour(delta.run)}" d="M{left:.1f} {y}H{right:.1f}'
            f'M{left:.1f} {y - 4}v8M{right:.1f} {y - 4}v8"/>'
            f'<circle class="{colour(delta.run)}" cx="{middle + d.value * scale:.1f}" cy="{y}" '
            f'r="4.5"/><text class="small" x="{LABEL + SCALE + 12}" y="{y + 4}">'
            f"{d.value:+.1%} ({d.low * 100:+.0f} to {d.high * 100:+.0f})</text></g>"
        )
    return _svg(parts, height + 20)


def _label(x: float, y: float, text: str, most: int) -> str:
    return (
        f'<text class="label" x="{x:.1f}" y="{y:.1f}" text-anchor="end"><title>{escape(text)}'
        f"</title>{escape(_short(text, most))}</text>"
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _tick(x: float, height: float, text: str, kind: str = "grid") -> str:
    return (
        f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height:.1f}"/>'
        f'<text class="axis" x="{x:.1f}" y="{height + 14:.1f}" text-anchor="middle">{text}</text>'
    )


def _svg(parts: Sequence[str], height: float) -> Markup:
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="group" width="100%">'
        f"{''.join(parts)}</svg>"
    )
