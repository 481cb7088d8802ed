"""From HTTP to the REST and bulk APIs and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.requests import Request
from starlette.responses import Response

from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import SobjectError
from crmbench.seats.errors import Refused
from crmbench.serve.salesforce import bulk1, resources
from crmbench.serve.salesforce.calls import (
    Answer,
    ApiCall,
    failure,
    is_version,
    not_found,
    parser_error,
    segments_of,
)

MAX_DEPTH = 60
"""How deep JSON may be nested."""
OUT_OF_SCOPE = "The requested resource does not exist"

Handler = Callable[[Request], Awaitable[Answer]]


def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler whose refusals are answered in the form of the REST API."""

    @wraps(handler)
    async def respond(request: Request) -> Response:
        try:
            answer = await handler(request)
        except (ToolError, Refused) as error:
            answer = failure(error)
        return response(answer, request.method == "HEAD")

    return respond


def response(answer: Answer, head: bool = False) -> Response:
    """An answer as HTTP; one without a body has no content type either."""
    if answer.status == 204 or (answer.body is None and answer.status == 201):
        return Response(status_code=answer.status, headers=answer.headers)
    body = answer.body.encode() if isinstance(answer.body, str) else json_bytes(answer.body)
    headers = {**answer.headers, "Content-Type": answer.media_type}
    return Response(b"" if head else body, answer.status, headers=headers)


def json_bytes(data: Any) -> bytes:
    """JSON; what JSON has no number for is null."""
    return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)


def address_of(request: Request) -> str:
    """Scheme, host and port under which the client reaches the server."""
    return f"{request.url.scheme}://{request.url.netloc}"


def raw_segments(request: Request) -> tuple[str, ...]:
    """The segments of the path, taken apart before they are decoded."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return segments_of(raw.partition(b"?")[0].decode("latin-1"))


def after(segments: tuple[str, ...], word: str) -> tuple[str, ...]:
    """What follows the first segment of that name."""
    return segments[segments.index(word) + 1 :]


async def rest(request: Request) -> Answer:
    """A request below ``/services/data``.

    Raises:
        ToolError: It is refused.
        Refused: It opens nothing.
    """
    segments = after(raw_segments(request), "data")
    if not segments:
        if request.method not in ("GET", "HEAD"):
            raise SobjectError("METHOD_NOT_ALLOWED", "Allowed are GET", status=405)
        return Answer(resources.versions())
    if not is_version(segments[0]):
        raise not_found()
    sessions = request.app.state.sessions
    access = await sessions.resolve(request)
    data = await request.body()
    path = segments[1:]
    async with access.lock:
        org = access.org
        version = segments[0][1:]
        version = version if "." in version else f"{version}.0"
        org.path = f"/services/data/v{version}/sobjects"
        call = ApiCall(
            org=org,
            method="GET" if request.method == "HEAD" else request.method,
            version=version,
            path=path,
            query=dict(parse_qsl(request.url.query, keep_blank_values=True)),
            body=_body(request, path, data),
            headers={name.lower(): value for name, value in request.headers.items()},
            address=address_of(request),
            requests=access.session.requests,
        )
        answer = resources.answer(call)
        used = access.session.requests
    answer.headers.setdefault("Sforce-Limit-Info", f"api-usage={used}/{resources.DAILY_REQUESTS}")
    return answer


def _body(request: Request, path: tuple[str, ...], data: bytes) -> Any:
    if path[:1] == ("jobs",) and path[-1:] == ("batches",):
        return data
    if request.method not in ("POST", "PATCH", "PUT") or not data.strip():
        return None
    content = request.headers.get("content-type", "").lower()
    if content and "json" not in content:
        raise SobjectError(
            "UNSUPPORTED_MEDIA_TYPE", "content type of the request is not supported", status=415
        )
    return read_json(data)


def read_json(data: bytes) -> Any:
    """A body as JSON.

    Raises:
        SobjectError: It is none, or nested too deeply.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        character = error.doc[error.pos : error.pos + 1]
        place = f"at [line:{error.lineno}, column:{error.colno}]"
        if not character:
            raise parser_error(f"Unexpected end-of-input: was expecting a value {place}") from None
        found = f"('{character}' (code {ord(character)}))"
        raise parser_error(
            f"Unexpected character {found}: was expecting a valid value {place}"
        ) from None
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and depth_of(value) > MAX_DEPTH:
        raise parser_error(f"The body is nested more than {MAX_DEPTH} levels deep")
    return value


def depth_of(value: Any) -> int:
    """How deep a value is nested."""
    deepest, left = 0, [(value, 1)]
    while left:
        each, depth = left.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        deepest = max(deepest, depth)
        left += [(one, depth + 1) for one in inner if isinstance(one, dict | list)]
    return deepest


async def bulk(request: Request) -> Response:
    """A request to version 1 of the bulk API."""
    content = request.headers.get("content-type", "").lower()
    try:
        answer = await _bulk(request, content)
    except Refused as error:
        # Whatever is wrong with a session, this API says 400, which clients do not repeat.
        told = SobjectError(error.code, error.message)
        answer = bulk1.error_answer(told, content)
    except SobjectError as error:
        answer = bulk1.error_answer(error, content, error.status)
    except ToolError as error:
        answer = bulk1.error_answer(SobjectError(error.kind.upper(), str(error)), content)
    return response(answer)


async def _bulk(request: Request, content: str) -> Answer:
    segments = after(raw_segments(request), "async")
    number = segments[0].removeprefix("v") if segments else ""
    if not is_version(f"v{number}") or segments[1:2] != ("job",):
        raise not_found()
    access = await request.app.state.sessions.resolve(request)
    data = await request.body()
    async with access.lock:
        path = segments[2:]
        version = number if "." in number else f"{number}.0"
        access.org.path = f"/services/data/v{version}/sobjects"
        return bulk1.answer(access.org, request.method, version, path, data, content)


async def nowhere(request: Request) -> Answer:
    """A path of Salesforce's that the server does not have.

    Raises:
        SobjectError: Always.
    """
    del request
    raise not_found()
