"""The copy of a sales CRM in Salesforce's tables, kept up to date from the journal of writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from crmbench.core.database import Database
from crmbench.core.journal import Change
from crmbench.core.schema import Row
from crmbench.core.sqlite import SqliteConnection, create_statements
from crmbench.core.statements import StatementCache
from crmbench.domains.sales.sobjects.mapping import (
    BY_ENTITY,
    OBJECTS,
    FieldMap,
    ObjectMap,
    mirror_schema,
    schema,
)
from crmbench.salesforce.catalog import folded_indexes
from crmbench.salesforce.ids import BASE, prefixed_id
from crmbench.salesforce.sobjects.history import Located
from crmbench.salesforce.sobjects.values import parse_moment
from crmbench.salesforce.soql.dates import datetime_text
from crmbench.salesforce.sosl.index import create_index

DIALECT = SQLiteDialect_pysqlite(paramstyle="qmark")
STATEMENTS = StatementCache(mirror_schema(), DIALECT)
ADMINISTRATOR = "System Administrator"
FIRST = 7 * BASE**5
"""Ids count from here, by the order in which records were created."""
LIST_MARK = "; "
TITLE_LENGTH = 80


class Mirror:
    """A copy of one CRM.

    Args:
        source: The CRM's database.
    """

    def __init__(self, source: Database) -> None:
        self._source = source
        self._applied: list[Change] = []
        self._ids: dict[tuple[str, str], str] = {}
        """The id of each record that there is or was, by entity and key."""
        self._places: dict[str, tuple[str, str]] = {}
        """The same the other way round."""
        self._users: dict[str, str] = {}
        """The id of each person by name."""
        self._names: dict[str, str] = {}
        connection = SqliteConnection(DIALECT)
        connection.enforce_references(False)
        for statement in create_statements(mirror_schema(), DIALECT):
            connection.raw.execute(statement)
        self.database = Database(mirror_schema(), connection, STATEMENTS, {})
        self._load()
        for statement in (*create_index(schema().catalog, "sqlite", _searched()), *_folded()):
            connection.raw.execute(statement)

    @property
    def administrator(self) -> str:
        """The id of the user in whose name clients work."""
        return self._users[ADMINISTRATOR]

    def place_of(self, key: str) -> tuple[str, str] | None:
        """Entity and key of the record of an id; None if there never was one."""
        return self._places.get(key)

    def id_of(self, entity: str, key: str) -> str:
        """The id of a record."""
        return self._ids[entity, key]

    def user_name(self, key: str) -> str | None:
        """The name of the person of an id."""
        return self._names.get(key)

    def locate(self, change: Change) -> Located | None:
        """Which record a change is of."""
        each = BY_ENTITY.get(change.table)
        if each is None:
            return None
        row = change.after or change.before or {}
        key = self._name_record(each, change.key, row)
        before = None if change.before is None else self._row(each, change.before)
        return Located(each.name, key, before)

    def refresh(self) -> Database:
        """Follow the journal, undone writes included; returns the copy."""
        journal = self._source.journal
        applied = self._applied
        while applied and (
            len(applied) > len(journal) or journal[len(applied) - 1] is not applied[-1]
        ):
            undone = applied.pop()
            self._apply(Change(undone.table, undone.key, undone.after, undone.before))
        for change in journal[len(applied) :]:
            self._apply(change)
            applied.append(change)
        return self.database

    # --- copying ------------------------------------------------------------------------------

    def _load(self) -> None:
        """Copy all records as they are, with what was written so far."""
        self._user(ADMINISTRATOR)
        rows = {
            each: self._source.fetch(
                self._source.statements.get(("all", each.entity), self._select(each)), {}
            )
            for each in OBJECTS
            if each.entity in self._source.schema.tables
        }
        for each, found in rows.items():
            key = self._source.schema[each.entity].key
            for number, row in enumerate(found):
                self._name_record(each, row[key], row, number)
        for each, found in rows.items():
            self.database.load(each.name, [self._row(each, row) for row in found])
        self._applied = list(self._source.journal)

    def _select(self, each: ObjectMap) -> Callable[[], Any]:
        table = self._source.schema[each.entity].table
        return lambda: sa.select(table)

    def _name_record(self, each: ObjectMap, key: str, row: Row, number: int = 0) -> str:
        """The id of a record, which counts up with the order of creation."""
        known = self._ids.get((each.entity, key))
        if known is None:
            known = prefixed_id(each.prefix, FIRST + int(row.get("seq", number)))
            self._ids[each.entity, key] = known
            self._places[known] = (each.entity, key)
        return known

    def _apply(self, change: Change) -> None:
        each = BY_ENTITY.get(change.table)
        if each is None:
            return
        row = change.after or change.before or {}
        key = self._name_record(each, change.key, row)
        execute = self.database.connection.execute
        if change.before is not None:
            execute(f'DELETE FROM "{each.name}" WHERE "Id" = ?', (key,))
        if change.after is not None:
            self.database.load(each.name, [self._row(each, change.after)])

    def _row(self, each: ObjectMap, row: Row) -> Row:
        """A record of the CRM as one of the copy."""
        key = row[self._source.schema[each.entity].key]
        made: Row = {"Id": self._ids[each.entity, key]}
        for mapped in each.fields:
            made[mapped.name] = self._value(mapped, row)
        for name, _ in each.composed:
            made[name] = _composed(each.name, name, row)
        return made

    def _value(self, mapped: FieldMap, row: Row) -> Any:
        value = row.get(mapped.column)
        if value is None:
            return None
        kind = mapped.kind
        if kind == "user":
            return self._user(value)
        if kind in ("record", "any_record"):
            entity = (
                row[mapped.target]
                if kind == "any_record"
                else next(each.entity for each in OBJECTS if each.name == mapped.target)
            )
            return self._ids.get((entity, value))
        if kind in ("day", "moment"):
            return _moment(value)
        if kind == "list":
            return LIST_MARK.join(map(str, value))
        return value

    def _user(self, name: str) -> str:
        """The id of a person, who is made a user when first named."""
        if name not in self._users:
            number = len(self._users)
            key = prefixed_id("005", FIRST + number)
            self._users[name], self._names[key] = key, name
            first, _, last = name.rpartition(" ")
            handle = ".".join(name.lower().split())
            self.database.load(
                "User",
                [
                    {
                        "Id": key,
                        "Name": name,
                        "FirstName": first,
                        "LastName": last,
                        "Username": f"{handle}@crmbench.example",
                        "Email": f"{handle}@crmbench.example",
                        "IsActive": True,
                    }
                ],
            )
        return self._users[name]


def _composed(object_name: str, name: str, row: Row) -> str | None:
    if (object_name, name) == ("Contact", "Name"):
        return f"{row['first_name']} {row['last_name']}"
    if name == "ContractNumber":
        return f"{row['seq']:08d}"
    if name == "FileExtension":
        return str(row["file_name"]).rpartition(".")[2] or None
    return str(row["content"]).split("\n", 1)[0][:TITLE_LENGTH]


def _moment(value: str) -> str | None:
    try:
        return datetime_text(parse_moment(value))
    except ValueError:
        return None


def _searched() -> list[str]:
    return [each.name for each in OBJECTS] + ["User"]


def _folded() -> list[str]:
    return folded_indexes(schema().catalog)
