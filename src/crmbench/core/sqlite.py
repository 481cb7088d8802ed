"""SQLite in memory: a world is built once, and every copy is its serialised image.

Only so many copies are in memory, of a large world only one. Where more episodes are open, those
that have waited longest are parked: their copy goes to another episode, and they get one again when
they go on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from crmbench.core.database import Database
from crmbench.core.schema import Schema
from crmbench.core.statements import ConstraintViolation, StatementCache
from crmbench.core.stored_world import find_world, keep_world
from crmbench.core.world import WorldSource

PRIVATE = (
    "journal_mode = MEMORY",
    "cache_spill = OFF",
    "synchronous = OFF",
    "mmap_size = 8589934592",
)
"""What keeps an episode's writes to its own connection: nothing is ever committed to the file, no
page that was written leaves memory, and the others are read where every process has them."""
COPIES = 64
"""How many copies there are at most, in use or waiting for an episode."""
COPIES_SIZE = 200 * 2**20
"""Bytes that the copies of one world take at most, unless it is only one. A world of more is not
kept as an image beside it."""
WORLDS_SIZE = 256 * 2**20
"""Bytes that the images of all worlds take before those are dropped that nobody plays in."""


class SqliteConnection:
    """A private database, in memory or over the pages of a file that stays as it is. Implements
    `Connection`.
    """

    json_as_text = True

    def __init__(self, dialect: Dialect, file: Path | None = None) -> None:
        self.dialect = dialect
        # Without locks, so that many have the file open at once; see `WorldFile`.
        name = ":memory:" if file is None else f"file:{quote(str(file))}?nolock=1"
        self.raw = sqlite3.connect(
            # `isolation_level=None` leaves transactions to us, for the driver would begin its own.
            # Threads: a server's episode may be closed by another one; two never use it at once.
            name,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=file is not None,
        )
        if file is not None:
            for setting in PRIVATE:
                self.raw.execute(f"PRAGMA {setting}")
        # Set again after deserialize(): a pragma belongs to the connection, not to the image.
        self.enforce_references(True)
        # One cursor for all, since every result is fetched at once: a new one takes a tenth of what
        # a select does.
        self._execute = self.raw.cursor().execute

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
        """Run a statement.

        Raises:
            ConstraintViolation: The database refuses the row.
        """
        try:
            return self._execute(text, parameters).fetchall()
        except sqlite3.IntegrityError as error:
            raise ConstraintViolation(str(error)) from error

    def execute_many(self, text: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row.

        Raises:
            ConstraintViolation: The database refuses a row.
        """
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


@dataclass
class Copies:
    """What there is of one world in memory."""

    world: WorldSource
    orders: dict[str, int]
    most: int
    """How many copies there may be."""
    image: bytes | None
    """None for a large world."""
    free: list[SqliteConnection] = field(default_factory=list)
    file: Path | None = None
    """Where a large world is kept, for the copies of all processes."""
    lent: dict[Database, SqliteConnection] = field(default_factory=dict)
    """Those that have had their copy longest first."""
    open: int = 0
    """Episodes that were not given back yet, also those that are parked."""

    def __len__(self) -> int:
        return len(self.free) + len(self.lent)

    def take_back(self) -> SqliteConnection | None:
        """Park the episode that has had its copy longest, except those in the middle of a call."""
        # In the middle of a call the statements so far are not the whole of it: they could not be
        # repeated.
        waiting = next((database for database in self.lent if not database.in_call), None)
        if waiting is None:
            return None
        waiting.park()
        return self.lent.pop(waiting)


