"""The org's objects as SOQL sees them: fields with their types, parents and children by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import sqlalchemy as sa

Kind = Literal["id", "string", "textarea", "number", "integer", "boolean", "date", "datetime"]

KINDS: Mapping[str, Kind] = {
    "id": "id",
    "reference": "id",
    "string": "string",
    "picklist": "string",
    "email": "string",
    "phone": "string",
    "url": "string",
    "textarea": "textarea",
    "number": "number",
    "double": "number",
    "currency": "number",
    "percent": "number",
    "integer": "integer",
    "int": "integer",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime",
}
"""What a column's ``info["type"]`` may say, and what SOQL makes of it."""


Derive = Callable[[Any, str], sa.ColumnElement[Any]]
"""Makes a value in SQL, from an alias of the object's table and the dialect's name."""


@dataclass(frozen=True)
class DerivedField:
    """A field that no column holds: its value follows from others.

    Its SQL may bind no parameter but those whose values are put in when a statement runs, for a
    database takes two parameters of equal value for two expressions.
    """

    name: str
    kind: Kind
    derive: Derive
    required: bool = False
    refers_to: str | None = None
    """The object that it is an id of."""
    groupable: bool = True
    """Whether records can be grouped by it."""


@dataclass(frozen=True)
class FieldInfo:
    """One field of an object."""

    name: str
    column: sa.ColumnElement[Any] | None
    """None: it is derived."""
    kind: Kind
    required: bool
    currency: bool = False
    derive: Derive | None = None
    groupable: bool = True

    def sql(self, table: Any, dialect: str) -> sa.ColumnElement[Any]:
        """Its value in a row of `table`, an alias of the object's table."""
        if self.derive is not None:
            return self.derive(table, dialect)
        column: sa.ColumnElement[Any] = table.c[self.name]
        return column

    @property
    def custom(self) -> bool:
        """Whether it is a custom field: its name ends in ``__c``."""
        return self.name.endswith("__c")


@dataclass(frozen=True)
class ParentRelation:
    """The way from a record to the one that a reference field names."""

    name: str
    field: str
    target: str


@dataclass(frozen=True)
class ChildRelation:
    """The way from a record to those whose reference field names it."""

    name: str
    object: str
    field: str


@dataclass(frozen=True)
class ObjectInfo:
    """One object; every mapping is keyed by the name in lower case."""

    name: str
    table: sa.FromClause
    fields: Mapping[str, FieldInfo]
    parents: Mapping[str, ParentRelation]
    children: Mapping[str, ChildRelation]

    @cached_property
    def key(self) -> FieldInfo:
        """The field of its id."""
        return self.fields["id"]


