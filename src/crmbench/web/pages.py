"""How pages are made and sent: templates that escape, the files beside them, strict headers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crmbench.report.views.templates import (
    page_style,
    part_source,
    parts_style,
    report_source,
    strict_environment,
)
from crmbench.seats.errors import NotFound

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy of every page: nothing inline runs, nothing is asked elsewhere."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
STATIC = {
    "app.css": "text/css",
    "app.js": "text/javascript",
    "theme.js": "text/javascript",
    "site.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
"""What pages load beside themselves."""


def _source(name: str) -> str:
    if name.startswith("report/"):
        return report_source(name.removeprefix("report/"))
    own = resources.files("crmbench.web") / "templates" / name
    return own.read_text(encoding="utf-8") if own.is_file() else part_source(name)


@cache
def environment() -> Environment:
    """The templates of this package and the parts that they share with the report."""
    return strict_environment(_source)


def render(name: str, **values: Any) -> str:
    """A template of this package, filled in."""
    return environment().get_template(name).render(**values)


def page(request: Request, name: str, *, code: int = 200, **values: Any) -> HTMLResponse:
    """A page as an answer; to htmx, which asks for a part of it, the block is left to the template.

    Args:
        request: What is answered; the template knows as ``partial`` whether a part is wanted.
        code: The HTTP status.
    """
    partial = request.headers.get("hx-request") == "true"
    history = request.headers.get("hx-history-restore-request") == "true"
    body = render(name, partial=partial and not history, path=request.url.path, **values)
    return HTMLResponse(body, code, headers={"vary": "HX-Request", "cache-control": "no-store"})


@cache
def static_file(name: str) -> bytes:
    """A file of `STATIC`; style and script are the report's with what pages have beyond."""
    text = (resources.files("crmbench.web") / "static" / name).read_text(encoding="utf-8")
    if name == "app.css":
        text = page_style() + parts_style() + text
    if name == "app.js":
        text = part_source("keys.js") + text
    return text.encode()


async def static(request: Request) -> Response:
    """The answer to a request for a file of `STATIC`."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise NotFound
    headers = {"cache-control": "no-cache"}
    return Response(static_file(name), media_type=STATIC[name], headers=headers)


class StrictPages:
    """ASGI middleware: the headers of every answer; what changes something comes from our pages.

    Args:
        app: What is guarded.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["method"] == "POST" and not _is_own(Headers(scope=scope)):
            refused = PlainTextResponse(
                "The request does not come from a page of this server.", 403
            )
            await refused(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)


def _is_own(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent it from one of our pages; programs that are no browser say nothing."""
    origin = headers.get("origin")
    return origin is None or origin.partition("//")[2] == headers.get("host")


def markup(text: str) -> Markup:
    """Text of ours that is markup."""
    return Markup(text)
