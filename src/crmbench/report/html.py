"""The report: one HTML page that needs no network.

Charts are drawn here as SVG, a few hundred bytes each, where a plotting library would weigh
megabytes. The list and each conversation are made of the parts that `crmbench view` shows; what was
said and done is packed with gzip, some conversations together, and unpacked by the browser when
somebody opens one. So a page over thousands of conversations stays a few megabytes.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from hashlib import sha256
from itertools import count, groupby, islice
from pathlib import Path
from typing import Any

import orjson
from markupsafe import Markup

from crmbench.core.task import Task
from crmbench.errors import CrmbenchError, InputError
from crmbench.formats.episode_store import Key
from crmbench.formats.whole_file import replace_file
from crmbench.grading.grader import Grader
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.labels import labels_of, player, short_player
from crmbench.report.ladder import ladder_charts, ladder_overlays
from crmbench.report.role_figures import figures_lines
from crmbench.report.settings import settings
from crmbench.report.summary import Summary, summary_of
from crmbench.report.views.episode import episode_view
from crmbench.report.views.lines import EpisodeLine, line_of
from crmbench.report.views.records import (
    RecordView,
    effect_of,
    expected_records,
    written_records,
)
from crmbench.report.views.templates import page_style, part_source, parts, parts_style
from crmbench.runner.evaluate import grader_on
from crmbench.runner.outline import outlines, task_heads
from crmbench.runner.parts import PartedRun
from crmbench.runner.run_dir import RunDir

MAX_RESULT = 4_000
"""Characters of a tool's result that the page shows."""
SHOWN = 2000
"""Episodes of a run that its page holds; a hundred thousand would make it larger than memory."""
PACK = 40
"""Conversations packed together."""
PLAIN = 300_000
"""Characters of conversations that stand in the page unpacked, for those who allow no script."""
EXECUTED = 400
"""Tasks of a run whose gold is executed, to show what the records should be; 3 to 10 ms each."""
OF_MANY = 40
"""What a task of many decisions counts as there: its world, its own, takes seconds to make."""
LISTED = 50
"""Lines of a run's list that stand in the page; those after them are packed too."""


def write_report(
    run_dirs: Sequence[RunDir],
    out: Path,
    known: Sequence[EpisodeRecord] | None = None,
    summary: Summary | None = None,
) -> list[Summary]:
    """Write the page for one or more runs; the first is shown in detail first.

    Args:
        known: What `RunDir.for_figures` gives of the only run, where that was read already.
        summary: What `summary_of` gives of it, likewise.

    Returns:
        The figures of each, for which a long run need not be read again.
    """
    runs = [
        _PartsOfRun(run_dir, number, summary)
        if isinstance(run_dir, PartedRun)
        else _Run(run_dir, number, known, summary)
        for number, run_dir in enumerate(run_dirs)
    ]
    labels = labels_of([run.config for run in runs], [run.name for run in runs])
    script = part_source("keys.js") + part_source("page.js")
    plain = PlainConversations()
    for run in runs:
        run.plain = plain
    page = (
        parts()
        .get_template("page.html")
        .render(
            style=page_style() + parts_style(),
            script=script,
            policy=_policy(script),
            runs=runs,
            single=len(runs) == 1,
            pack_size=PACK,
            plain=plain.chosen,
            labels=labels,
            overview=bar_chart(
                [
                    run.bar(label)
                    for run, label in zip(runs, labels, strict=True)
                    if run.summary.trials
                ]
            ),
            ladders=ladder_overlays(
                [(label, *run.for_ladder) for run, label in zip(runs, labels, strict=True)]
            ),
        )
    )
    write_page(out, page)
    return [run.summary for run in runs]


