"""A leaderboard as a site of static files: boards, a page a run, the rules, the data's card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crmbench.errors import InputError
from crmbench.report.html import write_page
from crmbench.report.labels import player
from crmbench.report.ladder import MechanismFigures, ladder_figures
from crmbench.report.leaderboard import Board, BoardEntry, leaderboard
from crmbench.report.settings import settings
from crmbench.report.summary import Summary, summary_of
from crmbench.runner.run_dir import RunDir
from crmbench.web.pages import render, static_file

FILES = ("app.css", "theme.js", "site.js", "icon.svg")
STATIC_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class SiteRun:
    """A run as the site shows it."""

    page: str
    """The name of its page, without ``.html``."""
    name: str
    agent: str
    config: Mapping[str, Any]
    settings: Sequence[tuple[str, str]]
    summary: Summary
    ladder: tuple[MechanismFigures, ...]


@dataclass(frozen=True)
class DataSet:
    """A set of tasks, as its runs know it."""

    name: str
    digest: str
    tasks: int
    turns: int
    families: int
    categories: tuple[tuple[str, int], ...]
    domains: tuple[str, ...]


def write_site(run_dirs: Sequence[RunDir], out: Path) -> list[Path]:
    """Write the site; what it needs stands beside it.

    Returns:
        The pages.

    Raises:
        InputError: A directory holds no run, or the site cannot be written.
    """
    runs = _runs(run_dirs)
    boards = leaderboard(run_dirs)
    pages = {run.name_in_board: run for run in runs}
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
        (out / "static").mkdir(exist_ok=True)
        for name in FILES:
            (out / "static" / name).write_bytes(static_file(name))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from error
    made = list(_pages(boards, pages, runs, data_sets(run_dirs)))
    for path, text in made:
        write_page(out / path, text)
    return [out / path for path, _ in made]


@dataclass(frozen=True)
class _Named(SiteRun):
    """A run with the name that boards call it by."""

    name_in_board: tuple[str, str, str] = ("", "", "")


def _runs(run_dirs: Sequence[RunDir]) -> list[_Named]:
    found: list[_Named] = []
    taken: set[str] = set()
    for run_dir in run_dirs:
        config, name = run_dir.config(), run_dir.path.resolve().name
        wanted = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "run"
        page, number = wanted, 2
        while page.lower() in taken:
            page, number = f"{wanted}-{number}", number + 1
        taken.add(page.lower())
        ladder = ladder_figures(run_dir.tasks(), run_dir.outlines())
        key = (name, str(config.get("data", "")), str(config.get("data_digest", "")))
        found.append(
            _Named(
                *(page, name, player(config), config, settings(config)),
                *(summary_of(run_dir), ladder, key),
            )
        )
    return found


def _pages(
    boards: Sequence[Board],
    runs_by_key: Mapping[tuple[str, str, str], SiteRun],
    runs: Sequence[SiteRun],
    sets: Sequence[DataSet],
) -> Iterator[tuple[Path, str]]:
    """Every page: where it goes, and its text."""
    mechanisms = sorted({each.mechanism for run in runs for each in run.ladder})

    def run_of(board: Board, entry: BoardEntry) -> SiteRun:
        return runs_by_key[entry.run, board.data, board.data_digest]

    def n50(run: SiteRun, mechanism: str) -> MechanismFigures | None:
        return next((each for each in run.ladder if each.mechanism == mechanism), None)

    common = {"policy": STATIC_POLICY, "partial": False, "path": ""}
    yield (
        Path("index.html"),
        render(
            "site_index.html",
            root="",
            home="index.html",
            boards=boards,
            run_of=run_of,
            n50=n50,
            mechanisms=mechanisms,
            runs=runs,
            here="index",
            **common,
        ),
    )
    for name, here in (("site_rules.html", "rules"), ("site_data.html", "data")):
        text = render(name, root="", home="index.html", sets=sets, here=here, **common)
        yield Path(f"{here}.html"), text
    for run in runs:
        text = render("site_run.html", root="../", home="../index.html", run=run, here="", **common)
        yield Path("runs") / f"{run.page}.html", text


def data_sets(run_dirs: Sequence[RunDir]) -> list[DataSet]:
    """The sets that the runs are over, each once."""
    found: dict[tuple[str, str], DataSet] = {}
    for run_dir in run_dirs:
        config = run_dir.config()
        key = (str(config.get("data", "")), str(config.get("data_digest", "")))
        if key in found:
            continue
        tasks = run_dir.tasks()
        counts: dict[str, int] = {}
        for task in tasks:
            counts[task.category] = counts.get(task.category, 0) + 1
        found[key] = DataSet(
            *key,
            len(tasks),
            sum(len(task.turns) for task in tasks),
            len({task.family for task in tasks if task.family}),
            tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))),
            tuple(sorted({task.domain for task in tasks})),
        )
    return [found[key] for key in sorted(found)]
