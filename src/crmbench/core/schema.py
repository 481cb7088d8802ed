"""What the engine needs to know of a domain's tables, read once from SQLAlchemy metadata.

A domain declares its tables as ordinary SQLAlchemy metadata and adds notes:

* ``Column.info["assigned"] = True``: the server fills it in. Of ids nothing is compared; of moments
  the day on new rows, and that they are left alone on others.
* ``Column.info["rule"]``: of a ``free`` column the id of the policy's rule that leaves it free.
* ``Column.info["compare"]``: how the scorer compares it, one of `Compare`. Without it: numbers as
  ``number``, all else as ``exact``.
* ``Table.info["order"] = column``: an integer that the engine counts up at each insert, so that
  rows come back in the order in which they were created.
* ``Table.info["attached_to"] = (type column, id column)``: a reference to a row of whichever
  table the type column names; such rows are deleted with the row that they belong to.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import orjson
from sqlalchemy import JSON, Boolean, Column, Float, Integer, MetaData, Table

from crmbench.core.journal import Row as Row

Compare = Literal["exact", "number", "money", "text", "title", "note", "free"]
"""``text``: case, spaces and Unicode folded. ``title``: the same, legal forms of companies aside.
``note``: free text; where the gold writes it, the facts of the note judge it, elsewhere it must be
as it was, and empty on a new row. ``free``: a careful agent may fill it on a new row, so there it
is not compared; the rule that says so is named. On other rows it must be as it was."""


@dataclass(frozen=True)
class Dependent:
    """A column of another table that refers to this one, and what a delete does to it."""

    table: str
    column: str
    action: Literal["cascade", "null", "restrict"]


@dataclass(frozen=True)
class TableInfo:
    """One table as the engine sees it."""

    table: Table
    name: str
    key: str
    """The column that identifies a row; text."""
    columns: tuple[str, ...]
    order: str | None
    """The column that counts rows in the order of creation."""
    references: dict[str, str]
    """Foreign-key column to the table that it points to."""
    dependents: tuple[Dependent, ...]
    attached: tuple[Dependent, ...]
    """Tables whose rows attach to this one by type and id; `column` is the id column."""
    attached_type: dict[str, str]
    """For each attached table its type column."""
    assigned: frozenset[str]
    compare: dict[str, Compare]
    free_by: dict[str, str]
    """For a column that is not compared the rule that leaves it free; empty where none is named."""
    json_columns: tuple[str, ...]
    bool_columns: tuple[str, ...]

    @cached_property
    def visible(self) -> tuple[str, ...]:
        """The columns that tools show: all but the order column."""
        return tuple(c for c in self.columns if c != self.order)

    def public(self, row: Row) -> Row:
        """The row without the column that the engine keeps for itself."""
        if self.order is None:
            return dict(row)
        return {name: row[name] for name in self.visible}

    def whole(self, row: Row) -> Row:
        """The row with every column, in the table's order; those that it lacks are null."""
        return {name: row.get(name) for name in self.columns}

    def raw(self, values: Row) -> Row:
        """Values of some columns as both drivers take them: JSON as text."""
        if not self.json_columns:
            return values
        raw = dict(values)
        for name in self.json_columns:
            if raw.get(name) is not None:
                raw[name] = orjson.dumps(raw[name]).decode()
        return raw

    def raw_values(self, whole: Row) -> list[Any]:
        """What an insert of a whole row takes."""
        return list(self.raw(whole).values())


class Schema:
    """All tables of a domain, in an order in which rows can be inserted."""

    def __init__(self, metadata: MetaData) -> None:
        self.metadata = metadata
        # By foreign keys: a table stands after those that it refers to.
        ordered = metadata.sorted_tables
        self.tables: dict[str, TableInfo] = {str(t.name): _table_info(t, ordered) for t in ordered}
        self.compiled: dict[tuple[str, str], dict[Hashable, Any]] = {}
        """By dialect and style of parameters: what `crmbench.core.statements` keeps."""

    def __getitem__(self, table: str) -> TableInfo:
        return self.tables[table]


def _table_info(table: Table, tables: list[Table]) -> TableInfo:
    columns: list[Column[Any]] = list(table.columns)
    # One column: ids of tools, journals and traces are a single text.
    (key,) = (str(c.name) for c in table.primary_key.columns)
    return TableInfo(
        table=table,
        name=str(table.name),
        key=key,
        columns=tuple(str(c.name) for c in columns),
        order=table.info.get("order"),
        references={
            str(c.name): str(next(iter(c.foreign_keys)).column.table.name)
            for c in columns
            if c.foreign_keys
        },
        dependents=_dependents(table, tables),
        attached=tuple(
            Dependent(str(t.name), t.info["attached_to"][1], "cascade")
            for t in tables
            if "attached_to" in t.info
        ),
        attached_type={
            str(t.name): t.info["attached_to"][0] for t in tables if "attached_to" in t.info
        },
        assigned=frozenset(str(c.name) for c in columns if c.info.get("assigned")),
        compare={str(c.name): c.info.get("compare") or _default_compare(c) for c in columns},
        free_by={
            str(c.name): str(c.info.get("rule", ""))
            for c in columns
            if c.info.get("compare") == "free"
        },
        json_columns=tuple(str(c.name) for c in columns if isinstance(c.type, JSON)),
        bool_columns=tuple(str(c.name) for c in columns if isinstance(c.type, Boolean)),
    )


def _dependents(table: Table, tables: list[Table]) -> tuple[Dependent, ...]:
    found = []
    for other in tables:
        for column in other.columns:
            for foreign_key in column.foreign_keys:
                if foreign_key.column.table is table:
                    rule = (foreign_key.ondelete or "restrict").lower()
                    actions: dict[str, Literal["cascade", "null"]] = {
                        "cascade": "cascade",
                        "set null": "null",
                    }
                    found.append(
                        Dependent(str(other.name), str(column.name), actions.get(rule, "restrict"))
                    )
    return tuple(found)


def _default_compare(column: Column[Any]) -> Compare:
    return "number" if isinstance(column.type, Float | Integer) else "exact"
