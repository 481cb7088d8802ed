"""How statements reach a database: built with SQLAlchemy Core, compiled once, run by the driver.

What differs between the databases is behind `Connection`, in sqlite.py and postgres.py.

The driver executes their text. An insert through SQLAlchemy's own execution costs three to four
times as much, and compiling costs more than both, so nothing that a tool does often is compiled
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from crmbench.core.schema import Row, Schema, TableInfo

Statement = sa.SelectBase | sa.Insert | sa.Update | sa.Delete
"""What can be compiled and run."""


class ConstraintViolation(Exception):
    """The database refused a write because of a constraint; `str()` names it."""


class Connection(Protocol):
    """A DBAPI connection with a private copy of a world."""

    dialect: Dialect
    json_as_text: bool
    """Whether JSON and booleans come back as text and integers, as from SQLite."""

    def execute(self, text: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows, or [] for a write.

        Raises:
            ConstraintViolation: A constraint of the schema refuses the write.
        """

    def execute_many(self, text: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run one write once for each sequence of parameters."""

    def begin(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compiled statement."""

    text: str
    names: tuple[str, ...]
    """The bound names in the order in which the text takes them."""
    constants: dict[str, Any]
    """Values bound when the statement was built."""
    columns: tuple[str, ...]
    """The names of the result's columns; empty for a write."""
    table: TableInfo | None
    """The table whose whole rows it returns, if it does."""

    def bind(self, parameters: Row) -> list[Any]:
        return [
            parameters[name] if name in parameters else self.constants[name] for name in self.names
        ]


class StatementCache:
    """Compiled statements of one dialect; shared by all connections to it, whichever backend of
    this process they belong to.
    """

    def __init__(self, schema: Schema, dialect: Dialect) -> None:
        self.schema = schema
        self.dialect = dialect
        # With the schema, for to compile what an episode needs takes as long as twenty episodes.
        self._kept: dict[Hashable, Prepared] = schema.compiled.setdefault(
            (dialect.name, dialect.paramstyle), {}
        )

    def get(self, name: Hashable, build: Callable[[], Statement]) -> Prepared:
        """The statement kept under `name`, or the one that `build` makes, compiled and kept."""
        prepared = self._kept.get(name)
        if prepared is None:
            prepared = self._kept[name] = self.compile(build())
        return prepared

    def compile(self, statement: Statement) -> Prepared:
        # Lists (IN) are written out at once: the driver gets plain text, and no expansion when it
        # runs.
        compiled = statement.compile(
            dialect=self.dialect, compile_kwargs={"render_postcompile": True}
        )
        names = tuple(getattr(compiled, "positiontup", None) or ())
        # Bound parameters without a value are in `params` too, as None; they come with each call.
        constants = {n: v for n, v in compiled.params.items() if v is not None}
        for name in names:
            constants.setdefault(name, None)
        columns: tuple[str, ...] = ()
        if isinstance(statement, sa.SelectBase):
            columns = tuple(str(c.name) for c in statement.selected_columns)
        return Prepared(str(compiled), names, constants, columns, self._whole_rows(columns))

    def _whole_rows(self, columns: tuple[str, ...]) -> TableInfo | None:
        for info in self.schema.tables.values():
            # Such a row has JSON and booleans to turn back, which a list of columns does not say.
            if info.columns == columns:
                return info
        return None
