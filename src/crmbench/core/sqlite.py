"""SQLite in memory: a world is built once, and every copy is its serialised image."""

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


class SqliteConnection:
    """A private in-memory database. Implements `Connection`."""

    json_as_text = True

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.raw = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=256
        )
        # Set again after deserialize(): a pragma belongs to the connection, not to the image.
        self.raw.execute("PRAGMA foreign_keys = ON")
        self._execute = self.raw.execute

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
        image, orders = self._image(world)
        connection = SqliteConnection(self.dialect)
        connection.raw.deserialize(image)
        connection.raw.execute("PRAGMA foreign_keys = ON")
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

    def _image(self, world: WorldSource) -> tuple[bytes, dict[str, int]]:
        if world.name not in self._images:
            connection = SqliteConnection(self.dialect)
            for statement in create_statements(self.schema, self.dialect):
                connection.raw.execute(statement)
            database = Database(self.schema, connection, self.statements, {})
            connection.raw.execute("BEGIN")
            for table, rows in world.stream():
                database.load(table, rows)
            for statement in world.after_load(self.name):
                connection.raw.execute(statement)
            connection.raw.execute("COMMIT")
            self._images[world.name] = (connection.raw.serialize(), database.orders())
            connection.close()
        return self._images[world.name]


def create_statements(schema: Schema, dialect: Dialect) -> list[str]:
    """The DDL of every table and index."""
    statements = []
    for table in schema.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            statements.append(str(CreateIndex(index).compile(dialect=dialect)))
    return statements
