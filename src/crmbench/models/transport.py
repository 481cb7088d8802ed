"""HTTP for the wire formats: one session with a large pool, and failures told apart."""

from __future__ import annotations

import asyncio
import io
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from crmbench.errors import HarnessError
from crmbench.models.errors import FinalModelError, ModelError, TransientModelError

_LARGE = 2**20
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Response:
    """A complete HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and what proves that we may send them."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys are in here: never printed, logged or kept."""
    secret: str = field(default="", repr=False)
    """The key itself, to be struck out wherever a server echoes it."""

    def redact(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self.secret, "[key]") if self.secret else text


class Transport:
    """Sends bodies to one endpoint. Belongs to the event loop that first uses it.

    Args:
        endpoint: Where to.
        timeout: Seconds for one request in all.
        max_bytes: The largest reply that is read.
    """

    def __init__(self, endpoint: Endpoint, *, timeout: float, max_bytes: int) -> None:
        self._url = URL(endpoint.url)
        self._headers = CIMultiDict(endpoint.headers)
        self._headers["Content-Type"] = "application/json"
        self._timeout = aiohttp.ClientTimeout(total=timeout, sock_connect=min(30.0, timeout))
        self._seconds = timeout
        self._max_bytes = max_bytes
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, body: bytes) -> Response:
        """Send a body and read the whole reply.

        Raises:
            ModelError: There is no complete reply.
            HarnessError: It is used from a second event loop.
        """
        session = self._open()
        # Above a megabyte aiohttp warns about bytes and takes a stream instead.
        data = body if len(body) < _LARGE else io.BytesIO(body)
        try:
            async with session.post(self._url, data=data, allow_redirects=False) as response:
                read = await self._read(response)
                return Response(response.status, response.headers, read)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The error of the client holds the request's headers, and with them the key.
            raise self._failure(error) from None

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        chunks, size = [], 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > self._max_bytes:
                response.close()
                text = f"The reply has more than {self._max_bytes:,} bytes."
                raise FinalModelError(text, kind="too_large", status=response.status)
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _failure(self, error: Exception) -> ModelError:
        place = self._url.origin()
        if isinstance(error, TimeoutError):
            text = f"{place} gave no complete reply within {self._seconds:g} s."
            return TransientModelError(text, kind="timeout")
        if isinstance(
            error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError
        ):
            return FinalModelError(f"The certificate of {place} is not accepted.", kind="tls")
        cause = str(error) or type(error).__name__
        return TransientModelError(f"No reply from {place}: {cause}.", kind="connection")

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is not None:
            if self._loop is not loop:
                raise HarnessError("a model was used from two event loops; open one for each")
            return self._session
        self._loop = loop
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=30),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            timeout=self._timeout,
            proxy=proxy_for(self._url),
        )
        return self._session

    async def close(self) -> None:
        """Close the connections; a later `post` opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for this host; none for this machine itself.

    Looked up once a session, as the look-up takes longer than the rest of a request.
    """
    if url.host in (None, *_LOCAL) or urllib.request.proxy_bypass(str(url.host)):
        return None
    return urllib.request.getproxies().get(url.scheme)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait that a server asks for, in seconds.

    ``retry-after-ms`` goes before ``Retry-After``, which holds seconds or an HTTP date. A date is
    counted from the server's own ``Date`` if it sent one, so that our clock may be wrong.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    value = headers.get("Retry-After")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    start = _date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - start).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0.0 <= value < float("inf") else None


def _date(text: str) -> datetime | None:
    try:
        value = parsedate_to_datetime(text)
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
