"""``crmbench explore``: records, searches, queries with what may come next, and the journal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.conftest import NORTHGATE

from crmbench.salesforce.sobjects import Org
from crmbench.serve.graded import GradedSession
from crmbench.serve.sessions import Sessions
from crmbench.web.complete import offers
from crmbench.web.explore import explorer_app
from crmbench.web.pages import POLICY


@pytest.fixture(scope="module")
def client(sessions: Sessions) -> Iterator[TestClient]:
    app = explorer_app(sessions, ("testserver",))
    with TestClient(app, raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def org(sessions: Sessions) -> Org:
    return sessions.orgs["harbour"].org


ROOT = "/explore/harbour"


def first_of(client: TestClient, name: str) -> str:
    found = re.search(
        rf'<tr data-row[^>]*><td class="id"><a href="({ROOT}/records/{name}/\w+)"',
        client.get(f"{ROOT}/objects/{name}").text,
    )
    assert found
    return found[1]


def test_the_only_org_opens_at_once(client: TestClient) -> None:
    assert client.get("/", follow_redirects=True).url.path == ROOT


def test_every_object_with_its_records(client: TestClient, org: Org) -> None:
    page = client.get(ROOT).text
    for each in org.schema.objects.values():
        assert f"{ROOT}/objects/{each.name}" in page
        answer = client.get(f"{ROOT}/objects/{each.name}")
        assert answer.status_code == 200
        assert 'class="note bad"' not in answer.text, each.name
        total = org.rows(f"SELECT COUNT(Id) n FROM {each.name}")[0]["n"]
        assert f"{total:,} records" in answer.text


def test_lists_are_narrowed_and_sorted(client: TestClient, org: Org) -> None:
    row = org.rows("SELECT Id, Name FROM Account ORDER BY Name LIMIT 1")[0]
    page = client.get(
        f"{ROOT}/objects/Account", params={"field": "Name", "value": row["Name"]}
    ).text
    assert row["Id"] in page
    up, down = (
        re.findall(
            r'class="id"><a[^>]*>([^<]*)', client.get(f"{ROOT}/objects/Account?sort={s}").text
        )
        for s in ("Name", "-Name")
    )
    assert len(up) > 5
    assert up != down
    assert unescape(up[0]) == row["Name"]


@pytest.mark.parametrize("value", ["O'Neil", "100%", "_", "\\", "' OR Name != '", "<b>"])
def test_what_is_searched_for_is_a_value(client: TestClient, value: str) -> None:
    answer = client.get(f"{ROOT}/objects/Account", params={"field": "Name", "value": value})
    assert "0 records" in answer.text
    assert 'class="note bad"' not in answer.text


def test_a_value_of_another_type_is_refused_in_words(client: TestClient) -> None:
    page = client.get(f"{ROOT}/objects/Opportunity?field=Amount&op=over&value=lots").text
    assert 'class="note bad"' in page


def test_a_record_leads_to_what_belongs_to_it(client: TestClient) -> None:
    address = first_of(client, "Account")
    page = client.get(address).text
    assert "Contact" in page
    related = re.search(rf'href="({ROOT}/records/Contact/\w+)"', page)
    assert related
    back = client.get(related[1]).text
    assert address in back


def test_what_a_program_writes_stands_in_the_journal_and_at_the_record(
    client: TestClient, sessions: Sessions
) -> None:
    address = first_of(client, "Account")
    key = address.rpartition("/")[2]
    before = client.get(f"{ROOT}/journal", headers={"HX-Request": "true"}).text
    assert key not in before
    answer = client.patch(
        f"/services/data/v59.0/sobjects/Account/{key}",
        json={"Phone": "+49 30 555 <i>"},
        headers={"Authorization": f"Bearer {sessions.orgs['harbour'].token}"},
    )
    assert answer.status_code == 204
    after = client.get(f"{ROOT}/journal", headers={"HX-Request": "true"}).text
    assert key in after
    assert "+49 30 555 &lt;i&gt;" in after
    assert "<html" not in after
    assert "<b>changed</b>" in client.get(address).text


def test_a_search_in_all_objects(client: TestClient, org: Org) -> None:
    name = org.rows("SELECT Name FROM Account ORDER BY Name LIMIT 1")[0]["Name"]
    page = client.get(f"{ROOT}/search", params={"q": name.split()[0]}).text
    assert name in unescape(page)
    assert 'class="note bad"' in client.get(f"{ROOT}/search?q=x").text


def test_queries_of_both_languages(client: TestClient, org: Org) -> None:
    page = client.get(f"{ROOT}/query?q=SELECT Id, Owner.Name FROM Account LIMIT 3").text
    assert "<th>Owner.Name</th>" in page
    assert "3 records" in page
    word = org.rows("SELECT Name FROM Account ORDER BY Name LIMIT 1")[0]["Name"].split()[0]
    query = f"FIND {{{word}}} RETURNING Account(Id, Name)"
    found = client.get(f"{ROOT}/query", params={"q": query}).text
    assert "<th>object</th>" in found
    assert 'class="note bad"' in client.get(f"{ROOT}/query?q=SELECT Nope FROM Account").text
    assert 'class="note bad"' in client.get(f"{ROOT}/query?q=DROP TABLE x").text


@pytest.mark.parametrize(
    ("text", "first", "start"),
    [
        ("SEL|", "SELECT", 0),
        ("SELECT Id FROM Acc|", "Account", 15),
        ("SELECT Na| FROM Account", "Name", 7),
        ("SELECT Owner.Na| FROM Account", "Name", 13),
        ("SELECT Own| FROM Account", "OwnerId", 7),
        ("SELECT Id FROM Account WHERE Status__c = 'Pro|", "Prospect", 42),
        ("SELECT Id FROM Account WHERE Ind|", "Industry", 29),
        ("SELECT Id FROM Account ORDER BY Na|", "Name", 32),
        ("FIND {x} RETURNING Cont|", "Contact", 19),
        ("FIND {x} RETURNING Contact(Id, Na|", "Name", 31),
    ],
)
def test_what_may_come_next(org: Org, text: str, first: str, start: int) -> None:
    at = text.index("|")
    found = offers(org.schema, text.replace("|", ""), at)
    assert (found[0].text, found[0].start) == (first, start)


@pytest.mark.parametrize("text", ["", "SELECT Nope.X", "SELECT x FROM Nope WHERE ", "'", "FIND {"])
def test_nothing_breaks_where_nothing_is_known(org: Org, text: str) -> None:
    assert isinstance(offers(org.schema, text, len(text)), list)


def test_offers_come_as_json(client: TestClient) -> None:
    found = client.get(f"{ROOT}/complete", params={"text": "SELECT Id FROM Acc", "at": "18"}).json()
    assert found[0] == {"text": "Account", "kind": "Account", "start": 15}


@pytest.mark.parametrize(
    "path",
    [
        "/explore/nowhere",
        f"{ROOT}/objects/Nope",
        f"{ROOT}/records/Account/001000000000000AAA",
        f"{ROOT}/records/Account/%27",
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert answer.headers["content-security-policy"] == POLICY
    assert "<h1>" in answer.text


def test_programs_reach_the_same_org(client: TestClient, sessions: Sessions) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    token = sessions.orgs["harbour"].token
    answer = client.get(
        "/services/data/v59.0/query?q=SELECT COUNT() FROM Account",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.json()["totalSize"] > 5


@pytest.fixture
def graded(tmp_path: Path) -> Iterator[tuple[TestClient, GradedSession]]:
    """A conversation that somebody's agent plays, and pages that look on."""
    made = Sessions(out=tmp_path)
    session = made.open_session(NORTHGATE, "northgate-03", agent="watched")
    with TestClient(explorer_app(made, ("testserver",)), raise_server_exceptions=False) as opened:
        yield opened, session
    made.close()


