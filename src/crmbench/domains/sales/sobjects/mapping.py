"""What of the sales CRM is what in Salesforce: entities, fields, values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import sqlalchemy as sa

from crmbench.core.schema import Schema
from crmbench.domains.sales.enums import (
    ClientStatus,
    CompanyType,
    ContractStatus,
    OpportunityStage,
    QuoteStatus,
)
from crmbench.salesforce.catalog import Catalog, DerivedField
from crmbench.salesforce.sobjects.organization import SPEC as ORGANIZATION_SPEC
from crmbench.salesforce.sobjects.organization import organization, organization_fields
from crmbench.salesforce.sobjects.schema import ObjectSpec, OrgSchema
from crmbench.salesforce.sobjects.session_fields import SESSION_FIELDS, quoted

Kind = Literal[
    "text", "long", "email", "phone", "url", "money", "percent", "date", "day", "moment",
    "record", "any_record", "user", "list",
]  # fmt: skip
"""How a column's value becomes a field's. ``day`` is a date that is shown as a moment,
``any_record`` the id of a record of whichever entity another column names."""

TYPES: dict[Kind, str] = {
    "text": "string",
    "long": "textarea",
    "email": "email",
    "phone": "phone",
    "url": "url",
    "money": "currency",
    "percent": "integer",
    "date": "date",
    "day": "datetime",
    "moment": "datetime",
    "record": "reference",
    "any_record": "reference",
    "user": "reference",
    "list": "textarea",
}


@dataclass(frozen=True)
class FieldMap:
    """A field, and the column that it shows."""

    name: str
    column: str
    kind: Kind = "text"
    target: str = ""
    """For ``record`` the object that it refers to, for ``any_record`` the column of its entity."""
    required: bool = False
    values: tuple[str, ...] = ()
    read_only: bool = False
    relation: str = ""
    """What the object that it refers to calls its records of this one."""


@dataclass(frozen=True)
class ObjectMap:
    """An object, and the entity that it shows."""

    name: str
    entity: str
    prefix: str
    fields: tuple[FieldMap, ...]
    composed: tuple[tuple[str, str], ...] = ()
    """Fields that follow from others, with their types."""
    label: str = ""
    plural: str = ""
    writable: bool = True


def _owner(column: str = "owner") -> FieldMap:
    return FieldMap("OwnerId", column, "user")


def _made(column: str, kind: Kind) -> FieldMap:
    return FieldMap("CreatedDate", column, kind, read_only=True)


def _by(column: str) -> FieldMap:
    return FieldMap("CreatedById", column, "user")


OBJECTS: tuple[ObjectMap, ...] = (
    ObjectMap(
        "Account", "Client", "001",
        (
            FieldMap("Name", "name", required=True),
            FieldMap("Industry", "industry"),
            FieldMap("Email__c", "email", "email", required=True),
            FieldMap("Phone", "phone", "phone"),
            FieldMap("BillingStreet", "address"),
            FieldMap("Status__c", "status", required=True, values=get_args(ClientStatus)),
            _owner(),
            _made("created_date", "day"),
        ),
    ),
    ObjectMap(
        "Contact", "Contact", "003",
        (
            FieldMap("FirstName", "first_name", required=True),
            FieldMap("LastName", "last_name", required=True),
            FieldMap("Title", "title"),
            FieldMap("Email", "email", "email"),
            FieldMap("Phone", "phone", "phone"),
            FieldMap("AccountId", "client_id", "record", "Account", True, relation="Contacts"),
            FieldMap("Description", "notes", "long"),
        ),
        composed=(("Name", "string"),),
    ),
    ObjectMap(
        "Opportunity", "Opportunity", "006",
        (
            FieldMap("Name", "name", required=True),
            FieldMap("AccountId", "client_id", "record", "Account", True, relation="Opportunities"),
            FieldMap("StageName", "stage", required=True, values=get_args(OpportunityStage)),
            FieldMap("Amount", "amount", "money", required=True),
            FieldMap("CloseDate", "close_date", "date"),
            _owner(),
            FieldMap("Probability", "probability", "percent"),
            FieldMap("Description", "notes", "long"),
            _made("created_at", "moment"),
        ),
        plural="Opportunities",
    ),
    ObjectMap(
        "Quote", "Quote", "0Q0",
        (
            FieldMap("OpportunityId", "opportunity_id", "record", "Opportunity", True,
                     relation="Quotes"),
            FieldMap("Name", "name"),
            FieldMap("Version__c", "version"),
            FieldMap("GrandTotal", "amount", "money", required=True),
            FieldMap("Status", "status", required=True, values=get_args(QuoteStatus)),
            FieldMap("ExpirationDate", "valid_until", "date"),
            FieldMap("QuotePrefix__c", "quote_prefix"),
            _made("created_date", "day"),
        ),
    ),
    ObjectMap(
        "Contract", "Contract", "800",
        (
            FieldMap("AccountId", "client_id", "record", "Account", True, relation="Contracts"),
            FieldMap("OpportunityId__c", "opportunity_id", "record", "Opportunity",
                     relation="Contracts__r"),
            FieldMap("StartDate", "start_date", "date"),
            FieldMap("EndDate", "end_date", "date"),
            FieldMap("ContractValue__c", "value", "money"),
            FieldMap("Status", "status", values=get_args(ContractStatus)),
            FieldMap("DocumentUrl__c", "document_url", "url"),
        ),
        composed=(("ContractNumber", "string"),),
    ),
    ObjectMap(
        "Company__c", "Company", "a05",
        (
            FieldMap("Name", "name", required=True),
            FieldMap("Type__c", "type", values=get_args(CompanyType)),
            FieldMap("Industry__c", "industry"),
            FieldMap("Address__c", "address"),
            FieldMap("Contacts__c", "contacts", "list"),
        ),
        label="Company", plural="Companies",
    ),
    ObjectMap(
        "ContentDocument", "Document", "069",
        (
            FieldMap("Title", "file_name", required=True),
            FieldMap("LinkedEntityId", "entity_id", "any_record", "entity_type", True),
            FieldMap("ContentUrl__c", "file_url", "url"),
            _by("uploaded_by"),
            _made("uploaded_at", "moment"),
        ),
        composed=(("FileExtension", "string"),),
        label="Content Document",
    ),
    ObjectMap(
        "Note", "Note", "002",
        (
            FieldMap("ParentId", "entity_id", "any_record", "entity_type", True),
            FieldMap("Body", "content", "long", required=True),
            _by("created_by"),
            _made("created_at", "moment"),
        ),
        composed=(("Title", "string"),),
    ),
    ObjectMap(
        "Knowledge__kav", "Article", "ka0",
        (
            FieldMap("ArticleNumber", "number", required=True),
            FieldMap("Title", "title", required=True),
            FieldMap("Body__c", "text", "long"),
            FieldMap("IssuedDate__c", "issued", "date"),
        ),
        label="Knowledge", plural="Knowledge", writable=False,
    ),
)  # fmt: skip
"""Every entity, each after those whose records it refers to by a fixed object."""

BY_ENTITY = {each.entity: each for each in OBJECTS}
BY_NAME = {each.name: each for each in OBJECTS}

USER_FIELDS = ("Name", "FirstName", "LastName", "Username", "Email")


@cache
def metadata() -> sa.MetaData:
    """The tables of the copy."""
    made = sa.MetaData()
    users = [sa.Column(name, sa.String(), nullable=False) for name in USER_FIELDS]
    active: Any = sa.Column("IsActive", sa.Boolean(), nullable=False)
    sa.Table("User", made, _key(), *users, active)
    for each in OBJECTS:
        columns = [_column(mapped) for mapped in each.fields]
        composed = [sa.Column(name, sa.String(), info={"type": t}) for name, t in each.composed]
        sa.Table(each.name, made, _key(), *columns, *composed)
    return made


def _key() -> Any:
    return sa.Column("Id", sa.String(), primary_key=True, info={"type": "id"})


def _column(mapped: FieldMap) -> Any:
    info = {"type": "picklist" if mapped.values else TYPES[mapped.kind]}
    target = "User" if mapped.kind == "user" else mapped.target
    if mapped.kind in ("record", "user"):
        reference = sa.ForeignKey(f"{target}.Id")
        return sa.Column(
            mapped.name, sa.String(), reference, nullable=not mapped.required, index=True, info=info
        )
    sql: Any = {"money": sa.Float(), "percent": sa.Integer()}.get(mapped.kind, sa.String())
    return sa.Column(mapped.name, sql, nullable=not mapped.required, info=info)


def _closed(table: Any, dialect: str) -> sa.ColumnElement[Any]:
    del dialect
    names = ", ".join(quoted(stage) for stage in ("Closed-Won", "Closed-Lost"))
    closed: sa.ColumnElement[Any] = table.c["StageName"].op("IN", is_comparison=True)(
        sa.literal_column(f"({names})")
    )
    return closed


def _won(table: Any, dialect: str) -> sa.ColumnElement[Any]:
    del dialect
    won: sa.ColumnElement[Any] = table.c["StageName"] == sa.literal_column(quoted("Closed-Won"))
    return won


@cache
def schema() -> OrgSchema:
    """The objects as the APIs see them."""
    derived: dict[str, tuple[DerivedField, ...]] = dict.fromkeys(metadata().tables, SESSION_FIELDS)
    derived["Opportunity"] = (
        DerivedField("IsClosed", "boolean", _closed, required=True),
        DerivedField("IsWon", "boolean", _won, required=True),
        *SESSION_FIELDS,
    )
    derived["Organization"] = organization_fields("Alderpoint")
    children = {
        (each.name, mapped.name): mapped.relation
        for each in OBJECTS
        for mapped in each.fields
        if mapped.relation
    }
    catalog = Catalog(
        metadata(), children, derived=derived, virtual={"Organization": organization()}
    )
    specs = {each.name: _spec(each) for each in OBJECTS}
    specs["User"] = ObjectSpec("User", "005", writable=False)
    specs["Organization"] = ORGANIZATION_SPEC
    return OrgSchema(catalog, specs)


def _spec(each: ObjectMap) -> ObjectSpec:
    read_only = {mapped.name for mapped in each.fields if mapped.read_only}
    return ObjectSpec(
        each.label or each.name,
        each.prefix,
        plural=each.plural,
        writable=each.writable,
        read_only=frozenset(read_only | {name for name, _ in each.composed}),
        create_only=frozenset(
            mapped.name for mapped in each.fields if mapped.kind in ("any_record",)
        ),
        picklists={mapped.name: mapped.values for mapped in each.fields if mapped.values},
    )


@cache
def mirror_schema() -> Schema:
    """The tables of the copy as the engine sees them."""
    return Schema(metadata())
