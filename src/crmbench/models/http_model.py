"""What the wire formats share: send, read, tell failures apart, retry, keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crmbench.models.base import Message, Reply, Settings, ToolChoice, ToolSpec
from crmbench.models.encoding import dumps, loads
from crmbench.models.errors import (
    FinalKind,
    FinalModelError,
    ModelError,
    TransientKind,
    TransientModelError,
)
from crmbench.models.limits import Clock, Gate, Limits, SystemClock
from crmbench.models.request_log import Exchange, RawLog
from crmbench.models.transport import Endpoint, Response, Transport, retry_after

_RETRIED = frozenset({408, 409, 425})
_CONTEXT = (
    "context_length",
    "context length",
    "context window",
    "prompt is too long",
    "maximum context",
    "input length",
)
_FILTERED = frozenset({"content_filter", "content_policy_violation"})


class Sampling(NamedTuple):
    """What a call may choose; the settings filled in."""

    max_tokens: int | None
    temperature: float | None
    tool_choice: ToolChoice | None


class HttpModel(ABC):
    """A model behind an HTTP endpoint.

    Args:
        name: How the model is called in reports; must not hold a key.
        endpoint: Where requests go.
        settings: For every call.
        limits: Concurrency, rates, retries and time-out.
        raw: Where to keep requests and replies, if anywhere.
        clock: Where time comes from.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        settings: Settings | None = None,
        limits: Limits | None = None,
        raw: RawLog | None = None,
        clock: Clock | None = None,
    ) -> None:
        limits = limits or Limits()
        self._name = name
        self._endpoint = endpoint
        self._settings = settings or Settings()
        self._raw = raw
        self._clock = clock or SystemClock()
        self._gate = Gate(limits, self._clock)
        self._transport = Transport(
            endpoint, timeout=limits.timeout, max_bytes=limits.max_reply_bytes
        )

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return self._name

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go; printing it shows no key."""
        return self._endpoint

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        tool_choice: ToolChoice | None = None,
        tag: str = "",
    ) -> Reply:
        """Ask for the next message; see `Model.complete`."""
        settings = self._settings
        sampling = Sampling(
            settings.max_tokens if max_tokens is None else max_tokens,
            settings.temperature if temperature is None else temperature,
            tool_choice,
        )
        body = self.encode(messages, tools, sampling)
        started = self._clock.now()
        attempts = 0

        async def attempt() -> Reply:
            nonlocal attempts
            attempts += 1
            return await self._attempt(body, len(messages), tag, attempts)

        # Four bytes a token is close for English and JSON; the usage corrects it afterwards.
        granted = await self._gate.run(attempt, len(body) // 4)
        return replace(
            granted.reply, attempts=granted.attempts, seconds=self._clock.now() - started
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    @abstractmethod
    def encode(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling
    ) -> bytes:
        """The body of a request."""

    @abstractmethod
    def decode(self, payload: dict[str, Any], turn: int) -> Reply | None:
        """The reply that a body holds, or None if it holds none.

        Args:
            payload: The body.
            turn: How long the conversation is; makes ids of calls that have none.
        """

    async def _attempt(self, body: bytes, turn: int, tag: str, number: int) -> Reply:
        started = self._clock.now()
        response: Response | None = None
        problem: str | None = "cancelled"
        try:
            response = await self._transport.post(body)
            reply = self._read(response, turn)
            problem = None
            return reply
        except ModelError as error:
            problem = error.message
            raise
        finally:
            if self._raw:
                seconds = self._clock.now() - started
                self._keep(self._raw, body, response, problem, (tag, number, seconds))

    def _keep(
        self,
        raw: RawLog,
        body: bytes,
        response: Response | None,
        problem: str | None,
        call: tuple[str, int, float],
    ) -> None:
        tag, number, seconds = call
        reply = None if response is None else response.body
        secret = self._endpoint.secret.encode()
        if reply is not None and secret:
            reply = reply.replace(secret, b"[key]")
        status = None if response is None else response.status
        raw.write(Exchange(tag, self._name, number, seconds, body, status, reply, problem))

    def _read(self, response: Response, turn: int) -> Reply:
        try:
            payload = loads(response.body)
        except (ValueError, RecursionError):
            payload = None
        if response.status != 200:
            return self._refused(response, payload)
        if not isinstance(payload, dict):
            what = "not complete JSON" if payload is None else "not a JSON object"
            raise self._bad_reply(response, what)
        if payload.get("error"):
            return self._refused(response, payload)
        reply = self.decode(payload, turn)
        if reply is None:
            raise self._bad_reply(response, "without a message")
        return reply

    def _bad_reply(self, response: Response, what: str) -> TransientModelError:
        text = f"The reply is {what}: {self._excerpt(response.body)}"
        return TransientModelError(text, kind="bad_reply", status=response.status)

    def _excerpt(self, body: bytes) -> str:
        text = self._endpoint.redact(body.decode("utf-8", "replace"))
        text = " ".join(text[:2000].split())
        return repr(text if len(text) <= 200 else text[:200] + "…")

    def _refused(self, response: Response, payload: object) -> Reply:
        """Raise what an error response means; a provider's content filter is a refusal."""
        error = _error_of(payload)
        code = str(error.get("code") or error.get("type") or "")
        status = response.status
        if status == 200:
            # Routers report an upstream failure inside a reply that otherwise looks fine.
            inner = error.get("code")
            status = inner if isinstance(inner, int) and 400 <= inner < 600 else 500
        message = error.get("message")
        detail = self._endpoint.redact(message) if isinstance(message, str) else ""
        if status == 400 and (code in _FILTERED or _inner_code(error) in _FILTERED):
            return Reply(detail[:500], stop_reason="refusal", refusal=True)
        text = f"HTTP {status}: {detail[:500] or self._excerpt(response.body)}"
        wait = retry_after(response.headers)
        transient = transient_kind(status, code)
        if transient:
            raise TransientModelError(text, kind=transient, status=status, retry_after=wait)
        raise FinalModelError(text, kind=final_kind(status, code, detail), status=status)