class PlainConversations:
    """Conversations for those who allow no script: as they are, up to `PLAIN` characters.

    Those that failed come first. They are gathered while all are packed: none is read twice.
    """

    def __init__(self) -> None:
        self._kept: dict[bool, list[tuple[str, str, str]]] = {False: [], True: []}
        self._room = {False: PLAIN, True: PLAIN}

    def has_room(self, passed: bool) -> bool:
        """Whether another one may find room."""
        return self._room[passed] > 0

    def add(self, passed: bool, place: str, title: str, markup: str) -> None:
        """Keep one, if there is room for it."""
        self._room[passed] -= len(markup)
        if self.has_room(passed):
            self._kept[passed].append((place, title, markup))

    def chosen(self) -> Iterator[tuple[str, str, str]]:
        """Address, title and markup of those that find room."""
        room = PLAIN
        for each in (*self._kept[False], *self._kept[True]):
            room -= len(each[2])
            if room < 0:
                return
            yield each


def write_page(out: Path, page: str) -> None:
    """Write a page whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        replace_file(out, [page.encode()])
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            file=str(out),
            expected="a file in a directory that exists and may be written to",
        ) from error


def _policy(script: str) -> str:
    """The content security policy: this one script runs, and nothing is asked for elsewhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


class _Run:
    """One run as the template sees it."""

    def __init__(
        self,
        run_dir: RunDir,
        number: int,
        episodes: Sequence[EpisodeRecord] | None = None,
        summary: Summary | None = None,
    ) -> None:
        self.number = number
        self.config = run_dir.config()
        tasks = run_dir.tasks()
        self.tasks = {task.task_id: task for task in tasks}
        self._run_dir = run_dir
        self.episodes = run_dir.for_figures() if episodes is None else list(episodes)
        self.summary: Summary = summary or summary_of(run_dir, self.episodes, tasks)
        self.total = len(self.episodes)
        self._describe()

    def _describe(self) -> None:
        self.name = self._run_dir.path.resolve().name
        self.agent = player(self.config)
        self.settings = settings(self.config)
        self.plain = PlainConversations()
        self._grader: Grader | None = None
        self._executed: set[str] = set()
        self._room = EXECUTED
        self.others = list(figures_lines(self.summary.user, self.summary.judge))

    @property
    def for_ladder(self) -> tuple[Sequence[Task], Sequence[EpisodeRecord]]:
        """What the charts of a ladder are drawn from."""
        return list(self.tasks.values()), self.episodes

    def bar(self, label: str) -> Bar:
        """The run among others."""
        s = self.summary
        detail = f"{s.succeeded} of {s.trials}"
        return Bar(label, s.success.value, s.success.low, s.success.high, detail)

    def charts(self) -> list[tuple[str, Markup]]:
        """Title and SVG of every chart."""
        made = ladder_charts(*self.for_ladder)
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
    def shown(self) -> Sequence[Key]:
        """The episodes that can be opened on the page: all, or of a large run those that failed
        before those that succeeded, up to `SHOWN`.
        """
        if len(self.episodes) <= SHOWN:
            return [episode.key for episode in self.episodes]
        order = sorted(
            range(len(self.episodes)), key=lambda place: self.episodes[place].verdict.success
        )
        return [self.episodes[place].key for place in sorted(order[:SHOWN])]

    @cached_property
    def lines(self) -> list[EpisodeLine]:
        """A line for every episode that is shown."""
        heads = {head.conversation_id: head for head in task_heads(self._run_dir.path)}
        found = {each.place: each for each in outlines(self._run_dir.path, set(self.shown))}
        shown = (found[key] for key in self.shown)
        return [line_of(number, each, heads) for number, each in enumerate(shown)]

    @property
    def listed(self) -> list[str]:
        """The first lines as markup."""
        return self._rows[:LISTED]

    @property
    def more_listed(self) -> str:
        """The others, packed; empty where there are none."""
        rest = self._rows[LISTED:]
        return _pack(rest) if rest else ""

    @cached_property
    def _rows(self) -> list[str]:
        made: Any = parts().get_template("list_parts.html").module
        return [
            str(made.row(line, f"#e{self.number}-{line.number}", words=True)) for line in self.lines
        ]

    def packs(self) -> Iterator[tuple[str, str]]:
        """The conversations, some together: the id of the element and its base64 of gzip."""
        made = self._conversations()
        for number in count(0):
            pages = list(islice(made, PACK))
            if not pages:
                break
            yield f"pack{self.number}-{number}", _pack(pages)
        if self._grader is not None:
            self._grader.close()

    def _conversations(self) -> Iterator[str]:
        whole = self._run_dir.by_key()(self.shown)
        for line, episode in zip(self.lines, whole, strict=True):
            yield self._conversation(line, episode)

    def _conversation(self, line: EpisodeLine, episode: EpisodeRecord) -> str:
        """A conversation as markup; kept for those without scripts, too, while there is room."""
        records, known = self._records(line, episode)
        view = episode_view(self.tasks[line.task_id], episode, cut=MAX_RESULT)
        made = partial(
            parts().get_template("report_episode.html").render,
            line=line,
            view=view,
            records=records,
            known=known,
            agent=self.agent,
            short=short_player(self.config),
        )
        passed = line.standing == "passed"
        if self.plain.has_room(passed):
            place = f"e{self.number}-{line.number}"
            title = f"{line.task_id}, {line.standing}: {line.reason or line.opening[:120]}"
            self.plain.add(passed, place, title, made(plain=True))
        return made(plain=False)

    def _records(
        self, line: EpisodeLine, episode: EpisodeRecord
    ) -> tuple[tuple[RecordView, ...], bool]:
        """The records before and after; beside what is right where some of them are wrong.

        Returns:
            The records, and whether it is known what is right.
        """
        wrong = any(turn.mismatches and turn.state is not None for turn in episode.verdict.turns)
        task = self.tasks[line.task_id]
        if wrong and (line.task_id in self._executed or self._room > 0):
            if line.task_id not in self._executed:
                self._executed.add(line.task_id)
                self._room -= OF_MANY if task.gold.items else 1
            self._grader = self._grader or grader_on("sqlite")
            with suppress(CrmbenchError):  # a task whose gold no longer runs is shown without it
                return expected_records(self._grader, task, episode.trace), True
        return written_records(effect_of(episode.trace)), False