def test_a_graded_session_is_watched_while_it_is_played(
    graded: tuple[TestClient, GradedSession],
) -> None:
    client, session = graded
    root, headers = f"/explore/{session.name}", {"Authorization": f"Bearer {session.token}"}
    assert root in client.get("/", follow_redirects=True).text
    part = {"HX-Request": "true"}
    assert "Nothing has been written yet." in client.get(f"{root}/journal", headers=part).text
    body = {
        "tool": "create_new_client",
        "arguments": {"name": "Nord <b>licht", "email": "n@nord.example", "status": "Active"},
    }
    answer = client.post(f"/v1/sessions/{session.name}/call", json=body, headers=headers)
    assert answer.json()["ok"] is True

    journal = client.get(f"{root}/journal", headers=part).text
    assert "<b>created</b> Client" in journal
    assert "Nord &lt;b&gt;licht" in journal
    record = re.search(rf'href="({root}/records/\w+/[\w-]+)"', journal)
    assert record
    page = client.get(record[1])
    assert page.status_code == 200
    assert "Nord &lt;b&gt;licht" in page.text
    assert client.get(root).text.count("Nord &lt;b&gt;licht") >= 1
    # Whoever looks on takes none of the calls that the agent has.
    assert session.status()["calls"] == 1


def test_a_graded_session_that_is_over_is_not_shown(
    graded: tuple[TestClient, GradedSession],
) -> None:
    client, session = graded
    headers = {"Authorization": f"Bearer {session.token}"}
    url = f"/v1/sessions/{session.name}/reply"
    assert client.get(f"/explore/{session.name}/journal").status_code == 200
    while not session.over:
        assert client.post(url, json={"text": "No."}, headers=headers).status_code == 200
    assert client.get(f"/explore/{session.name}/journal").status_code == 404
    assert f"/explore/{session.name}" not in client.get("/explore").text
