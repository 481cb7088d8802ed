"""A seat over plain HTTP: JSON in, JSON out.

GET  …/view      the date, the house rules, the persona and the tools
GET  …/tools     the tools alone
GET  …/message   what the user says
POST …/call      {"tool": "client_search", "arguments": {"name": "Acme"}}
POST …/reply     {"text": "There is one."}
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crmbench.seats.errors import BadRequest, Refused

if TYPE_CHECKING:
    from crmbench.seats.seat import Seat

FindSeat = Callable[[Request], "Awaitable[Seat]"]
"""The seat that a request is for; raises `Refused` where it may have none."""


def seat_routes(prefix: str, find: FindSeat) -> list[Route]:
    """The routes of a seat.

    Args:
        prefix: Of their paths; may hold parameters that `find` reads.
        find: Gives the seat.
    """

    async def view(request: Request) -> Response:
        return json_response(asdict((await find(request)).view))

    async def tools(request: Request) -> Response:
        return json_response({"tools": (await find(request)).view.tools})

    async def message(request: Request) -> Response:
        return json_response((await _talking(find, request)).to_data())

    async def status(request: Request) -> Response:
        return json_response((await find(request)).status())

    async def call(request: Request) -> Response:
        seat = await find(request)
        body = await json_object(request)
        if not isinstance(body.get("tool"), str):
            raise BadRequest('The body names no tool. Send {"tool": "…", "arguments": {…}}.')
        result = await seat.call(body["tool"], body.get("arguments", {}))
        return json_response({"ok": result.ok, "value": result.value})

    async def reply(request: Request) -> Response:
        seat = await find(request)
        _must_talk(seat)
        body = await json_object(request)
        return json_response((await seat.reply(body.get("text"))).to_data())

    return [
        Route(f"{prefix}/view", view),
        Route(f"{prefix}/tools", tools),
        Route(f"{prefix}/message", message),
        Route(f"{prefix}/status", status),
        Route(f"{prefix}/call", call, methods=["POST"]),
        Route(f"{prefix}/reply", reply, methods=["POST"]),
    ]


async def _talking(find: FindSeat, request: Request) -> Any:
    seat = await find(request)
    _must_talk(seat)
    return await seat.next_message()


def _must_talk(seat: Seat) -> None:
    if not seat.conversational:
        raise Refused("There is no user to talk to in a sandbox org.", "NOT_FOUND", 404)


def json_response(data: object, status: int = 200) -> Response:
    """A JSON answer."""
    body = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, media_type="application/json")


async def json_object(request: Request) -> dict[str, Any]:
    """The body of a request, which is to be a JSON object; an empty one stands for ``{}``.

    Raises:
        BadRequest: It is something else.
    """
    text = await request.body()
    try:
        data = orjson.loads(text) if text.strip() else {}
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not JSON: {error}", "JSON_PARSER_ERROR") from error
    if not isinstance(data, dict):
        raise BadRequest("The body is not a JSON object.", "JSON_PARSER_ERROR")
    return data


async def plain_error(request: Request, error: Exception) -> Response:
    """What was refused, as ``{"error": {"code", "message"}}``."""
    del request
    assert isinstance(error, Refused)
    return refused_response(error)


def refused_response(error: Refused) -> Response:
    """The same without a request."""
    body = {"error": {"code": error.code, "message": error.message}}
    return json_response(body, error.status)
