"""SQLite in memory: a world is built once, and every copy is its serialised image.

A large world is held only once while one episode at a time plays in it: what was built is itself
the first copy, and another is built again from the seed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from crmbench.core.database import ConstraintViolation, Database, StatementCache
from crmbench.core.schema import Schema
from crmbench.core.world import WorldSource

FREE_COPIES = 64
"""How many copies wait for an episode; more would only hold memory."""
LARGE = 200 * 2**20
"""Bytes; a world of more is not kept as an image beside its copies."""


class SqliteConnection:
    """A private in-memory database. Implements `Connection`."""

    json_as_text = True

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.raw = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=256
        )
        # Set again after deserialize(): a pragma belongs to the connection, not to the image.
        self.enforce_references(True)
        self._execute = self.raw.execute

    def enforce_references(self, on: bool) -> None:
        """Whether every write is checked for what it refers to."""
        self.raw.execute(f"PRAGMA foreign_keys = {'ON' if on else 'OFF'}")

    def check_references(self) -> None:
        """Look at all references at once.

        Raises:
            ConstraintViolation: A row refers to one that is not there.
        """
        found = self.raw.execute("PRAGMA foreign_key_check").fetchone()
        if found is not None:
            table, row, parent, _ = found
            raise ConstraintViolation(f"row {row} of {table} refers to no row of {parent}")

    def size(self) -> int:
        """Bytes of the database."""
        (pages,), (each,) = (
            self.raw.execute(f"PRAGMA page_{what}").fetchone() for what in ("count", "size")
        )
        return int(pages * each)

    def execute(self, text: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            return self._execute(text, parameters).fetchall()
        except sqlite3.IntegrityError as error:
            raise ConstraintViolation(str(error)) from error

    def execute_many(self, text: str, parameters: Sequence[Sequence[Any]]) -> None:
        try:
            self.raw.executemany(text, parameters)
        except sqlite3.IntegrityError as error:
            raise ConstraintViolation(str(error)) from error

    def begin(self) -> None:
        self._execute("BEGIN")

    def rollback(self) -> None:
        self._execute("ROLLBACK")

    def close(self) -> None:
        self.raw.close()


class SqliteBackend:
    """Makes copies of worlds in memory. Implements `Backend`."""

    name = "sqlite"

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.dialect = SQLiteDialect_pysqlite(paramstyle="qmark")
        self.statements = StatementCache(schema, self.dialect)
        self._images: dict[str, tuple[bytes, dict[str, int]]] = {}
        self._free: dict[str, list[Database]] = {}

    def acquire(self, world: WorldSource) -> Database:
        """A copy of `world` that nobody else uses; give it back with `release`."""
        free = self._free.setdefault(world.name, [])
        if free:
            return free.pop()
        if world.name not in self._images:
            built, orders = self._build(world)
            if built.size() > LARGE:
                return Database(self.schema, built, self.statements, orders)
            self._images[world.name] = (built.raw.serialize(), orders)
            built.close()
        image, orders = self._images[world.name]
        connection = SqliteConnection(self.dialect)
        connection.raw.deserialize(image)
        connection.enforce_references(True)
        return Database(self.schema, connection, self.statements, orders)

    def release(self, world: WorldSource, database: Database) -> None:
        """Take back a copy that was reset; keep only so many for the next episodes."""
        if sum(map(len, self._free.values())) >= FREE_COPIES:
            database.connection.close()
        else:
            self._free[world.name].append(database)

    def close(self) -> None:
        for databases in self._free.values():
            for database in databases:
                database.connection.close()
        self._free.clear()

    def _build(self, world: WorldSource) -> tuple[SqliteConnection, dict[str, int]]:
        connection = SqliteConnection(self.dialect)
        for statement in create_statements(self.schema, self.dialect):
            connection.raw.execute(statement)
        database = Database(self.schema, connection, self.statements, {})
        # To check all references at the end takes a fifth of the time of checking row by row.
        connection.enforce_references(False)
        connection.begin()
        for table, rows in world.stream():
            database.load(table, rows)
        for statement in world.after_load(self.name):
            connection.raw.execute(statement)
        connection.raw.execute("COMMIT")
        connection.check_references()
        connection.enforce_references(True)
        return connection, database.orders()


def create_statements(schema: Schema, dialect: Dialect) -> list[str]:
    """The DDL of every table and index."""
    statements = []
    for table in schema.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            statements.append(str(CreateIndex(index).compile(dialect=dialect)))
    return statements
