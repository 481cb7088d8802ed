"""One picture of several runs, as an SVG file of its own: success, with intervals, by agent."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from crmbench.errors import InputError
from crmbench.language.counts import counted
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.labels import labels_of
from crmbench.report.summary import Summary, summary_of
from crmbench.runner.run_dir import RunDir

TOP = 40
"""Pixels above the bars, for the heading."""
STYLE = """
  svg { font: 13px system-ui, sans-serif; --ink: #1c2430; --soft: #5d6878; --line: #e3e0da;
        --bar: #2f6f8f; --card: #ffffff; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6e9ed; --soft: #98a3b1; --line: #2e353f; --bar: #6db3d3; --card: #1b2027; } }
  text { fill: var(--ink); } .axis, .value, .sub { fill: var(--soft); font-size: 11.5px; }
  .share { fill: var(--ink); font-weight: 600; } .grid { stroke: var(--line); }
  .bar { fill: var(--bar); } .interval { stroke: var(--ink); fill: none; stroke-width: 1.4; }
  .heading { font-weight: 600; font-size: 14px; } .card { fill: var(--card); }
"""
"""As on the report's page; a file of its own cannot use the page's."""


def write_picture(run_dirs: Sequence[RunDir], path: Path) -> None:
    """Write an SVG of each run's success, the best at the top.

    Raises:
        InputError: A directory holds no run, or the file cannot be written.
    """
    configs = [run_dir.config() for run_dir in run_dirs]
    labels = labels_of(configs, [run_dir.path.name for run_dir in run_dirs])
    summaries = [summary_of(run_dir) for run_dir in run_dirs]
    data = ", ".join(sorted({str(config.get("data")) for config in configs}))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture(list(zip(labels, summaries, strict=True)), data), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error


def picture(runs: Sequence[tuple[str, Summary]], data: str) -> str:
    """The SVG.

    Args:
        runs: Label and figures of each.
        data: What they played, for the heading.
    """
    ordered = sorted(runs, key=lambda run: -run[1].success.value)
    bars = [_bar(label, summary) for label, summary in ordered]
    counts = sorted({summary.conversations for _, summary in runs})
    *fewer, most = counts
    conversations = " or ".join([*(f"{count:,}" for count in fewer), counted(most, "conversation")])
    heading = f"Success on {escape(data)}"
    words = f"{conversations}; lines are 95 % intervals"
    chart = bar_chart(bars)
    width, height = (int(size) for size in chart.split('"')[3].split()[2:])
    inner = chart[chart.index(">") + 1 :].removesuffix("</svg>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + TOP}" '
        f'width="{width}" role="img"><title>{heading}: {words}</title><style>{STYLE}</style>'
        f'<rect class="card" width="{width}" height="{height + TOP}" rx="8"/>'
        f'<text class="heading" x="16" y="24">{heading}</text>'
        f'<text class="sub" x="{width - 16}" y="24" text-anchor="end">{words}</text>'
        f'<g transform="translate(0 {TOP})">{inner}</g></svg>\n'
    )


def _bar(label: str, summary: Summary) -> Bar:
    success = summary.success
    return Bar(label, success.value, success.low, success.high, "")
