"""The service org through Salesforce's APIs: what its objects are like, and what it does by itself.

A record that is written through the API gets the same histories, closing dates and refusals as one
that is written by a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.records import (
    ASSIGNMENT,
    CLOSED,
    CLOSING,
    CREATION,
    must_exist,
    note_history,
)
from crmbench.domains.service.schema import (
    CHILD_NAMES,
    LABELS,
    METADATA,
    PARENT_NAMES,
    PICKLISTS,
)
from crmbench.salesforce.catalog import Catalog, DerivedField
from crmbench.salesforce.ids import BASE, DIGITS, PREFIXES
from crmbench.salesforce.sobjects.errors import RULE, SobjectError
from crmbench.salesforce.sobjects.org import MAX_ROWS
from crmbench.salesforce.sobjects.organization import SPEC as ORGANIZATION_SPEC
from crmbench.salesforce.sobjects.organization import (
    organization,
    organization_fields,
    text_field,
)
from crmbench.salesforce.sobjects.schema import ObjectSchema, ObjectSpec, OrgSchema
from crmbench.salesforce.sobjects.session_fields import SESSION_FIELDS, flag, quoted
from crmbench.salesforce.sobjects.store import TableStore, Triggers
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.sosl.engine import Sosl

Sql = sa.ColumnElement[Any]

LOCKED_WHEN_CLOSED = ("Status", "Priority", "OwnerId")
DRAFT = "Draft"
FIRST_OF_WORLD = 1_001
"""The number of a world's first record."""
FIRST_OF_SESSION = 5_000_000
"""Numbers of records that were created since the org was opened lie above."""


def auto_number(length: int) -> Callable[[Any, str], Sql]:
    """A number that counts records up, as text with zeros before it; follows from the id."""

    def derive(table: Any, dialect: str) -> Sql:
        key = table.c["Id"]
        position = sa.func.strpos if dialect == "postgresql" else sa.func.instr
        digits = sa.literal_column(quoted(DIGITS), sa.String())
        count = _integer(0)
        for place in range(4):
            digit = position(digits, _character(key, 15 - place))
            count = count + (digit - _integer(1)) * _integer(BASE**place)
        # The eighth character is 0 in ids of a world and 1 in those of a session.
        first = sa.case(
            (
                _character(key, 8) == sa.literal_column("'0'"),
                _integer(FIRST_OF_WORLD),
            ),
            else_=_integer(FIRST_OF_SESSION),
        )
        number = count + first
        if dialect == "postgresql":
            text = sa.cast(number, sa.String())
            return sa.func.lpad(text, _integer(length), sa.literal_column("'0'"))
        return sa.func.printf(sa.literal_column(f"'%0{length}d'"), number, type_=sa.String())

    return derive


def _character(key: Any, place: int) -> Sql:
    return sa.func.substr(key, _integer(place), _integer(1), type_=sa.String())


def _integer(number: int) -> Sql:
    return sa.literal_column(str(number), sa.Integer())


def _is_closed(table: Any, dialect: str) -> Sql:
    del dialect
    closed: Sql = table.c["Status"] == sa.literal_column(quoted(CLOSED), sa.String())
    return closed


def _to_address(metadata: sa.MetaData, table: Any, dialect: str) -> Sql:
    """The address of whoever a message went to."""
    del dialect
    addresses = []
    for name in ("Contact", "User"):
        person = metadata.tables[name].alias(f"to_{name.lower()}")
        found = sa.select(person.c.Email).where(person.c.Id == table.c["ToIds"])
        addresses.append(found.correlate(table).scalar_subquery())
    return sa.func.coalesce(*addresses, type_=sa.String())


def derived_fields(metadata: sa.MetaData) -> dict[str, tuple[DerivedField, ...]]:
    """The fields that no column holds, by object."""
    own: dict[str, tuple[DerivedField, ...]] = {
        "Account": (DerivedField("IsPersonAccount", "boolean", flag(True), required=True),),
        "Case": (
            DerivedField("CaseNumber", "string", auto_number(8), required=True),
            DerivedField("IsClosed", "boolean", _is_closed, required=True),
        ),
        "EmailMessage": (
            DerivedField("ToAddress", "string", partial(_to_address, metadata)),
        ),
        "Knowledge__kav": (
            text_field("Language", "en_US"),
            DerivedField("ArticleNumber", "string", auto_number(9), required=True),
            DerivedField("IsLatestVersion", "boolean", flag(True), required=True),
        ),
        "Order": (DerivedField("OrderNumber", "string", auto_number(8), required=True),),
        "PricebookEntry": (DerivedField("IsActive", "boolean", flag(True), required=True),),
    }  # fmt: skip
    fields = {name: (*own.get(name, ()), *SESSION_FIELDS) for name in metadata.tables}
    return {**fields, "Organization": organization_fields("Brackenholt")}


