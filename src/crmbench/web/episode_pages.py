"""The pages of episodes: one of them, its records and calls, a decision on it, two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from crmbench.core.task import Task
from crmbench.errors import CrmbenchError
from crmbench.grading.record import EpisodeRecord
from crmbench.report.views.episode import EpisodeView, episode_view, result_text
from crmbench.report.views.lines import EpisodeLine
from crmbench.report.views.records import (
    RecordView,
    effect_of,
    expected_records,
    written_records,
)
from crmbench.seats.errors import BadRequest, NotFound
from crmbench.web.filters import EpisodeFilter
from crmbench.web.pages import page
from crmbench.web.runs import StoredRun
from crmbench.web.viewer import Viewer, episode_url, viewer_of


def episode_routes() -> list[BaseRoute]:
    """The routes; the application's ``state.viewer`` is what they look at."""
    episode = "/runs/{run}/episodes/{task:path}/{trial:int}"
    return [
        Route("/compare/episode/{task:path}/{trial:int}", compare_episode_page),
        Route(f"{episode}/records", records_part),
        Route(f"{episode}/calls/{{number:int}}", call_part),
        Route(f"{episode}/decide", decide, methods=["POST"]),
        Route(episode, episode_page),
    ]


@dataclass(frozen=True)
class Opened:
    """An episode that a page shows."""

    run: StoredRun
    line: EpisodeLine
    task: Task
    record: EpisodeRecord

    @property
    def view(self) -> EpisodeView:
        """As pages show it."""
        return episode_view(self.task, self.record)


def opened(viewer: Viewer, run_name: str, task_id: str, trial: int) -> Opened:
    """An episode by its address.

    Raises:
        NotFound: There is none.
    """
    run = viewer.store.get(run_name)
    run.wait(60)
    line = run.line(task_id, trial)
    return Opened(run, line, run.run_dir.task(task_id), run.episode(task_id, trial))


def _opened(request: Request) -> Opened:
    p = request.path_params
    return opened(viewer_of(request), p["run"], p["task"], p["trial"])


async def episode_page(request: Request) -> Response:
    """One episode: what was said and done beside what was expected."""
    viewer, shown = viewer_of(request), _opened(request)
    chosen = EpisodeFilter.of(request.query_params)
    before, after = _neighbours(chosen.of_all(shown.run.lines), shown.line)
    return page(
        request,
        "episode.html",
        run=shown.run,
        line=shown.line,
        view=shown.view,
        chosen=chosen,
        before=before,
        after=after,
        episode_url=episode_url,
        by=viewer.by,
        others=[
            each
            for each in viewer.store.runs.values()
            if each is not shown.run and each.trials(shown.task.task_id)
        ],
        decided=viewer.decision_file(shown.run).of(shown.task.task_id, shown.line.trial),
        decisions=viewer.decision_file(shown.run).path,
        records=written_records(effect_of(shown.record.trace)),
        trials=shown.run.trials(shown.task.task_id),
    )


def _neighbours(
    lines: Sequence[EpisodeLine], line: EpisodeLine
) -> tuple[EpisodeLine | None, EpisodeLine | None]:
    place = next((i for i, each in enumerate(lines) if each.number == line.number), None)
    if place is None:
        return None, None
    before = lines[place - 1] if place else None
    return before, lines[place + 1] if place + 1 < len(lines) else None


async def records_part(request: Request) -> Response:
    """The records before and after beside what should be there: the gold is executed for it."""
    viewer, shown = viewer_of(request), _opened(request)
    problem, known = "", shown.task.gold.grading == "state"
    views: tuple[RecordView, ...] = written_records(effect_of(shown.record.trace))
    if known:
        try:
            views = expected_records(viewer.grader, shown.task, shown.record.trace)
        except CrmbenchError as error:
            problem, known = str(error), False
    return page(
        request, "records.html", records=views, known=known, problem=problem, wanted=False, url=""
    )


async def call_part(request: Request) -> Response:
    """The whole result of a call.

    Raises:
        NotFound: The episode has no such call.
    """
    shown, number = _opened(request), request.path_params["number"]
    calls = [call for turn in shown.record.trace.turns for call in turn.calls]
    if not 1 <= number <= len(calls):
        raise NotFound("The episode has no such call.")
    return PlainTextResponse(result_text(calls[number - 1]))


async def decide(request: Request) -> Response:
    """Keep what a person decided of an open reading.

    Raises:
        BadRequest: The episode has no such reading, or the decision is none.
    """
    viewer, shown = viewer_of(request), _opened(request)
    form = await request.form()
    reading, right, by = (str(form.get(name, "")) for name in ("reading", "right", "by"))
    turn = str(form.get("turn", ""))
    turns = {str(each.turn_id): each for each in shown.record.verdict.turns}
    if turn not in turns or reading not in turns[turn].undecided or right not in ("yes", "no"):
        raise BadRequest("There is no such open reading in this episode.")
    said = shown.record.trace.turns[int(turn) - 1].reply
    viewer.decision_file(shown.run).add(
        *(shown.task.task_id, shown.line.trial, int(turn), reading),
        right=right == "yes",
        by=by.strip()[:80] or viewer.by,
        reply=said,
    )
    address = episode_url(shown.run.name, shown.task.task_id, shown.line.trial)
    return RedirectResponse(f"{address}?{request.url.query}#turn-{turn}", 303)


async def compare_episode_page(request: Request) -> Response:
    """One task as two runs played it, turn beside turn."""
    viewer, query, p = viewer_of(request), request.query_params, request.path_params
    sides = [opened(viewer, query.get(name, ""), p["task"], p["trial"]) for name in ("a", "b")]
    views = [side.view for side in sides]
    played = max(len(view.turns) for view in views)
    rows = [
        tuple(view.turns[i] if i < len(view.turns) else None for view in views)
        for i in range(played)
    ]
    return page(
        request,
        "compare_episode.html",
        sides=sides,
        views=views,
        rows=rows,
        task=sides[0].task,
        episode_url=episode_url,
    )
