"""Creating and changing records: each field checked, references followed, values unique."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crmbench.core.schema import Row
from crmbench.salesforce.sobjects.errors import (
    DUPLICATE,
    MALFORMED_ID,
    NO_COLUMN,
    NO_RECORD,
    NOT_WRITABLE,
    REQUIRED,
    SobjectError,
    no_such_column,
)
from crmbench.salesforce.sobjects.schema import FieldSpec, ObjectSchema
from crmbench.salesforce.sobjects.store import Store, Values
from crmbench.salesforce.sobjects.values import stored

NULL_TEXT = "#N/A"
"""What CSV writes for no value; an empty cell leaves the field as it is."""

Query = Callable[[str], list[dict[str, Any]]]


class Writer:
    """Writes records of one org.

    Args:
        store: Where they are kept.
        query: Runs a query.
    """

    def __init__(self, store: Store, query: Query) -> None:
        self._store = store
        self._query = query

    def create(self, each: ObjectSchema, values: Values, text: bool) -> str:
        """Create a record; returns its id.

        Raises:
            ToolError: A field or rule refuses it.
        """
        if not each.spec.writable:
            raise _read_only_object(each)
        if any(name.lower() == "id" and value for name, value in values.items()):
            raise SobjectError(NOT_WRITABLE, "cannot specify Id in an insert call", ["Id"])
        row = self._row(each, values, text, creating=True)
        missing = [
            spec.name
            for spec in each.fields.values()
            if spec.required and row.get(spec.name) is None
        ]
        if missing:
            raise SobjectError(
                REQUIRED, f"Required fields are missing: [{', '.join(missing)}]", missing
            )
        # An empty value is none, and what the org fills in is filled in for it.
        row = {name: value for name, value in row.items() if value is not None}
        self._check_unique(each, row, None)
        return self._store.create(each, row)

    def update(self, each: ObjectSchema, key: str, values: Values, text: bool) -> None:
        """Change a record that is there.

        Raises:
            ToolError: A field or rule refuses it.
        """
        if not each.spec.writable:
            raise _read_only_object(each)
        row = self._row(each, values, text, creating=False)
        for name, value in row.items():
            if value is None and not each.fields[name.lower()].nillable:
                raise SobjectError(REQUIRED, f"Required fields are missing: [{name}]", [name])
        self._check_unique(each, row, key)
        self._store.update(each, key, row)

    def key_of(self, each: ObjectSchema, field: FieldSpec, value: str) -> str | None:
        """The id of the record with a value in an external id field.

        Raises:
            SobjectError: Several records have it.
        """
        if not value or "\x00" in value:
            return None
        rows = self._query(
            f"SELECT Id FROM {each.name} WHERE {field.name} = {quoted(value)} ORDER BY Id LIMIT 2"
        )
        if len(rows) > 1:
            raise SobjectError(
                "INVALID_FIELD", f"{field.name}: more than one record found for {value[:80]}",
                status=300,
            )  # fmt: skip
        return rows[0]["Id"] if rows else None

    def _row(self, each: ObjectSchema, values: Values, text: bool, *, creating: bool) -> Row:
        """The fields as they are stored."""
        row: Row = {}
        relations = each.info.parents
        for name, value in values.items():
            lowered = name.lower()
            if lowered == "attributes" or (text and value == ""):
                continue
            if text and value == NULL_TEXT:
                value = None
            if lowered in relations and (isinstance(value, dict) or value is None):
                if value is not None:
                    parent = relations[lowered]
                    field = each.fields[parent.field.lower()]
                    row[field.name] = self._referred(parent.target, value)
                continue
            spec = each.fields.get(lowered)
            if spec is None:
                raise no_such_column(name[:80], each.name)
            if spec.name == "Id":
                if creating:
                    continue
                raise SobjectError(
                    NO_COLUMN, "The Id field should not be specified in the sobject data."
                )
            if not (spec.createable if creating else spec.updateable):
                raise _not_writable(spec)
            row[spec.name] = stored(spec, value, text)
            if spec.target and row[spec.name] is not None:
                self._check_reference(spec, row[spec.name])
        return row

    def _referred(self, target: str, value: dict[str, Any]) -> str:
        """The record that is named by an external id instead of its id."""
        each = self._store.schema.objects[target.lower()]
        named = {k: v for k, v in value.items() if k.lower() != "attributes"}
        if len(named) != 1:
            raise SobjectError(
                NO_COLUMN, f"{target}: a reference is named by one external id field"
            )
        ((name, wanted),) = named.items()
        spec = each.fields.get(name.lower())
        if spec is None or not (spec.external_id or spec.name == "Id"):
            raise SobjectError(
                NO_COLUMN,
                f"Field name provided, {name[:80]} is not an External ID or indexed field for "
                f"{target}",
            )
        found = None
        if isinstance(wanted, str):
            value_of = stored(spec, wanted)
            found = self.key_of(each, spec, value_of) if value_of else None
        if found is None:
            raise SobjectError(
                NO_COLUMN,
                f"Foreign key external ID: {str(wanted)[:80]} not found for field {spec.name} in "
                f"entity {target}",
            )
        return found

    def _check_reference(self, spec: FieldSpec, key: str) -> None:
        target = self._store.schema.get(spec.target or "")
        if target is None:
            return
        if not key.startswith(target.spec.prefix):
            raise SobjectError(
                MALFORMED_ID, f"{spec.label}: id value of incorrect type: {key}", [spec.name]
            )
        if not self._query(f"SELECT Id FROM {target.name} WHERE Id = '{key}'"):
            raise SobjectError(NO_RECORD, "invalid cross reference id", [spec.name])

    def _check_unique(self, each: ObjectSchema, row: Row, key: str | None) -> None:
        for name, value in row.items():
            if value is None or not each.fields[name.lower()].unique:
                continue
            found = self._query(f"SELECT Id FROM {each.name} WHERE {name} = {quoted(value)}")
            others = [record["Id"] for record in found if record["Id"] != key]
            if others:
                raise SobjectError(
                    DUPLICATE,
                    f"duplicate value found: {name} duplicates value on record with id: "
                    f"{others[0]}",
                    [],
                )


def quoted(text: str) -> str:
    """A text as a string of SOQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _not_writable(spec: FieldSpec) -> SobjectError:
    return SobjectError(
        NOT_WRITABLE,
        f"Unable to create/update fields: {spec.name}. Please check the security settings of this "
        "field and verify that it is read/write for your profile or permission set.",
        [spec.name],
    )


def _read_only_object(each: ObjectSchema) -> SobjectError:
    return SobjectError(
        "INSUFFICIENT_ACCESS_OR_READONLY",
        f"entity type {each.name} cannot be written through the API",
        [],
        status=403,
    )