class _PartsOfRun(_Run):
    """A run in parts: its figures are made from rows, and its conversations read from the few parts
    that hold them. Charts of a ladder, which need every task, are left to the page of a part.
    """

    def __init__(self, run: PartedRun, number: int, summary: Summary | None = None) -> None:
        self.number = number
        self.config = run.config()
        self._run_dir = run
        self.summary = summary or summary_of(run)
        self.tasks = {}
        self._choose(run)
        self._describe()

    @property
    def for_ladder(self) -> tuple[Sequence[Task], Sequence[EpisodeRecord]]:
        return [], []

    def _choose(self, run: PartedRun) -> None:
        """Choose what is shown as `_Run.shown` does, and note the parts that hold it."""
        chosen: dict[bool, list[tuple[int, Path, Key]]] = {False: [], True: []}
        self.total = 0
        for part in run.finished():
            for key, success in run.outcomes(part):
                if len(chosen[success]) < SHOWN:
                    chosen[success].append((self.total, part.path, key))
                self.total += 1
        found = sorted([*chosen[False], *chosen[True]][:SHOWN])
        self.shown = [key for _, _, key in found]
        self._parts = {
            folder: [key for _, _, key in some]
            for folder, some in groupby(found, key=lambda each: each[1])
        }

    @cached_property
    def lines(self) -> list[EpisodeLine]:
        made: list[EpisodeLine] = []
        for folder, keys in self._parts.items():
            heads = {head.conversation_id: head for head in task_heads(folder)}
            found = {each.place: each for each in outlines(folder, set(keys))}
            made += [line_of(len(made) + n, found[key], heads) for n, key in enumerate(keys)]
        return made

    def _conversations(self) -> Iterator[str]:
        lines = iter(self.lines)
        for folder, keys in self._parts.items():
            part = RunDir(folder)
            # Of one part at a time, as its conversations are.
            self.tasks = {task.task_id: task for task in part.tasks()}
            for line, episode in zip(islice(lines, len(keys)), part.by_key()(keys), strict=True):
                yield self._conversation(line, episode)


def _count(tasks: int) -> str:
    return counted(tasks, "task")


def _pack(pages: Sequence[str]) -> str:
    # No time in the header, so that the same run gives the same page.
    return b64encode(gzip.compress(orjson.dumps(pages), mtime=0)).decode()
