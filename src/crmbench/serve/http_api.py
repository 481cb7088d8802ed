"""The plain HTTP interface, ``/v1``: orgs and sessions opened, played and read as JSON.

What the OpenAPI description says stands beside each route, so that neither is without the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crmbench.core.episode import MAX_CALLS
from crmbench.errors import InputError
from crmbench.grading.grader import TaskError
from crmbench.seats.errors import BadRequest, Conflict, Forbidden
from crmbench.seats.http import json_object, json_response, seat_routes
from crmbench.seats.seat import Seat
from crmbench.serve.graded import GradedSession
from crmbench.serve.session import SandboxOrg
from crmbench.serve.sessions import Sessions, token_of

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Operation:
    """One thing that ``/v1`` does, as it is routed and as it is described."""

    method: str
    path: str
    handler: Handler
    summary: str
    scope: str
    """Whose token it takes."""
    body: dict[str, str] = field(default_factory=dict)
    """The fields of the request's body, each with what it holds; the required ones end in
    ``(required)``."""
    status: int = 200


def sessions_of(request: Request) -> Sessions:
    """The sessions of the application that a request came to."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def _admin(request: Request) -> Sessions:
    sessions = sessions_of(request)
    sessions.require_admin(token_of(request))
    return sessions


# --- sandbox orgs -----------------------------------------------------------------------------


async def _list_orgs(request: Request) -> Response:
    orgs = _admin(request).orgs.values()
    return json_response({"orgs": [_org_data(request, org) for org in orgs]})


async def _open_org(request: Request) -> Response:
    sessions, body = _admin(request), await json_object(request)
    try:
        org = sessions.open_org(
            _text(body, "name"),
            _text(body, "domain"),
            _text(body, "world", None),
            _text(body, "seed", "sandbox") or "sandbox",
        )
    except InputError as error:
        raise BadRequest(str(error)) from error
    return json_response(_org_data(request, org), 201)


async def _close_org(request: Request) -> Response:
    await _admin(request).close_org(request.path_params["org"])
    return Response(status_code=204)


async def _reset_org(request: Request) -> Response:
    org = await find_org(request)
    await sessions_of(request).reset_org(org.name)
    return json_response({"name": org.name, "reset": True})


async def _digest_org(request: Request) -> Response:
    org = await find_org(request)
    async with org.hold():
        return json_response({"name": org.name, "digest": org.sandbox.digest()})


def _org_data(request: Request, org: SandboxOrg) -> dict[str, Any]:
    address = sessions_of(request).address
    return {
        "name": org.name,
        "domain": org.sandbox.domain.name,
        "world": org.sandbox.world.name,
        "token": org.token,
        "instance_url": address,
        "mcp_url": f"{address}/mcp/{org.token}",
        "requests": org.requests,
    }


async def find_org(request: Request) -> SandboxOrg:
    """The org that the path names, for a token that opens it.

    Raises:
        Refused: The token does not, or there is no such org.
    """
    sessions = sessions_of(request)
    session = sessions.session_for(token_of(request), request.path_params["org"])
    if not isinstance(session, SandboxOrg):
        raise Forbidden("The token is for a graded session.")
    return session


# --- graded sessions --------------------------------------------------------------------------


async def _list_tasks(request: Request) -> Response:
    name = request.query_params.get("set", "")
    try:
        tasks = _admin(request).tasks_of(name)
    except InputError as error:
        raise BadRequest(str(error)) from error
    return json_response({"set": name, "tasks": len(tasks)})


async def _list_sessions(request: Request) -> Response:
    sessions = _admin(request).graded.values()
    rows = [{"id": each.name, "agent": each.agent, "over": each.over} for each in sessions]
    return json_response({"sessions": rows})


async def _open_session(request: Request) -> Response:
    sessions, body = _admin(request), await json_object(request)
    task, max_calls = body.get("task"), body.get("max_calls", MAX_CALLS)
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise BadRequest("`task` is the task's number in the set, from 1, or its id.")
    if not isinstance(max_calls, int) or not 1 <= max_calls <= MOST_CALLS:
        raise BadRequest(f"`max_calls` is a number from 1 to {MOST_CALLS:,}.")
    agent = _text(body, "agent", "client") or "client"
    more = body.get("salesforce_tools") is True
    try:
        session = sessions.open_session(
            _text(body, "set"), task, agent, max_calls, salesforce_tools=more
        )
    except InputError as error:
        raise BadRequest(str(error)) from error
    except TaskError as error:
        raise Conflict(str(error)) from error
    return json_response(await _opened(request, session), 201)


MOST_CALLS = 100_000


async def _opened(request: Request, session: GradedSession) -> dict[str, Any]:
    address = sessions_of(request).address
    return {
        "id": session.name,
        "token": session.token,
        "url": f"{address}/v1/sessions/{session.name}",
        "mcp_url": f"{address}/mcp/{session.token}",
        "instance_url": address,
        **(await session.next_message()).to_data(),
    }


async def _session_about(request: Request) -> Response:
    session = await find_session(request)
    return json_response({"id": session.name, "agent_name": session.agent, **session.status()})


async def _end_session(request: Request) -> Response:
    await _admin(request).end_session(request.path_params["session"])
    return Response(status_code=204)


