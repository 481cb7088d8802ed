"""``crmbench db``: a world stays in a server to look at, and nothing else there is touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from crmbench.core.postgres import EmbeddedServer
from crmbench.core.postgres_keep import schema_name
from crmbench.domains.registry import load_domain


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    running = EmbeddedServer()
    yield running.url
    running.stop()


def crmbench(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crmbench", "db", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DATABASE_URL": url},
    )


def query(url: str, text: str) -> list[tuple[object, ...]]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(text.encode())
        return list(cursor.fetchall()) if cursor.description else []


def test_a_world_is_left_to_look_at_and_dropped_again(server: str) -> None:
    done = crmbench(server, "load", "harbour-01", "--json")
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    assert loaded["schema"] == "harbour_01"
    streamed = load_domain("sales").world("harbour-01").stream()
    expected: dict[str, int] = {}
    for table, rows in streamed:
        expected[table] = expected.get(table, 0) + len(list(rows))
    assert {name: count for name, count in loaded["rows"].items() if count} == expected
    ((clients,),) = query(server, 'SELECT count(*) FROM harbour_01."Client"')
    assert clients == expected["Client"]

    again = crmbench(server, "load", "harbour-01")
    assert again.returncode == 2
    assert "--replace" in again.stderr
    query(server, 'DELETE FROM harbour_01."Note"')
    assert crmbench(server, "load", "harbour-01", "--replace").returncode == 0
    ((notes,),) = query(server, 'SELECT count(*) FROM harbour_01."Note"')
    assert notes == expected["Note"]

    assert crmbench(server, "list").stdout == "harbour_01\n"
    assert crmbench(server, "drop", "harbour-01").returncode == 0
    assert crmbench(server, "list").stdout == "none\n"


def test_a_schema_of_somebody_else_is_left_alone(server: str) -> None:
    query(server, "CREATE SCHEMA mine")
    for command in (("drop", "mine"), ("load", "harbour-01", "--schema", "mine", "--replace")):
        refused = crmbench(server, *command)
        assert refused.returncode == 2
        assert "left alone" in refused.stderr
    assert query(server, "SELECT 1 FROM pg_namespace WHERE nspname = 'mine'") == [(1,)]


def test_without_a_server_or_a_world_it_says_what_is_wanted(server: str) -> None:
    nowhere = crmbench("", "load", "harbour-01")
    assert nowhere.returncode == 2
    assert "DATABASE_URL" in nowhere.stderr
    unknown = crmbench(server, "load", "no-such-world")
    assert unknown.returncode == 2
    assert "no-such-world" in unknown.stderr
    lost = crmbench(server, "drop", "harbour-77")
    assert "has no world harbour_77" in lost.stderr
    down = crmbench("postgresql://x:y@127.0.0.1:1/none", "list")
    assert down.returncode == 3


@pytest.mark.parametrize(
    ("world", "name"),
    [("harbour-01", "harbour_01"), ("Org 42", "org_42"), ('x"; DROP', "x_drop"), ("--", "world")],
)
def test_a_schemas_name_needs_no_quotes(world: str, name: str) -> None:
    assert schema_name(world) == name