class SqliteBackend:
    """Makes copies of worlds in memory. Implements `Backend`."""

    name = "sqlite"

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.dialect = SQLiteDialect_pysqlite(paramstyle="qmark")
        self.statements = StatementCache(schema, self.dialect)
        self._worlds: dict[str, Copies] = {}

    def acquire(self, world: WorldSource) -> Database:
        """A copy of `world` that nobody else uses; give it back with `release`."""
        copies = self._worlds.get(world.name) or self._first(world)
        copies.open += 1

        def reconnect() -> SqliteConnection:
            copies.lent[database] = connection = self._connection(copies)
            return connection

        connection = self._connection(copies)
        database = Database(self.schema, connection, self.statements, copies.orders, reconnect)
        copies.lent[database] = connection
        return database

    def release(self, world: WorldSource, database: Database) -> None:
        """Take back a copy that was reset; it waits for the next episode."""
        copies = self._worlds[world.name]
        copies.open -= 1
        # Else an episode that is over could take a copy back from one that plays.
        database.retire()
        connection = copies.lent.pop(database, None)
        if connection is not None:
            copies.free.append(connection)

    def image(self, world: WorldSource) -> tuple[bytes, dict[str, int]] | None:
        """A world as bytes, with its order counters, for `adopt`; None if it is too large."""
        copies = self._worlds.get(world.name) or self._first(world)
        return None if copies.image is None else (copies.image, dict(copies.orders))

    def adopt(self, world: WorldSource, image: bytes, orders: dict[str, int]) -> None:
        """Take a world from what `image` once gave, without building it."""
        connection = SqliteConnection(self.dialect)
        connection.raw.deserialize(image)
        connection.enforce_references(True)
        most = max(1, min(COPIES, COPIES_SIZE // max(1, len(image))))
        self._worlds[world.name] = Copies(world, orders, most, image, [connection])

    def close(self) -> None:
        for copies in self._worlds.values():
            for connection in copies.free:
                connection.close()
        self._worlds.clear()

    def _first(self, world: WorldSource) -> Copies:
        self._forget()
        self._worlds[world.name] = made = self._from_file(world) or self._built(world)
        return made

    def _forget(self) -> None:
        """Drop worlds that nobody plays in, the first met first, while all take too much."""
        # A hard set has a world for each of its tasks: 120 of them would take ten gigabytes.
        size = sum(len(copies.image or b"") for copies in self._worlds.values())
        for name, copies in list(self._worlds.items()):
            if size <= WORLDS_SIZE:
                return
            if copies.open or copies.image is None:
                continue
            for connection in copies.free:
                connection.close()
            del self._worlds[name]
            size -= len(copies.image)

    def _from_file(self, world: WorldSource) -> Copies | None:
        """A large world that was built before, by whatever process."""
        if not _follows_from_our_sources(world):
            return None
        found = find_world(world.name, create_statements(self.schema, self.dialect))
        if found is None:
            return None
        connection = SqliteConnection(self.dialect, found.path)
        return Copies(world, found.orders, COPIES, None, [connection], found.path)

    def _built(self, world: WorldSource) -> Copies:
        built, orders = self._build(world)
        most = max(1, min(COPIES, COPIES_SIZE // built.size()))
        # A large world is kept on disk: its image would double it, in every process.
        if most > 1:
            return Copies(world, orders, most, built.raw.serialize(), [built])
        if not _follows_from_our_sources(world):
            return Copies(world, orders, most, None, [built])
        statements = create_statements(self.schema, self.dialect)
        if keep_world(world.name, statements, built.raw, orders):
            found = self._from_file(world)
            if found is not None:
                built.close()
                return found
        return Copies(world, orders, most, None, [built])

    def _connection(self, copies: Copies) -> SqliteConnection:
        """A connection to an unchanged copy: a free one, a parked episode's, or a new one."""
        if copies.free:
            return copies.free.pop()
        # Over all worlds: a set of a hundred small worlds must not hold a hundred times as much.
        full = sum(map(len, self._worlds.values())) >= COPIES
        if full or len(copies) >= copies.most:
            connection = copies.take_back()
            if connection is not None:
                return connection
        if full:
            self._make_room()
        return self._new(copies)

    def _make_room(self) -> None:
        """Close a copy of the world that has most."""
        # Whose episodes lose least by it: the others of that world can take turns.
        largest = max(self._worlds.values(), key=len)
        connection = largest.free.pop() if largest.free else largest.take_back()
        if connection is not None:
            connection.close()

    def _new(self, copies: Copies) -> SqliteConnection:
        if copies.file is not None:
            return SqliteConnection(self.dialect, copies.file)
        if copies.image is None:
            return self._build(copies.world)[0]
        connection = SqliteConnection(self.dialect)
        connection.raw.deserialize(copies.image)
        connection.enforce_references(True)
        return connection

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


def _follows_from_our_sources(world: WorldSource) -> bool:
    """Whether the digest under which files of worlds are kept covers what made this one."""
    # It is of this package's sources. A domain of somebody else changes without it, and would be
    # given the rows that it had before.
    return type(world).__module__.partition(".")[0] == __name__.partition(".")[0]


def create_statements(schema: Schema, dialect: Dialect) -> list[str]:
    """The DDL of every table and index; compiled once."""
    # With the schema, like the statements of `StatementCache`: a world is built in every process.
    kept = schema.compiled.setdefault((dialect.name, dialect.paramstyle), {})
    if _CREATE not in kept:
        kept[_CREATE] = tuple(_create_statements(schema, dialect))
    return list(kept[_CREATE])


_CREATE = "create tables and indexes"


def _create_statements(schema: Schema, dialect: Dialect) -> Iterator[str]:
    for table in schema.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
