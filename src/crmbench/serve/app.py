"""The server as an ASGI application."""

from __future__ import annotations

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from crmbench.serve import salesforce
from crmbench.serve.errors import Refused
from crmbench.serve.sessions import Sessions


def make_app(sessions: Sessions) -> Starlette:
    """The application over some sessions, which are `app.state.sessions`."""
    routes: list[BaseRoute] = [Route("/healthz", healthz), *salesforce.routes()]
    app = Starlette(routes=routes, exception_handlers={Refused: plain_error})
    app.state.sessions = sessions
    return app


async def healthz(request: Request) -> Response:
    """Whether the server is ready."""
    del request
    return json_response({"status": "ok"})


async def plain_error(request: Request, error: Exception) -> Response:
    """What was refused, in the form of the plain interface."""
    del request
    assert isinstance(error, Refused)
    body = {"error": {"code": error.code, "message": error.message}}
    return json_response(body, error.status)


def json_response(data: object, status: int = 200) -> Response:
    """A JSON answer."""
    body = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, media_type="application/json")
