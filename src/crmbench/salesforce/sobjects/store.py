"""Where an org's records are kept: in tables named as its objects, or behind other tables.

`TableStore` serves orgs whose tables are the objects. What an org does by itself when a record is
written (histories, closing dates) and what it refuses is its `Triggers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import sqlalchemy as sa

from crmbench.core.database import Database
from crmbench.core.journal import Change
from crmbench.core.schema import Row
from crmbench.errors import ToolError
from crmbench.salesforce.ids import next_id
from crmbench.salesforce.sobjects.errors import SobjectError
from crmbench.salesforce.sobjects.history import History, Located
from crmbench.salesforce.sobjects.schema import ObjectSchema, OrgSchema
from crmbench.salesforce.soql.dates import datetime_text
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.sosl.engine import Sosl


class Store(Protocol):
    """What `Org` needs of the place where records are kept. Values are as the fields store them."""

    schema: OrgSchema
    soql: Soql
    sosl: Sosl
    database: Database
    """Whose clock and journal these are."""
    history: History
    user_id: str
    """In whose name clients work."""

    def view(self) -> Database:
        """The database that queries run on, up to date."""

    def create(self, each: ObjectSchema, fields: Row) -> str:
        """Create a record; returns its id.

        Raises:
            ToolError: A rule refuses it.
        """

    def update(self, each: ObjectSchema, key: str, fields: Row) -> None:
        """Change a record that is there.

        Raises:
            ToolError: A rule refuses it.
        """

    def delete(self, each: ObjectSchema, key: str) -> None:
        """Delete a record that is there.

        Raises:
            ToolError: Something that must not be orphaned refers to it.
        """

    def place_of(self, key: str) -> tuple[str, str] | None:
        """Table and key by which the CRM itself knows the record of an id; None if it has none."""

    def check_query(self, text: str) -> None:
        """Refuse a query or search that this org does not take.

        Raises:
            ToolError: It is refused.
        """


class Triggers:
    """What an org does by itself, and refuses, when its records are written. This one: nothing."""

    def creating(self, store: TableStore, each: ObjectSchema, row: Row) -> None:
        """Before a record is created: fill in fields of `row`, or refuse it.

        Raises:
            ToolError: A rule refuses it.
        """

    def created(self, store: TableStore, each: ObjectSchema, row: Row) -> None:
        """After a record was created."""

    def updating(self, store: TableStore, each: ObjectSchema, before: Row, changes: Row) -> None:
        """Before a record is changed: add to `changes`, or refuse them.

        Raises:
            ToolError: A rule refuses it.
        """

    def updated(self, store: TableStore, each: ObjectSchema, before: Row, after: Row) -> None:
        """After a record was changed."""

    def deleting(self, store: TableStore, each: ObjectSchema, row: Row) -> None:
        """Before a record is deleted.

        Raises:
            ToolError: A rule refuses it.
        """

    def check_query(self, text: str) -> None:
        """Refuse a query or search.

        Raises:
            ToolError: It is refused.
        """


class TableStore:
    """Records in tables that are named as the objects, with columns as their fields.

    Args:
        database: The org.
        schema: Its objects.
        soql: Runs queries over the schema's catalog.
        sosl: Runs searches over it.
        triggers: What the org does by itself.
    """

    def __init__(
        self,
        database: Database,
        schema: OrgSchema,
        soql: Soql,
        sosl: Sosl,
        triggers: Triggers | None = None,
    ) -> None:
        self.database = database
        self.schema = schema
        self.soql = soql
        self.sosl = sosl
        self.triggers = triggers or Triggers()
        self.history = History(database, self._locate)
        self.user_id = self._oldest_user()

    def view(self) -> Database:
        """The org's own database."""
        return self.database

    def check_query(self, text: str) -> None:
        """Refuse what the org's triggers refuse."""
        self.triggers.check_query(text)

    @property
    def stamp(self) -> str:
        """Now, as records store it."""
        return datetime_text(self.database.clock.now())

    def create(self, each: ObjectSchema, fields: Row) -> str:
        """Create a record with its triggers; returns its id."""
        row = dict(fields)
        self._complete(each, row)
        self.triggers.creating(self, each, row)
        created = {"Id": next_id(each.name, self.database.clock)}
        if "createddate" in each.fields:
            created["CreatedDate"] = self.stamp
        stored = self.database.insert(each.name, {**created, **row})
        self.triggers.created(self, each, stored)
        key: str = stored["Id"]
        return key

    def update(self, each: ObjectSchema, key: str, fields: Row) -> None:
        """Change a record with its triggers; setting a field to what it is changes nothing."""
        before = self.database.get(each.name, key) or {}
        changes = {name: value for name, value in fields.items() if before[name] != value}
        self.triggers.updating(self, each, before, changes)
        if changes:
            after = self.database.update(each.name, before, changes)
            self.triggers.updated(self, each, before, after)

    def delete(self, each: ObjectSchema, key: str) -> None:
        """Delete a record and what depends on it.

        Raises:
            SobjectError: Something that must not be orphaned refers to it.
        """
        self.triggers.deleting(self, each, self.database.get(each.name, key) or {})
        for dependent in self.database.schema[each.name].dependents:
            if dependent.action == "restrict":
                found = self.database.find(dependent.table, dependent.column, key)
                if found:
                    raise self._in_use(each, key, dependent.table, found)
        try:
            self.database.delete(each.name, key)
        except ToolError as error:
            raise SobjectError(
                "DELETE_FAILED",
                f"Your attempt to delete {key} could not be completed: {error}",
                [],
            ) from error

    def _in_use(
        self, each: ObjectSchema, key: str, object_name: str, rows: list[Row]
    ) -> SobjectError:
        other = self.schema.objects[object_name.lower()]
        shown = ", ".join(self._known_by(other, row["Id"]) for row in rows[:5])
        plural = (other.spec.plural or f"{other.spec.label}s").lower()
        return SobjectError(
            "DELETE_FAILED",
            f"Your attempt to delete {self._known_by(each, key)} could not be completed because "
            f"it is associated with the following {plural}.: {shown}\n",
            [],
        )

    def _known_by(self, each: ObjectSchema, key: str) -> str:
        """What a person knows a record by."""
        if each.name_field is None:
            return key
        query = f"SELECT {each.name_field} FROM {each.name} WHERE Id = '{key}'"
        now = self.database.clock.now()
        found = self.soql.run(query, self.database.connection.execute, now).records
        return str(found[0][each.name_field]) if found else key

    def _complete(self, each: ObjectSchema, row: Row) -> None:
        """Fill in what the org fills in where it is left out."""
        for name, value in each.spec.defaults.items():
            if row.get(name) is None:
                row[name] = value
        for spec in each.fields.values():
            if row.get(spec.name) is not None or spec.info.derive is not None:
                continue
            if spec.type == "boolean":
                row[spec.name] = False
            elif spec.name in each.spec.optional and spec.target == "User":
                row[spec.name] = self.user_id
            elif spec.name in each.spec.optional and spec.type == "datetime":
                row[spec.name] = self.stamp

    def _oldest_user(self) -> str:
        table = self.database.schema.tables["User"].table

        def build() -> sa.SelectBase:
            return sa.select(table.c.Id.label("oldest")).order_by(table.c.Id).limit(1)

        rows = self.database.select("oldest user", build, {})
        return str(rows[0]["oldest"]) if rows else ""

    def place_of(self, key: str) -> tuple[str, str] | None:
        """Table and key of the record of an id: the id itself."""
        each = self.schema.by_prefix.get(key[:3])
        return (each.name, key) if each else None

    def _locate(self, change: Change) -> Located | None:
        if change.table.lower() not in self.schema.objects:
            return None
        return Located(change.table, change.key, change.before)


@contextmanager
def _joined() -> Iterator[None]:
    yield


@contextmanager
def _call(database: Database) -> Iterator[None]:
    database.begin_call()
    try:
        yield
    except BaseException:
        database.undo_call()
        raise
    database.end_call()


def atomic(database: Database) -> AbstractContextManager[None]:
    """What is written inside is undone as a whole if it raises; inside another one it is part of
    that one.
    """
    return _joined() if database.in_call else _call(database)


Values = dict[str, Any]
"""A record as JSON has it."""
