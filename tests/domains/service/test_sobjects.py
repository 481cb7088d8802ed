"""The service org's records as sObjects, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.domains.service.example_org import (
    ACME,
    ANA,
    BEN,
    DAN,
    LAMP_ITEM,
    MIA,
    NIGHT,
    RETURNS,
    TENT,
    TENT_ITEM,
    Desk,
    case_id,
    desk_on,
    key,
    sqlite_backend,
)

from crmbench.core.postgres import PostgresBackend
from crmbench.core.world import Backend
from crmbench.domains.service.domain import SERVICE
from crmbench.domains.service.schema import SCHEMA
from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import ORGANIZATION_ID, Org, SobjectError
from crmbench.salesforce.sobjects.describe import describe_global, describe_object
from crmbench.salesforce.sobjects.errors import as_json

PATH = "/services/data/v59.0/sobjects"
OPEN, CLOSED = case_id(6), case_id(1)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    made: Backend = sqlite_backend() if request.param == "sqlite" else PostgresBackend(SCHEMA)
    yield made
    made.close()


@pytest.fixture
def desk(backend: Backend) -> Iterator[Desk]:
    with desk_on(backend) as opened:
        yield opened


@pytest.fixture
def org(desk: Desk) -> Org:
    return Org(SERVICE.sobject_store(desk.database), PATH)


def records(org: Org, text: str, **options: Any) -> list[dict[str, Any]]:
    return org.query(text, **options).records


def values(org: Org, text: str, **options: Any) -> list[Any]:
    """The values of a query for one field."""
    return [
        next(v for k, v in r.items() if k != "attributes") for r in records(org, text, **options)
    ]


def test_fields_that_no_column_holds(org: Org) -> None:
    (case,) = records(
        org,
        "SELECT CaseNumber, IsClosed, LastModifiedDate, SystemModstamp, IsDeleted, CreatedBy.Name "
        f"FROM Case WHERE Id = '{OPEN}'",
    )
    assert case == {
        "attributes": {"type": "Case", "url": f"{PATH}/Case/{OPEN}"},
        "CaseNumber": "00001007",
        "IsClosed": False,
        "LastModifiedDate": "2025-04-11T08:00:00.000+0000",
        "SystemModstamp": "2025-04-11T08:00:00.000+0000",
        "IsDeleted": False,
        "CreatedBy": {
            "attributes": {"type": "User", "url": f"{PATH}/User/{ANA}"},
            "Name": "Ana Ruiz",
        },
    }
    assert values(org, "SELECT Id FROM Case WHERE CaseNumber = '00001007'") == [OPEN]
    assert values(org, "SELECT COUNT(Id) FROM Case WHERE IsClosed = true") == [5]
    assert (
        values(org, "SELECT CaseNumber FROM Case GROUP BY CaseNumber ORDER BY CaseNumber")[0]
        == "00001002"
    )
    assert values(
        org, "SELECT Title FROM Knowledge__kav WHERE Language = 'en_US' AND PublishStatus = 'Draft'"
    )
    assert records(org, "SELECT Id, IsSandbox, TrialExpirationDate FROM Organization LIMIT 1") == [
        {
            "attributes": {"type": "Organization", "url": f"{PATH}/Organization/{ORGANIZATION_ID}"},
            "Id": ORGANIZATION_ID,
            "IsSandbox": True,
            "TrialExpirationDate": None,
        }
    ]


def test_the_address_of_a_message_is_that_of_whom_it_went_to(org: Org) -> None:
    org.update("Contact", MIA, {"Email": "mia@home.example"})
    for receiver in (MIA, None):
        made = org.create("EmailMessage", {"ParentId": OPEN, "Subject": "x", "ToIds": receiver})
        found = records(
            org, f"SELECT ToAddress, Parent.CaseNumber FROM EmailMessage WHERE Id = '{made}'"
        )
        assert found[0]["ToAddress"] == ("mia@home.example" if receiver else None)
        assert found[0]["Parent"]["CaseNumber"] == "00001007"


def test_tools_do_not_see_them(desk: Desk) -> None:
    with pytest.raises(ToolError, match="No such column 'CaseNumber'"):
        desk.soql("SELECT CaseNumber FROM Case")
    with pytest.raises(ToolError, match="'Organization' is not supported"):
        desk.soql("SELECT Id FROM Organization")


def test_a_case_is_created_as_the_tool_creates_it(backend: Backend) -> None:
    """The same rows, ids and history, whichever way it is written."""
    with desk_on(backend) as desk:
        desk.call(
            "create_case", contact_id=MIA, agent_id=BEN, subject="Torn", description="It tore.",
            order_item_id=TENT_ITEM,
        )  # fmt: skip
        desk.call("assign_case", case_id=OPEN, agent_id=ANA)
        desk.call("close_case", case_id=OPEN)
        desk.call("comment_on_case", case_id=OPEN, comment="Done.")
        by_tools = list(desk.database.journal)
    with desk_on(backend) as desk:
        org = Org(SERVICE.sobject_store(desk.database))
        org.create(
            "Case",
            {
                "ContactId": MIA, "OwnerId": BEN, "Subject": " Torn ", "Description": "It tore.",
                "OrderItemId__c": TENT_ITEM,
            },
        )  # fmt: skip
        org.update("Case", OPEN, {"OwnerId": ANA})
        org.update("Case", OPEN, {"Status": "Closed"})
        org.create("CaseComment", {"ParentId": OPEN, "CommentBody": "Done."})
        assert desk.database.journal == by_tools


Write = Callable[[Org], object]

REFUSED: list[tuple[Write, str, str, list[str] | None, int]] = [
    (lambda o: o.create("Case", {}), "REQUIRED_FIELD_MISSING",
     "Required fields are missing: [ContactId]", ["ContactId"], 400),
    (lambda o: o.create("Nope", {}), "NOT_FOUND",
     "The requested resource does not exist", None, 404),
    (lambda o: o.create("Case", {"ContactId": MIA, "X": 1}), "INVALID_FIELD",
     "No such column 'X' on sobject of type Case", None, 400),
    (lambda o: o.create("Case", {"ContactId": MIA, "Status": "Lost"}),
     "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
     "Status: bad value for restricted picklist field: Lost", ["Status"], 400),
    (lambda o: o.create("Case", {"ContactId": MIA, "Subject": "x" * 256}), "STRING_TOO_LONG",
     f"Subject: data value too large: {'x' * 60} (max length=255)", ["Subject"], 400),
    (lambda o: o.create("Case", {"ContactId": OPEN}), "MALFORMED_ID",
     f"Contact ID: id value of incorrect type: {OPEN}", ["ContactId"], 400),
    (lambda o: o.create("Case", {"ContactId": "nobody"}), "MALFORMED_ID",
     "Contact ID: id value of incorrect type: nobody", ["ContactId"], 400),
    (lambda o: o.create("Case", {"ContactId": key("Contact", 77)}), "INVALID_CROSS_REFERENCE_KEY",
     "invalid cross reference id", ["ContactId"], 400),
    (lambda o: o.create("Case", {"ContactId": MIA, "OwnerId": DAN}), "INACTIVE_OWNER_OR_USER",
     f"operation performed with inactive user [{DAN}] as owner of case", ["OwnerId"], 400),
    (lambda o: o.create("Case", {"ContactId": MIA, "OrderItemId__c": LAMP_ITEM}),
     "FIELD_CUSTOM_VALIDATION_EXCEPTION",
     f"The order item {LAMP_ITEM} was not bought by the account {ACME} of this case.",
     ["OrderItemId__c"], 400),
    (lambda o: o.create("Case", {"ContactId": MIA, "ClosedDate": "2025-01-01T00:00:00Z"}),
     "INVALID_FIELD_FOR_INSERT_UPDATE",
     ("Unable to create/update fields: ClosedDate. Please check the security settings of this "
     "field and verify that it is read/write for your profile or permission set."),
     ["ClosedDate"], 400),
    (lambda o: o.create("Case", {"ContactId": MIA, "Subject": 5}), "JSON_PARSER_ERROR",
     ("Cannot deserialize instance of string from VALUE_NUMBER_INT value 5 or request may be "
     "missing a required field: Subject"), None, 400),
    (lambda o: o.create("Order", {"AccountId": ACME, "Pricebook2Id": key("Pricebook2", 1),
                                  "EffectiveDate": "soon"}), "JSON_PARSER_ERROR",
     ("Cannot deserialize instance of date from VALUE_STRING value soon or request may be missing "
     "a required field: EffectiveDate"), None, 400),
    (lambda o: o.create("Contact", {"LastName": "A", "AccountId": ACME, "Email": "no"}),
     "INVALID_EMAIL_ADDRESS", "Email: invalid email address: no", ["Email"], 400),
    (lambda o: o.create("Organization", {"Name": "x"}), "INSUFFICIENT_ACCESS_OR_READONLY",
     "entity type Organization cannot be written through the API", [], 403),
    (lambda o: o.update("Case", CLOSED, {"Priority": "Low"}), "FIELD_CUSTOM_VALIDATION_EXCEPTION",
     f"The case {CLOSED} was closed on 2025-03-02; a closed case cannot be changed in this way.",
     ["Priority"], 400),
    (lambda o: o.update("Case", OPEN, {"Id": OPEN}), "INVALID_FIELD",
     "The Id field should not be specified in the sobject data.", None, 400),
    (lambda o: o.update("Case", OPEN, {"Status": None}), "REQUIRED_FIELD_MISSING",
     "Required fields are missing: [Status]", ["Status"], 400),
    (lambda o: o.update("Case", case_id(99), {}), "INVALID_CROSS_REFERENCE_KEY",
     "invalid cross reference id", None, 404),
    (lambda o: o.delete("Case", case_id(99)), "INVALID_CROSS_REFERENCE_KEY",
     "invalid cross reference id", None, 404),
    (lambda o: o.delete("Knowledge__kav", RETURNS), "DELETE_FAILED",
     f"The article {RETURNS} is online; only a draft can be deleted.", [], 400),
    (lambda o: o.create("Knowledge__kav", {"Title": "returns", "UrlName": "a"}), "DUPLICATE_VALUE",
     f"duplicate value found: Title duplicates value on record with id: {RETURNS}", [], 400),
    (lambda o: o.delete("Contact", MIA), "DELETE_FAILED",
     ("Your attempt to delete Mia Acre could not be completed because it is associated with the "
     "following cases.: 00001002, 00001003, 00001004, 00001007, 00001008\n"), [], 400),
    (lambda o: o.get("Case", "x"), "NOT_FOUND",
     "Provided external ID field does not exist or is not accessible: x", None, 404),
    (lambda o: o.get("Case", MIA), "MALFORMED_ID", f"malformed id {MIA}", [], 400),
    (lambda o: o.get("Case", OPEN, ["Id FROM User"]), "INVALID_FIELD",
     "No such column 'Id FROM User' on entity 'Case'", None, 400),
    (lambda o: o.upsert("Product2", "Name", "x", {}), "NOT_FOUND",
     "Provided external ID field does not exist or is not accessible: Name", None, 404),
    (lambda o: o.more("01gHs0000000001IAA-2000"), "INVALID_QUERY_LOCATOR",
     "invalid query locator", None, 400),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=[f"{n}-{c[1]}" for n, c in enumerate(REFUSED)])
def test_what_is_refused_says_so_in_salesforces_words(
    org: Org, case: tuple[Write, str, str, list[str] | None, int]
) -> None:
    write, code, message, fields, status = case
    before = org.store.database.digest()
    with pytest.raises(SobjectError) as caught:
        write(org)
    expected: dict[str, Any] = {"message": message, "errorCode": code}
    assert as_json(caught.value) == (expected if fields is None else {**expected, "fields": fields})
    assert caught.value.status == status
    assert org.store.database.digest() == before
    assert not org.store.database.journal


def test_external_ids_update_or_create(org: Org) -> None:
    first = org.upsert("Product2", "External_ID__c", "SKU'\\1", {"Name": "Stove"})
    again = org.upsert("product2", "external_id__c", "SKU'\\1", {"Name": "Camp Stove"})
    assert (first.created, again.created, again.key) == (True, False, first.key)
    assert (
        org.by_external_id("Product2", "External_ID__c", "SKU'\\1", ["Name"])["Name"]
        == "Camp Stove"
    )
    with pytest.raises(SobjectError, match="duplicates value"):
        org.update("Product2", TENT, {"External_ID__c": "sku'\\1"})
    book = key("Pricebook2", 1)
    entry = org.create(
        "PricebookEntry",
        {"Pricebook2Id": book, "UnitPrice": 5, "Product2": {"External_ID__c": "SKU'\\1"}},
    )
    assert org.get("PricebookEntry", entry)["Product2Id"] == first.key
    with pytest.raises(SobjectError, match="Foreign key external ID: none not found"):
        org.create(
            "PricebookEntry",
            {"Pricebook2Id": book, "UnitPrice": 5, "Product2": {"External_ID__c": "none"}},
        )


def test_deleted_records_are_told_and_queried_apart(org: Org) -> None:
    gone = org.create("Case", {"ContactId": MIA, "Subject": "Away"})
    org.create("CaseComment", {"ParentId": gone, "CommentBody": "With it."})
    org.delete("Case", gone)
    with pytest.raises(SobjectError, match="entity is deleted"):
        org.get("Case", gone)
    with pytest.raises(SobjectError, match="entity is deleted"):
        org.update("Case", gone, {"Subject": "Back"})
    query = "SELECT Id FROM Case WHERE IsDeleted = true"
    assert values(org, query) == []
    assert values(org, query, deleted=True) == [gone]
    assert values(org, "SELECT COUNT(Id) FROM CaseComment", deleted=True) == [1]
    assert values(org, "SELECT COUNT(Id) FROM CaseComment") == [0]
    year = (datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))
    told = org.deleted("Case", *year)
    assert [each["id"] for each in told["deletedRecords"]] == [gone]
    assert org.deleted("Account", *year)["deletedRecords"] == []
    assert gone not in org.updated("Case", *year)["ids"]


def test_what_changed_has_a_new_moment(org: Org) -> None:
    start = org.now
    org.update("Case", OPEN, {"Subject": "Now"})
    made = org.create("Account", {"LastName": "New"})
    for name, changed in (("Case", OPEN), ("Account", made)):
        assert org.updated(name, start, org.now)["ids"] == [changed]
    assert values(org, f"SELECT LastModifiedDate FROM Case WHERE Id = '{OPEN}'") == [
        "2025-07-15T09:00:00.000+0000"
    ]
    assert [r["Name"] for r in org.recent(5)] == ["New", "00001007"]
    assert [r["Id"] for r in org.recent(5, "Case")] == [OPEN]


def test_an_undone_write_is_no_history(org: Org) -> None:
    org.update("Case", OPEN, {"Subject": "Kept"})

    def write_and_fail() -> None:
        with org.atomic():
            org.delete("Case", OPEN)
            org.create("Account", {"LastName": "Gone"})
            assert OPEN in org.store.history.refresh().deleted
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert org.store.history.refresh().deleted == {}
    assert org.get("Case", OPEN, ["Subject"])["Subject"] == "Kept"
    assert len(org.store.database.journal) == 1


def test_long_results_come_in_pages(org: Org) -> None:
    first = org.query("SELECT Id FROM Case ORDER BY Id", size=3)
    assert (first.total, len(first.records)) == (8, 3)
    second = org.more(str(first.locator))
    again = org.more(str(first.locator))
    assert second == again
    last = org.more(str(second.locator))
    assert last.locator is None
    ids = [r["Id"] for page in (first, second, last) for r in page.records]
    assert ids == [case_id(n) for n in range(1, 9)]
    for _ in range(10):
        org.query("SELECT Id FROM Case", size=3)
    with pytest.raises(SobjectError, match="invalid query locator"):
        org.more(str(first.locator))


def test_values_of_text_are_read_by_the_fields_type(org: Org) -> None:
    made = org.create(
        "Product2", {"Name": "Tent", "IsActive": "true", "Description": ""}, text=True
    )
    org.update("Product2", made, {"IsActive": "0", "Name": ""}, text=True)
    assert org.get("Product2", made, ["Name", "IsActive"]) | {"attributes": None} == {
        "attributes": None, "Name": "Tent", "IsActive": False, "Id": made,
    }  # fmt: skip
    org.update("Case", OPEN, {"OrderItemId__c": "#N/A"}, text=True)
    assert org.get("Case", OPEN, ["OrderItemId__c"])["OrderItemId__c"] is None
    with pytest.raises(SobjectError, match="instance of boolean from VALUE_STRING value maybe"):
        org.update("Product2", made, {"IsActive": "maybe"}, text=True)


def test_articles_are_changed_while_they_are_drafts(org: Org) -> None:
    org.update("Knowledge__kav", NIGHT, {"Summary": "Ring twice.", "PublishStatus": "Online"})
    with pytest.raises(SobjectError, match="only a draft can be changed"):
        org.update("Knowledge__kav", NIGHT, {"Summary": "Ring once."})


def test_names_follow_their_parts(org: Org) -> None:
    made = org.create("Contact", {"FirstName": "Ida", "LastName": "Low", "AccountId": ACME})
    org.update("Contact", made, {"LastName": "High"})
    assert org.get("Contact", made, ["Name", "OwnerId"])["Name"] == "Ida High"
    assert org.get("Contact", made, ["OwnerId"])["OwnerId"] == ANA


def test_searches_find_what_was_written(org: Org) -> None:
    made = org.create("Case", {"ContactId": MIA, "Subject": "A zebra in the tent"})
    found = org.search("FIND {zebra} RETURNING Case(CaseNumber, Subject)")
    assert [record["Subject"] for record in found] == ["A zebra in the tent"]
    assert found[0]["attributes"]["url"] == f"{PATH}/Case/{made}"
    assert found[0]["CaseNumber"] == "05000001"


def test_every_object_is_described_and_what_is_described_can_be_queried(org: Org) -> None:
    listed = describe_global(org.schema, PATH)["sobjects"]
    assert {o["name"] for o in listed} == {*SCHEMA.tables, "Organization"}
    for each in org.schema.objects.values():
        described = describe_object(org.schema, each, PATH)
        names = [f["name"] for f in described["fields"]]
        assert org.query(f"SELECT {', '.join(names)} FROM {each.name} LIMIT 1") is not None
        for field in described["fields"]:
            if field["relationshipName"]:
                assert field["referenceTo"]
                org.query(f"SELECT {field['relationshipName']}.Id FROM {each.name} LIMIT 1")
            if field["groupable"]:
                org.query(f"SELECT {field['name']} FROM {each.name} GROUP BY {field['name']}")
        for child in described["childRelationships"]:
            if child["relationshipName"]:
                org.query(f"SELECT (SELECT Id FROM {child['relationshipName']}) FROM {each.name}")
    case = describe_object(org.schema, org.object("Case"), PATH)
    fields = {f["name"]: f for f in case["fields"]}
    assert [v["value"] for v in fields["Priority"]["picklistValues"] if v["defaultValue"]] == [
        "Medium"
    ]
    assert (fields["CaseNumber"]["nameField"], fields["CaseNumber"]["createable"]) == (True, False)
    assert fields["ContactId"]["type"] == "reference"
    assert (fields["ContactId"]["nillable"], fields["OwnerId"]["defaultedOnCreate"]) == (
        False,
        True,
    )
    assert fields["ClosedDate"]["type"] == "datetime"
    assert fields["OrderItemId__c"]["label"] == "Order Item ID"
