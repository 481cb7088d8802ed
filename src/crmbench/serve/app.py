"""The server as an ASGI application: what it answers at which path."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from crmbench.seats.errors import NotFound, Refused, Unsupported
from crmbench.seats.guard import Bounds, Guard
from crmbench.seats.http import json_response, plain_error, refused_response
from crmbench.seats.mcp import McpEndpoint, McpInterface
from crmbench.seats.seat import Seat
from crmbench.serve import salesforce
from crmbench.serve.http_api import api_routes, sessions_of
from crmbench.serve.sessions import Sessions, token_of


def make_app(sessions: Sessions, hosts: tuple[str, ...] = ()) -> Starlette:
    """The application over some sessions, which are `app.state.sessions`.

    Args:
        sessions: What it serves; not closed with it.
        hosts: Names that requests may be addressed to; none: any.
    """
    interface = McpInterface(_mcp_seat)
    running: list[StreamableHTTPSessionManager] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with interface.over_http() as manager:
            running[:] = [manager]
            yield
            running.clear()

    endpoint = McpEndpoint(seat_for, lambda: running[0] if running else None)
    routes: list[BaseRoute] = [
        Route("/healthz", healthz),
        *api_routes(),
        *(Route(path, endpoint) for path in ("/mcp", "/mcp/{token}", "/orgs/{org}/mcp")),
        *salesforce.routes(),
    ]
    limits = sessions.limits
    bounds = Bounds(limits.body, limits.body_seconds, hosts)
    app = Starlette(
        routes=routes,
        exception_handlers={Refused: plain_error, HTTPException: no_route},
        middleware=[Middleware(Guard, bounds, _refused), Middleware(OneSlash)],
        lifespan=lifespan,
    )
    app.state.sessions = sessions
    return app


class OneSlash:
    """ASGI middleware: `//services/data` is `/services/data`."""

    # The sf CLI keeps the address of an org with a slash at its end, and puts paths behind it.
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("//"):
            raw: bytes = scope.get("raw_path") or scope["path"].encode()
            path = "/" + scope["path"].lstrip("/")
            scope = {**scope, "path": path, "raw_path": b"/" + raw.lstrip(b"/")}
        await self._app(scope, receive, send)


def _refused(path: str, error: Refused) -> Response:
    """A refusal in the form of the interface that a path belongs to."""
    return salesforce.refused(path, error) or refused_response(error)


async def healthz(request: Request) -> Response:
    """Whether the server is ready."""
    del request
    return json_response({"status": "ok"})


async def seat_for(request: Request) -> Seat:
    """The seat of a request to MCP: of the token in its path or header, or of the org named.

    Raises:
        Refused: It may have none.
    """
    token = request.path_params.get("token") or token_of(request)
    return sessions_of(request).session_for(token, request.path_params.get("org"))


async def _mcp_seat(request: Request | None) -> Seat:
    if request is None:
        raise NotFound("There is no session without a request.")
    return await seat_for(request)


async def no_route(request: Request, error: Exception) -> Response:
    """No such path, or not with this method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return refused_response(Unsupported(f"{request.method} is not taken here."))
    return refused_response(NotFound())
