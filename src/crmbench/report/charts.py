"""Bars with intervals as SVG; colours come from the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

WIDTH = 780
ROW = 26
LABEL = 220
SCALE = 380
"""Pixels from 0 to 1."""


@dataclass(frozen=True)
class Bar:
    """One bar: a share, its interval if it has one, and a remark."""

    label: str
    value: float
    low: float | None
    high: float | None
    remark: str


def bar_chart(bars: Sequence[Bar]) -> Markup:
    """Horizontal bars from 0 to 100 %, one a row."""
    height = ROW * len(bars) + 22
    rows = "".join(_row(bar, index) for index, bar in enumerate(bars))
    grid = "".join(_line(share, height) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="group" width="100%">'
        f"{grid}{rows}</svg>"
    )


def _line(share: float, height: int) -> str:
    x = LABEL + share * SCALE
    return (
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{height - 18}"/>'
        f'<text class="axis" x="{x}" y="{height - 4}" text-anchor="middle">{share:.0%}</text>'
    )


def _row(bar: Bar, index: int) -> str:
    y = index * ROW
    middle = y + ROW / 2
    label = bar.label if len(bar.label) <= 30 else bar.label[:29] + "…"
    parts = [
        f"<g><title>{escape(bar.label)}: {bar.value:.1%} {escape(bar.remark)}</title>",
        (
            f'<text class="label" x="{LABEL - 8}" y="{middle + 4}" text-anchor="end">'
            f"{escape(label)}</text>"
        ),
        (
            f'<rect class="bar" x="{LABEL}" y="{y + 5}" width="{max(bar.value * SCALE, 1):.1f}" '
            f'height="{ROW - 10}" rx="2"/>'
        ),
    ]
    end = bar.value
    if bar.low is not None and bar.high is not None:
        left, right = LABEL + bar.low * SCALE, LABEL + bar.high * SCALE
        parts.append(
            f'<path class="interval" d="M{left:.1f} {middle}H{right:.1f}'
            f'M{left:.1f} {middle - 4}v8M{right:.1f} {middle - 4}v8"/>'
        )
        end = max(bar.value, bar.high)
    remark = f" · {escape(bar.remark)}" if bar.remark else ""
    x = LABEL + end * SCALE + 8
    parts.append(
        f'<text class="value" x="{x:.1f}" y="{middle + 4}"><tspan class="share">{bar.value:.1%}'
        f"</tspan>{remark}</text></g>"
    )
    return "".join(parts)
