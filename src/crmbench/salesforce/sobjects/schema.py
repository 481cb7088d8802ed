"""What an org's objects are to the APIs: labels, types, lengths, values, who may write what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from crmbench.salesforce.catalog import Catalog, FieldInfo, ObjectInfo

LENGTHS: Mapping[str, int] = {
    "id": 18,
    "reference": 18,
    "string": 255,
    "picklist": 255,
    "email": 80,
    "phone": 40,
    "url": 255,
    "textarea": 32_000,
}
"""Characters that a field of a type holds."""

SOAP_TYPES: Mapping[str, str] = {
    "id": "tns:ID",
    "reference": "tns:ID",
    "double": "xsd:double",
    "currency": "xsd:double",
    "percent": "xsd:double",
    "int": "xsd:int",
    "boolean": "xsd:boolean",
    "date": "xsd:date",
    "datetime": "xsd:dateTime",
}

_TYPES = {"number": "double", "integer": "int", "foreign": "reference"}
_NAMES = ("Name", "CaseNumber", "OrderNumber", "ContractNumber", "Title", "Subject")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
"""A word inside a field's name: ``Closed`` and ``Date`` in ``ClosedDate``; not the ``__c``."""


@dataclass(frozen=True)
class ObjectSpec:
    """What the catalog does not say of an object."""

    label: str
    prefix: str
    """The first three characters of its ids."""
    plural: str = ""
    writable: bool = True
    """Whether its records can be created, changed and deleted."""
    read_only: frozenset[str] = frozenset()
    """Fields that the org alone writes, besides the key and the derived ones."""
    create_only: frozenset[str] = frozenset()
    """Fields that cannot be changed once the record is there."""
    optional: frozenset[str] = frozenset()
    """Required fields that the org fills in where they are left out."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the org fills in, where it is the same for each record."""
    unique: frozenset[str] = frozenset()
    external_ids: frozenset[str] = frozenset()
    """Fields by which records can be addressed; they are unique."""
    picklists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    foreign: Mapping[str, str] = field(default_factory=dict)
    """Ids of objects that the org does not keep: field to object."""


@dataclass(frozen=True)
class FieldSpec:
    """One field as the APIs describe it."""

    info: FieldInfo
    type: str
    label: str
    length: int
    values: tuple[str, ...]
    target: str | None
    """The object that it refers to."""
    relation: str | None
    """The name of the way to the record that it refers to."""
    createable: bool
    updateable: bool
    required: bool
    """Whether a record cannot be created without it."""
    nillable: bool
    unique: bool
    external_id: bool
    default: Any = None

    @property
    def name(self) -> str:
        """As it is written in queries."""
        return self.info.name


@dataclass(frozen=True)
class ObjectSchema:
    """One object as the APIs describe it."""

    info: ObjectInfo
    spec: ObjectSpec
    fields: Mapping[str, FieldSpec]
    """By name in lower case, in the order of the table."""
    name_field: str | None
    """What a person knows a record by."""

    @property
    def name(self) -> str:
        """As it is written in queries."""
        return self.info.name

    @cached_property
    def select_all(self) -> str:
        """The field list of a query for whole records."""
        return ", ".join(each.name for each in self.fields.values())


class OrgSchema:
    """All objects of an org.

    Args:
        catalog: The objects as queries see them.
        specs: For each object what the catalog does not say.
    """

    def __init__(self, catalog: Catalog, specs: Mapping[str, ObjectSpec]) -> None:
        self.catalog = catalog
        self.objects: dict[str, ObjectSchema] = {
            info.name.lower(): object_schema(info, specs[info.name])
            for info in sorted(catalog.objects.values(), key=lambda each: each.name)
        }
        self.by_prefix = {each.spec.prefix: each for each in self.objects.values()}

    def get(self, name: str) -> ObjectSchema | None:
        """The object of this name in any case, or None."""
        return self.objects.get(name.lower())


def object_schema(info: ObjectInfo, spec: ObjectSpec) -> ObjectSchema:
    """An object with its fields."""
    relations = {parent.field: parent for parent in info.parents.values()}
    fields: dict[str, FieldSpec] = {}
    for key, each in info.fields.items():
        parent = relations.get(each.name)
        target = parent.target if parent else spec.foreign.get(each.name)
        relation = parent.name if parent else None
        fields[key] = _field(each, spec, target, relation)
    name_field = next((name for name in _NAMES if name.lower() in fields), None)
    return ObjectSchema(info, spec, fields, name_field)


def _field(
    info: FieldInfo, spec: ObjectSpec, target: str | None, relation: str | None
) -> FieldSpec:
    name = info.name
    type_name = "id" if name == "Id" else "reference" if target else field_type(info)
    values = spec.picklists.get(name, ())
    if values:
        type_name = "picklist"
    writable = spec.writable and name != "Id" and info.derive is None and name not in spec.read_only
    filled = name in spec.optional or name in spec.defaults or info.kind == "boolean"
    return FieldSpec(
        info,
        type_name,
        spec.labels.get(name) or label_of(name, type_name),
        spec.lengths.get(name, LENGTHS.get(type_name, 0)),
        values,
        target,
        relation,
        createable=writable,
        updateable=writable and name not in spec.create_only,
        required=writable and info.required and not filled,
        nillable=not info.required,
        unique=name in spec.unique or name in spec.external_ids,
        external_id=name in spec.external_ids,
        default=spec.defaults.get(name),
    )


def field_type(info: FieldInfo) -> str:
    """Salesforce's type of a field: ``string``, ``currency``, ``datetime``."""
    declared = info.column.info.get("type") if isinstance(info.column, sa.Column) else None
    type_name = str(declared or info.kind)
    if type_name == "id":
        return "reference"
    return _TYPES.get(type_name, type_name)


def label_of(name: str, type_name: str = "string") -> str:
    """A field's label by its name: ``Closed Date`` for ``ClosedDate``."""
    bare = name.removesuffix("__c")
    words = _WORD.findall(bare)
    if type_name == "reference" and len(words) > 1 and words[-1] == "Id":
        return " ".join(words[:-1]) + " ID"
    return " ".join(words) or bare
