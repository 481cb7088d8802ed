"""The benchmarks as drawings: SVG that needs nothing else, and one page around them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

COLOURS = {"sqlite": "#2f6f8f", "postgres": "#b5651d"}
DASHES = {"create_new_client": "", "client_search": "6 4"}
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#555}"
    "line{stroke:#8885}path{fill:none;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#bbb}}"
)
WIDTH, LEFT, RIGHT, TOP = 760, 200, 150, 34


def growth_plot(growth: Sequence[Mapping[str, Any]]) -> str:
    """Microseconds a call, logarithmic, over the sizes of the org, evenly spaced (one may be 0)."""
    sizes = sorted({g["records"] for g in growth})
    low = math.floor(math.log10(min(g["call_us"] for g in growth)))
    high = math.ceil(math.log10(max(g["call_us"] for g in growth)))
    left, bottom, span = 70, 330, WIDTH - 70 - 220

    def x(size: int) -> float:
        # An empty org has no place on a logarithmic axis; the sizes are evenly far apart instead.
        return left + span * sizes.index(size) / max(len(sizes) - 1, 1)

    def y(microseconds: float) -> float:
        share = (math.log10(microseconds) - low) / max(high - low, 1)
        return bottom - share * (bottom - TOP)

    parts = [_text(left, 18, "Microseconds a call, by clients in the org", "start")]
    for power in range(low, high + 1):
        line = y(10**power)
        parts.append(f'<line x1="{left}" x2="{left + span}" y1="{line:.1f}" y2="{line:.1f}"/>')
        parts.append(_text(left - 8, line + 4, f"{10**power:,}", "end"))
    parts += [_text(x(size), bottom + 22, f"{size:,}", "middle") for size in sizes]
    ends: list[float] = []
    for backend, tool in sorted({(g["backend"], g["tool"]) for g in growth}):
        points = [(g["records"], g) for g in growth if (g["backend"], g["tool"]) == (backend, tool)]
        course = " ".join(
            f"{'L' if n else 'M'}{x(size):.1f} {y(g['call_us']):.1f}"
            for n, (size, g) in enumerate(points)
        )
        colour = COLOURS.get(backend, "#777")
        parts.append(
            f'<path d="{course}" stroke="{colour}" stroke-dasharray="{DASHES.get(tool, "")}"/>'
        )
        for size, g in points:
            parts.append(
                f'<circle cx="{x(size):.1f}" cy="{y(g["call_us"]):.1f}" r="4" fill="{colour}">'
                f"<title>{escape(backend)} {escape(tool)}, {size:,} clients: "
                f"{g['call_us']:,.1f} µs ({g['ratio']:.2f} times)</title></circle>"
            )
        end = _clear_of(y(points[-1][1]["call_us"]) + 4, ends)
        parts.append(_text(left + span + 10, end, f"{backend}: {tool}", "start"))
    return _svg(parts, bottom + 34)


def _clear_of(wanted: float, taken: list[float]) -> float:
    """A height for a label that no earlier label stands on."""
    while any(abs(wanted - other) < 15 for other in taken):
        wanted -= 4
    taken.append(wanted)
    return wanted


def tools_plot(tools: Sequence[Mapping[str, Any]]) -> str:
    """Tool calls as multiples of their statements, one row a tool and a bar a backend."""
    names = sorted({t["tool"] for t in tools})
    backends = list(dict.fromkeys(t["backend"] for t in tools))
    ratios = {(t["tool"], t["backend"]): t["ratio"] for t in tools}
    most = max(math.ceil(max(ratios.values())), 2)
    scale = (WIDTH - LEFT - RIGHT) / most
    row = 14 * len(backends) + 8
    height = TOP + row * len(names)
    parts = [_text(LEFT, 18, "A tool call's time as a multiple of its SQL statements", "start")]
    for step in range(most + 1):
        place = LEFT + step * scale
        parts.append(f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{height}"/>')
        parts.append(_text(place, height + 16, str(step), "middle"))
    for number, name in enumerate(names):
        top = TOP + number * row + 4
        parts.append(_text(LEFT - 8, top + row / 2, name, "end"))
        for place, backend in enumerate(backends):
            value = ratios.get((name, backend))
            if value is not None:
                y = top + place * 14
                parts.append(
                    f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="11" '
                    f'fill="{COLOURS.get(backend, "#777")}"/>'
                )
                parts.append(
                    _text(LEFT + value * scale + 6, y + 10, f"{value:.2f} {backend}", "start")
                )
    return _svg(parts, height + 26)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}"><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )


def page(text: str, plots: Mapping[str, str]) -> str:
    """One self-contained page: the plots, and the figures as text."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>crmbench: speed</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
        "max-width:60rem;margin:2rem auto;padding:0 1rem}svg{max-width:100%;height:auto}"
        "pre{font:13px/1.45 ui-monospace,monospace;overflow-x:auto}</style></head><body>"
        f"<h1>Speed</h1>{''.join(plots.values())}<pre>{escape(text)}</pre></body></html>\n"
    )
