"""The sales CRM's records as sObjects: read from a copy, written by the CRM's own rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.core.schema import Row
from crmbench.domains.sales.domain import SALES
from crmbench.domains.sales.hard.domain import SALES_HARD
from crmbench.errors import ToolError
from crmbench.salesforce.ids import is_id
from crmbench.salesforce.sobjects import Org, SobjectError, open_org
from crmbench.salesforce.sobjects.describe import describe_object
from crmbench.salesforce.sobjects.errors import as_json

ACCOUNT = {"Name": "Acme", "Email__c": "info@acme.example", "Status__c": "Active"}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.open(SALES, "harbour-01") as opened:
        yield opened


@pytest.fixture
def org(sandbox: Sandbox) -> Org:
    return open_org(sandbox)


def count(org: Org, where: str) -> int:
    return org.query(f"SELECT COUNT() FROM {where}").total


def test_every_record_is_there_with_an_id_of_its_own(sandbox: Sandbox, org: Org) -> None:
    counts = sandbox.call("summarize_counts", {}).result
    for name, plural in {
        "Account": "clients", "Contact": "contacts", "Opportunity": "opportunities",
        "Quote": "quotes", "Contract": "contracts", "ContentDocument": "documents",
        "Note": "notes", "Company__c": "companies",
    }.items():  # fmt: skip
        ids = [row["Id"] for row in org.rows(f"SELECT Id FROM {name}")]
        assert len(set(ids)) == len(ids) == counts[plural]
        assert all(is_id(key) for key in ids)
        assert {key[:3] for key in ids} == {org.object(name).spec.prefix}


def test_queries_follow_relations_and_group(sandbox: Sandbox, org: Org) -> None:
    by_stage = sandbox.call("summarize_opportunities", {}).result["by_stage"]
    rows = org.rows(
        "SELECT StageName, COUNT(Id) n, SUM(Amount) total FROM Opportunity GROUP BY StageName"
    )
    found = {row["StageName"]: {"count": row["n"], "amount": row["total"]} for row in rows}
    assert found == by_stage
    quote = org.rows(
        "SELECT Opportunity.Account.Name, Opportunity.Owner.Name, Opportunity.IsClosed FROM Quote "
        "WHERE Opportunity.StageName = 'Closed-Won' LIMIT 1"
    )[0]["Opportunity"]
    assert quote["IsClosed"] is True
    assert sandbox.call("client_search", {"name": quote["Account"]["Name"]}).result["total_count"]
    with_children = org.rows("SELECT Id, (SELECT Id FROM Contacts) FROM Account")
    assert sum(r["Contacts"]["totalSize"] for r in with_children if r["Contacts"]) == count(
        org, "Contact"
    )


def test_what_is_written_lands_in_the_crm(sandbox: Sandbox, org: Org) -> None:
    owner = org.rows("SELECT Id, Name FROM User WHERE Name != 'System Administrator' LIMIT 1")[0]
    account = org.create("Account", {**ACCOUNT, "OwnerId": owner["Id"], "Industry": "Tools"})
    deal = org.create(
        "Opportunity",
        {"Name": "Deal", "AccountId": account, "StageName": "Proposal", "Amount": 5000,
         "CloseDate": "2030-01-31"},
    )  # fmt: skip
    org.update("Opportunity", deal, {"StageName": "Negotiation", "Amount": 5000})
    note = org.create("Note", {"ParentId": deal, "Body": "First line\nSecond"})
    file = org.create("ContentDocument", {"LinkedEntityId": account, "Title": "offer.pdf"})
    company = org.create("Company__c", {"Name": "Rival", "Contacts__c": "A; B"})
    effect = {(change.table, (change.after or {}).get("name")) for change in sandbox.effect()}
    assert effect == {
        ("Client", "Acme"), ("Opportunity", "Deal"), ("Note", None), ("Document", None),
        ("Company", "Rival"),
    }  # fmt: skip
    found = sandbox.call("client_search", {"name": "Acme"}).result["records"][0]
    assert (found["owner"], found["industry"]) == (owner["Name"], "Tools")
    deal_row = sandbox.call("opportunity_search", {"client_id": found["client_id"]}).result
    assert deal_row["records"][0]["stage"] == "Negotiation"
    assert org.get("Note", note)["Title"] == "First line"
    assert org.get("ContentDocument", file)["FileExtension"] == "pdf"
    assert org.get("Company__c", company, ["Contacts__c"])["Contacts__c"] == "A; B"
    assert sandbox.call("modify_client", {"client_id": found["client_id"], "name": "Acme Two"}).ok
    assert org.get("Account", account, ["Name"])["Name"] == "Acme Two"
    assert [r["Name"] for r in org.search("FIND {Acme Two} RETURNING Account(Name)")] == [
        "Acme Two"
    ]
    assert org.recent(1)[0]["Name"] == "Acme Two"


def test_the_copy_follows_what_is_undone(sandbox: Sandbox, org: Org) -> None:
    account = org.create("Account", ACCOUNT)
    deal = org.create(
        "Opportunity", {"Name": "D", "AccountId": account, "StageName": "Proposal", "Amount": 1}
    )

    def delete_and_fail() -> None:
        with org.atomic():
            org.delete("Account", account)
            assert count(org, f"Opportunity WHERE Id = '{deal}'") == 0
            raise RuntimeError

    before = sandbox.digest()
    with pytest.raises(RuntimeError):
        delete_and_fail()
    assert sandbox.digest() == before
    assert count(org, f"Opportunity WHERE Id = '{deal}'") == 1
    org.delete("Account", account)
    assert count(org, f"Opportunity WHERE Id = '{deal}'") == 0
    gone = org.query(f"SELECT Name, IsDeleted FROM Opportunity WHERE Id = '{deal}'", deleted=True)
    assert [(r["Name"], r["IsDeleted"]) for r in gone.records] == [("D", True)]


@pytest.mark.parametrize(
    ("name", "values", "code", "message"),
    [
        ("Account", {"Name": "A"}, "REQUIRED_FIELD_MISSING", "[Email__c, Status__c]"),
        ("Account", {**ACCOUNT, "Email__c": "no"}, "INVALID_EMAIL_ADDRESS", "Email"),
        (
            "Account",
            {**ACCOUNT, "Status__c": "Gone"},
            "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
            "Gone",
        ),
        (
            "Account",
            {**ACCOUNT, "CreatedDate": "2020-01-01"},
            "INVALID_FIELD_FOR_INSERT_UPDATE",
            "Crea",
        ),
        ("User", {"Name": "A"}, "INSUFFICIENT_ACCESS_OR_READONLY", "User"),
        (
            "Note",
            {"ParentId": "006Hs0000000001", "Body": "x"},
            "INVALID_CROSS_REFERENCE_KEY",
            "inv",
        ),
        ("ContentDocument", {"LinkedEntityId": "x", "Title": "a.pdf"}, "MALFORMED_ID", "x"),
        ("Knowledge__kav", {"Title": "a"}, "INSUFFICIENT_ACCESS_OR_READONLY", "Knowledge__kav"),
    ],
)
def test_refusals(
    sandbox: Sandbox, org: Org, name: str, values: Row, code: str, message: str
) -> None:
    with pytest.raises(SobjectError) as caught:
        org.create(name, values)
    assert caught.value.code == code
    assert message in caught.value.message
    assert sandbox.effect() == ()


def test_rules_of_the_crm_are_told_as_validation_rules(sandbox: Sandbox, org: Org) -> None:
    won = org.rows("SELECT Id FROM Opportunity WHERE IsWon = true LIMIT 1")[0]["Id"]
    with pytest.raises(ToolError) as caught:
        org.update("Opportunity", won, {"Amount": 1})
    told = as_json(caught.value)
    assert told["errorCode"] == "FIELD_CUSTOM_VALIDATION_EXCEPTION"
    assert "Cannot modify closed opportunity fields" in told["message"]
    taken = org.rows("SELECT Email__c FROM Account LIMIT 1")[0]["Email__c"]
    with pytest.raises(SobjectError, match="Client already exists") as duplicate:
        org.create("Account", {**ACCOUNT, "Email__c": taken.upper()})
    assert duplicate.value.code == "DUPLICATE_VALUE"
    assert sandbox.effect() == ()


def test_all_that_is_described_can_be_queried(org: Org) -> None:
    for each in org.schema.objects.values():
        described = describe_object(org.schema, each, "/s")
        org.query(
            f"SELECT {', '.join(f['name'] for f in described['fields'])} FROM {each.name} LIMIT 1"
        )
        for child in described["childRelationships"]:
            if child["relationshipName"]:
                org.query(f"SELECT (SELECT Id FROM {child['relationshipName']}) FROM {each.name}")


def test_the_hard_crm_has_its_articles_too() -> None:
    with Sandbox.open(SALES_HARD, "worklist-L1-42-01") as sandbox:
        org = open_org(sandbox)
        rows = sandbox.database.snapshot()["Article"]
        found = org.rows("SELECT ArticleNumber, Title FROM Knowledge__kav ORDER BY ArticleNumber")
        assert [r["ArticleNumber"] for r in found] == sorted(rows)


def test_an_empty_crm_can_be_filled() -> None:
    with Sandbox.open(SALES, "empty") as sandbox:
        org = open_org(sandbox)
        assert count(org, "Account") == 0
        org.create("Account", ACCOUNT)
        assert count(org, "Account WHERE Name = 'acme'") == 1
