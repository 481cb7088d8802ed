"""The pages over runs: which there are, the episodes of one, two side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Receive, Scope, Send

from crmbench.report.views.lines import EpisodeLine
from crmbench.web.filters import PAGE, SORTS, EpisodeFilter
from crmbench.web.pages import page, static
from crmbench.web.runs import FACETS, RunStore, StoredRun

if TYPE_CHECKING:
    from crmbench.grading.grader import Grader
    from crmbench.web.decide import DecisionFile

SOON = 0.4
"""Seconds that a page waits for a list that is still being read."""


@dataclass
class Viewer:
    """What the pages over runs look at.

    Args:
        store: The runs.
        by: Who decides open readings, where nothing else is said.
    """

    store: RunStore
    by: str = "person"
    decisions: dict[str, DecisionFile] = field(default_factory=dict)

    @cached_property
    def grader(self) -> Grader:
        """Knows what is right; made when it is first asked, for it needs databases."""
        from crmbench.runner.evaluate import grader_on

        return grader_on("sqlite")

    def decision_file(self, run: StoredRun) -> DecisionFile:
        """Where decisions on a run are kept."""
        from crmbench.web.decide import FILE, DecisionFile

        if run.name not in self.decisions:
            self.decisions[run.name] = DecisionFile(run.path / FILE)
        return self.decisions[run.name]

    def close(self) -> None:
        """Close the databases, if any were opened."""
        if "grader" in self.__dict__:
            self.grader.close()


def viewer_routes() -> list[BaseRoute]:
    """The routes; the application's ``state.viewer`` is what they look at."""
    return [
        Route("/", runs_page),
        Route("/compare", compare_page),
        Route("/runs/{run}", run_page),
        Route("/static/{name}", static),
        Mount("", app=_EpisodePages()),
    ]


def load_episode_pages() -> Router:
    """The pages of episodes. They import the grading, which takes longer than to read a list."""
    from crmbench.web.episode_pages import episode_routes

    return Router(episode_routes())


class _EpisodePages:
    """ASGI application: what is no list is an episode, loaded when the first is asked for."""

    @cached_property
    def _router(self) -> Router:
        return load_episode_pages()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router(scope, receive, send)


def viewer_of(request: Request) -> Viewer:
    """What a request's pages look at."""
    found: Viewer = request.app.state.viewer
    return found


def episode_url(run: str, task_id: str, trial: int) -> str:
    """The address of an episode."""
    return f"/runs/{quote(run)}/episodes/{quote(task_id)}/{trial}"


async def runs_page(request: Request) -> Response:
    """All runs; of one alone its episodes at once."""
    store = viewer_of(request).store
    runs = list(store.runs.values())
    if len(runs) == 1:
        return RedirectResponse(f"/runs/{quote(runs[0].name)}")
    waiting = any(run.figures is None and not run.ready for run in runs)
    return page(request, "runs.html", runs=runs, waiting=waiting)


async def run_page(request: Request) -> Response:
    """The figures of a run and its episodes, as the address narrows them."""
    run = viewer_of(request).store.get(request.path_params["run"])
    run.wait(SOON)
    chosen = EpisodeFilter.of(request.query_params)
    found = chosen.of_all(run.lines)
    start = PAGE * (chosen.page - 1)
    others = [each for each in viewer_of(request).store.runs.values() if each is not run]
    return page(
        request,
        "run.html",
        run=run,
        chosen=chosen,
        lines=found[start : start + PAGE],
        found=len(found),
        pages=max(1, -(-len(found) // PAGE)),
        first=start + 1,
        facets=FACETS,
        sorts=SORTS,
        others=others,
        episode_url=episode_url,
    )


# --- two runs side by side --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EpisodePair:
    """A task in two runs."""

    task_id: str
    trial: int
    first: EpisodeLine
    second: EpisodeLine


def pairs_of(first: StoredRun, second: StoredRun) -> list[EpisodePair]:
    """The episodes that both runs have, in the first one's order."""
    there = {(line.task_id, line.trial): line for line in second.lines}
    return [
        EpisodePair(line.task_id, line.trial, line, there[line.task_id, line.trial])
        for line in first.lines
        if (line.task_id, line.trial) in there
    ]


CHANGES = {
    "": "all",
    "differ": "ended differently",
    "better": "failed in the first, passed in the second",
    "worse": "passed in the first, failed in the second",
}


def _fits(pair: EpisodePair, wanted: str) -> bool:
    one, two = pair.first.standing, pair.second.standing
    if wanted == "better":
        return one != "passed" and two == "passed"
    if wanted == "worse":
        return one == "passed" and two != "passed"
    return not wanted or one != two


async def compare_page(request: Request) -> Response:
    """The tasks of two runs and how each ended in both."""
    store, query = viewer_of(request).store, request.query_params
    names = list(store.runs)
    first = store.get(query.get("a") or names[0])
    second = store.get(query.get("b") or names[-1])
    for run in (first, second):
        run.wait(SOON)
    wanted = query.get("only", "") if query.get("only", "") in CHANGES else ""
    pairs = pairs_of(first, second)
    counts = {name: sum(_fits(pair, name) for pair in pairs) for name in CHANGES}
    return page(
        request,
        "compare.html",
        runs=list(store.runs.values()),
        first=first,
        second=second,
        pairs=[p for p in pairs if _fits(p, wanted)][: 5 * PAGE],
        counts=counts,
        wanted=wanted,
        changes=CHANGES,
        total=len(pairs),
    )