PLURALS = {
    "Account": "Accounts",
    "Knowledge__kav": "Knowledge",
    "ProductCategory": "Product Categories",
    "Pricebook2": "Price Books",
    "PricebookEntry": "Price Book Entries",
    "CaseHistory__c": "Case Histories",
}
READ_ONLY = {
    "User": {"Name"},
    "Account": {"Name"},
    "Contact": {"Name"},
    "Case": {"ClosedDate", "CaseNumber", "MasterRecordId"},
    "Order": {"OrderNumber"},
    "Knowledge__kav": {"ArticleNumber"},
}
OPTIONAL = {
    "Contact": {"OwnerId"},
    "Case": {"OwnerId", "AccountId"},
    "CaseComment": {"CreatedById"},
    "EmailMessage": {"MessageDate"},
    "LiveChatTranscript": {"OwnerId", "EndTime"},
}
CREATE_ONLY = {
    "CaseComment": {"ParentId"},
    "EmailMessage": {"ParentId"},
    "OrderItem": {"OrderId", "Product2Id", "PriceBookEntryId"},
    "PricebookEntry": {"Pricebook2Id", "Product2Id"},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "User": {"IsActive": True},
    "Case": {"Status": "New", "Priority": "Medium"},
    "Knowledge__kav": {"PublishStatus": DRAFT},
    "Order": {"Status": "Draft"},
}
UNIQUE = {"User": {"Username"}, "Knowledge__kav": {"Title", "UrlName"}}
FOREIGN = {
    "User": {"ProfileId": "Profile"},
    "Account": {"RecordTypeId": "RecordType"},
    "ProductCategory": {"CatalogId": "ProductCatalog"},
    "LiveChatTranscript": {"LiveChatVisitorId": "LiveChatVisitor"},
}
LENGTHS = {
    "CaseComment": {"CommentBody": 4_000},
    "Knowledge__kav": {"Summary": 1_000},
    "Product2": {"Description": 4_000},
}


def object_specs(
    names: tuple[str, ...],
    labels: Mapping[str, str] = LABELS,
    picklists: Mapping[tuple[str, str], tuple[str, ...]] = PICKLISTS,
) -> dict[str, ObjectSpec]:
    """What the catalog does not say of the objects."""
    specs = {
        name: ObjectSpec(
            labels[name],
            PREFIXES[name],
            plural=PLURALS.get(name, ""),
            read_only=frozenset({"CreatedDate", *READ_ONLY.get(name, ())}),
            create_only=frozenset(CREATE_ONLY.get(name, ())),
            optional=frozenset(OPTIONAL.get(name, ())),
            defaults=DEFAULTS.get(name, {}),
            unique=frozenset(UNIQUE.get(name, ())),
            external_ids=frozenset({"External_ID__c"} if name == "Product2" else ()),
            picklists={field: v for (owner, field), v in picklists.items() if owner == name},
            lengths=LENGTHS.get(name, {}),
            foreign=FOREIGN.get(name, {}),
        )
        for name in names
    }
    return {**specs, "Organization": ORGANIZATION_SPEC}


@cache
def schema() -> OrgSchema:
    """The objects of the easy org."""
    catalog = Catalog(
        METADATA, CHILD_NAMES, PARENT_NAMES, derived_fields(METADATA),
        {"Organization": organization()},
    )  # fmt: skip
    return OrgSchema(catalog, object_specs(tuple(METADATA.tables)))


