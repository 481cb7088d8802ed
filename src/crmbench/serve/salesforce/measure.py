"""What a query costs over REST beside what it costs in the engine, measured in one run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from statistics import median
from time import perf_counter
from typing import Any
from urllib.parse import quote, urlsplit

from crmbench.core.sandbox import Sandbox
from crmbench.domains.registry import load_domain
from crmbench.errors import InfrastructureError
from crmbench.salesforce.sobjects import Org, open_org

MOST_OVER = 3.0
"""Milliseconds that a query over REST may cost beside the engine's own."""
DATA = "/services/data/v59.0"
QUERIES = {
    "one record by its id": "SELECT Id, Subject, Owner.Name FROM Case WHERE Id = '{case}'",
    "a count": "SELECT COUNT() FROM Case WHERE Status = 'Closed'",
    "groups": "SELECT Status, COUNT(Id) FROM Case GROUP BY Status",
    "200 records with a parent": "SELECT Id, CaseNumber, Subject, Owner.Name FROM Case LIMIT 200",
    "2,000 records": "SELECT Id, UnitPrice FROM PricebookEntry LIMIT 2000",
}


@dataclass(frozen=True)
class RestSpeed:
    """One query; milliseconds, each the median of its rounds."""

    query: str
    engine: float
    rest: float
    least: float
    """Between the quickest rounds of both: what REST adds where nothing else runs meanwhile."""

    @property
    def over(self) -> float:
        """What REST adds."""
        return self.rest - self.engine


def measure_rest(rounds: int) -> list[RestSpeed]:
    """Ask a server in a process of its own, and in turn the engine in this one.

    Args:
        rounds: How often each query is asked.

    Raises:
        InfrastructureError: The server does not start, or does not answer.
    """
    with Sandbox.open(load_domain("service")) as sandbox, _server() as connection:
        org = open_org(sandbox)
        case = org.rows("SELECT Id FROM Case LIMIT 1")[0]["Id"]
        return [
            _measured(org, connection, name, text.format(case=case), rounds)
            for name, text in QUERIES.items()
        ]


def _measured(org: Org, connection: HTTPConnection, name: str, text: str, rounds: int) -> RestSpeed:
    path = f"{DATA}/query?q={quote(text)}"

    def ask() -> None:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise InfrastructureError(f"the server answered {answer.status}: {body[:200]!r}")

    asked, answered = [], []
    for _ in range(rounds):
        answered.append(_seconds(lambda: org.query(text)))
        asked.append(_seconds(ask))
    least = min(asked) - min(answered)
    return RestSpeed(name, 1_000 * median(answered), 1_000 * median(asked), 1_000 * least)


def _seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


@contextmanager
def _server() -> Iterator[HTTPConnection]:
    command = [sys.executable, "-m", "crmbench", "serve", "--org", "service", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = urlsplit(server.stdout.readline().strip())
            if address.port is None:
                raise InfrastructureError("the server did not start")
            connection = HTTPConnection("127.0.0.1", address.port)
            yield connection
            connection.close()
        finally:
            server.terminate()


def as_results(speeds: list[RestSpeed]) -> dict[str, Any]:
    """The figures as they are stored."""
    rows = [{**asdict(speed), "over": speed.over} for speed in speeds]
    most = max(speed.over for speed in speeds)
    return {"rest": rows, "most_over_ms": most, "target_ms": MOST_OVER, "met": most <= MOST_OVER}


def render_rest(results: dict[str, Any]) -> str:
    """The figures as a table."""
    lines = [f"{'a query over REST, ms':<28} {'engine':>8} {'REST':>8} {'over':>8} {'least':>8}"]
    for row in results["rest"]:
        figures = (row[name] for name in ("engine", "rest", "over", "least"))
        lines.append(f"{row['query']:<28} " + " ".join(f"{ms:>8.2f}" for ms in figures))
    most, target = results["most_over_ms"], results["target_ms"]
    said = "met" if results["met"] else "missed"
    return "\n".join([*lines, f"at most {most:.2f} ms over the engine (target {target:g}): {said}"])
