"""A world left in a PostgreSQL server, in a schema of its own, to look at with psql."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

from crmbench.core.database import Database
from crmbench.core.postgres import PostgresConnection
from crmbench.core.schema import Schema
from crmbench.core.sqlite import create_statements
from crmbench.core.statements import StatementCache
from crmbench.core.world import WorldSource
from crmbench.errors import InputError

MARK = "a world of crmbench"
"""The comment on a schema that was made here; no other schema is ever dropped."""


def schema_name(world: str) -> str:
    """The schema of a world: its name in small letters, digits and underscores.

    Such as ``harbour_01`` for ``harbour-01``.
    """
    return re.sub(r"[^a-z0-9]+", "_", world.lower()).strip("_") or "world"


def keep_world(
    url: str, schema: Schema, world: WorldSource, name: str, *, replace: bool = False
) -> dict[str, int]:
    """Write a world's records into a schema of a server, all or nothing.

    Args:
        url: Of the server.
        schema: The domain's tables.
        name: Of the schema to make.
        replace: Drop the world that is there under this name first.

    Returns:
        The number of rows by table.

    Raises:
        InputError: There is a schema of that name already, and nothing says to replace it, or it
            is none of ours.
        InfrastructureError: The server cannot be reached.
    """
    connection, dialect = _connect(url)
    try:
        connection.begin()
        found = _mark_of(connection, name)
        if found is not None:
            _check_ours(name, found)
            if not replace:
                raise InputError(
                    f"the server has a schema {name} already",
                    expected="--replace, or another name with --schema",
                )
            connection.execute(f'DROP SCHEMA "{name}" CASCADE', ())
        connection.execute(f'CREATE SCHEMA "{name}"', ())
        connection.execute(f"COMMENT ON SCHEMA \"{name}\" IS '{MARK}'", ())
        connection.execute(f'SET LOCAL search_path TO "{name}"', ())
        for statement in create_statements(schema, dialect):
            connection.execute(statement, ())
        database = Database(schema, connection, StatementCache(schema, dialect), {})
        for table, rows in world.stream():
            database.load(table, rows)
        for statement in world.after_load("postgresql"):
            connection.execute(statement, ())
        counts = {}
        for each in schema.metadata.sorted_tables:
            quoted = dialect.identifier_preparer.quote(each.name)
            ((counts[each.name],),) = connection.execute(f"SELECT count(*) FROM {quoted}", ())
        connection.execute("COMMIT", ())
        return counts
    finally:
        connection.close()


def drop_world(url: str, name: str) -> None:
    """Drop a world that `keep_world` wrote.

    Raises:
        InputError: There is no schema of that name, or it is none of ours.
        InfrastructureError: The server cannot be reached.
    """
    connection, _ = _connect(url)
    try:
        found = _mark_of(connection, name)
        if found is None:
            kept = ", ".join(_kept(connection)) or "none is there"
            raise InputError(f"the server has no world {name}", expected=kept)
        _check_ours(name, found)
        connection.execute(f'DROP SCHEMA "{name}" CASCADE', ())
    finally:
        connection.close()


def kept_worlds(url: str) -> list[str]:
    """The schemas that `keep_world` wrote, sorted.

    Raises:
        InfrastructureError: The server cannot be reached.
    """
    connection, _ = _connect(url)
    try:
        return _kept(connection)
    finally:
        connection.close()


def _connect(url: str) -> tuple[PostgresConnection, Dialect]:
    dialect_class: Callable[..., Dialect] = PGDialect_psycopg
    dialect = dialect_class(paramstyle="format")
    return PostgresConnection(dialect, url), dialect


_COMMENTS = (
    "SELECT nspname, coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace "
    "ORDER BY nspname"
)


def _mark_of(connection: PostgresConnection, name: str) -> str | None:
    """The comment of a schema; None if there is no such schema."""
    return dict(connection.execute(_COMMENTS, ())).get(name)


def _kept(connection: PostgresConnection) -> list[str]:
    return [name for name, comment in connection.execute(_COMMENTS, ()) if comment == MARK]


def _check_ours(name: str, comment: str) -> None:
    if comment != MARK:
        raise InputError(
            f"the schema {name} was not made by crmbench, and is left alone",
            expected="another name with --schema",
        )
