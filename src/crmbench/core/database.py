"""One org while an episode runs in it: reads, journaled writes, and undo.

The same class serves both backends. What differs between them (how to open, copy and speak to a
database) is behind `Connection`, in statements.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from crmbench.core.clock import WorldClock
from crmbench.core.journal import Change, Snapshot
from crmbench.core.schema import Dependent, Row, Schema, TableInfo
from crmbench.core.statements import (
    Connection,
    ConstraintViolation,
    Prepared,
    Statement,
    StatementCache,
)
from crmbench.errors import HarnessError, ToolError


class Mark(NamedTuple):
    """A point to which a database can go back."""

    journal: int
    statements: int
    writes: int
    created: int
    orders: dict[str, int]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written in a stretch of an episode, as JSON can carry it to another process."""

    statements: tuple[tuple[str, tuple[Any, ...]], ...]
    """Text and parameters, as the driver takes them."""
    changes: tuple[Change, ...]
    """The same in the journal's words."""
    writes: int
    """Of the clock, at its end."""
    created: int
    orders: dict[str, int]


class Database:
    """A private copy of a world, open for one episode at a time."""

    def __init__(
        self,
        schema: Schema,
        connection: Connection,
        statements: StatementCache,
        orders: dict[str, int],
        reconnect: Callable[[], Connection] | None = None,
    ) -> None:
        """Args:
        orders: For each table with an order column the highest value in the world.
        reconnect: Gives a connection to an unchanged copy after `park`.
        """
        self.schema = schema
        self.statements = statements
        self._connection: Connection | None = connection
        self._reconnect = reconnect
        self._episode = False
        self._written: list[tuple[str, list[Any]]] = []
        self.clock: WorldClock
        self.journal: list[Change] = []
        self._world_orders = orders
        self._orders = dict(orders)
        self._mark: Mark | None = None
        self._savepoint = False

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        return self.statements.dialect.name

    @property
    def connection(self) -> Connection:
        """The connection to the copy; after `park` another one, with all that was written."""
        if self._connection is None:
            self._connection = self._connect_again()
        return self._connection

    @connection.setter
    def connection(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def in_call(self) -> bool:
        """Whether a tool call has begun and not ended."""
        return self._mark is not None

    def park(self) -> None:
        """Give the connection away, its copy as it was before the episode.

        When it is needed again, the episode goes on in another copy, in which its statements are
        repeated. So many more episodes can be open than there are copies in memory.
        """
        if self._connection is not None and self._episode:
            self._connection.rollback()
        self._connection = None

    def retire(self) -> None:
        """Give the connection away for good; after `reset`."""
        self._connection = self._reconnect = None

    def _connect_again(self) -> Connection:
        if self._reconnect is None:
            raise HarnessError("a database is used that was given back")
        connection = self._reconnect()
        if self._episode:
            connection.begin()
        # The statements, and not the tools again: ids and times are in their parameters, so the
        # second copy gets the very rows of the first.
        for text, parameters in self._written:
            connection.execute(text, parameters)
        return connection

    # --- an episode ---------------------------------------------------------------------------

    def start(self, clock: WorldClock) -> None:
        """Begin an episode: all that follows is undone by `reset`."""
        self.clock = clock
        self.journal = []
        self._written = []
        self._orders = dict(self._world_orders)
        self.connection.begin()
        self._episode = True

    def reset(self) -> None:
        """End the episode and put the world back as it was."""
        self._mark = None
        self._savepoint = False
        self._written = []
        if self._connection is not None and self._episode:
            self._connection.rollback()
        self._episode = False

    @property
    def statements_written(self) -> int:
        """How many statements the episode has written with so far."""
        return len(self._written)

    def written_since(self, statement: int, change: int) -> Written:
        """What was written after the first `statement` statements and `change` changes."""
        statements = tuple((text, tuple(values)) for text, values in self._written[statement:])
        clock = self.clock
        changes = tuple(self.journal[change:])
        return Written(statements, changes, clock.writes, clock.created, self.orders())

    def write_again(self, written: Written) -> None:
        """Repeat what `written_since` gave in another copy of the same world."""
        for text, values in written.statements:
            self.connection.execute(text, values)
            self._written.append((text, list(values)))
        # Journal, clock and counters come with the statements: what is written next must get the id
        # and the second that it would have had in the first process.
        self.journal.extend(written.changes)
        self.clock.writes, self.clock.created = written.writes, written.created
        self._orders.update(written.orders)

    # --- a tool call: undone as a whole when it fails -----------------------------------------

    def begin_call(self) -> None:
        """Mark where a tool call begins. The savepoint is set at the call's first write."""
        clock = self.clock
        # Most calls only read: the savepoint waits for the first write.
        self._mark = Mark(len(self.journal), len(self._written), clock.writes, clock.created, {})
        self._savepoint = False

    def end_call(self) -> list[Change]:
        """Keep what the call did, and return its changes.

        Raises:
            HarnessError: No call has begun.
        """
        mark = self._mark
        if mark is None:
            raise HarnessError("end_call without begin_call")
        if self._savepoint:
            self.connection.execute("RELEASE SAVEPOINT call", ())
        self._mark = None
        self._savepoint = False
        return self.journal[mark.journal :]

    def undo_call(self) -> None:
        """Undo what the call did: rows, journal, clock and ids.

        Raises:
            HarnessError: No call has begun.
        """
        mark = self._mark
        if mark is None:
            raise HarnessError("undo_call without begin_call")
        if self._savepoint:
            self.connection.execute("ROLLBACK TO SAVEPOINT call", ())
            self.connection.execute("RELEASE SAVEPOINT call", ())
        # The clock and the counters go back too: a refused call must leave no trace in the ids and
        # times of those that come after it.
        del self.journal[mark.journal :]
        del self._written[mark.statements :]
        self.clock.writes = mark.writes
        self.clock.created = mark.created
        self._orders.update(mark.orders)
        self._mark = None
        self._savepoint = False

    # --- reading ------------------------------------------------------------------------------

    def get(self, table: str, key: str) -> Row | None:
        """The row with this key, or None."""
        info = self.schema[table]
        prepared = self.statements.get(
            ("get", table),
            lambda: sa.select(info.table).where(info.table.c[info.key] == sa.bindparam("key")),
        )
        rows = self.connection.execute(prepared.text, (key,))
        return self._row(info, rows[0]) if rows else None

    def find(self, table: str, column: str, value: Any) -> list[Row]:
        """The rows of which `column` equals `value`, in their order of creation (else by key)."""
        info = self.schema[table]
        prepared = self.statements.get(
            ("find", table, column),
            lambda: (
                sa.select(info.table)
                .where(info.table.c[column] == sa.bindparam("value"))
                .order_by(info.table.c[info.order or info.key])
            ),
        )
        rows = self.connection.execute(prepared.text, (value,))
        return [self._row(info, row) for row in rows]

    def select(self, name: Hashable, build: Callable[[], Statement], parameters: Row) -> list[Row]:
        """Run the select that `build` makes (compiled once, kept under `name`)."""
        return self.fetch(self.statements.get(name, build), parameters)

    def query(self, statement: Statement) -> list[Row]:
        """Run a select once, without keeping its compiled form."""
        return self.fetch(self.statements.compile(statement), {})

    def fetch(self, prepared: Prepared, parameters: Row) -> list[Row]:
        """Run a compiled select."""
        rows = self.connection.execute(prepared.text, prepared.bind(parameters))
        if prepared.table is not None:
            info = prepared.table
            return [self._row(info, row) for row in rows]
        columns = prepared.columns
        return [dict(zip(columns, row, strict=True)) for row in rows]

    # --- writing ------------------------------------------------------------------------------

    def insert(self, table: str, row: Row) -> Row:
        """Create a row; columns that it lacks are null. Returns the row as stored.

        Raises:
            ToolError: A constraint of the schema refuses it.
        """
        info = self.schema[table]
        stored = info.whole(row)
        if info.order is not None:
            stored[info.order] = self._next_order(table)
        self._write(self._insert_statement(info), info.raw_values(stored))
        self.journal.append(Change(table, stored[info.key], None, stored))
        return stored

    def update(self, table: str, before: Row, changes: Row) -> Row:
        """Change columns of the row `before`, which was read in this call. Returns the new row."""
        info = self.schema[table]
        names = tuple(sorted(changes))
        # Not read back: no column has a default or a trigger of the database's, so this is the row.
        after = {**before, **changes}
        prepared = self.statements.get(
            ("update", table, names),
            lambda: (
                sa.update(info.table)
                .where(info.table.c[info.key] == sa.bindparam("the_key"))
                .values({name: sa.bindparam(f"new_{name}") for name in names})
            ),
        )
        raw = info.raw(changes)
        parameters = {f"new_{name}": raw[name] for name in names}
        parameters["the_key"] = before[info.key]
        self._write(prepared, prepared.bind(parameters))
        self.journal.append(Change(table, before[info.key], before, after))
        return after

    def delete(self, table: str, key: str) -> list[Change]:
        """Delete a row and, along the foreign keys, what depends on it.

        Every row that goes is journaled, so nothing is left to the database's own cascades.

        Raises:
            ToolError: A row that must not be orphaned still refers to it.
        """
        info = self.schema[table]
        row = self.get(table, key)
        if row is None:
            return []
        start = len(self.journal)
        # Before the row itself: the database would cascade by itself, and nothing would be
        # journaled.
        for dependent in info.dependents:
            self._release(dependent, key)
        for dependent in info.attached:
            for child in self.find(dependent.table, dependent.column, key):
                if child[info.attached_type[dependent.table]] == table:
                    self.delete(dependent.table, child[self.schema[dependent.table].key])
        prepared = self.statements.get(
            ("delete", table),
            lambda: sa.delete(info.table).where(info.table.c[info.key] == sa.bindparam("key")),
        )
        self._write(prepared, [key])
        self.journal.append(Change(table, key, row, None))
        return self.journal[start:]

    def load(self, table: str, rows: Iterable[Row]) -> None:
        """Insert a world's rows: no journal, no clock."""
        info = self.schema[table]
        batch = []
        for row in rows:
            stored = info.whole(row)
            if info.order is not None:
                stored[info.order] = self._next_order(table)
            batch.append(info.raw_values(stored))
        text = self._insert_statement(info).text
        if len(batch) == 1:  # as most of the tables that a task brings records of
            self.connection.execute(text, batch[0])
        elif batch:
            self.connection.execute_many(text, batch)

    def orders(self) -> dict[str, int]:
        """For each table with an order column the highest value given out so far."""
        return dict(self._orders)

    @contextmanager
    def restored(self, rows: Iterable[tuple[str, Row]]) -> Iterator[None]:
        """Deleted rows are there again while it lasts, for reading; nothing of it is journaled.

        Args:
            rows: Tables and rows, each after those that it refers to. One whose place is taken
                (by a new row with the same unique value) stays away.
        """
        connection = self.connection
        connection.execute("SAVEPOINT restored", ())
        try:
            for table, row in rows:
                info = self.schema[table]
                stored = info.whole(row)
                # A savepoint each: on PostgreSQL a refused statement ends the whole transaction
                # otherwise.
                connection.execute("SAVEPOINT restored_row", ())
                try:
                    values = info.raw_values(stored)
                    connection.execute(self._insert_statement(info).text, values)
                except ConstraintViolation:
                    connection.execute("ROLLBACK TO SAVEPOINT restored_row", ())
                connection.execute("RELEASE SAVEPOINT restored_row", ())
            yield
        finally:
            connection.execute("ROLLBACK TO SAVEPOINT restored", ())
            connection.execute("RELEASE SAVEPOINT restored", ())

    # --- the whole state ----------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Every row of every table."""
        state: Snapshot = {}
        for name, info in self.schema.tables.items():
            rows = self.fetch(
                self.statements.get(("all", name), partial(sa.select, info.table)), {}
            )
            state[name] = {row[info.key]: row for row in rows}
        return state

    def digest(self) -> str:
        """A SHA-256 of the whole state; equal on both backends for equal states."""
        state = self.snapshot()
        ordered = [
            [name, [state[name][key] for key in sorted(state[name])]] for name in sorted(state)
        ]
        return sha256(orjson.dumps(ordered, option=orjson.OPT_SORT_KEYS)).hexdigest()

    # --- inside -------------------------------------------------------------------------------

    def _write(self, prepared: Prepared, parameters: list[Any]) -> None:
        # Outside a call, as where a task's own records are put in, there is nothing to go back to.
        if self._mark is not None and not self._savepoint:
            self.connection.execute("SAVEPOINT call", ())
            self._savepoint = True
        try:
            self.connection.execute(prepared.text, parameters)
        except ConstraintViolation as violation:
            raise ToolError(f"The database refused the change: {violation}", "rule") from violation
        self._written.append((prepared.text, parameters))
        # A second a write: no two records of an org are of the same moment, on any machine.
        self.clock.tick()

    def _insert_statement(self, info: TableInfo) -> Prepared:
        return self.statements.get(("insert", info.name), lambda: sa.insert(info.table))

    def _next_order(self, table: str) -> int:
        value = self._orders.get(table, 0)
        if self._mark is not None:
            # The first value of the call is the one to go back to.
            self._mark.orders.setdefault(table, value)
        self._orders[table] = value + 1
        return value + 1

    def _release(self, dependent: Dependent, key: str) -> None:
        child_info = self.schema[dependent.table]
        for child in self.find(dependent.table, dependent.column, key):
            if dependent.action == "cascade":
                self.delete(dependent.table, child[child_info.key])
            elif dependent.action == "null":
                self.update(dependent.table, child, {dependent.column: None})
            else:
                raise ToolError(
                    f"It cannot be deleted while {dependent.table} {child[child_info.key]} "
                    "refers to it.",
                    "rule",
                )

    def _row(self, info: TableInfo, values: tuple[Any, ...]) -> Row:
        row = dict(zip(info.columns, values, strict=True))
        if self.connection.json_as_text:
            for name in info.json_columns:
                if row[name] is not None:
                    row[name] = orjson.loads(row[name])
            for name in info.bool_columns:
                if row[name] is not None:
                    row[name] = bool(row[name])
        return row
