"""A local server that speaks chat completions and Anthropic messages, and fails on demand.

For testing a harness without a model, ours or yours, and for benchmarks:

    python -m crmbench.models.testing.server --port 8080 --latency 0.3 --tool-calls 3

prints its address and serves ``/v1/chat/completions`` and ``/v1/messages`` until it is ended.

A request chooses its faults by the name of its model: ``fake+server_error*2`` fails the first two
times that this very body is sent and then answers; ``fake+html`` always fails; in
``fake+server_error+rate_limit:0.5`` each fault takes one attempt in turn, the last one all
further ones, and 0.5 is a value. The faults:

=====================  ===========================================================================
`rate_limit`           429 with Retry-After (the value, in seconds)
`rate_limit_date`      429 with Retry-After as an HTTP date (the value, in seconds from now)
`quota`                429 that says that there is no credit left
`server_error`         500
`overloaded`           529
`timeout`              no answer for the value in seconds (an hour)
`dropped`              the connection is closed without an answer
`dropped_midway`       the connection is closed after half of the answer
`truncated_json`       200, and half of the JSON
`html`                 502 and a page of HTML
`html_ok`              200 and a page of HTML
`no_choices`           200, and JSON without a message
`empty`                an answer without text or calls
`enormous`             an answer with a text of the value in bytes (4 million)
`malformed_tool_call`  a call without a name
`unknown_tool`         a call of a tool that was not offered
`bad_arguments`        a call whose arguments are not JSON
`array_arguments`      a call whose arguments are JSON, but not an object
`refusal`              the model declines
`no_usage`             an answer that does not say how many tokens it took
`unauthorized`         401
`forbidden`            403
`not_found`            404
`bad_request`          400
`context_length`       400 that says that the conversation is too long
=====================  ===========================================================================
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import orjson
from aiohttp import web

from crmbench.models.testing.faults import (
    ANSWERS,
    ERRORS,
    FAULTS,
    Fault,
    parse_faults,
    pick_fault,
)
from crmbench.models.testing.wire import (
    FakeAnswer,
    FakeCall,
    FakeRequest,
    Wire,
    example,
    read_request,
    write_answer,
    write_error,
)

Answer = Callable[[FakeRequest], FakeAnswer]

_HTML = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


def working(tool_calls: int = 0) -> Answer:
    """An answerer that calls tools before it replies.

    Args:
        tool_calls: Calls a turn, one an answer, of the offered tools in turn, with arguments
            that their schemas take.
    """

    def answer(request: FakeRequest) -> FakeAnswer:
        done = request.results
        if done < tool_calls and request.tools:
            tool = request.tools[len(request.texts) % len(request.tools)]
            return FakeAnswer(calls=(FakeCall(tool["name"], example(tool["parameters"])),))
        return FakeAnswer(f"This is reply {len(request.texts)}.")

    return answer


class FakeServer:
    """The server. Use it as an async context manager, or run this file as a program.

    Args:
        answer: What to answer; `working()` by default.
        latency: Seconds before each answer.
        shares: Shares of requests that fail, by fault. Which do depends on the body, how often
            it came, and the seed; not on the order of requests.
        seed: Of the shares.
        keep: Where to append the body of each request, one a line.
        port: 0 for any.
    """

    def __init__(
        self,
        answer: Answer | None = None,
        *,
        latency: float = 0.0,
        shares: Mapping[str, float] | None = None,
        seed: int = 0,
        keep: Path | None = None,
        port: int = 0,
    ) -> None:
        unknown = sorted(set(shares or {}) - FAULTS)
        if unknown:
            raise ValueError(f"there is no fault '{unknown[0]}'")
        self._answer = answer or working()
        self._latency = latency
        self._shares = dict(shares or {})
        self._seed = seed
        self._keep: IO[bytes] | None = keep.open("ab", buffering=0) if keep else None
        self._port = port
        self._seen: Counter[bytes] = Counter()
        self._runner: web.AppRunner | None = None
        self.requests = 0
        """Requests so far."""
        self.bodies: list[bytes] | None = None
        """Set it to a list to collect the bodies of requests."""

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start to listen."""
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._openai)
        app.router.add_post("/openai/deployments/{name}/chat/completions", self._openai)
        app.router.add_post("/v1/messages", self._anthropic)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=2048)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop and close what is open."""
        if self._runner:
            await self._runner.cleanup()
        if self._keep:
            self._keep.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, "openai")

    async def _anthropic(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, "anthropic")

    async def _serve(self, request: web.Request, wire: Wire) -> web.StreamResponse:
        raw = await request.read()
        self._note(raw)
        try:
            asked = read_request(wire, raw)
            faults = parse_faults(asked.model)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            body = write_error(wire, "invalid_request_error", str(error))
            return _json(body, 400)
        fault = self._fault(faults, raw)
        if self._latency:
            await asyncio.sleep(self._latency)
        answer = self._answer(asked)
        if fault is None:
            return _json(write_answer(asked, answer))
        change = ANSWERS.get(fault.name)
        if change:
            return _json(write_answer(asked, change(answer, fault.value)))
        if fault.name in ERRORS:
            return _error(wire, fault)
        return await _broken(request, fault, orjson.dumps(write_answer(asked, answer)))

    def _note(self, raw: bytes) -> None:
        self.requests += 1
        if self.bodies is not None:
            self.bodies.append(raw)
        if self._keep:
            self._keep.write(raw.replace(b"\n", b" ") + b"\n")

    def _fault(self, faults: Sequence[Fault], raw: bytes) -> Fault | None:
        if not faults and not self._shares:
            return None
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        attempt = self._seen[digest]
        self._seen[digest] += 1
        if faults:
            return pick_fault(faults, attempt)
        drawn = hashlib.blake2b(b"%b %d %d" % (digest, attempt, self._seed), digest_size=8)
        point = int.from_bytes(drawn.digest(), "big") / 2**64
        for name, share in self._shares.items():
            if point < share:
                return Fault(name, None, None)
            point -= share
        return None


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


def _error(wire: Wire, fault: Fault) -> web.Response:
    status, kind, message, code = ERRORS[fault.name]
    response = _json(write_error(wire, kind, message, code), status)
    if fault.name == "rate_limit":
        response.headers["Retry-After"] = f"{fault.value or 0:g}"
    elif fault.name == "rate_limit_date":
        now = time.time()
        response.headers["Date"] = formatdate(now, usegmt=True)
        response.headers["Retry-After"] = formatdate(now + (fault.value or 0), usegmt=True)
    return response


async def _broken(request: web.Request, fault: Fault, body: bytes) -> web.StreamResponse:
    """An answer that fails below the format."""
    if fault.name == "timeout":
        await asyncio.sleep(3600.0 if fault.value is None else fault.value)
        return web.Response(body=body, content_type="application/json")
    if fault.name == "truncated_json":
        return web.Response(body=body[: len(body) // 2], content_type="application/json")
    if fault.name == "no_choices":
        return _json({"object": "chat.completion", "choices": []})
    if fault.name in ("html", "html_ok"):
        status = 502 if fault.name == "html" else 200
        return web.Response(text=_HTML, status=status, content_type="text/html")
    response = web.StreamResponse(headers={"Content-Length": str(len(body))})
    if fault.name == "dropped_midway":
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        await asyncio.sleep(0.01)
    if request.transport:
        request.transport.abort()
    return response


@contextmanager
def spawned(*arguments: str) -> Iterator[str]:
    """Run the server in a process of its own.

    Args:
        arguments: Of the command line.

    Yields:
        Its address.

    Raises:
        RuntimeError: It did not start.
    """
    command = [sys.executable, "-m", "crmbench.models.testing.server", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline().strip() if process.stdout else ""
        if not line:
            raise RuntimeError("the fake server did not start")
        yield line
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m crmbench.models.testing.server",
        description="A local server that speaks two wire formats of models and fails on demand.",
    )
    parser.add_argument("--port", type=int, default=0, help="0 for any free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--tool-calls", type=int, default=0, help="tool calls before a reply")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME=SHARE", help="a share of failures"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the shares")
    parser.add_argument("--keep", type=Path, help="append the bodies of requests to this file")
    return parser.parse_args(given)


async def _serve_forever(options: argparse.Namespace) -> None:
    shares = {}
    for text in options.fault:
        name, _, share = text.partition("=")
        shares[name] = float(share)
    server = FakeServer(
        working(options.tool_calls),
        latency=options.latency,
        shares=shares,
        seed=options.seed,
        keep=options.keep,
        port=options.port,
    )
    async with server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main(given: Sequence[str] | None = None) -> None:
    """Run the program."""
    try:
        asyncio.run(_serve_forever(_arguments(given)))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
