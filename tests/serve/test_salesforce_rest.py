"""Salesforce's REST and bulk APIs and logins, asked without a client of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from crmbench.salesforce.sobjects import ORGANIZATION_ID
from crmbench.serve.app import make_app
from crmbench.serve.sessions import Sessions

DATA = "/services/data/v59.0"


@pytest.fixture(scope="module")
def sessions() -> Iterator[Sessions]:
    made = Sessions()
    made.open_org("service", "service", "org-42-x0.05")
    yield made
    made.close()


@pytest.fixture
def client(sessions: Sessions) -> Iterator[TestClient]:
    """A client of an org in its first state."""
    sessions.orgs["service"].reset()
    with TestClient(make_app(sessions), raise_server_exceptions=True) as made:
        made.headers["Authorization"] = f"Bearer {sessions.orgs['service'].token}"
        yield made


def soql(client: TestClient, text: str) -> list[dict[str, Any]]:
    answer = client.get(f"{DATA}/query/", params={"q": text})
    assert answer.status_code == 200, answer.text
    records: list[dict[str, Any]] = answer.json()["records"]
    return records


def digest(sessions: Sessions) -> str:
    return sessions.orgs["service"].sandbox.digest()


def test_versions_and_resources(client: TestClient, sessions: Sessions) -> None:
    del client.headers["Authorization"]
    listed = client.get("/services/data/").json()
    assert {"label": "Winter '24", "url": "/services/data/v59.0", "version": "59.0"} in listed
    assert max(listed, key=lambda v: v["version"])["version"] == "67.0"
    client.headers["Authorization"] = "Bearer wrong"
    refused = client.get(f"{DATA}/limits")
    assert refused.status_code == 401
    assert refused.json() == [
        {"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}
    ]
    client.headers["Authorization"] = f"Bearer {sessions.orgs['service'].token}"
    resources = client.get(f"{DATA}/").json()
    assert resources["query"] == f"{DATA}/query"
    assert resources["identity"].startswith("http://testserver/id/00D")
    assert client.get(resources["identity"]).json()["organization_id"] == ORGANIZATION_ID
    limits = client.get(f"{DATA}/limits/")
    assert limits.json()["DailyApiRequests"]["Max"] == 15_000
    assert re.fullmatch(r"api-usage=\d+/15000", limits.headers["Sforce-Limit-Info"])
    assert limits.headers["Content-Type"] == "application/json;charset=UTF-8"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", f"{DATA}/tooling/query", 404, "NOT_FOUND"),
        ("GET", "/services/apexrest/x", 404, "NOT_FOUND"),
        ("GET", f"{DATA}/sobjects/Nope", 404, "NOT_FOUND"),
        ("GET", f"{DATA}/sobjects/Case/x/y/z", 404, "NOT_FOUND"),
        ("GET", "/services/data/vX/limits", 404, "NOT_FOUND"),
        ("PUT", f"{DATA}/sobjects/Case", 405, "METHOD_NOT_ALLOWED"),
        ("POST", f"{DATA}/query?q=SELECT+Id+FROM+Case", 405, "METHOD_NOT_ALLOWED"),
        ("GET", f"{DATA}/query", 400, "MALFORMED_QUERY"),
        ("GET", f"{DATA}/query?q=FIND+%7Bx%7D", 400, "MALFORMED_QUERY"),
        ("GET", f"{DATA}/query?q=sosl+FIND+%7Bx%7D", 400, "MALFORMED_QUERY"),
        ("GET", f"{DATA}/query?q=SELECT+Id+FROM+Nope", 400, "INVALID_TYPE"),
        ("GET", f"{DATA}/query/01gx-2000", 400, "INVALID_QUERY_LOCATOR"),
        ("GET", f"{DATA}/query/01gx-%C2%B2", 400, "INVALID_QUERY_LOCATOR"),
        ("GET", f"{DATA}/search?q=SELECT+Id+FROM+Case", 400, "MALFORMED_SEARCH"),
        ("GET", f"{DATA}/search/", 400, "MALFORMED_SEARCH"),
        ("GET", f"{DATA}/recent?limit=x", 400, "INVALID_QUERY_PARAMETER"),
        ("GET", f"{DATA}/sobjects/Case/updated/?start=2026&end=x", 400, "MALFORMED_ID"),
    ],
)
def test_addresses_that_lead_nowhere(
    client: TestClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status, answer.text
    (error,) = answer.json()
    assert error["errorCode"] == code
    assert error["message"]


@pytest.mark.parametrize(
    ("body", "content", "status", "code", "message"),
    [
        (b'{"Name": jo}', "application/json", 400, "JSON_PARSER_ERROR",
         ("Unexpected character ('j' (code 106)): was expecting a valid value "
         "at [line:1, column:10]")),
        (b'{"Name": ', "application/json", 400, "JSON_PARSER_ERROR", "Unexpected end-of-input"),
        (b"\xff\xfe", "application/json", 400, "JSON_PARSER_ERROR", ""),
        (b"[1]", "application/json", 400, "JSON_PARSER_ERROR", "must be an object, not list"),
        (b"", "application/json", 400, "JSON_PARSER_ERROR", "no body"),
        (b'{"Name": "\\ud800"}', "application/json", 400, "JSON_PARSER_ERROR", ""),
        (b'{"Name": ' + b"[" * 500 + b"]" * 500 + b"}", "application/json", 400,
         "JSON_PARSER_ERROR", "nested more than"),
        (b'{"Name": {"a": 1}}', "application/json", 400, "JSON_PARSER_ERROR", "START_OBJECT"),
        (b'{"Name": "a\\u0000b"}', "application/json", 400, "JSON_PARSER_ERROR", "VALUE_STRING"),
        (b"<a/>", "application/xml", 415, "UNSUPPORTED_MEDIA_TYPE", "content type"),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_used(
    client: TestClient,
    sessions: Sessions,
    body: bytes,
    content: str,
    status: int,
    code: str,
    message: str,
) -> None:
    before = digest(sessions)
    answer = client.post(
        f"{DATA}/sobjects/Product2", content=body, headers={"Content-Type": content}
    )
    (error,) = answer.json()
    assert (answer.status_code, error["errorCode"]) == (status, code)
    assert message in error["message"]
    assert digest(sessions) == before


def test_external_ids_hold_any_character(client: TestClient) -> None:
    for value in ("a b/c", "ü+ö", "x%2Fy", "'; --", "\\"):
        path = f"{DATA}/sobjects/Product2/External_ID__c/{quote(value, safe='')}"
        made = client.patch(path, json={"Name": "Thing"})
        assert (made.status_code, made.json()["created"]) == (201, True)
        again = client.patch(path, json={"Name": "Thing 2"})
        assert (again.status_code, again.json()["created"]) == (200, False)
        record = client.get(path).json()
        assert (record["External_ID__c"], record["Name"]) == (value, "Thing 2")
    plus = client.get(f"{DATA}/sobjects/Product2/External_ID__c/a+b%2Fc")
    assert plus.json()["External_ID__c"] == "a b/c"
    old = client.patch(
        "/services/data/v45.0/sobjects/Product2/External_ID__c/x", json={"Name": "T"}
    )
    assert old.status_code == 201
    old = client.patch(
        "/services/data/v45.0/sobjects/Product2/External_ID__c/x", json={"Name": "U"}
    )
    assert (old.status_code, old.content) == (204, b"")


def test_pages_and_their_size(client: TestClient) -> None:
    answer = client.get(
        f"{DATA}/query/",
        params={"q": "SELECT Id FROM PricebookEntry"},
        headers={"Sforce-Query-Options": "batchSize=200"},
    ).json()
    seen = list(answer["records"])
    assert len(seen) == 200
    while not answer["done"]:
        answer = client.get(answer["nextRecordsUrl"]).json()
        seen += answer["records"]
    assert len(seen) == answer["totalSize"] == len({r["Id"] for r in seen})
    assert "nextRecordsUrl" not in answer


def test_collections_some_or_all(client: TestClient, sessions: Sessions) -> None:
    records = [
        {"attributes": {"type": "Product2"}, "Name": "One"},
        {"attributes": {"type": "Product2"}},
        {"Name": "No type"},
    ]
    path = f"{DATA}/composite/sobjects"
    made = client.post(path, json={"records": records, "allOrNone": False}).json()
    assert [r["success"] for r in made] == [True, False, False]
    assert made[1]["errors"] == [
        {
            "statusCode": "REQUIRED_FIELD_MISSING",
            "message": "Required fields are missing: [Name]",
            "fields": ["Name"],
        }
    ]
    before = digest(sessions)
    made_not = client.post(path, json={"records": records, "allOrNone": True}).json()
    assert made_not[0]["errors"][0]["statusCode"] == "ALL_OR_NONE_OPERATION_ROLLED_BACK"
    assert digest(sessions) == before
    key = made[0]["id"]
    changed = client.patch(
        path, json={"records": [{"attributes": {"type": "Product2"}, "id": key, "Name": "Two"}]}
    )
    assert changed.json() == [{"id": key, "success": True, "errors": []}]
    read = client.post(f"{path}/Product2", json={"ids": [key, "x"], "fields": ["Name"]}).json()
    assert [r and r["Name"] for r in read] == ["Two", None]
    assert client.get(f"{path}/Product2?ids={key}&fields=Name").json()[0]["Name"] == "Two"
    merged = client.patch(
        f"{path}/Product2/External_ID__c",
        json={
            "records": [{"attributes": {"type": "Product2"}, "External_ID__c": "q", "Name": "Q"}]
        },
    ).json()
    assert merged[0]["created"] is True
    gone = client.delete(path, params={"ids": f"{key},500x", "allOrNone": "false"}).json()
    assert [r["success"] for r in gone] == [True, False]
    too_many = client.post(path, json={"records": [{}] * 201})
    assert too_many.json()[0]["errorCode"] == "EXCEEDED_ID_LIMIT"


def composite(*parts: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"compositeRequest": list(parts), **options}


def test_a_composite_request_refers_to_its_own_answers(
    client: TestClient, sessions: Sessions
) -> None:
    contact = soql(client, "SELECT Id FROM Contact LIMIT 1")[0]["Id"]
    new_case = {
        "method": "POST", "url": f"{DATA}/sobjects/Case", "referenceId": "new",
        "body": {"ContactId": contact, "Subject": "Torn"},
    }  # fmt: skip
    comment = {
        "method": "POST", "url": f"{DATA}/sobjects/CaseComment", "referenceId": "comment",
        "body": {"ParentId": "@{new.id}", "CommentBody": "Sent."},
    }  # fmt: skip
    read = {"method": "GET", "url": f"{DATA}/sobjects/Case/@{{new.id}}", "referenceId": "read"}
    find = {
        "method": "GET", "referenceId": "find",
        "url": f"{DATA}/query?q=SELECT+Id,+Subject+FROM+Case+WHERE+Id='@{{read.Id}}'",
    }  # fmt: skip
    bad = {"method": "POST", "url": f"{DATA}/sobjects/Case", "referenceId": "bad", "body": {}}
    answer = client.post(f"{DATA}/composite", json=composite(new_case, comment, read, find))
    done = answer.json()["compositeResponse"]
    assert [d["httpStatusCode"] for d in done] == [201, 201, 200, 200]
    assert done[3]["body"]["records"][0]["Subject"] == "Torn"
    before = digest(sessions)
    whole = client.post(f"{DATA}/composite", json=composite(new_case, bad, read, allOrNone=True))
    done = whole.json()["compositeResponse"]
    assert [d["httpStatusCode"] for d in done] == [400, 400, 400]
    assert [d["body"][0]["errorCode"] for d in done] == [
        "PROCESSING_HALTED", "REQUIRED_FIELD_MISSING", "PROCESSING_HALTED",
    ]  # fmt: skip
    assert digest(sessions) == before
    lost = client.post(f"{DATA}/composite", json=composite(comment)).json()["compositeResponse"]
    assert "Invalid reference specified" in lost[0]["body"][0]["message"]
    graph = {"graphs": [{"graphId": "1", **composite(new_case, comment)}]}
    (planted,) = client.post(f"{DATA}/composite/graph", json=graph).json()["graphs"]
    assert planted["isSuccessful"] is True


def test_batches_and_trees(client: TestClient, sessions: Sessions) -> None:
    parts = [
        {"method": "GET", "url": "v59.0/limits"},
        {"method": "GET", "url": "v59.0/sobjects/Case/nope"},
        {
            "method": "PATCH",
            "url": "v59.0/sobjects/Product2/External_ID__c/b",
            "richInput": {"Name": "B"},
        },
        {"method": "GET", "url": "../../v1/sessions"},
        {"method": "POST", "url": "v59.0/composite/batch", "richInput": {"batchRequests": []}},
    ]
    done = client.post(f"{DATA}/composite/batch", json={"batchRequests": parts}).json()
    assert done["hasErrors"] is True
    assert [r["statusCode"] for r in done["results"]] == [200, 404, 201, 404, 400]
    account = {"attributes": {"type": "Account", "referenceId": "a"}, "LastName": "Root"}
    child = {"attributes": {"type": "Contact", "referenceId": "c"}, "LastName": "Leaf"}
    tree = {"records": [{**account, "Contacts": {"records": [child]}}]}
    made = client.post(f"{DATA}/composite/tree/Account", json=tree)
    assert (made.status_code, made.json()["hasErrors"]) == (201, False)
    leaf = soql(
        client, f"SELECT Account.Name FROM Contact WHERE Id = '{made.json()['results'][1]['id']}'"
    )
    assert leaf[0]["Account"]["Name"] == "Root"
    before = digest(sessions)
    bad = {"records": [{**account, "Contacts": {"records": [{**child, "Email": "no"}]}}]}
    refused = client.post(f"{DATA}/composite/tree/Account", json=bad)
    assert refused.status_code == 400
    assert refused.json()["results"][0]["referenceId"] == "c"
    assert digest(sessions) == before


def test_searches_by_parameters(client: TestClient) -> None:
    path = f"{DATA}/parameterizedSearch"
    by_address = client.get(
        path,
        params={
            "q": "tent",
            "sobject": "Product2",
            "Product2.fields": "Id,Name",
            "Product2.limit": 2,
        },
    ).json()["searchRecords"]
    assert len(by_address) == 2
    body = {"q": "tent", "sobjects": [{"name": "Product2", "fields": ["Id", "Name"], "limit": 2}]}
    assert client.post(path, json=body).json()["searchRecords"] == by_address
    for bad in ({}, {"q": "x"}, {"q": "tent", "sobjects": ["A B"]}, {"q": "tent", "in": "HERE"},
                {"q": "tent", "sobjects": [{"name": "Case", "fields": ["Id) X(Id"]}]}):  # fmt: skip
        assert client.post(path, json=bad).json()[0]["errorCode"] == "MALFORMED_SEARCH"


LOGIN = (
    '<?xml version="1.0" encoding="utf-8" ?><env:Envelope '
    'xmlns:env="http://schemas.xmlsoap.org/soap/envelope/"><env:Body>'
    '<n1:login xmlns:n1="urn:partner.soap.sforce.com"><n1:username>{}</n1:username>'
    "<n1:password>{}</n1:password></n1:login></env:Body></env:Envelope>"
)


def test_logins_by_soap(client: TestClient, sessions: Sessions) -> None:
    answer = client.post("/services/Soap/u/59.0", content=LOGIN.format("a@b", "p&amp;w"))
    assert answer.status_code == 200
    for name in ("sessionId", "serverUrl", "userId", "organizationId"):
        assert re.search(f"<{name}>[^<]+</{name}>", answer.text), name
    assert sessions.orgs["service"].token in answer.text
    shut = Sessions("secret")
    shut.open_org("one", "service", "org-42-x0.05")
    with TestClient(make_app(shut)) as other:
        refused = other.post("/services/Soap/u/59.0", content=LOGIN.format("a@b", "guess"))
        assert refused.status_code == 500
        assert "<sf:exceptionCode>INVALID_LOGIN</sf:exceptionCode>" in refused.text
        assert "<faultstring>INVALID_LOGIN: Invalid username" in refused.text
        taken = other.post("/services/Soap/u/59.0", content=LOGIN.format("a@b", "pwsecret"))
        assert shut.orgs["one"].token in taken.text
        form = {"grant_type": "password", "username": "u", "password": "no"}
        told = other.post("/services/oauth2/token", data=form)
        assert (told.status_code, told.json()["error"]) == (400, "invalid_grant")
        assert other.get("/services/oauth2/userinfo").status_code == 401
    shut.close()


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + LOGIN.format("&b;", "x")


@pytest.mark.parametrize(
    "body",
    [
        BOMB.encode(),
        BOMB.encode("utf-16"),
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
        b"<a>" * 200_000,
        b"",
        b"\x00",
        b"<?xml version='1.0' encoding='utf-7'?><a/>",
    ],
)
def test_hostile_xml_is_refused(client: TestClient, body: bytes) -> None:
    soap = client.post("/services/Soap/u/59.0", content=body)
    assert soap.status_code == 500
    assert "<faultcode>sf:INVALID" in soap.text
    job = client.post(
        "/services/async/59.0/job", content=body, headers={"Content-Type": "application/xml"}
    )
    assert job.status_code == 400
    assert "<exceptionCode>" in job.text
    assert "root:" not in soap.text + job.text


@pytest.mark.parametrize(
    "form",
    [
        {"grant_type": "password", "username": "u", "password": "p"},
        {"grant_type": "client_credentials", "client_id": "c", "client_secret": "s"},
        {"grant_type": "refresh_token", "refresh_token": "r"},
        {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
         "assertion": "e30.eyJzdWIiOiAidSJ9.x"},
    ],
)  # fmt: skip
def test_logins_by_oauth(client: TestClient, sessions: Sessions, form: dict[str, str]) -> None:
    answer = client.post("/services/oauth2/token", data=form).json()
    assert answer["access_token"] == sessions.orgs["service"].token
    assert answer["instance_url"] == "http://testserver"
    assert answer["id"].startswith(f"http://testserver/id/{ORGANIZATION_ID}/005")
    who = client.get("/services/oauth2/userinfo").json()
    assert who["organization_id"] == ORGANIZATION_ID
    record = client.get(f"/services/data/v51.0/sobjects/User/{who['user_id']}").json()
    assert record["Username"] == who["preferred_username"]


def test_a_token_of_another_sort_is_refused_in_every_form(client: TestClient) -> None:
    client.headers["Authorization"] = ""
    headers = {"X-SFDC-Session": "nothing", "Content-Type": "application/xml"}
    answer = client.post("/services/async/59.0/job", content=b"<jobInfo/>", headers=headers)
    assert answer.status_code == 400
    assert "<exceptionCode>InvalidSessionId</exceptionCode>" in answer.text
    form = {"grant_type": "none"}
    assert client.post("/services/oauth2/token", data=form).status_code == 400


def test_orgs_side_by_side_by_path(sessions: Sessions) -> None:
    sessions.open_org("other", "service", "org-42-x0.05")
    with TestClient(make_app(sessions)) as client:
        made = client.post(f"/orgs/other{DATA}/sobjects/Product2", json={"Name": "There"}).json()
        path = f"{DATA}/sobjects/Product2/{made['id']}"
        assert client.get(f"/orgs/other{path}").json()["Name"] == "There"
        assert client.get(f"/orgs/service{path}").status_code == 404
        assert client.get(f"/orgs/none{path}").status_code == 404
    sessions.orgs.pop("other").close()


def test_columns_of_a_query(client: TestClient) -> None:
    # What the sf CLI asks before it shows a result.
    def columns(query: str) -> list[dict[str, Any]]:
        asked = {"q": query, "columns": "true"}
        found = client.get(f"{DATA}/query", params=asked).json()["columnMetadata"]
        assert isinstance(found, list)
        return found

    number, owner, closed = columns("SELECT CaseNumber, Owner.Name, IsClosed FROM Case LIMIT 1")
    assert (number["columnName"], number["textType"], number["aggregate"]) == (
        "CaseNumber",
        True,
        False,
    )
    assert [each["columnName"] for each in owner["joinColumns"]] == ["Name"]
    assert closed["booleanType"]
    _, named, unnamed = columns(
        "SELECT Status, COUNT(Id) n, MAX(CreatedDate) FROM Case GROUP BY Status"
    )
    assert (named["columnName"], named["displayName"], named["aggregate"]) == ("n", "n", True)
    assert (unnamed["columnName"], unnamed["displayName"]) == ("expr0", "MAX(CreatedDate)")
    _, children = columns("SELECT Name, (SELECT Id FROM Contacts) FROM Account")
    assert children["aggregate"]
    assert [each["columnName"] for each in children["joinColumns"]] == ["Id"]
    refused = client.get(f"{DATA}/query", params={"q": "SELECT Nope FROM Case", "columns": "true"})
    assert refused.json()[0]["errorCode"] == "INVALID_FIELD"


def test_an_address_may_begin_with_two_slashes(client: TestClient) -> None:
    address = f"http://testserver/{DATA}/query?q=SELECT+COUNT()+FROM+Case"
    assert client.get(address).json()["totalSize"] > 10
    assert client.get("http://testserver//healthz").json() == {"status": "ok"}