def _error_of(payload: object) -> Mapping[str, Any]:
    """The error object of a reply, in whichever of the usual places it stands."""
    if not isinstance(payload, dict):
        return {}
    error = payload.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str):
        return {"message": error}
    return payload if "message" in payload else {}


def _inner_code(error: Mapping[str, Any]) -> str:
    inner = error.get("innererror")
    return "content_filter" if isinstance(inner, dict) and "content_filter_result" in inner else ""


def transient_kind(status: int, code: str) -> TransientKind | None:
    """The kind of an error status that may pass; None if it cannot."""
    if status == 429:
        return None if code == "insufficient_quota" else "rate_limit"
    return "server" if status in _RETRIED or status >= 500 else None


def final_kind(status: int, code: str, detail: str) -> FinalKind:
    """The kind of an error status that cannot pass."""
    if status in (401, 403):
        return "auth"
    if status == 404:
        return "not_found"
    if status in (402, 429):
        return "quota"
    about = f"{code} {detail}".lower()
    if status in (400, 413, 422) and any(word in about for word in _CONTEXT):
        return "context_length"
    return "bad_request"


def join_body(*parts: tuple[bytes, bytes | None]) -> bytes:
    """A JSON object from names and values that are JSON already; a value None is left out."""
    fields = [b'"' + name + b'":' + value for name, value in parts if value is not None]
    return b"{" + b",".join(fields) + b"}"


def merged(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> bytes | None:
    """The members of an object, as JSON without its braces; None if there are none.

    Args:
        fields: Values; None is left out.
        extra: The settings' own fields, which go before ours.
    """
    values = {name: value for name, value in fields.items() if value is not None} | dict(extra)
    return dumps(values)[1:-1] or None
