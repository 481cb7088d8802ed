"""Pages as an ASGI application; each module of pages says which routes are its own."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute
from starlette.types import Lifespan

from crmbench.errors import CrmbenchError, HarnessError
from crmbench.seats.errors import Refused
from crmbench.seats.guard import Bounds, Guard
from crmbench.web.pages import StrictPages, page, render

BODY = 2**20
"""Bytes that a form may have."""


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
