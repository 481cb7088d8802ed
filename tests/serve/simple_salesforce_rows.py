"""What simple-salesforce's public methods do against a server of ours: a row a method."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

ROWS: dict[str, Callable[[Any], None]] = {}
"""The rows of the table in docs/salesforce_api.md, by name; each takes a client."""
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
END = datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC)


def row(name: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Enter a row."""

    def enter(run: Callable[[Any], None]) -> Callable[[Any], None]:
        ROWS[name] = run
        return run

    return enter


def refused(run: Callable[[], object], kind: str, code: str) -> None:
    """See that a call raises what the library raises, with Salesforce's code."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the kinds come with the library
        run()
    assert caught.typename == kind
    error: Any = caught.value
    assert error.content[0]["errorCode"] == code


def new_case(sf: Any) -> str:
    contact = sf.query("SELECT Id FROM Contact LIMIT 1")["records"][0]["Id"]
    key: str = sf.Case.create({"ContactId": contact, "Subject": "From a test"})["id"]
    return key


@row("query")
def query(sf: Any) -> None:
    found = sf.query("SELECT Id, Account.Name, (SELECT Id FROM EmailMessages) FROM Case LIMIT 3")
    assert found["done"] is True
    assert [r["attributes"]["type"] for r in found["records"]] == ["Case"] * 3
    assert sf.query("SELECT COUNT() FROM Case")["totalSize"] > 3
    deleted = new_case(sf)
    sf.Case.delete(deleted)
    text = f"SELECT Id, IsDeleted FROM Case WHERE Id = '{deleted}'"
    assert sf.query(text)["totalSize"] == 0
    assert sf.query(text, include_deleted=True)["records"][0]["IsDeleted"] is True


@row("query_more")
def query_more(sf: Any) -> None:
    first = sf.query("SELECT Id FROM PricebookEntry")
    second = sf.query_more(first["nextRecordsUrl"], identifier_is_url=True)
    locator = first["nextRecordsUrl"].rpartition("/")[2]
    assert sf.query_more(locator)["records"] == second["records"]
    assert len(first["records"]) == len(second["records"]) == 2_000


@row("query_all, query_all_iter")
def query_all(sf: Any) -> None:
    found = sf.query_all("SELECT Id FROM PricebookEntry")
    assert found["totalSize"] == len(found["records"]) == 21_765
    assert sum(1 for _ in sf.query_all_iter("SELECT Id FROM OrderItem")) == 7_100


@row("search, quick_search")
def search(sf: Any) -> None:
    found = sf.search("FIND {tent} RETURNING Product2(Id, Name LIMIT 2)")["searchRecords"]
    assert len(found) == 2
    assert sf.quick_search("tent")["searchRecords"]
    assert sf.search("FIND {zzzzqqqq}") == {"searchRecords": []}


@row("describe, describe of an object, metadata, describe_layout")
def describe(sf: Any) -> None:
    names = {o["name"] for o in sf.describe()["sobjects"]}
    assert {"Case", "Account", "Knowledge__kav", "Organization"} <= names
    fields = {f["name"]: f for f in sf.Case.describe()["fields"]}
    assert fields["Status"]["type"] == "picklist"
    key = new_case(sf)
    assert sf.Case.metadata()["recentItems"][0]["Id"] == key
    assert sf.Case.describe_layout("012000000000000AAA")["layouts"] == []


@row("get, get_by_custom_id")
def get(sf: Any) -> None:
    key = new_case(sf)
    assert sf.Case.get(key)["Subject"] == "From a test"
    some = sf.Case.get(key, params={"fields": "Id,Subject"})
    assert set(some) == {"attributes", "Id", "Subject"}
    sf.Product2.upsert("External_ID__c/a b-1", {"Name": "Spaced"})
    assert sf.Product2.get_by_custom_id("External_ID__c", "a b-1")["Name"] == "Spaced"


@row("create, update, upsert, delete")
def write(sf: Any) -> None:
    key = new_case(sf)
    assert sf.Case.update(key, {"Priority": "High"}) == 204
    assert sf.Case.upsert(f"Id/{key}", {"Priority": "Low"}) == 200
    assert sf.Case.get(key)["Priority"] == "Low"
    assert sf.Product2.upsert("External_ID__c/new-1", {"Name": "New"}) == 201
    assert sf.Case.delete(key) == 204
    refused(lambda: sf.Case.get(key), "SalesforceResourceNotFound", "ENTITY_IS_DELETED")


@row("updated, deleted")
def changed(sf: Any) -> None:
    kept, gone = new_case(sf), new_case(sf)
    sf.Case.delete(gone)
    assert kept in sf.Case.updated(START, END)["ids"]
    assert gone in [r["id"] for r in sf.Case.deleted(START, END)["deletedRecords"]]
    naive = datetime.datetime(2026, 1, 1)  # noqa: DTZ001 - what the library then sends is no moment
    refused(lambda: sf.Case.updated(naive, naive), "SalesforceMalformedRequest", "MALFORMED_ID")


@row("limits, is_sandbox, api_usage")
def limits(sf: Any) -> None:
    assert sf.limits()["DailyApiRequests"]["Max"] == 15_000
    assert sf.is_sandbox() is True
    assert sf.api_usage["api-usage"].total == 15_000


@row("set_password")
def password(sf: Any) -> None:
    user = sf.query("SELECT Id FROM User LIMIT 1")["records"][0]["Id"]
    assert sf.set_password(user, "secret") is None


@row("restful: collections")
def collections(sf: Any) -> None:
    records = [{"attributes": {"type": "Product2"}, "Name": name} for name in ("One", "Two")]
    made = sf.restful("composite/sobjects", method="POST", json={"records": records})
    keys = [each["id"] for each in made]
    changed = [{"attributes": {"type": "Product2"}, "Id": key, "Description": "x"} for key in keys]
    done = sf.restful("composite/sobjects", method="PATCH", json={"records": changed})
    assert [each["success"] for each in done] == [True, True]
    gone = sf.restful("composite/sobjects", params={"ids": ",".join(keys)}, method="DELETE")
    assert [each["success"] for each in gone] == [True, True]


@row("restful: composite, batch, tree, parameterizedSearch, recent")
def composites(sf: Any) -> None:
    part = {"method": "GET", "url": "/services/data/v59.0/limits", "referenceId": "a"}
    done = sf.restful("composite", method="POST", json={"compositeRequest": [part]})
    assert done["compositeResponse"][0]["httpStatusCode"] == 200
    batch = {"batchRequests": [{"method": "GET", "url": "v59.0/limits"}]}
    assert sf.restful("composite/batch", method="POST", json=batch)["hasErrors"] is False
    tree = {"records": [{"attributes": {"type": "Product2", "referenceId": "a"}, "Name": "T"}]}
    planted = sf.restful("composite/tree/Product2", method="POST", json=tree)
    assert planted["results"][0]["referenceId"] == "a"
    found = sf.restful("parameterizedSearch", params={"q": "tent", "sobject": "Product2"})
    assert found["searchRecords"]
    assert isinstance(sf.restful("recent", params={"limit": 3}), list)


@row("bulk.<Object>: insert, update, upsert, delete, hard_delete")
def bulk_writes(sf: Any) -> None:
    made = sf.bulk.Product2.insert([{"Name": "B1", "External_ID__c": "B1"}, {"Name": "B2"}])
    assert [each["success"] for each in made] == [True, True]
    keys = [each["id"] for each in made]
    changed = sf.bulk.Product2.update([{"Id": key, "Description": "y"} for key in keys])
    assert [each["success"] for each in changed] == [True, True]
    merged = sf.bulk.Product2.upsert(
        [{"External_ID__c": "B1", "Name": "B1b"}, {"External_ID__c": "B3", "Name": "B3"}],
        external_id_field="External_ID__c",
    )
    assert [each["created"] for each in merged] == [False, True]
    bad = sf.bulk.Product2.insert([{"Name": "fine"}, {"Nope": 1}])
    assert [each["success"] for each in bad] == [True, False]
    assert bad[1]["errors"][0]["statusCode"] == "INVALID_FIELD"
    assert all(
        each["success"] for each in sf.bulk.Product2.delete([{"Id": keys[0]}, {"Id": keys[1]}])
    )
    last = [{"Id": each["id"]} for each in merged[1:]] + [{"Id": bad[0]["id"]}]
    assert all(each["success"] for each in sf.bulk.Product2.hard_delete(last))


@row("bulk.<Object>: query, query_all")
def bulk_queries(sf: Any) -> None:
    found = sf.bulk.Case.query("SELECT Id, Owner.Name FROM Case WHERE Status = 'Escalated'")
    assert len(found) > 1
    assert found[0]["Owner"]["Name"]
    assert len(sf.bulk.Case.query_all("SELECT Id FROM Case LIMIT 5")) == 5


@row("bulk2.<Object>: insert, update, upsert, delete, hard_delete")
def bulk2_writes(sf: Any) -> None:
    done = sf.bulk2.Product2.insert(
        records=[{"Name": "C1", "External_ID__c": "C1"}, {"Name": "C2", "External_ID__c": "C2"}],
        wait=0.01,
    )
    assert done[0]["numberRecordsProcessed"] == 2
    job = done[0]["job_id"]
    assert sf.bulk2.Product2.get_successful_records(job).count("true") == 2
    keys = [
        r["Id"]
        for r in sf.query("SELECT Id FROM Product2 WHERE External_ID__c IN ('C1', 'C2')")["records"]
    ]
    sf.bulk2.Product2.update(records=[{"Id": k, "Description": "z"} for k in keys], wait=0.01)
    assert sf.Product2.get(keys[0])["Description"] == "z"
    sf.bulk2.Product2.upsert(
        records=[{"External_ID__c": "C1", "Name": "C1b"}],
        external_id_field="External_ID__c",
        wait=0.01,
    )
    assert sf.Product2.get_by_custom_id("External_ID__c", "C1")["Name"] == "C1b"
    sf.bulk2.Product2.delete(records=[{"Id": keys[0]}, {"Id": keys[1]}], wait=0.01)
    again = sf.bulk2.Product2.hard_delete(records=[{"Id": keys[0]}, {"Id": keys[1]}], wait=0.01)
    assert again[0]["numberRecordsFailed"] == 2


@row("bulk2.<Object>: get_failed_records, get_unprocessed_records, get_all_ingest_records")
def bulk2_results(sf: Any) -> None:
    job = sf.bulk2.Product2.insert(records=[{"Name": "D1"}, {"Name": ""}], wait=0.01)[0]["job_id"]
    assert "REQUIRED_FIELD_MISSING" in sf.bulk2.Product2.get_failed_records(job)
    assert sf.bulk2.Product2.get_unprocessed_records(job).count("\n") == 1
    told = sf.bulk2.Product2.get_all_ingest_records(job)
    assert len(told["successfulRecords"]) == len(told["failedRecords"]) == 1


@row("bulk2.<Object>: query, query_all")
def bulk2_queries(sf: Any) -> None:
    parts = list(sf.bulk2.Case.query("SELECT Id, Owner.Name FROM Case", max_records=500))
    lines = [part.splitlines() for part in parts]
    assert len(parts) == 2
    assert lines[0][0] == '"Id","Owner.Name"'
    assert sum(len(each) - 1 for each in lines) == sf.query("SELECT COUNT() FROM Case")["totalSize"]
    assert list(sf.bulk2.Case.query_all("SELECT Id FROM Case LIMIT 1"))


@row("errors")
def errors(sf: Any) -> None:
    bad, missing = "SalesforceMalformedRequest", "SalesforceResourceNotFound"
    refused(lambda: sf.query("SELECT Nope FROM Case"), bad, "INVALID_FIELD")
    refused(lambda: sf.query("SELEC Id FROM Case"), bad, "MALFORMED_QUERY")
    refused(lambda: sf.Case.create({}), bad, "REQUIRED_FIELD_MISSING")
    refused(lambda: sf.Nope.create({}), missing, "NOT_FOUND")
    refused(lambda: sf.Case.get("500Hs0000000000"), missing, "NOT_FOUND")
    refused(lambda: sf.Organization.create({"Name": "x"}), "SalesforceRefusedRequest",
            "INSUFFICIENT_ACCESS_OR_READONLY")  # fmt: skip


@row("an expired session")
def expired(sf: Any) -> None:
    passed_in = type(sf)(session_id="00Dx!gone", instance=sf.sf_instance)
    kind, code = "SalesforceExpiredSession", "INVALID_SESSION_ID"
    refused(lambda: passed_in.query("SELECT Id FROM Case"), kind, code)
    refused(lambda: passed_in.Case.get("500Hs0000000000"), kind, code)
    sf.headers["Authorization"] = "Bearer 00Dx!gone"
    assert sf.query("SELECT Id FROM Case LIMIT 1")["totalSize"] == 1, "it logs in again"


@row("toolingexecute, apexecute, deploy, File and metadata calls")
def out_of_scope(sf: Any) -> None:
    refused(lambda: sf.toolingexecute("query/?q=x"), "SalesforceResourceNotFound", "NOT_FOUND")
    refused(lambda: sf.apexecute("x"), "SalesforceResourceNotFound", "NOT_FOUND")