class Catalog:
    """All objects of an org.

    Args:
        metadata: Tables named as the objects, columns as the fields, and a key column ``Id``. A
            column's ``info["type"]`` gives its type where SQL has no such type: ``date``,
            ``datetime``, ``textarea``, ``currency``, ``picklist``.
        child_names: For ``(object, reference field)`` the name of the relation seen from the
            parent; a reference that is missing has none.
        parent_names: For ``(object, reference field)`` the name of the relation to the parent,
            where it is not the field's name without ``Id`` or with ``__r`` for ``__c``.
        derived: For an object the fields that no column holds. Where the table has a column of
            that name, the column is the field.
        virtual: Objects that no table holds, each as a select of its ids; their other fields are
            derived.
    """

    def __init__(
        self,
        metadata: sa.MetaData,
        child_names: Mapping[tuple[str, str], str],
        parent_names: Mapping[tuple[str, str], str] | None = None,
        derived: Mapping[str, Sequence[DerivedField]] | None = None,
        virtual: Mapping[str, sa.Subquery] | None = None,
    ) -> None:
        self._derived = derived or {}
        self._child_names = child_names
        self._parent_names = parent_names or {}
        self._aliases: dict[tuple[str, int, str | None], Any] = {}
        self._tables: dict[str, sa.Table] = {t.name: t for t in metadata.sorted_tables}
        self.objects = {name.lower(): self._object(t) for name, t in self._tables.items()}
        for name, select in (virtual or {}).items():
            key = FieldInfo("Id", select.c["Id"], "id", required=True)
            fields, parents = {"id": key}, dict[str, ParentRelation]()
            self._derive(name, fields, parents)
            self.objects[name.lower()] = ObjectInfo(name, select, fields, parents, {})

    def alias(self, info: ObjectInfo, number: int, name: str | None = None) -> Any:
        """An object's table under another name.

        Aliases are kept for the next queries: to list an alias's columns costs more than all the
        rest of a short query's compiling.

        Args:
            number: How many aliases of the object the query has already.
            name: In SQL; one of SQLAlchemy's if left out.
        """
        key = (info.name, number, name)
        if key not in self._aliases:
            self._aliases[key] = info.table.alias(name)
        return self._aliases[key]

    def get(self, name: str) -> ObjectInfo | None:
        """The object of this name in any case, or None."""
        return self.objects.get(name.lower())

    def _object(self, table: sa.Table) -> ObjectInfo:
        fields = {c.name.lower(): _field(c) for c in table.columns}
        parents: dict[str, ParentRelation] = {}
        for column in table.columns:
            for key in column.foreign_keys:
                parent = ParentRelation(
                    self._parent_name(table.name, column.name), column.name, key.column.table.name
                )
                parents[parent.name.lower()] = parent
        self._derive(table.name, fields, parents)
        return ObjectInfo(table.name, table, fields, parents, self._children(table.name))

    def _derive(
        self, name: str, fields: dict[str, FieldInfo], parents: dict[str, ParentRelation]
    ) -> None:
        """Add the derived fields of an object, and the relations to what they refer to."""
        for each in self._derived.get(name, ()):
            if each.name.lower() in fields:
                continue
            fields[each.name.lower()] = FieldInfo(
                each.name, None, each.kind, each.required,
                derive=each.derive, groupable=each.groupable,
            )  # fmt: skip
            if each.refers_to is not None:
                relation = self._parent_name(name, each.name)
                parents[relation.lower()] = ParentRelation(relation, each.name, each.refers_to)

    def _parent_name(self, table: str, column: str) -> str:
        given = self._parent_names.get((table, column))
        if given is not None:
            return given
        if column.endswith("__c"):
            return column[:-1] + "r"
        return column.removesuffix("Id")

    def _children(self, name: str) -> dict[str, ChildRelation]:
        children: dict[str, ChildRelation] = {}
        for (child, field), relation in self._child_names.items():
            if child not in self._tables:
                continue
            for key in self._tables[child].columns[field].foreign_keys:
                if key.column.table.name == name:
                    children[relation.lower()] = ChildRelation(relation, child, field)
        return children


def folded_indexes(catalog: Catalog) -> list[str]:
    """Statements that make an index on ``lower(column)`` beside each index on a text column.

    Text is compared by its folded form; without these the schema's own indexes on text would not
    serve a query. Ids, numbers and dates are compared as they are and need none.
    """
    statements = []
    for info in catalog.objects.values():
        indexes = info.table.indexes if isinstance(info.table, sa.Table) else ()
        indexed = {c.name for index in indexes for c in index.columns}
        for field in info.fields.values():
            if field.kind == "string" and field.name in indexed:
                name = f"{info.name}__{field.name}_folded"
                statements.append(f'CREATE INDEX "{name}" ON "{info.name}" (lower("{field.name}"))')
    return statements


def _field(column: sa.Column[object]) -> FieldInfo:
    declared = str(column.info.get("type", ""))
    # A plain str: SQLAlchemy's own kind of text cannot be a key in JSON.
    return FieldInfo(
        str(column.name),
        column,
        KINDS.get(declared) or _kind(column),
        required=column.primary_key or not column.nullable,
        currency=declared == "currency",
    )


def _kind(column: sa.Column[object]) -> Kind:
    if column.primary_key or column.foreign_keys:
        return "id"
    sql = column.type
    if isinstance(sql, sa.Boolean):
        return "boolean"
    if isinstance(sql, sa.Integer):
        return "integer"
    if isinstance(sql, (sa.Numeric, sa.Float)):
        return "number"
    return "string"
