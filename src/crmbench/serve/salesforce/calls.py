"""A request to the REST API and its answer, apart from HTTP: composite requests hold several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import Org, SobjectError
from crmbench.salesforce.sobjects.errors import as_json, status_of
from crmbench.seats.errors import Refused


@dataclass(frozen=True)
class ApiCall:
    """One request."""

    org: Org
    method: str
    version: str
    """Such as ``59.0``."""
    path: tuple[str, ...]
    """What follows the version, decoded: ``("sobjects", "Case")``."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """As JSON; None if there is none."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    address: str = ""
    """Scheme, host and port under which the client reaches the server."""
    requests: int = 0
    """How many requests the session has had."""

    @property
    def data(self) -> str:
        """The address of the version, without the host."""
        return f"/services/data/v{self.version}"

    def part(self, method: str, url: str, body: Any) -> ApiCall:
        """One of the requests that this one holds.

        Raises:
            SobjectError: Its address leads out of the REST API.
        """
        split = urlsplit(url)
        segments = segments_of(split.path)
        if segments[:2] == ("services", "data"):
            segments = segments[2:]
        if not segments or not is_version(segments[0]):
            raise SobjectError("NOT_FOUND", "The requested resource does not exist", status=404)
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        self.org.path = f"{self.data}/sobjects"
        return replace(
            self, method=method.upper(), path=segments[1:], query=query, body=body, headers={}
        )


@dataclass
class Answer:
    """What a request is answered with."""

    body: Any = None
    """As JSON; None for no body, text for a body that is no JSON."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = "application/json;charset=UTF-8"


def segments_of(path: str) -> tuple[str, ...]:
    """The segments of an encoded path, each decoded; a slash at the end makes none."""
    return tuple(unquote(part) for part in path.strip("/").split("/") if part)


def is_version(segment: str) -> bool:
    """Whether a segment names a version: ``v59.0``."""
    number = segment[1:].removesuffix(".0")
    return segment[:1] == "v" and number.isascii() and number.isdigit() and 10 <= int(number) < 1000


def failure(error: ToolError | Refused) -> Answer:
    """The answer to a request that was refused."""
    if isinstance(error, Refused):
        return Answer([{"message": error.message, "errorCode": error.code}], error.status)
    return Answer([as_json(error)], status_of(error))


def refuse_method(call: ApiCall, *allowed: str) -> SobjectError:
    """The error of a method that a resource does not take."""
    return SobjectError(
        "METHOD_NOT_ALLOWED",
        f"HTTP Method '{call.method}' not allowed. Allowed are {','.join(allowed)}",
        status=405,
    )


def not_found() -> SobjectError:
    """The error of an address that leads nowhere."""
    return SobjectError("NOT_FOUND", "The requested resource does not exist", status=404)


def parser_error(message: str) -> SobjectError:
    """The error of a body that is not as it should be."""
    return SobjectError("JSON_PARSER_ERROR", message)


def object_body(call: ApiCall) -> dict[str, Any]:
    """The body, which is to be an object.

    Raises:
        SobjectError: It is something else.
    """
    if not isinstance(call.body, dict):
        found = "no body" if call.body is None else type(call.body).__name__
        raise parser_error(f"The HTTP entity body is required and must be an object, not {found}")
    return call.body


def number(text: str | None, default: int, least: int, most: int) -> int:
    """A whole number of an address.

    Raises:
        SobjectError: It is none, or out of range.
    """
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise SobjectError(
            "INVALID_QUERY_PARAMETER",
            f"a number from {least} to {most} is expected, not {text[:40]}",
        )
    return int(text)
