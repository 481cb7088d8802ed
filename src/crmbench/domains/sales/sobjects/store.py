"""The records of a sales CRM as sObjects: read from the copy, written by the CRM's own rules."""

from __future__ import annotations

from functools import cache
from typing import Any

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.domains.sales import records
from crmbench.domains.sales.sobjects.mapping import BY_NAME, FieldMap, ObjectMap, schema
from crmbench.domains.sales.sobjects.mirror import DIALECT, LIST_MARK, Mirror
from crmbench.errors import ToolError
from crmbench.salesforce.sobjects.errors import DUPLICATE, NO_RECORD, SobjectError
from crmbench.salesforce.sobjects.history import History
from crmbench.salesforce.sobjects.org import MAX_ROWS
from crmbench.salesforce.sobjects.schema import ObjectSchema, OrgSchema
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.sosl.engine import Sosl


class MirrorStore:
    """Implements `Store` for a sales CRM.

    Args:
        database: The CRM.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.schema: OrgSchema = schema()
        self.soql, self.sosl = _languages()
        self.mirror = Mirror(database)
        self.history = History(database, self.mirror.locate)
        self.user_id = self.mirror.administrator

    def view(self) -> Database:
        """The copy, up to date."""
        return self.mirror.refresh()

    def check_query(self, text: str) -> None:
        """Every query is taken."""

    def create(self, each: ObjectSchema, fields: Row) -> str:
        """Create a record in the CRM; returns its id.

        Raises:
            ToolError: The CRM's rules refuse it.
        """
        mapped = BY_NAME[each.name]
        row = self._columns(mapped, fields)
        try:
            made = records.create(self.database, mapped.entity, row)
        except ToolError as error:
            raise _in_words_of_salesforce(error) from error
        self.view()
        return self.mirror.id_of(mapped.entity, made[self.database.schema[mapped.entity].key])

    def update(self, each: ObjectSchema, key: str, fields: Row) -> None:
        """Change a record of the CRM; setting a field to what it is changes nothing.

        Raises:
            ToolError: The CRM's rules refuse it.
        """
        mapped = BY_NAME[each.name]
        _, own_key = self._place(key)
        before = self.database.get(mapped.entity, own_key) or {}
        wanted = self._columns(mapped, fields)
        changes = {name: value for name, value in wanted.items() if before[name] != value}
        if not changes:
            return
        try:
            records.modify(self.database, mapped.entity, own_key, changes, {})
        except ToolError as error:
            raise _in_words_of_salesforce(error) from error

    def delete(self, each: ObjectSchema, key: str) -> None:
        """Delete a record of the CRM with what depends on it."""
        del each
        self.database.delete(*self._place(key))

    def place_of(self, key: str) -> tuple[str, str] | None:
        """Entity and key by which the CRM itself knows the record of an id."""
        return self.mirror.place_of(key)

    def _place(self, key: str) -> tuple[str, str]:
        place = self.place_of(key)
        if place is None:
            raise SobjectError(NO_RECORD, "invalid cross reference id", status=404)
        return place

    def _columns(self, each: ObjectMap, fields: Row) -> Row:
        """Fields as the columns that they show."""
        by_name = {mapped.name: mapped for mapped in each.fields}
        row: Row = {}
        for name, value in fields.items():
            mapped = by_name[name]
            row[mapped.column] = None if value is None else self._column(mapped, value)
            if mapped.kind == "any_record" and value is not None:
                entity, row[mapped.column] = self._any_place(mapped, value)
                row[mapped.target] = entity
        return row

    def _column(self, mapped: FieldMap, value: Any) -> Any:
        if mapped.kind == "record":
            return self._place(value)[1]
        if mapped.kind == "user":
            return self.mirror.user_name(value)
        if mapped.kind == "list":
            parts = str(value).split(LIST_MARK.strip())
            return [part.strip() for part in parts if part.strip()]
        return value

    def _any_place(self, mapped: FieldMap, value: str) -> tuple[str, str]:
        place = self.mirror.place_of(value)
        if place is None or self.database.get(*place) is None:
            raise SobjectError(NO_RECORD, "invalid cross reference id", [mapped.name])
        return place


def _in_words_of_salesforce(error: ToolError) -> ToolError:
    """A refusal of the CRM, whose text says what the rule is."""
    if error.kind == "duplicate":
        return SobjectError(DUPLICATE, f"duplicate value found: {error}", [])
    return error


@cache
def _languages() -> tuple[Soql, Sosl]:
    return Soql(schema().catalog, DIALECT, MAX_ROWS), Sosl(schema().catalog, DIALECT)


def open_store(database: Database) -> MirrorStore:
    """The records of a sales CRM."""
    return MirrorStore(database)
