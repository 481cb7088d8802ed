"""Tool calls against the raw SQL statements that they issue.

The statements of some calls are recorded once. Then, round by round on one connection, the calls
are timed and so are the bare statements, sent to the driver with nothing around them; both end in
a rollback, so each round does the very same work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Dialect

from crmbench.bench.world import (
    BenchDomain,
    BenchWorld,
    interleaved,
    key,
    ratio,
    seconds_of,
    task_in,
    timing,
)
from crmbench.core.clock import WorldClock
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.statements import Connection
from crmbench.core.world import Backend
from crmbench.errors import HarnessError

Call = tuple[str, dict[str, Any]]
Statement = tuple[str, Sequence[Any]]
WORLD = BenchWorld(clients=200, deals=60)


@dataclass(frozen=True, slots=True)
class ToolSpeed:
    """One tool on one backend."""

    backend: str
    tool: str
    statements: float
    """SQL statements a call, savepoints included."""
    call_us: float
    raw_us: float
    """Microseconds a call, and what its statements alone take."""
    ratio: float
    """Median over rounds of the one by the other, each round on its own."""


def tool_calls(per_tool: int) -> dict[str, list[Call]]:
    """Calls that succeed in `WORLD`, by tool; at most as many as there are deals."""
    numbers = range(per_tool)

    def each(tool: str, make: Callable[[int], dict[str, Any]]) -> list[Call]:
        return [(tool, make(number)) for number in numbers]

    calls = [
        each("create_new_client", lambda n: {
            "name": f"New Client {n}", "email": f"new{n}@bench.example", "status": "Active"}),
        each("client_search", lambda n: {"name": f"client {n:06d}"}),
        each("modify_client", lambda n: {"client_id": key("client", n), "status": "Inactive"}),
        each("create_new_contact", lambda n: {
            "client_id": key("client", n), "first_name": "Grace", "last_name": f"Hopper {n}"}),
        each("create_new_opportunity", lambda n: {
            "client_id": key("client", n), "name": f"New Deal {n}", "amount": 5000.0 + n,
            "stage": "Prospecting"}),
        each("modify_opportunity", lambda n: {
            "opportunity_id": key("opportunity", n), "stage": "Negotiation", "probability": 70}),
        each("opportunity_search", lambda n: {"client_id": key("client", n)}),
        each("view_opportunity_details", lambda n: {"opportunity_id": key("opportunity", n)}),
        each("create_quote", lambda n: {
            "opportunity_id": key("opportunity", n), "amount": 700.0 + n, "status": "Draft"}),
        each("cancel_quote", lambda n: {"quote_id": key("quote", n)}),
        each("upload_document", lambda n: {
            "entity_type": "Opportunity", "entity_id": key("opportunity", n),
            "file_name": f"offer-{n}.pdf"}),
        each("add_note", lambda n: {
            "entity_type": "Client", "entity_id": key("client", n), "content": "Called today."}),
        each("delete_opportunity", lambda n: {"opportunity_id": key("opportunity", n)}),
        each("list_opportunities", lambda n: {"limit": 20, "offset": n}),
        each("summarize_opportunities", lambda n: {"owner": f"owner{n % 20}"}),
    ]  # fmt: skip
    return {made[0][0]: made for made in calls if made}


def measure_tools(domain: Domain, backend: Backend, rounds: int, per_tool: int) -> list[ToolSpeed]:
    """Time every tool of `tool_calls` on a backend.

    Raises:
        HarnessError: A call is refused, so that nothing of interest would be timed.
    """
    with_world = BenchDomain(domain, [WORLD])
    with Episode(with_world, task_in(WORLD), backend) as episode:
        return [
            _measure(backend.name, episode, tool, calls, rounds)
            for tool, calls in tool_calls(per_tool).items()
        ]


def _measure(
    backend: str, episode: Episode, tool: str, calls: Sequence[Call], rounds: int
) -> ToolSpeed:
    statements = _recorded(episode, calls)
    connection = episode.database.connection
    run = raw_runner(connection)

    def through_tools() -> float:
        _restart(episode)
        return seconds_of(lambda: _make(episode, calls)) / len(calls)

    def raw() -> float:
        _restart(episode)
        return seconds_of(lambda: run(statements)) / len(calls)

    taken = interleaved({"calls": through_tools, "raw": raw}, rounds)
    return ToolSpeed(
        backend,
        tool,
        len(statements) / len(calls),
        timing(taken["calls"]).middle * 1e6,
        timing(taken["raw"]).middle * 1e6,
        ratio(taken["calls"], taken["raw"]),
    )


def _restart(episode: Episode) -> None:
    """Undo everything and begin again at the first id and second of the world."""
    database = episode.database
    database.reset()
    database.start(WorldClock(WORLD.now, "bench"))


def _make(episode: Episode, calls: Sequence[Call]) -> None:
    for name, arguments in calls:
        episode.execute(name, arguments)


def _recorded(episode: Episode, calls: Sequence[Call]) -> list[Statement]:
    _restart(episode)
    statements: list[Statement] = []
    with recording(episode, statements):
        for name, arguments in calls:
            record = episode.execute(name, arguments)
            if not record.ok:
                raise HarnessError(f"{name} is refused: {record.error}")
    return statements


@contextmanager
def recording(episode: Episode, statements: list[Statement]) -> Iterator[None]:
    """Note in `statements` what the episode sends to its database."""
    database = episode.database
    plain = database.connection
    database.connection = Recorder(plain, statements)
    try:
        yield
    finally:
        database.connection = plain


class Recorder:
    """A connection that keeps what goes through it. Implements `Connection`."""

    def __init__(self, inner: Connection, statements: list[Statement]) -> None:
        self.dialect: Dialect = inner.dialect
        self.json_as_text: bool = inner.json_as_text
        self._inner = inner
        self._statements = statements

    def execute(self, text: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        self._statements.append((text, tuple(parameters)))
        return self._inner.execute(text, parameters)

    def execute_many(self, text: str, parameters: Sequence[Sequence[Any]]) -> None:
        self._statements += [(text, tuple(row)) for row in parameters]
        self._inner.execute_many(text, parameters)

    def begin(self) -> None:
        self._inner.begin()

    def rollback(self) -> None:
        self._inner.rollback()

    def close(self) -> None:
        self._inner.close()


def raw_runner(connection: Connection) -> Callable[[Sequence[Statement]], None]:
    """A function that sends statements to the driver of a connection and fetches their rows.

    Raises:
        HarnessError: It is neither of the two drivers.
    """
    from crmbench.core.postgres import PostgresConnection
    from crmbench.core.sqlite import SqliteConnection

    if isinstance(connection, SqliteConnection):
        execute = connection.raw.execute

        def on_sqlite(statements: Sequence[Statement]) -> None:
            for text, parameters in statements:
                execute(text, parameters).fetchall()

        return on_sqlite
    if isinstance(connection, PostgresConnection):
        cursor = connection.raw.cursor()

        def on_postgres(statements: Sequence[Statement]) -> None:
            for text, parameters in statements:
                cursor.execute(text.encode(), parameters or None)
                if cursor.description:
                    cursor.fetchall()

        return on_postgres
    raise HarnessError(f"no raw driver is known for {type(connection).__name__}")
