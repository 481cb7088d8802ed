"""The pages as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Lifespan

from crmbench.errors import CrmbenchError, HarnessError
from crmbench.seats.errors import Refused
from crmbench.seats.guard import Bounds, Guard
from crmbench.serve.app import make_app
from crmbench.serve.sessions import Sessions
from crmbench.web.explorer import explorer_routes
from crmbench.web.invite import StudyRoom, invite_routes
from crmbench.web.pages import StrictPages, page, render, static
from crmbench.web.play import PlayRoom, play_routes
from crmbench.web.viewer import Viewer, viewer_routes

BODY = 2**20
"""Bytes that a form may have."""


def viewer_app(viewer: Viewer, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench view``.

    Args:
        viewer: What they look at; closed with the application.
        hosts: Names that requests may be addressed to; none: any.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        viewer.close()

    app = pages_app(viewer_routes(), hosts, lifespan)
    app.state.viewer = viewer
    return app


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

    app = pages_app(play_routes(), hosts, lifespan)
    app.state.room = room
    app.state.set_name = set_name
    app.state.where = lambda seat: where
    app.state.after_play = lambda seat: None
    return app


def study_app(study: StudyRoom, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench study experts``.

    Args:
        study: What is going on; its sessions are closed with the application.
        hosts: Names that requests may be addressed to; none: any.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        study.room.sessions.close()

    app = pages_app([*invite_routes(), *play_routes()], hosts, lifespan)
    app.state.study = study
    app.state.room = study.room
    app.state.set_name = study.study.plan.file
    app.state.where = study.where
    app.state.after_play = study.after
    return app


def explorer_app(sessions: Sessions, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench explore``, beside all that a server answers to programs.

    Args:
        sessions: The orgs; not closed with it.
        hosts: Names that requests may be addressed to; none: any.
    """
    interfaces = make_app(sessions, tuple(hosts))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with interfaces.router.lifespan_context(interfaces):
            yield

    pages: list[BaseRoute] = [
        Route("/", _to_orgs),
        *explorer_routes(),
        Route("/static/{name}", static),
    ]
    app = pages_app(pages, hosts, lifespan)
    app.router.routes.append(Mount("/", interfaces))
    app.state.sessions = sessions
    return app


async def _to_orgs(request: Request) -> Response:
    del request
    return RedirectResponse("/explore")


def pages_app(
    routes: Sequence[BaseRoute], hosts: Sequence[str], lifespan: Lifespan[Starlette] | None = None
) -> Starlette:
    """An application of pages: strict headers, errors that are pages, bounded requests."""
    return Starlette(
        routes=routes,
        exception_handlers={
            Refused: refused_page,
            CrmbenchError: refused_page,
            HTTPException: refused_page,
        },
        middleware=[
            Middleware(StrictPages),
            Middleware(Guard, Bounds(BODY, hosts=tuple(hosts)), _plain),
        ],
        lifespan=lifespan,
    )


async def refused_page(request: Request, error: Exception) -> Response:
    """What went wrong, as a page."""
    status, text = _told(error)
    return page(request, "error.html", code=status, status=status, text=text)


def _told(error: Exception) -> tuple[int, str]:
    if isinstance(error, Refused):
        return error.status, error.message
    if isinstance(error, HTTPException):
        return (
            error.status_code,
            "There is no such page." if error.status_code == 404 else error.detail,
        )
    return (500 if isinstance(error, HarnessError) else 400), str(error)


def _plain(_path: str, error: Refused) -> Response:
    text = render("error.html", partial=False, path="", status=error.status, text=error.message)
    return HTMLResponse(text, error.status)
