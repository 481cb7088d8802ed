"""The report: one HTML page that needs no network.

Charts are drawn here as SVG, a few hundred bytes each, where a plotting library would weigh
megabytes. Of every conversation a line is embedded as JSON; what was said and done in it is packed
with gzip, some conversations together, and unpacked by the browser when somebody opens one. So a
page over thousands of conversations stays a few megabytes.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Sequence
from functools import cache, cached_property
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, select_autoescape
from markupsafe import Markup

from crmbench.core.counts import counted
from crmbench.core.record import TurnJudgement
from crmbench.core.trace import CallRecord
from crmbench.errors import InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.labels import labels_of, player
from crmbench.report.ladder import ladder_charts, ladder_overlays
from crmbench.report.played import problems_of
from crmbench.report.role_figures import figures_lines
from crmbench.report.settings import settings
from crmbench.report.summary import Summary, reason_kind, summary_of
from crmbench.report.timings import Timings, timings
from crmbench.runner.run_dir import RunDir

MAX_RESULT = 4_000
"""Characters of a tool's result that the page shows."""
MAX_CHANGES = 40
SHOWN = 2000
"""Episodes of a run that its page holds; a hundred thousand would make it larger than memory."""
PACK = 40
"""Conversations packed together."""


def write_report(run_dirs: Sequence[RunDir], out: Path) -> None:
    """Write the page for one or more runs; the first is shown in detail first."""
    runs = [_Run(run_dir, number) for number, run_dir in enumerate(run_dirs)]
    labels = labels_of([run.config for run in runs], [run.name for run in runs])
    page = page_template("page.html").render(
        style=page_style(),
        runs=runs,
        single=len(runs) == 1,
        pack_size=PACK,
        labels=labels,
        overview=bar_chart(
            [run.bar(label) for run, label in zip(runs, labels, strict=True) if run.summary.trials]
        ),
        ladders=ladder_overlays(
            [
                (label, list(run.tasks.values()), run.episodes)
                for run, label in zip(runs, labels, strict=True)
            ]
        ),
        data=_script_safe(orjson.dumps([run.index() for run in runs]).decode()),
    )
    write_page(out, page)


