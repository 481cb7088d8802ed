"""A tool call over HTTP and over MCP against the same call in this process, and opened sessions.

The server is a process of its own, as `crmbench serve` starts it; one client asks one thing after
another. So a call over the network has its whole cost in the figure, client included.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import orjson

import crmbench
from crmbench.bench.world import interleaved, ratio, seconds_of, timing
from crmbench.core.sandbox import Sandbox
from crmbench.domains.registry import load_domain
from crmbench.errors import HarnessError

TOKEN = "of-the-benchmark"
TOOL = "issue_soql_query"
ARGUMENTS = {"query": "SELECT Id, Subject FROM Case LIMIT 20"}
MCP_VERSION = "2026-07-28"


@dataclass(frozen=True, slots=True)
class ServingSpeed:
    """One thing that a server does."""

    what: str
    ms: float
    """Milliseconds of one, as its client sees them."""
    per_s: float
    ratio: float | None
    """How many times the same takes in this process; None where there is no such thing."""


def measure_serving(rounds: int, calls: int) -> list[ServingSpeed]:
    """Measure a server of the service domain's usual org.

    Args:
        rounds: How often everything is measured.
        calls: Of each kind in a round; the sessions opened are a tenth.

    Raises:
        HarnessError: The server did not start, or refused something.
    """
    with _server() as client, Sandbox.open(load_domain("service")) as sandbox:
        taken = interleaved(
            {
                "in this process": _each(lambda: _called(sandbox), calls),
                "tool call over HTTP": _each(client.call, calls),
                "tool call over MCP": _each(client.call_over_mcp, calls),
                "session opened": _each(client.open_session, max(1, calls // 10)),
            },
            rounds,
        )
    here = taken.pop("in this process")
    return [
        ServingSpeed(
            what,
            1_000 * timing(seconds).middle,
            1 / timing(seconds).middle,
            None if what == "session opened" else ratio(seconds, here),
        )
        for what, seconds in taken.items()
    ]


def render_serving(results: Mapping[str, Any]) -> list[str]:
    """The measurements as lines of text; a heading alone where there are none."""
    lines = ["Serving, one client on the same machine"]
    for each in results["serving"]:
        times = "" if each["ratio"] is None else f"   {each['ratio']:.1f} times in this process"
        lines.append(f"  {each['what']:<22}{each['ms']:>8.2f} ms{each['per_s']:>9,.0f} a s{times}")
    return lines


def _each(action: Callable[[], None], times: int) -> Callable[[], float]:
    """A measurement of one of many."""

    def many() -> None:
        for _ in range(times):
            action()

    return lambda: seconds_of(many) / times


def _called(sandbox: Sandbox) -> None:
    if not sandbox.call(TOOL, ARGUMENTS).ok:
        raise HarnessError(f"{TOOL} is refused in the benchmark")


class _Client:
    """Asks a server over one connection."""

    def __init__(self, host: str, port: int) -> None:
        self.connection = HTTPConnection(host, port, timeout=60)
        self._opened = 0

    def call(self) -> None:
        answer = self._post("/v1/orgs/service/call", {"tool": TOOL, "arguments": ARGUMENTS})
        if not answer["ok"]:
            raise HarnessError(f"{TOOL} is refused over HTTP")

    def call_over_mcp(self) -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": TOOL, "arguments": ARGUMENTS, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MCP_VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": TOOL,
        }
        answer = self._post("/orgs/service/mcp", body, headers)
        if answer["result"].get("isError"):
            raise HarnessError(f"{TOOL} is refused over MCP")

    def open_session(self) -> None:
        # The same task again and again: its gold is executed the first time, as in any run.
        self._post("/v1/sessions", {"set": "service", "task": 1}, status=201)

    def _post(
        self, path: str, body: object, headers: Mapping[str, str] | None = None, status: int = 200
    ) -> Any:
        shown = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        self.connection.request("POST", path, orjson.dumps(body), {**shown, **(headers or {})})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != status:
            raise HarnessError(f"{path} answered {answer.status}: {text[:200]!r}")
        return orjson.loads(text)


@contextmanager
def _server() -> Iterator[_Client]:
    source = str(Path(crmbench.__file__).parents[1])
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-m", "crmbench", "serve", "--org", "service", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "CRMBENCH_SERVE_TOKEN": TOKEN},
    )
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        if not address:
            raise HarnessError("the server did not start")
        host, _, port = address.removeprefix("http://").rpartition(":")
        client = _Client(host, int(port))
        yield client
        client.connection.close()
    finally:
        process.terminate()
        process.communicate()
