"""The tables hold the published objects and fields, and SOQL can follow every relation."""

from __future__ import annotations

import sqlite3

import pytest

from crmbench.core.sqlite import SqliteBackend, create_statements
from crmbench.domains.service.schema import (
    CHILD_NAMES,
    LABELS,
    METADATA,
    OBJECTS,
    PICKLISTS,
    SCHEMA,
    catalog,
    reference_indexes,
)

FIELDS = {
    "User": "FirstName LastName Email Phone Username Alias ProfileId LanguageLocaleKey "
    "EmailEncodingKey TimeZoneSidKey LocaleSidKey",
    "Account": "FirstName LastName PersonEmail Phone RecordTypeId ShippingCity ShippingState",
    "Contact": "FirstName LastName Email AccountId OwnerId",
    "Case": "Priority Subject Description Status ContactId CreatedDate ClosedDate OrderItemId__c "
    "IssueId__c AccountId OwnerId",
    "Knowledge__kav": "Title FAQ_Answer__c Summary UrlName",
    "ProductCategory": "Name CatalogId",
    "Product2": "Name Description IsActive External_ID__c",
    "ProductCategoryProduct": "ProductCategoryId ProductId",
    "Pricebook2": "Name Description IsActive ValidFrom ValidTo",
    "PricebookEntry": "Pricebook2Id Product2Id UnitPrice",
    "Order": "AccountId Status EffectiveDate Pricebook2Id",
    "OrderItem": "OrderId Product2Id Quantity UnitPrice PriceBookEntryId",
    "EmailMessage": "Subject TextBody ParentId FromAddress ToIds MessageDate",
    "LiveChatTranscript": "CaseId AccountId OwnerId ContactId Body EndTime LiveChatVisitorId",
    "Issue__c": "Name Description__c",
    "CaseHistory__c": "CaseId__c OldValue__c NewValue__c CreatedDate Field__c",
}


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_published_fields_are_there(name: str) -> None:
    assert {"Id", *FIELDS[name].split()} <= set(SCHEMA[name].columns)
    assert SCHEMA[name].key == "Id"
    assert "Id" in SCHEMA[name].assigned


def test_objects_stand_after_those_they_refer_to() -> None:
    assert set(OBJECTS) == set(SCHEMA.tables) == set(FIELDS) | {"CaseComment"} == set(LABELS)
    for place, name in enumerate(OBJECTS):
        assert set(SCHEMA[name].references.values()) <= set(OBJECTS[:place])


def test_relations_by_name() -> None:
    case = catalog().get("case")
    assert case is not None
    assert {p.name: p.target for p in case.parents.values()} == {
        "Contact": "Contact",
        "OrderItemId__r": "OrderItem",
        "IssueId__r": "Issue__c",
        "Account": "Account",
        "Owner": "User",
    }
    assert {c.name for c in case.children.values()} == {
        "CaseHistories__r",
        "CaseComments",
        "EmailMessages",
        "LiveChatTranscripts",
    }
    item = catalog().get("OrderItem")
    assert item is not None
    assert "pricebookentry" in item.parents


def test_no_parent_has_two_relations_of_one_name() -> None:
    seen = set()
    for (child, field), relation in CHILD_NAMES.items():
        parent = SCHEMA[child].references[field]
        assert (parent, relation) not in seen
        seen.add((parent, relation))


def test_kinds_of_fields() -> None:
    kinds = {
        (info.name, field.name): field.kind
        for info in catalog().objects.values()
        for field in info.fields.values()
    }
    assert kinds["Order", "EffectiveDate"] == "date"
    assert kinds["Case", "CreatedDate"] == "datetime"
    assert kinds["Case", "Description"] == "textarea"
    assert kinds["PricebookEntry", "UnitPrice"] == "number"
    assert kinds["OrderItem", "Quantity"] == "integer"
    assert kinds["User", "ProfileId"] == "id"


def test_every_reference_gets_an_index() -> None:
    made = " ".join(reference_indexes())
    for name, info in SCHEMA.tables.items():
        for column in info.references:
            assert f'ON "{name}" ("{column}")' in made


@pytest.fixture
def raw() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in create_statements(SCHEMA, SqliteBackend(SCHEMA).dialect):
        connection.execute(statement)
    for statement in reference_indexes():
        connection.execute(statement)
    return connection


@pytest.mark.parametrize(("table", "field"), sorted(PICKLISTS))
def test_other_values_than_listed_are_refused(
    raw: sqlite3.Connection, table: str, field: str
) -> None:
    columns = METADATA.tables[table].columns
    values = [
        "x" if c.name == field else PICKLISTS.get((table, c.name), ("x",))[0] for c in columns
    ]
    names = ", ".join(f'"{c.name}"' for c in columns)
    marks = ", ".join("?" for _ in columns)
    with pytest.raises(sqlite3.IntegrityError, match=f"{field} is a known value"):
        raw.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', values)


@pytest.mark.parametrize(("status", "closed"), [("Closed", None), ("New", "2026-01-01")])
def test_closed_means_a_closing_date(
    raw: sqlite3.Connection, status: str, closed: str | None
) -> None:
    columns = (
        '"Id", "Priority", "Status", "ContactId", "CreatedDate", "ClosedDate", "AccountId", '
        '"OwnerId"'
    )
    values = ["1", "Low", status, "x", "2026-01-01", closed, "x", "x"]
    with pytest.raises(sqlite3.IntegrityError, match="if and only if it is closed"):
        raw.execute(f'INSERT INTO "Case" ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)', values)
