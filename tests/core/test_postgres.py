"""What only PostgreSQL has: schemas on a server that others use too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crmbench.core.clock import WorldClock
from crmbench.core.postgres import EmbeddedServer, PostgresBackend, PostgresConnection
from crmbench.domains.sales.domain import SALES


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    made = EmbeddedServer()
    yield made
    made.stop()


def schemas(connection: PostgresConnection) -> set[str]:
    query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'crmbench%'"
    return {name for (name,) in connection.execute(query, ())}


def test_what_a_killed_backend_left_is_dropped_and_a_living_ones_stays(
    server: EmbeddedServer,
) -> None:
    killed, living = (PostgresBackend(SALES.schema, server.url) for _ in range(2))
    world = SALES.world("empty")
    lost = killed.acquire(world).connection
    used = living.acquire(world)
    used.start(WorldClock(world.now, "t"))
    assert isinstance(lost, PostgresConnection)
    assert isinstance(used.connection, PostgresConnection)
    assert len(schemas(used.connection)) == 2
    # As a kill does it: the connection goes, and nobody drops anything.
    ((pid,),) = lost.execute("SELECT pg_backend_pid()", ())
    lost.close()
    another = PostgresBackend(SALES.schema, server.url)
    looking = PostgresConnection(another.dialect, server.url)
    while (pid,) in looking.execute("SELECT pid FROM pg_stat_activity", ()):
        """The server takes a moment to notice."""
    looking.close()
    began = another.acquire(world)
    assert isinstance(began.connection, PostgresConnection)
    found = schemas(began.connection)
    assert len(found) == 2
    used.insert("Client", {"client_id": "c", "name": "A", "email": "a@x.example"} | NEEDED)
    used.reset()
    living.release(world, used)
    living.close()
    assert len(schemas(began.connection)) == 1
    another.close()


NEEDED = {"status": "Active", "created_date": "2026-01-15"}


def test_two_backends_of_one_process_do_not_meet(server: EmbeddedServer) -> None:
    one, two = (PostgresBackend(SALES.schema, server.url) for _ in range(2))
    world = SALES.world("empty")
    assert one.acquire(world).digest() == two.acquire(world).digest()
    one.close()
    two.close()
