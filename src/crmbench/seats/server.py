"""A small server within a running event loop: seats by token, for the agents of one run."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crmbench.seats.errors import NotAuthorized, NotFound, Refused
from crmbench.seats.guard import Bounds, Guard
from crmbench.seats.http import plain_error, refused_response, seat_routes
from crmbench.seats.listener import LONGEST_HEAD, LOOPBACK, address_of, listen
from crmbench.seats.mcp import McpEndpoint, McpInterface
from crmbench.seats.seat import Seat


class SeatServer:
    """Serves seats on loopback, each under a token of its own. Open it with `async with`."""

    def __init__(self) -> None:
        self.address = ""
        """Scheme, host and port, once it is open."""
        self._seats: dict[str, Seat] = {}
        self._interface = McpInterface(self._seat_or_none)
        self._manager: StreamableHTTPSessionManager | None = None
        self._server: QuietServer | None = None
        self._serving: asyncio.Task[None] | None = None

    def add(self, seat: Seat) -> str:
        """Serve a seat, and return its token."""
        token = secrets.token_hex(16)
        self._seats[token] = seat
        return token

    def remove(self, token: str) -> None:
        """Serve it no longer."""
        self._seats.pop(token, None)

    def mcp_url(self, token: str) -> str:
        """Where MCP is spoken with the seat of a token."""
        return f"{self.address}/mcp/{token}"

    def url(self, token: str) -> str:
        """Where the seat of a token is served over plain HTTP; `crmbench play` takes it."""
        return f"{self.address}/v1/seats/{token}"

    async def open(self) -> None:
        """Begin to serve, on a free port."""
        listener = listen("127.0.0.1", 0)
        self.address = address_of("127.0.0.1", listener.getsockname()[1])
        config = uvicorn.Config(
            self._app(),
            log_level="error",
            access_log=False,
            h11_max_incomplete_event_size=LONGEST_HEAD,
            timeout_graceful_shutdown=1,
        )
        self._server = QuietServer(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        # Connections wait in the listener's queue until the server takes them.

    async def close(self) -> None:
        """Serve no longer."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving
        self._server = self._serving = None

    def _app(self) -> Starlette:
        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with self._interface.over_http() as manager:
                self._manager = manager
                yield
                self._manager = None

        routes = [
            *seat_routes("/v1/seats/{token}", self._seat),
            Route("/mcp/{token}", McpEndpoint(self._seat, lambda: self._manager)),
        ]
        bounds = Bounds(hosts=LOOPBACK)
        return Starlette(
            routes=routes,
            exception_handlers={Refused: plain_error, HTTPException: _no_route},
            middleware=[Middleware(Guard, bounds)],
            lifespan=lifespan,
        )

    async def _seat(self, request: Request) -> Seat:
        seat = self._seats.get(request.path_params["token"])
        if seat is None:
            raise NotAuthorized("This conversation is over, or was never served here.")
        return seat

    async def _seat_or_none(self, request: Request | None) -> Seat:
        if request is None:
            raise NotFound
        return await self._seat(request)


class QuietServer(uvicorn.Server):
    """Leaves signals to the run that it is part of."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def _no_route(request: Request, error: Exception) -> Response:
    del request, error
    return refused_response(NotFound())
