"""A leaderboard: one static page over many runs, ranked within each data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from crmbench.grading.metrics import Interval
from crmbench.language.counts import counted
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.html import write_page
from crmbench.report.labels import player, short_player
from crmbench.report.summary import summary_of
from crmbench.report.timings import mean_seconds
from crmbench.runner.run_dir import RunDir

BASELINES = ("noop", "refuse_all", "random", "dump", "heuristic")
"""Agents that any other should beat; they have no rank."""
CEILINGS = ("oracle", "mock")
"""Agents that follow the ground truth; they have no rank either."""


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """One run."""

    rank: int | None
    """Runs of equal success share one; null for baselines, for what follows the gold, and for
    runs that are not complete."""
    run: str
    agent: str
    label: str
    """The agent, for narrow places."""
    role: str
    """``agent``, ``baseline`` or ``ceiling``."""
    conversations: int
    episodes: int
    success: Interval
    at_most: Interval
    """The success with every undecided episode taken to succeed."""
    undecided: int
    """Episodes that no certain reading decides."""
    pass_hat: float | None
    """pass^k for the most trials that every task had; null with one trial."""
    k: int
    categories: dict[str, float]
    cost_per_conversation: float | None
    tokens_per_conversation: float | None
    seconds_per_conversation: float
    not_counted: int
    """Episodes that the agent's model, the user's or the judge spoilt."""
    missing: int
    """Episodes that were never played."""


@dataclass(frozen=True, slots=True)
class Board:
    """The runs over the same conversations, under one version of the grading, best first."""

    data: str
    data_digest: str
    grading_version: int | None
    part: str
    """What was chosen from the data and from the tools; "" for all."""
    entries: tuple[BoardEntry, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(sorted({name for entry in self.entries for name in entry.categories}))

    def to_data(self) -> dict[str, Any]:
        """An object for JSON."""
        data = asdict(self)
        for entry, shown in zip(self.entries, data["entries"], strict=True):
            shown["success"] = entry.success._asdict()
            shown["at_most"] = entry.at_most._asdict()
        return data


def leaderboard(run_dirs: Sequence[RunDir]) -> tuple[Board, ...]:
    """Rank runs by success; only runs over the same conversations and grading share a board.

    Raises:
        InputError: A directory holds no run, or one that cannot be read.
    """
    boards: defaultdict[tuple[str, str, Any, str], list[BoardEntry]] = defaultdict(list)
    for run_dir in run_dirs:
        config = run_dir.config()
        place = (
            str(config.get("data", "")),
            str(config.get("data_digest", "")),
            config.get("grading_version"),
            _part(config),
        )
        boards[place].append(_entry(run_dir, config))
    return tuple(Board(*place, _ranked(entries)) for place, entries in boards.items())


def _part(config: dict[str, Any]) -> str:
    parts = [str(text) for text in config.get("filters") or ()]
    if config.get("sample"):
        parts.append(f"a sample of {config['sample']} (seed {config.get('seed', 0)})")
    if config.get("tools"):
        parts.append(f"tools {config['tools']}")
    if config.get("condition"):
        parts.append(f"under {config['condition']}")
    if config.get("budget"):
        parts.append(f"with {config['budget']} times the gold's calls")
    return ", ".join(parts)


def write_leaderboard(run_dirs: Sequence[RunDir], out: Path) -> None:
    """Write the page; it needs no network and no script.

    Raises:
        InputError: As `leaderboard`.
    """
    boards = [(board, _chart(board)) for board in leaderboard(run_dirs)]
    page = Environment(autoescape=True, trim_blocks=True).from_string(_PAGE).render(boards=boards)
    write_page(out, page)


def _entry(run_dir: RunDir, config: dict[str, Any]) -> BoardEntry:
    found = summary_of(run_dir)
    agent = str(config.get("agent"))
    role = "baseline" if agent in BASELINES else "ceiling" if agent in CEILINGS else "agent"
    usage, played = found.usage, max(found.trials, 1)
    k = max(found.pass_hat, default=1)
    return BoardEntry(
        rank=None,
        run=run_dir.path.resolve().name,
        agent=player(config),
        label=short_player(config),
        role=role,
        conversations=found.conversations,
        episodes=found.trials,
        success=found.success,
        at_most=found.at_most,
        undecided=found.undecided,
        pass_hat=found.pass_hat[k] if k > 1 else None,
        k=k,
        categories={
            name: part.success.value for name, part in found.slices.get("category", {}).items()
        },
        cost_per_conversation=None if usage.cost is None else usage.cost / played,
        tokens_per_conversation=usage.total_tokens / played if usage.model_calls else None,
        seconds_per_conversation=mean_seconds(run_dir),
        not_counted=found.not_counted.total,
        missing=found.missing,
    )


def _ranked(entries: Sequence[BoardEntry]) -> tuple[BoardEntry, ...]:
    ordered = sorted(entries, key=lambda e: (-e.success.value, e.agent, e.run))
    scores = [entry.success.value for entry in ordered if _has_rank(entry)]
    return tuple(
        replace(entry, rank=1 + scores.index(entry.success.value)) if _has_rank(entry) else entry
        for entry in ordered
    )


def _has_rank(entry: BoardEntry) -> bool:
    return entry.role == "agent" and entry.episodes > 0 and not entry.missing


def _chart(board: Board) -> Markup:
    return bar_chart(
        [
            Bar(f"{e.label} ({e.run})", e.success.value, e.success.low, e.success.high, _role(e))
            for e in board.entries
            if e.episodes
        ]
    )


def _role(entry: BoardEntry) -> str:
    roles = {"baseline": "baseline", "ceiling": "ground truth"}
    remark = roles.get(entry.role, counted(entry.episodes, "episode"))
    return f"{remark}, not complete" if entry.missing else remark


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
th.n { white-space: normal; min-width: 4rem; }
td.agent { overflow-wrap: anywhere; min-width: 14rem; }
tr.baseline td, tr.ceiling td { color: var(--soft); }
svg { max-width: 52rem; font-size: 12.5px; } svg text { fill: var(--ink); }
svg .axis, svg .value { fill: var(--soft); } svg .grid { stroke: var(--line); }
svg .bar { fill: var(--bar); } svg .interval { stroke: var(--ink); fill: none; }
</style></head><body>
<h1>Leaderboard</h1>
<p>Bars and figures show the share of conversations that succeeded, with 95&nbsp;% intervals.
Where replies leave episodes undecided, success is a range (none of them … all of them succeed), and
the rank goes by its low end.
Agents whose intervals overlap may not differ: compare them paired by task before saying so.
Baselines, agents that follow the ground truth, and runs that are not complete have no rank.</p>
{% for board, chart in boards %}<section>
<h2>{{ board.data }}{% if board.part %}: {{ board.part }}{% endif %}</h2>
<p>digest {{ board.data_digest[:12] }} · grading version {{ board.grading_version }}</p>
{{ chart }}
<div class="scroll"><table><thead><tr><th class="n">rank</th><th>agent</th><th>run</th>
<th class="n">success</th><th class="n">95&nbsp;% interval</th><th class="n">pass^k</th>
<th class="n">cost each</th><th class="n">tokens each</th><th class="n">not counted</th>
<th class="n">not played</th>{% for name in board.categories %}<th class="n">{{ name }}</th>
{% endfor %}</tr></thead><tbody>
{% for e in board.entries %}<tr class="{{ e.role }}"><td class="n">{{ e.rank or "–" }}</td>
<td class="agent">{{ e.agent }}</td><td>{{ e.run }}</td>
{% if e.episodes %}<td class="n">{{ "%.1f"|format(100 * e.success.value) }}{% if e.undecided %}
 to {{ "%.1f"|format(100 * e.at_most.value) }}{% endif %}&nbsp;%</td>
<td class="n">{{ "%.0f to %.0f"|format(100 * e.success.low, 100 * e.success.high) }}&nbsp;%</td>
{% else %}<td class="n">–</td><td class="n">–</td>{% endif %}
<td class="n">{% if e.pass_hat is none %}–{% else %}{{ "%.1f"|format(100 * e.pass_hat) }}&nbsp;%
 (k = {{ e.k }}){% endif %}</td>
<td class="n">{% if e.cost_per_conversation is none %}–{% else %}
${{ "%.4f"|format(e.cost_per_conversation) }}{% endif %}</td>
<td class="n">{% if e.tokens_per_conversation is none %}–{% else %}
{{ "{:,.0f}".format(e.tokens_per_conversation) }}{% endif %}</td>
<td class="n">{{ e.not_counted or "–" }}</td><td class="n">{{ e.missing or "–" }}</td>
{% for name in board.categories %}<td class="n">{% if name in e.categories %}
{{ "%.0f"|format(100 * e.categories[name]) }}{% else %}–{% endif %}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div></section>
{% endfor %}</body></html>
"""
