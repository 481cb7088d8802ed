"""What every request passes before it reaches an interface: sizes, times, hosts, the log."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import urlsplit

import orjson
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crmbench.seats.errors import Forbidden, Refused, TooLarge, TooSlow
from crmbench.seats.http import json_response, refused_response

log = logging.getLogger("crmbench.serve")
"""One JSON object a request: method, path without its values, status, milliseconds, bytes."""

Render = Callable[[str, Refused], Response]
"""A refusal in the form of the interface that a path belongs to."""


@dataclass(frozen=True)
class Bounds:
    """What a request may be."""

    body: int = 32 * 2**20
    """Bytes of its body."""
    seconds: float = 30.0
    """In which its body must have arrived."""
    hosts: tuple[str, ...] = ()
    """Names that it may be addressed to; none: any. A page in a browser that has a name of its
    own point at this machine would come with that name."""


class Guard:
    """ASGI middleware.

    Args:
        app: What is guarded.
        bounds: What a request may be.
        render: How a refusal of the guard looks.
    """

    def __init__(
        self,
        app: ASGIApp,
        bounds: Bounds,
        render: Render = lambda _path, error: refused_response(error),
    ) -> None:
        self._app = app
        self._bounds = bounds
        self._render = render

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        watched = _Watched(send)
        started = perf_counter()
        try:
            await self._guarded(scope, receive, watched)
        finally:
            _note(scope, watched, perf_counter() - started)

    async def _guarded(self, scope: Scope, receive: Receive, send: _Watched) -> None:
        body = _Body(receive, self._bounds)

        async def answer_after_body(message: Message) -> None:
            # A connection that is closed with a part of the body unread is reset, and the answer
            # may be lost with it: the client would not learn that what it asked for was done.
            if message["type"] == "http.response.start" and message["status"] < 400:
                await body.drain()
            await send(message)

        try:
            headers = dict(scope["headers"])
            _check_host(headers, self._bounds.hosts)
            _check_length(headers.get(b"content-length"), self._bounds.body)
            await self._app(scope, body, answer_after_body)
        except Exception as error:
            refused = body.refused or error
            if not isinstance(refused, Refused):
                log.exception("a request broke: %s", type(error).__name__)
            if send.started:
                raise
            answer = (
                self._render(scope["path"], refused)
                if isinstance(refused, Refused)
                else json_response(BROKEN, 500)
            )
            await answer(scope, receive, send)


BROKEN = {"error": {"code": "UNKNOWN_EXCEPTION", "message": "The server failed at this request."}}


class _Watched:
    """`send`, and what went through it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.sent = 0

    @property
    def started(self) -> bool:
        return self.status != 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)


class _Body:
    """`receive`, which refuses a body that is too large or too slow."""

    def __init__(self, receive: Receive, bounds: Bounds) -> None:
        self._receive = receive
        self._bounds = bounds
        self._bytes = 0
        self._whole = False
        self._until = 0.0
        self.refused: Refused | None = None
        """Kept, for what stands between may turn it into an error of its own."""

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        loop = asyncio.get_running_loop()
        self._until = self._until or loop.time() + self._bounds.seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            self.refused = TooSlow("The body did not arrive in time.")
            raise self.refused from None
        self._bytes += len(message.get("body", b""))
        if self._bytes > self._bounds.body:
            self.refused = _too_large(self._bounds.body)
            raise self.refused
        self._whole = not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        """Read what nobody has asked for, as far as a body may go."""
        try:
            while not self._whole:
                await self()
        except Refused:
            self.refused = None


def _check_length(value: bytes | None, most: int) -> None:
    if value is not None and value.isdigit() and int(value[:20]) > most:
        raise _too_large(most)


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"A body may have {most:,} bytes at most.")


def _check_host(headers: dict[bytes, bytes], allowed: tuple[str, ...]) -> None:
    if not allowed:
        return
    for name in (b"host", b"origin"):
        value = headers.get(name, b"").decode("latin-1")
        if value and not _is_allowed(value if "//" in value else f"//{value}", allowed):
            raise Forbidden(f"The server does not answer to this {name.decode()}.")


def _is_allowed(place: str, allowed: Iterable[str]) -> bool:
    try:
        host = urlsplit(place).hostname or ""
    except ValueError:
        return False
    return any(host == name or (name[0] == "." and host.endswith(name)) for name in allowed)


PLAIN_SEGMENT = re.compile(r"[A-Za-z_]{1,40}|v\d{1,3}(\.\d)?")
"""A segment of a path that is a word of an interface: ``query``, ``v59.0``. Not one that can hold
an id, a token or a value of a record: ``500Hs00001abcDE``, ``a%20b``."""


def path_for_log(path: str) -> str:
    """A path with a ``*`` for each segment that could be a value."""
    parts = (part if not part or PLAIN_SEGMENT.fullmatch(part) else "*" for part in path.split("/"))
    return "/".join(parts)[:200]


def _note(scope: Scope, sent: _Watched, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    entry = {
        "method": scope["method"],
        "path": path_for_log(scope["path"]),
        "status": sent.status,
        "ms": round(1000 * seconds, 1),
        "bytes": sent.sent,
    }
    log.info(orjson.dumps(entry).decode())