class ServiceTriggers(Triggers):
    """What the service org does by itself when a record is written, and what it refuses."""

    def creating(self, store: TableStore, each: ObjectSchema, row: Row) -> None:
        """Fill in what follows from other fields; refuse what the org's rules refuse."""
        if {"FirstName", "LastName", "Name"} <= {f.name for f in each.fields.values()}:
            row["Name"] = _full_name(row)
        if each.name == "Case":
            _complete_case(store, row)

    def created(self, store: TableStore, each: ObjectSchema, row: Row) -> None:
        """A case begins its history."""
        if each.name != "Case":
            return
        org = _org(store)
        note_history(org, row["Id"], CREATION, None, None)
        note_history(org, row["Id"], ASSIGNMENT, None, row["OwnerId"])
        if row["Status"] == CLOSED:
            note_history(org, row["Id"], CLOSING, None, None)

    def updating(self, store: TableStore, each: ObjectSchema, before: Row, changes: Row) -> None:
        """Refuse what the org's rules refuse; names and closing dates follow their fields.

        Raises:
            SobjectError: They refuse it.
        """
        if each.name == "Case":
            _check_case(store, before, changes)
        elif each.name == "Knowledge__kav" and changes and before["PublishStatus"] != DRAFT:
            raise SobjectError(RULE, _not_a_draft(before, "changed"), [])
        if {"FirstName", "LastName"} & set(changes):
            changes["Name"] = _full_name({**before, **changes})

    def updated(self, store: TableStore, each: ObjectSchema, before: Row, after: Row) -> None:
        """A case goes on with its history."""
        if each.name != "Case":
            return
        org = _org(store)
        if after["OwnerId"] != before["OwnerId"]:
            note_history(org, after["Id"], ASSIGNMENT, before["OwnerId"], after["OwnerId"])
        if after["Status"] == CLOSED != before["Status"]:
            note_history(org, after["Id"], CLOSING, None, None)

    def deleting(self, store: TableStore, each: ObjectSchema, row: Row) -> None:
        """Published articles stay.

        Raises:
            SobjectError: It is one.
        """
        del store
        if each.name == "Knowledge__kav" and row["PublishStatus"] != DRAFT:
            raise SobjectError("DELETE_FAILED", _not_a_draft(row, "deleted"), [])


def _not_a_draft(row: Row, action: str) -> str:
    return f"The article {row['Id']} is online; only a draft can be {action}."


def _full_name(row: Row) -> str:
    return " ".join(row[part] for part in ("FirstName", "LastName") if row.get(part))


def _org(store: TableStore) -> ServiceOrg:
    return ServiceOrg(store.database, store.soql, store.sosl)


def _complete_case(store: TableStore, row: Row) -> None:
    org = _org(store)
    if row.get("ContactId") and not row.get("AccountId"):
        row["AccountId"] = must_exist(org, "Contact", row["ContactId"])["AccountId"]
    _check_owner(org, row["OwnerId"])
    _check_item(org, row.get("AccountId"), row.get("OrderItemId__c"))
    if row["Status"] == CLOSED:
        row["ClosedDate"] = store.stamp


def _check_case(store: TableStore, before: Row, changes: Row) -> None:
    org = _org(store)
    locked = [name for name in LOCKED_WHEN_CLOSED if name in changes]
    if before["Status"] == CLOSED and locked:
        raise SobjectError(
            RULE,
            f"The case {before['Id']} was closed on {before['ClosedDate'][:10]}; a closed case "
            "cannot be changed in this way.",
            locked,
        )
    if "OwnerId" in changes:
        _check_owner(org, changes["OwnerId"])
    after = {**before, **changes}
    if {"OrderItemId__c", "AccountId"} & set(changes):
        _check_item(org, after["AccountId"], after["OrderItemId__c"])
    if changes.get("Status") == CLOSED:
        changes["ClosedDate"] = store.stamp


def _check_owner(org: ServiceOrg, key: str) -> None:
    if not must_exist(org, "User", key)["IsActive"]:
        raise SobjectError(
            "INACTIVE_OWNER_OR_USER",
            f"operation performed with inactive user [{key}] as owner of case",
            ["OwnerId"],
        )


def _check_item(org: ServiceOrg, account: str | None, item: str | None) -> None:
    if item is None:
        return
    order = must_exist(org, "OrderItem", item)["OrderId"]
    if must_exist(org, "Order", order)["AccountId"] != account:
        raise SobjectError(
            RULE,
            f"The order item {item} was not bought by the account {account} of this case.",
            ["OrderItemId__c"],
        )


def open_store(database: Database) -> TableStore:
    """The records of a service org."""
    return store_of(database, schema(), ServiceTriggers())


def store_of(database: Database, objects: OrgSchema, triggers: ServiceTriggers) -> TableStore:
    """The records of an org with those objects, of which it does those things by itself."""
    soql, sosl = _languages(objects, database.connection.dialect)
    return TableStore(database, objects, soql, sosl, triggers)


@cache
def _languages(objects: OrgSchema, dialect: Dialect) -> tuple[Soql, Sosl]:
    # Kept for a process: both keep what they have compiled, and a session opens a store of its own.
    return Soql(objects.catalog, dialect, MAX_ROWS), Sosl(objects.catalog, dialect)
