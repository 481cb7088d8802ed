"""The tools that write, and the history that the org keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.domains.service.example_org import (
    ACME,
    ANA,
    BEN,
    CLEO,
    DAN,
    LAMP_ITEM,
    LATE,
    MIA,
    NIGHT,
    RETURNS,
    TARP_ITEM,
    TORN,
    Desk,
    case_id,
    desk_on,
    key,
    sqlite_backend,
)

from crmbench.core.postgres import PostgresBackend
from crmbench.core.schema import Row
from crmbench.core.world import Backend
from crmbench.domains.service.schema import SCHEMA
from crmbench.errors import ToolError
from crmbench.salesforce.ids import is_id

OPEN, CLOSED = case_id(6), case_id(1)
NEW_CASE = {
    "contact_id": MIA,
    "agent_id": BEN,
    "subject": "The tarp leaks",
    "description": "It rained through.",
    "issue_id": TORN,
    "order_item_id": TARP_ITEM,
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    made: Backend = sqlite_backend() if request.param == "sqlite" else PostgresBackend(SCHEMA)
    yield made
    made.close()


@pytest.fixture
def desk(backend: Backend) -> Iterator[Desk]:
    with desk_on(backend) as opened:
        yield opened


def refused(desk: Desk, tool: str, **arguments: Any) -> ToolError:
    before = len(desk.database.journal)
    with pytest.raises(ToolError) as caught:
        desk.call(tool, **arguments)
    assert len(desk.database.journal) == before
    return caught.value


def history(desk: Desk, case: str) -> list[tuple[str, str | None, str | None]]:
    rows = desk.soql(
        "SELECT Field__c, OldValue__c, NewValue__c FROM CaseHistory__c "
        f"WHERE CaseId__c = '{case}' ORDER BY Id"
    )
    return [(row["Field__c"], row["OldValue__c"], row["NewValue__c"]) for row in rows]


def test_a_new_case_has_an_owner_an_account_and_a_history(desk: Desk) -> None:
    case = desk.call("create_case", **NEW_CASE)
    assert is_id(case["Id"], "Case")
    assert case == {
        "Id": case["Id"],
        "ContactId": MIA,
        "AccountId": ACME,
        "OwnerId": BEN,
        "Subject": "The tarp leaks",
        "Description": "It rained through.",
        "Priority": "Medium",
        "Status": "New",
        "IssueId__c": TORN,
        "OrderItemId__c": TARP_ITEM,
        "CreatedDate": "2025-07-15T09:00:00.000+0000",
        "ClosedDate": None,
    }
    assert history(desk, case["Id"]) == [
        ("Case Creation", None, None),
        ("Owner Assignment", None, BEN),
    ]
    assert desk.call("get_cases", start_date="2025-07-15")[0]["Id"] == case["Id"]
    found = desk.call("issue_sosl_query", query="FIND {leaks} RETURNING Case(Id)")
    assert [record["Id"] for record in found["searchRecords"]] == [case["Id"]]


def test_a_case_needs_an_active_owner_and_goods_of_its_customer(desk: Desk) -> None:
    assert "not active" in str(refused(desk, "create_case", **{**NEW_CASE, "agent_id": DAN}))
    wrong = refused(desk, "create_case", **{**NEW_CASE, "order_item_id": LAMP_ITEM})
    assert wrong.kind == "rule"
    assert "not bought" in str(wrong)
    refused(desk, "create_case", **{**NEW_CASE, "subject": "  "})
    refused(desk, "create_case", **{**NEW_CASE, "subject": "x" * 256})
    refused(desk, "create_case", **{**NEW_CASE, "priority": "Urgent"})
    refused(desk, "create_case", **{**NEW_CASE, "contact_id": key("Contact", 9)})
    refused(desk, "create_case", **{**NEW_CASE, "issue_id": MIA})


def test_assigning_moves_the_owner_and_is_noted(desk: Desk) -> None:
    assert desk.call("assign_case", case_id=OPEN, agent_id=ANA)["OwnerId"] == ANA
    assert history(desk, OPEN)[-1] == ("Owner Assignment", CLEO, ANA)
    today = {"start_date": "2025-07-15", "end_date": "2025-07-16"}
    assert desk.call("get_agent_transferred_cases_by_period", **today) == {ANA: 0, CLEO: 1}
    assert refused(desk, "assign_case", case_id=OPEN, agent_id=ANA).kind == "rule"
    assert refused(desk, "assign_case", case_id=CLOSED, agent_id=BEN).kind == "rule"
    refused(desk, "assign_case", case_id=OPEN, agent_id=DAN)
    refused(desk, "assign_case", case_id=OPEN, agent_id=key("User", 50))


def test_status_and_priority(desk: Desk) -> None:
    assert desk.call("set_case_status", case_id=OPEN, status="Escalated")["Status"] == "Escalated"
    assert desk.call("set_case_priority", case_id=OPEN, priority="High")["Priority"] == "High"
    writes = len(desk.database.journal)
    assert writes == 2
    desk.call("set_case_priority", case_id=OPEN, priority="High")
    assert len(desk.database.journal) == writes
    refused(desk, "set_case_status", case_id=OPEN, status="Closed")
    refused(desk, "set_case_status", case_id=CLOSED, status="New")
    refused(desk, "set_case_priority", case_id=CLOSED, priority="Low")


def test_closing_sets_the_date_and_is_noted_once(desk: Desk) -> None:
    case = desk.call("close_case", case_id=OPEN)
    assert (case["Status"], case["ClosedDate"]) == ("Closed", "2025-07-15T09:00:00.000+0000")
    assert history(desk, OPEN)[-1] == ("Case Closed", None, None)
    assert "closed on 2025-07-15" in str(refused(desk, "close_case", case_id=OPEN))
    assert desk.soql("SELECT Id FROM Case WHERE ClosedDate = TODAY") == [{"Id": OPEN}]


def test_correcting_what_a_case_is_about(desk: Desk) -> None:
    case = desk.call("update_case", case_id=CLOSED, issue_id=TORN, order_item_id=TARP_ITEM)
    assert (case["IssueId__c"], case["OrderItemId__c"]) == (TORN, TARP_ITEM)
    assert desk.call("update_case", case_id=OPEN, subject=" New ")["Subject"] == "New"
    assert refused(desk, "update_case", case_id=CLOSED, order_item_id=LAMP_ITEM).kind == "rule"
    assert "Nothing to change" in str(refused(desk, "update_case", case_id=CLOSED))
    refused(desk, "update_case", case_id=CLOSED, description="")
    refused(desk, "update_case", case_id=CLOSED, status="New")
    assert history(desk, CLOSED)[-1][0] == "Case Closed"


def test_comments_come_and_go(desk: Desk) -> None:
    comment = desk.call("comment_on_case", case_id=CLOSED, comment=" Settled by a new pole. ")
    assert comment["CommentBody"] == "Settled by a new pole."
    (seen,) = desk.soql(
        "SELECT (SELECT Id, CommentBody, CreatedBy.Name FROM CaseComments) "
        f"FROM Case WHERE Id = '{CLOSED}'"
    )
    (record,) = seen["CaseComments"]["records"]
    assert record["Id"] == comment["Id"]
    assert record["CreatedBy"] == {"Name": "Ana Ruiz"}
    refused(desk, "comment_on_case", case_id=CLOSED, comment="\n")
    refused(desk, "comment_on_case", case_id=CLOSED, comment="x" * 4001)
    deleted = desk.call("delete_case_comment", comment_id=comment["Id"])
    assert deleted == {"deleted": comment["Id"]}
    assert desk.soql("SELECT Id FROM CaseComment") == []
    assert refused(desk, "delete_case_comment", comment_id=comment["Id"]).kind == "not_found"


def draft(desk: Desk, **changes: str) -> Row:
    text = {"title": "Lost Pegs & Poles", "summary": "What to do.", "answer": "Send new ones."}
    made: Row = desk.call("draft_article", **{**text, **changes})
    return made


def test_an_article_is_drafted_and_then_published(desk: Desk) -> None:
    article = draft(desk)
    assert article["PublishStatus"] == "Draft"
    assert article["UrlName"] == "lost-pegs-poles"
    published = desk.call("publish_article", article_id=article["Id"])
    assert published == {**article, "PublishStatus": "Online"}
    found = desk.call("search_knowledge_articles", search_term="pegs")
    assert [record["Id"] for record in found] == [article["Id"]]
    assert refused(desk, "publish_article", article_id=article["Id"]).kind == "rule"
    assert desk.call("publish_article", article_id=NIGHT)["PublishStatus"] == "Online"


def test_articles_have_titles_and_links_of_their_own(desk: Desk) -> None:
    base = {"summary": "s", "answer": "a"}
    taken = refused(desk, "draft_article", title="Returns", **base)
    assert taken.kind == "duplicate"
    assert RETURNS in str(taken)
    same_link = refused(desk, "draft_article", title="Other", url_name="returns", **base)
    assert "UrlName" in str(same_link)
    refused(desk, "draft_article", title="Other", url_name="Not A Slug", **base)
    refused(desk, "draft_article", title="???", **base)
    refused(desk, "draft_article", title="Other", summary="s", answer=" ")


def test_only_drafts_are_deleted(desk: Desk) -> None:
    article = draft(desk)
    assert desk.call("delete_article_draft", article_id=article["Id"])["deleted"] == article["Id"]
    assert refused(desk, "delete_article_draft", article_id=RETURNS).kind == "rule"


def test_a_refused_call_leaves_no_trace(desk: Desk) -> None:
    before = desk.database.digest()
    refused(desk, "create_case", **{**NEW_CASE, "order_item_id": LAMP_ITEM})
    refused(desk, "assign_case", case_id=OPEN, agent_id=CLEO)
    assert desk.database.digest() == before
    # Ids count up from where they were.
    first = desk.call("create_case", **NEW_CASE)["Id"]
    assert first.startswith(key("Case", 0)[:6])
    assert desk.call("create_case", **{**NEW_CASE, "issue_id": LATE})["Id"] > first