def write_page(out: Path, page: str) -> None:
    """Write a page whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    temporary = out.with_name(out.name + ".part")
    try:
        temporary.write_text(page, encoding="utf-8")
        temporary.replace(out)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            file=str(out),
            expected="a file in a directory that exists and may be written to",
        ) from error


@cache
def _environment() -> Environment:
    return Environment(autoescape=select_autoescape(default=True), trim_blocks=True)


@cache
def page_template(name: str) -> Any:
    """A template of this package, which escapes what is put into it."""
    return _environment().from_string(_file(name))


@cache
def page_style() -> str:
    """The style that all pages share."""
    return _file("style.css")


def _file(name: str) -> str:
    return (resources.files("crmbench.report") / name).read_text(encoding="utf-8")


def _script_safe(json: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


class _Run:
    """One run as the template sees it."""

    def __init__(self, run_dir: RunDir, number: int) -> None:
        self.number = number
        self.config = run_dir.config()
        self.tasks = {task.task_id: task for task in run_dir.tasks()}
        self._run_dir = run_dir
        self.episodes: list[EpisodeRecord] = run_dir.for_figures()
        self.summary: Summary = summary_of(run_dir, self.episodes)
        self.timings: Timings = timings(self.episodes)
        self.name = run_dir.path.resolve().name
        self.agent = player(self.config)
        self.settings = settings(self.config)
        self.others = list(figures_lines(self.summary.user, self.summary.judge))

    def bar(self, label: str) -> Bar:
        """The run among others."""
        s = self.summary
        detail = f"{s.succeeded} of {s.trials}"
        return Bar(label, s.success.value, s.success.low, s.success.high, detail)

    def charts(self) -> list[tuple[str, Markup]]:
        """Title and SVG of every chart."""
        made = ladder_charts(list(self.tasks.values()), self.episodes)
        if self.summary.reasons:
            whole = self.summary.trials
            failed = [
                Bar(kind.replace("_", " "), n / whole, None, None, counted(n, "episode"))
                for kind, n in self.summary.reasons.items()
            ]
            made.append(
                ("Why conversations failed: share of all, by first fault", bar_chart(failed))
            )
        for name in ("category", "complexity", "tag", "persona"):
            groups = self.summary.slices.get(name, {})
            if groups:
                bars = [
                    Bar(value, g.success.value, g.success.low, g.success.high, _count(g.tasks))
                    for value, g in groups.items()
                ]
                made.append((f"Success by {name}", bar_chart(bars)))
        if len(self.summary.pass_hat) > 1:
            bars = [Bar(f"k = {k}", v, None, None, "") for k, v in self.summary.pass_hat.items()]
            made.append(("pass^k: all of k trials succeed", bar_chart(bars)))
        turns = [
            Bar(f"turn {n}", right / played, None, None, f"{right} of {played}")
            for n, (right, played) in self.summary.by_turn.items()
        ]
        made.append(("Success by turn", bar_chart(turns)))
        return made

    @cached_property
    def shown(self) -> list[EpisodeRecord]:
        """The episodes that can be opened on the page: all, or of a large run those that failed
        before those that succeeded, up to `SHOWN`.
        """
        if len(self.episodes) <= SHOWN:
            return self.episodes
        order = sorted(
            range(len(self.episodes)), key=lambda place: self.episodes[place].verdict.success
        )
        return [self.episodes[place] for place in sorted(order[:SHOWN])]

    def index(self) -> list[dict[str, Any]]:
        """A line for every episode that is shown."""
        return [self._line(episode) for episode in self.shown]

    def packs(self) -> list[tuple[str, str]]:
        """The conversations, some together: the id of the element and its base64 of gzip."""
        whole = self._run_dir.by_key()(episode.key for episode in self.shown)
        return [
            (f"pack{self.number}-{start // PACK}", _pack(list(islice(whole, PACK))))
            for start in range(0, len(self.shown), PACK)
        ]

    def _line(self, episode: EpisodeRecord) -> dict[str, Any]:
        task, verdict = self.tasks[episode.trace.task_id], episode.verdict
        turns = episode.trace.turns
        return {
            "id": task.task_id,
            "trial": episode.trace.trial,
            "ok": verdict.success,
            "counted": verdict.counted,
            "category": task.category,
            "complexity": task.complexity,
            "tags": list(task.tags),
            "reason": verdict.reason,
            "seconds": round(episode.seconds, 1),
            "kind": None if verdict.success else reason_kind(episode),
            "asked": turns[0].utterance[:200] if turns else "",
        }


def _count(tasks: int) -> str:
    return counted(tasks, "task")


def _pack(episodes: Sequence[EpisodeRecord]) -> str:
    # No time in the header, so that the same run gives the same page.
    return b64encode(gzip.compress(orjson.dumps([_turns(e) for e in episodes]), mtime=0)).decode()


def _turns(episode: EpisodeRecord) -> list[dict[str, Any]]:
    """What was said and done in an episode, and what was wrong with it."""
    judging = episode.participants.judge if episode.participants else None
    said = {turn.turn_id: _judged(turn) for turn in judging.turns} if judging else {}
    return [
        {
            "n": turn.turn_id,
            "ok": judged.success,
            "messages": [[m.role, m.text[:MAX_RESULT]] for m in turn.messages],
            "calls": [_call(call) for call in turn.calls],
            "problems": problems,
            "error": turn.error,
            "expected": judged.expected_tool,
            "judge": said.get(turn.turn_id),
            "tokens": turn.usage.total_tokens if turn.usage else None,
        }
        for turn, judged, problems in zip(
            episode.trace.turns, episode.verdict.turns, problems_of(episode), strict=True
        )
    ]


WHY = {
    "call": "its verdict decides the turn",
    "text": "nothing else checks the text",
    "response": "calls and reply against what the file expects",
    "agreement": "asked to compare it with the checks; decides nothing",
}
"""Why a judge was asked, in words."""


def _judged(said: TurnJudgement) -> str:
    """A judge's verdict in one line."""
    if said.passed is None:
        return f"no usable answer ({said.rationale[:MAX_RESULT]})"
    verdict = "passed" if said.passed else "failed"
    return f"{verdict}, {said.score or 0.0:.2f} ({WHY[said.why]}): {said.rationale[:MAX_RESULT]}"


def _call(call: CallRecord) -> dict[str, Any]:
    result = orjson.dumps(call.result, option=orjson.OPT_INDENT_2).decode() if call.ok else ""
    if len(result) > MAX_RESULT:
        result = f"{result[:MAX_RESULT]}\n… {len(result) - MAX_RESULT:,} more characters"
    return {
        "tool": call.tool,
        "arguments": orjson.dumps(call.arguments, option=orjson.OPT_INDENT_2).decode()[:MAX_RESULT],
        "ok": call.ok,
        "result": result,
        "error": call.error,
        "changes": [
            {
                "table": change.table,
                "key": change.key,
                "what": _what(change.before, change.after),
                "fields": [
                    [name, before, after]
                    for name, before, after in _fields(change.before, change.after)
                ],
            }
            for change in call.changes[:MAX_CHANGES]
        ],
    }


ORDER_COLUMN = "seq"
"""No field of the org: no agent sees it."""


def _what(before: Any, after: Any) -> str:
    return "created" if before is None else "deleted" if after is None else "changed"


def _fields(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> list[tuple[str, Any, Any]]:
    """The fields that differ, before and after; not the column that only keeps the order."""
    old, new = before or {}, after or {}
    names = [name for name in {**old, **new} if name != ORDER_COLUMN]
    return [(n, old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n)]
