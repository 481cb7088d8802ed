"""A leaderboard: one static page over many runs, ranked within each data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from crmbench.core.score.metrics import Interval
from crmbench.harness.run_dir import RunDir
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.summary import summarise, timings

BASELINES = ("noop", "refuse_all", "random", "dump", "heuristic")
"""Agents that any other should beat; they have no rank."""
CEILINGS = ("oracle", "mock")
"""Agents that follow the ground truth; they have no rank either."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One run."""

    rank: int | None
    """Runs of equal success share one; null for baselines and for what follows the gold."""
    run: str
    agent: str
    role: str
    """``agent``, ``baseline`` or ``ceiling``."""
    conversations: int
    episodes: int
    success: Interval
    pass_hat: float | None
    """pass^k for the most trials that every task had; null with one trial."""
    k: int
    categories: dict[str, float]
    cost_per_conversation: float | None
    tokens_per_conversation: float | None
    seconds_per_conversation: float
    infrastructure_failures: int


@dataclass(frozen=True, slots=True)
class Board:
    """The runs over one data set, under one version of the grading, best first."""

    data: str
    data_digest: str
    grading_version: int | None
    entries: tuple[Entry, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(sorted({name for entry in self.entries for name in entry.categories}))

    def to_data(self) -> dict[str, Any]:
        """An object for JSON."""
        data = asdict(self)
        for entry, shown in zip(self.entries, data["entries"], strict=True):
            shown["success"] = entry.success._asdict()
        return data


def leaderboard(run_dirs: Sequence[RunDir]) -> tuple[Board, ...]:
    """Rank runs by success; only runs over the same data and grading stand on one board.

    Raises:
        InputError: A directory holds no run, or one that cannot be read.
    """
    boards: defaultdict[tuple[str, str, Any], list[Entry]] = defaultdict(list)
    for run_dir in run_dirs:
        config = run_dir.config()
        place = (
            str(config.get("data", "")),
            str(config.get("data_digest", "")),
            config.get("grading_version"),
        )
        boards[place].append(_entry(run_dir, config))
    return tuple(Board(*place, _ranked(entries)) for place, entries in boards.items())


def write_leaderboard(run_dirs: Sequence[RunDir], out: Path) -> None:
    """Write the page; it needs no network and no script.

    Raises:
        InputError: As `leaderboard`.
    """
    boards = [(board, _chart(board)) for board in leaderboard(run_dirs)]
    page = Environment(autoescape=True, trim_blocks=True).from_string(_PAGE).render(boards=boards)
    temporary = out.with_name(out.name + ".part")
    temporary.write_text(page, encoding="utf-8")
    temporary.replace(out)


def _entry(run_dir: RunDir, config: dict[str, Any]) -> Entry:
    episodes = run_dir.episodes()
    found = summarise(run_dir.tasks(), episodes)
    agent, model = str(config.get("agent")), config.get("model")
    role = "baseline" if agent in BASELINES else "ceiling" if agent in CEILINGS else "agent"
    usage, played = found.usage, max(found.trials, 1)
    k = max(found.pass_hat, default=1)
    return Entry(
        rank=None,
        run=run_dir.path.resolve().name,
        agent=f"{model} ({agent})" if model else agent,
        role=role,
        conversations=found.conversations,
        episodes=found.trials,
        success=found.success,
        pass_hat=found.pass_hat[k] if k > 1 else None,
        k=k,
        categories={
            name: part.success.value for name, part in found.slices.get("category", {}).items()
        },
        cost_per_conversation=None if usage.cost is None else usage.cost / played,
        tokens_per_conversation=usage.total_tokens / played if usage.model_calls else None,
        seconds_per_conversation=timings(episodes).seconds_a_conversation,
        infrastructure_failures=found.infrastructure_failures,
    )


def _ranked(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    ordered = sorted(entries, key=lambda e: (-e.success.value, e.agent, e.run))
    scores = [entry.success.value for entry in ordered if entry.role == "agent"]
    return tuple(
        entry
        if entry.role != "agent"
        else replace(entry, rank=1 + scores.index(entry.success.value))
        for entry in ordered
    )


def _chart(board: Board) -> Markup:
    return bar_chart(
        [
            Bar(e.agent, e.success.value, e.success.low, e.success.high, _role(e))
            for e in board.entries
        ]
    )


def _role(entry: Entry) -> str:
    roles = {"baseline": "baseline", "ceiling": "follows the ground truth"}
    return roles.get(entry.role, f"{entry.episodes:,} episodes")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>crmbench leaderboard</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6878; --line: #e3e0da;
  --bg: #fbfaf8; --bar: #2f6f8f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #98a3b1; --line: #2e353f;
  --bg: #14181d; --bar: #6db3d3; } }
body { background: var(--bg); color: var(--ink); font: 15px/1.55 system-ui, sans-serif;
  max-width: 76rem; margin: 2rem auto; padding: 0 1.2rem; }
p { color: var(--soft); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-size: .85rem; vertical-align: bottom; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.baseline td, tr.ceiling td { color: var(--soft); }
svg { max-width: 52rem; font-size: 12.5px; } svg text { fill: var(--ink); }
svg .axis, svg .value { fill: var(--soft); } svg .grid { stroke: var(--line); }
svg .bar { fill: var(--bar); } svg .interval { stroke: var(--ink); fill: none; }
</style></head><body>
<h1>Leaderboard</h1>
<p>Bars and figures show the share of conversations that succeeded, with 95&nbsp;% intervals.
Agents whose intervals overlap may not differ: compare them paired by task before saying so.</p>
{% for board, chart in boards %}<section>
<h2>{{ board.data }}</h2>
<p>digest {{ board.data_digest[:12] }} · grading version {{ board.grading_version }}</p>
{{ chart }}
<div class="scroll"><table><thead><tr><th class="n">rank</th><th>agent</th><th>run</th>
<th class="n">success</th><th class="n">95&nbsp;% interval</th><th class="n">pass^k</th>
{% for name in board.categories %}<th class="n">{{ name }}</th>{% endfor %}
<th class="n">cost each</th><th class="n">tokens each</th></tr></thead><tbody>
{% for e in board.entries %}<tr class="{{ e.role }}"><td class="n">{{ e.rank or "–" }}</td>
<td>{{ e.agent }}</td><td>{{ e.run }}</td>
<td class="n">{{ "%.1f"|format(100 * e.success.value) }}&nbsp;%</td>
<td class="n">{{ "%.0f to %.0f"|format(100 * e.success.low, 100 * e.success.high) }}&nbsp;%</td>
<td class="n">{% if e.pass_hat is none %}–{% else %}{{ "%.1f"|format(100 * e.pass_hat) }}&nbsp;%
 (k = {{ e.k }}){% endif %}</td>
{% for name in board.categories %}<td class="n">{% if name in e.categories %}
{{ "%.0f"|format(100 * e.categories[name]) }}{% else %}–{% endif %}</td>{% endfor %}
<td class="n">{% if e.cost_per_conversation is none %}–{% else %}
${{ "%.4f"|format(e.cost_per_conversation) }}{% endif %}</td>
<td class="n">{% if e.tokens_per_conversation is none %}–{% else %}
{{ "{:,.0f}".format(e.tokens_per_conversation) }}{% endif %}</td></tr>
{% endfor %}</tbody></table></div></section>
{% endfor %}</body></html>
"""