async def _session_verdict(request: Request) -> Response:
    session = await find_session(request)
    if session.verdict is None:
        raise Conflict("There is no verdict before the conversation's end.")
    if sessions_of(request).tokens.is_admin(token_of(request)):
        return json_response({"id": session.name, "verdict": asdict(session.verdict)})
    # The reasons name what would have been right, which is not for an agent to know.
    return json_response({"id": session.name, "success": session.verdict.success})


async def find_session(request: Request) -> GradedSession:
    """The graded session that the path names, for a token that opens it.

    Raises:
        Refused: The token does not, or there is no such session.
    """
    return sessions_of(request).graded_for(token_of(request), request.path_params["session"])


def _text(body: dict[str, Any], name: str, missing: str | None = "") -> Any:
    value = body.get(name, missing)
    if value == "" or (value is not None and not isinstance(value, str)):
        raise BadRequest(f"`{name}` is missing, or is no text.")
    return value


# --- the description --------------------------------------------------------------------------

_SEAT: dict[str, tuple[str, dict[str, str]]] = {
    "view": ("The date, the house rules, who the user is, and the tools", {}),
    "tools": ("The tools alone", {}),
    "message": ("What the user says; the same until it was answered", {}),
    "status": ("What was said so far, and how many calls were made", {}),
    "call": (
        "Run a tool; `ok` says whether it was refused",
        {"tool": "the tool's name (required)", "arguments": "an object of names and values"},
    ),
    "reply": (
        "Answer the user, and get what they say next; `over` is true at the end",
        {"text": "what you say to the user (required)"},
    ),
}
"""What `crmbench.seats.http` serves, by the last segment of the path."""


def operations() -> list[Operation]:
    """All that ``/v1`` does."""
    name = {"name": "of the org (required)", "domain": "sales, service, … (required)"}
    org, session = "/v1/orgs/{org}", "/v1/sessions/{session}"
    mine = "admin, or the org's"
    made = [
        Operation("GET", "/v1/orgs", _list_orgs, "The sandbox orgs and their tokens", "admin"),
        Operation(
            *("POST", "/v1/orgs", _open_org, "Open a sandbox org", "admin"),
            body={**name, "world": "of the domain", "seed": "of new ids"},
            status=201,
        ),
        Operation("DELETE", org, _close_org, "Close a sandbox org", "admin", status=204),
        Operation("POST", f"{org}/reset", _reset_org, "Put an org back as it was", mine),
        Operation("GET", f"{org}/digest", _digest_org, "A SHA-256 of an org's whole state", mine),
        Operation("GET", "/v1/tasks", _list_tasks, "How many tasks a set (?set=) has", "admin"),
        Operation("GET", "/v1/sessions", _list_sessions, "The graded sessions", "admin"),
        Operation(
            *("POST", "/v1/sessions", _open_session, "Begin a task of a set", "admin"),
            body={
                "set": "demo, sales/standard, a file … (required)",
                "task": "its number in the set, from 1, or its id (required)",
                "agent": "who plays, for reports",
                "max_calls": "tool calls a turn",
                "salesforce_tools": "true: run_soql_query, create_record and the like as well",
            },
            status=201,
        ),
        Operation("GET", session, _session_about, "Where a session is", "admin, or the session's"),
        Operation(
            "DELETE", session, _end_session, "Grade a session as it is, end it", "admin", {}, 204
        ),
        Operation(
            *("GET", f"{session}/verdict", _session_verdict),
            *("After the end: success; for admin the whole verdict", "admin, or the session's"),
        ),
    ]
    return (
        made
        + _seat_operations(org, find_org, mine)
        + _seat_operations(session, find_session, "admin, or the session's")
    )


def _seat_operations(
    prefix: str, find: Callable[[Request], Awaitable[Seat]], scope: str
) -> list[Operation]:
    made = []
    for route in seat_routes(prefix, find):
        summary, body = _SEAT[route.path.rpartition("/")[2]]
        method = "POST" if "POST" in (route.methods or ()) else "GET"
        made.append(Operation(method, route.path, route.endpoint, summary, scope, body))
    return made


def api_routes() -> list[Route]:
    """The routes of ``/v1`` and its description."""
    made = operations()
    description = orjson.dumps(openapi(made))

    async def describe(request: Request) -> Response:
        del request
        return Response(description, media_type="application/json")

    routes = [Route(each.path, each.handler, methods=[each.method]) for each in made]
    return [*routes, Route("/openapi.json", describe)]


def openapi(made: list[Operation]) -> dict[str, Any]:
    """The description in the form of OpenAPI 3.1."""
    from importlib.metadata import version

    paths: dict[str, Any] = {}
    for each in made:
        paths.setdefault(each.path, {})[each.method.lower()] = _described(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "crmbench", "version": version("crmbench")},
        "paths": paths,
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _described(operation: Operation) -> dict[str, Any]:
    names = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    text = {"type": "string"}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "description": f"Token: {operation.scope}.",
        "operationId": f"{operation.method.lower()}{operation.path.replace('/', '_')}".translate(
            {ord(brace): None for brace in "{}"}
        ),
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": text} for name in names
        ],
        "responses": {
            str(operation.status): {"description": "Done"},
            "default": {"description": 'Refused: {"error": {"code", "message"}}'},
        },
    }
    if operation.body:
        properties = {name: {"description": about} for name, about in operation.body.items()}
        required = [n for n, about in operation.body.items() if about.endswith("(required)")]
        schema = {"type": "object", "properties": properties, "required": required}
        described["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return described
