"""The pages on which a person takes the agent's place: the user's words, tools as forms."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from crmbench.core.episode import MAX_CALLS
from crmbench.grading.record import EpisodeRecord
from crmbench.report.views.episode import EpisodeView, episode_view
from crmbench.report.views.records import effect_of, written_records
from crmbench.runner.outline import outlines
from crmbench.runner.run_dir import RunDir
from crmbench.seats.errors import NotFound
from crmbench.seats.listener import LOOPBACK
from crmbench.serve.sessions import Sessions
from crmbench.serve.tokens import new_token
from crmbench.serve.verdicts import RunKey
from crmbench.web.app import pages_app
from crmbench.web.explorer import explorer_routes
from crmbench.web.forms import FormProblem, arguments_of, form_of
from crmbench.web.pages import page, static
from crmbench.web.seats import PersonSeat
from crmbench.web.serving import check_local, serve_pages


@dataclass
class PlayRoom:
    """The seats of a server.

    Args:
        sessions: Where tasks are played and graded.
        out: Where their runs go.
    """

    sessions: Sessions
    out: Path
    seats: dict[str, PersonSeat] = field(default_factory=dict)

    def begin(self, set_name: str, which: int | str, agent: str) -> PersonSeat:
        """A seat at a task.

        Raises:
            InputError: There is no such task, or the run cannot be written.
        """
        session = self.sessions.open_session(set_name, which, agent)
        seat = PersonSeat(session, new_token())
        self.seats[seat.token] = seat
        return seat

    def seat(self, token: str) -> PersonSeat:
        """The seat of an address.

        Raises:
            NotFound: There is none.
        """
        if token not in self.seats:
            raise NotFound("There is no such place; the server may have been started anew.")
        return self.seats[token]

    def seat_in(self, session: str) -> PersonSeat | None:
        """Who plays a session; None if nobody does."""
        return next((s for s in self.seats.values() if s.session.name == session), None)

    def played(self, seat: PersonSeat, set_name: str) -> EpisodeRecord | None:
        """What became of a seat that is over, as its run has it."""
        folder = RunKey(seat.session.agent, set_name, MAX_CALLS).folder
        task_id = seat.session.task.task_id
        found = [each for each in outlines(self.out / folder) if each.place[0] == task_id]
        if not found:
            return None
        return RunDir(self.out / folder).episode(task_id, max(each.place[1] for each in found))


def play_until_stopped(
    set_name: str, which: str, agent: str, out: Path, host: str, port: int, *, open_browser: bool
) -> None:
    """Let a person play a task in the browser, until stopped; the address is printed first.

    Raises:
        InputError: There is no such task, or the address, port or directory cannot be used.
    """
    check_local(host)
    room = PlayRoom(Sessions(out=out), out)
    try:
        seat = room.begin(set_name, int(which) if which.isdigit() else which, agent)
    except BaseException:
        room.sessions.close()
        raise
    app = play_app(room, set_name, f"{set_name}, task {which}", LOOPBACK)
    serve_pages(app, host, port, path=f"/play/{seat.token}", open_browser=open_browser)


def play_app(room: PlayRoom, set_name: str, where: str, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench play --web``.

    Args:
        room: The seats; its sessions are closed with the application.
        set_name: The set that is played.
        where: What the page is called.
        hosts: Names that requests may be addressed to; none: any.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        room.sessions.close()

    app = pages_app([*play_routes(), *explorer_routes()], hosts, lifespan)
    app.state.room = room
    app.state.sessions = room.sessions
    app.state.seat_in = room.seat_in
    app.state.org_url = lambda seat: seat.org_url
    app.state.set_name = set_name
    app.state.where = lambda seat: where
    app.state.after_play = lambda seat: None
    return app


def play_routes() -> list[BaseRoute]:
    """The routes; the application's ``state.room`` is what they look at."""
    return [
        Route("/play/{token}", play_page),
        Route("/play/{token}/tools/{tool}", tool_page),
        Route("/play/{token}/call/{tool}", call, methods=["POST"]),
        Route("/play/{token}/reply", reply, methods=["POST"]),
        Route("/static/{name}", static),
    ]


def room_of(request: Request) -> PlayRoom:
    """The seats that a request's pages look at."""
    found: PlayRoom = request.app.state.room
    return found


def _seat(request: Request) -> PersonSeat:
    return room_of(request).seat(request.path_params["token"])


async def play_page(request: Request) -> Response:
    """What was said and done, the tools, and where to answer; at the end what it was worth."""
    seat = _seat(request)
    after = request.app.state.after_play(seat)
    if seat.over and after is not None:
        return RedirectResponse(after)
    view = _ended(request, seat) if seat.over else None
    records = written_records(effect_of(view.record.trace)) if view else ()
    return page(
        request,
        "play.html",
        seat=seat,
        view=view,
        records=records,
        tool=None,
        fields=(),
        tools=list(_groups(seat)),
        org_url=request.app.state.org_url(seat),
        where=request.app.state.where(seat),
    )


def _ended(request: Request, seat: PersonSeat) -> EpisodeView | None:
    record = room_of(request).played(seat, request.app.state.set_name)
    return episode_view(seat.session.task, record) if record else None


def _groups(seat: PersonSeat) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Tools that read, then those that write: name and the first sentence on each."""
    for title, writes in (("Look up", False), ("Change", True)):
        found = [
            (name, str(tool["description"]).partition(". ")[0].rstrip("."))
            for name, tool in sorted(seat.schemas.items())
            if (name in seat.writing) is writes
        ]
        if found:
            yield title, found


async def tool_page(request: Request) -> Response:
    """The form of a tool, with what the address has of its arguments filled in."""
    seat, name = _seat(request), request.path_params["tool"]
    return _form(request, seat, name, dict(request.query_params), {})


def _form(
    request: Request,
    seat: PersonSeat,
    name: str,
    filled: dict[str, str],
    problems: dict[str, str],
) -> Response:
    tool = seat.tool(name)
    return page(
        request,
        "play_tool.html",
        code=400 if problems else 200,
        seat=seat,
        tool=tool,
        fields=form_of(tool["parameters"], filled, problems),
        where=request.app.state.where(seat),
    )


async def call(request: Request) -> Response:
    """Run a tool with what was filled in."""
    seat, name = _seat(request), request.path_params["tool"]
    form = await request.form()
    filled = {key: str(value) for key, value in form.items()}
    try:
        arguments = arguments_of(seat.tool(name)["parameters"], filled)
    except FormProblem as wrong:
        return _form(request, seat, name, filled, wrong.problems)
    await seat.call(name, arguments)
    return RedirectResponse(f"/play/{quote(seat.token)}#last", 303)


async def reply(request: Request) -> Response:
    """Answer the user."""
    seat = _seat(request)
    form = await request.form()
    await seat.reply(str(form.get("text", "")).replace("\r\n", "\n"))
    return RedirectResponse(f"/play/{quote(seat.token)}#last", 303)
