"""How pages are made and sent: templates that escape, the files beside them, strict headers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crmbench.report.html import page_style
from crmbench.report.views.episode import shown
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
    folder = "crmbench.report" if name.startswith("report/") else "crmbench.web"
    inside = name.removeprefix("report/") if name.startswith("report/") else f"templates/{name}"
    return (resources.files(folder) / inside).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Templates: whatever is put into one is escaped, and a name that is missing is an error."""
    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(share=share, money=money, count=count, shown=shown, seconds=seconds)
    return made


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
    """A file of `STATIC`; the style is the report's with what pages have beyond it."""
    text = (resources.files("crmbench.web") / "static" / name).read_text(encoding="utf-8")
    if name == "app.css":
        text = page_style() + text
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


# --- how values are written -------------------------------------------------------------------


def share(value: float | None, digits: int = 0) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def money(value: float | None) -> str:
    """US dollars, with cents or, below one, with four decimals."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def count(value: float | None) -> str:
    """A whole number with commas."""
    return "–" if value is None else f"{value:,.0f}"


def seconds(value: float) -> str:
    """A time in seconds, or in minutes and seconds."""
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def markup(text: str) -> Markup:
    """Text of ours that is markup."""
    return Markup(text)
