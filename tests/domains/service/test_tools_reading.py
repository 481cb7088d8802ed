"""The tools that read, against an org whose every answer can be counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.domains.service.example_org import (
    ACME,
    ANA,
    BEN,
    BOLT,
    CLEO,
    DAN,
    LAMP,
    LAMP_ITEM,
    LATE,
    MIA,
    NIGHT,
    REPAIRS,
    RETURNS,
    TARP,
    TARP_ITEM,
    TENT,
    TENT_ITEM,
    TORN,
    Desk,
    case_id,
    desk_on,
    key,
    sqlite_backend,
)

from crmbench.core.postgres import PostgresBackend
from crmbench.core.world import Backend
from crmbench.domains.service.schema import SCHEMA
from crmbench.domains.service.tools import TASK_TOOLS, TOOLBOX, TOOLBOXES, general
from crmbench.errors import ToolError

MARCH = {"start_date": "2025-03-01", "end_date": "2025-04-01"}
SPRING = {"start_date": "2025-03-01", "end_date": "2025-06-01"}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    made: Backend = sqlite_backend() if request.param == "sqlite" else PostgresBackend(SCHEMA)
    yield made
    made.close()


@pytest.fixture
def desk(backend: Backend) -> Iterator[Desk]:
    with desk_on(backend) as opened:
        yield opened


@pytest.fixture(scope="module")
def local() -> Iterator[Desk]:
    backend = sqlite_backend()
    with desk_on(backend) as opened:
        yield opened
    backend.close()


def cases(*numbers: int) -> list[str]:
    return [case_id(number) for number in numbers]


def refused(desk: Desk, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        desk.call(tool, **arguments)
    return caught.value


PUBLISHED = """
get_agents_with_max_cases get_agents_with_min_cases calculate_average_handle_time get_start_date
get_period get_qualified_agent_ids_by_case_count calculate_region_average_closure_times
find_id_with_max_value find_id_with_min_value get_month_to_case_count
get_agent_handled_cases_by_period get_cases get_non_transferred_case_ids
get_agent_transferred_cases_by_period get_shipping_state get_order_item_ids_by_product
get_issue_counts get_account_id_by_contact_id get_purchase_history get_issues
get_email_messages_by_case_id get_livechat_transcript_by_case_id search_knowledge_articles
search_products issue_soql_query issue_sosl_query respond
"""


def test_there_are_the_27_tools_and_none_of_them_writes() -> None:
    reading = {name for name, tool in TOOLBOX.by_name.items() if not tool.writes}
    assert reading == set(PUBLISHED.split())
    assert len(reading) == 27


def test_the_tool_sets_differ_in_what_they_read_with() -> None:
    tasks, soql = (set(TOOLBOXES[name].by_name) for name in ("tasks", "soql"))
    assert tasks | soql == set(TOOLBOXES["both"].by_name)
    assert soql - tasks == {tool.name for tool in general.QUERIES}
    assert tasks - soql == {tool.name for tool in TASK_TOOLS}
    assert "respond" in tasks & soql


def test_every_argument_of_every_tool_is_described() -> None:
    for tool in TOOLBOX.by_name.values():
        assert len(tool.description) > 50, tool.name
        assert all(param.description for param in tool.params), tool.name


# --- periods --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "period", "count", "start"),
    [
        ("2025-07-15", "day", 1, "2025-07-14"),
        ("2025-07-15", "week", 2, "2025-07-01"),
        ("2025-07-15", "month", 3, "2025-04-15"),
        ("2025-07-15", "quarter", 5, "2024-04-15"),
        ("2025-05-31", "month", 3, "2025-02-28"),
        ("2024-03-31", "month", 1, "2024-02-29"),
        ("2025-01-15T10:00:00Z", "month", 1, "2024-12-15"),
    ],
)
def test_where_a_period_starts(local: Desk, end: str, period: str, count: int, start: str) -> None:
    found = local.call("get_start_date", end_date=end, period=period, interval_count=count)
    assert found == f"{start}T00:00:00Z"


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("January", "2024-01-01", "2024-02-01"),
        ("december", "2024-12-01", "2025-01-01"),
        ("Q1", "2024-01-01", "2024-04-01"),
        ("quarter 4", "2024-10-01", "2025-01-01"),
        ("Spring", "2024-03-01", "2024-06-01"),
        (" fall ", "2024-09-01", "2024-12-01"),
        ("WINTER", "2024-12-01", "2025-03-01"),
    ],
)
def test_named_periods(local: Desk, name: str, start: str, end: str) -> None:
    found = local.call("get_period", period_name=name, year=2024)
    assert found == {"start_date": f"{start}T00:00:00Z", "end_date": f"{end}T00:00:00Z"}


def test_periods_that_there_are_not(local: Desk) -> None:
    assert "January to December" in str(refused(local, "get_period", period_name="Q5", year=2024))
    refused(local, "get_period", period_name="May", year=24)
    start = {"end_date": "2025-07-15", "period": "month"}
    refused(local, "get_start_date", **start, interval_count=0)
    refused(local, "get_start_date", **start, interval_count=1.5)
    refused(local, "get_start_date", end_date="2025-07-15", period="year", interval_count=1)
    refused(local, "get_start_date", end_date="0001-02-01", period="month", interval_count=5)
    refused(local, "get_start_date", end_date="2025-02-30", period="day", interval_count=5)


@pytest.mark.parametrize(
    "day", ["", "yesterday", "2025-13-01", "2025-02-30", "01/02/2025", "20250301", "2025-03-01T25"]
)
def test_malformed_dates_are_refused_with_an_example(local: Desk, day: str) -> None:
    error = refused(local, "get_cases", start_date=day)
    assert "2025-03-01T00:00:00Z" in str(error)
    assert error.kind == "validation"


def test_moments_of_any_zone_are_understood(local: Desk) -> None:
    for text in ("2025-03-01T09:00:00+01:00", "2025-03-01 08:00Z", "2025-03-01T08:00:00.000+0000"):
        found = local.call("get_cases", start_date=text, end_date="2025-03-01T08:00:01Z")
        assert [case["Id"] for case in found] == cases(1)


def test_a_period_needs_a_start_before_its_end(local: Desk) -> None:
    for tool in (
        "get_cases",
        "get_agent_handled_cases_by_period",
        "get_non_transferred_case_ids",
        "get_agent_transferred_cases_by_period",
    ):
        for start, end in (("2025-04-01", "2025-04-01"), ("2025-04-02", "2025-04-01")):
            error = refused(local, tool, start_date=start, end_date=end)
            assert "before the end date" in str(error)


# --- cases ----------------------------------------------------------------------------------------


def found(desk: Desk, **filters: Any) -> list[str]:
    return [case["Id"] for case in desk.call("get_cases", **filters)]


def test_cases_by_every_filter(desk: Desk) -> None:
    assert found(desk) == cases(1, 2, 3, 4, 5, 6, 7, 8)
    assert found(desk, **MARCH) == cases(1, 2, 3)
    assert found(desk, end_date="2025-03-05") == cases(1)
    assert found(desk, agent_ids=[ANA]) == cases(1, 2)
    assert found(desk, agent_ids=[ANA, BEN], statuses=["Working"]) == cases(8)
    assert found(desk, case_ids=cases(3, 1, 3)) == cases(1, 3)
    assert found(desk, order_item_ids=[TENT_ITEM], issue_ids=[TORN]) == cases(2, 3)
    assert found(desk, agent_ids=[DAN]) == []


def test_a_case_as_it_is_shown(desk: Desk) -> None:
    (case,) = desk.call("get_cases", case_ids=cases(5))
    assert case == {
        "Id": case_id(5),
        "Subject": "Case number 5",
        "Status": "Working",
        "Priority": "Medium",
        "CreatedDate": "2025-04-10T08:00:00.000+0000",
        "ClosedDate": None,
        "OwnerId": CLEO,
        "AccountId": BOLT,
        "ContactId": key("Contact", 2),
        "OrderItemId__c": LAMP_ITEM,
        "IssueId__c": LATE,
    }


def test_filters_that_no_case_could_fit_are_refused(local: Desk) -> None:
    assert "Leave it out" in str(refused(local, "get_cases", agent_ids=[]))
    unknown = refused(local, "get_cases", case_ids=[case_id(1), case_id(99)])
    assert unknown.kind == "not_found"
    assert case_id(99) in str(unknown)
    assert case_id(1) not in str(unknown)
    assert "object Case" in str(refused(local, "get_cases", agent_ids=[case_id(1)]))
    refused(local, "get_cases", statuses=["Open"])
    refused(local, "get_cases", case_ids=["500"])
    refused(local, "get_cases", case_ids=case_id(1))


def test_an_id_of_15_characters_is_that_of_18(local: Desk) -> None:
    assert found(local, case_ids=[case_id(3)[:15]]) == cases(3)
    assert "copied" in str(refused(local, "get_cases", case_ids=[case_id(3)[:15] + "XYZ"]))


def test_who_handled_what_counts_every_assignment(desk: Desk) -> None:
    assert desk.call("get_agent_handled_cases_by_period", **SPRING) == {
        ANA: cases(1, 2, 4, 5),
        BEN: cases(3, 4),
        CLEO: cases(5, 6, 7),
    }
    assert desk.call("get_agent_handled_cases_by_period", **MARCH) == {
        ANA: cases(1, 2),
        BEN: cases(3),
    }


def test_cases_never_transferred(desk: Desk) -> None:
    assert desk.call("get_non_transferred_case_ids", **SPRING) == cases(1, 2, 3, 6, 7)
    # Case 5 was assigned once in April, and again in May.
    april = {"start_date": "2025-04-10", "end_date": "2025-05-01"}
    assert desk.call("get_non_transferred_case_ids", **april) == cases(6, 7)


def test_transfers_count_agents_without_any(desk: Desk) -> None:
    tool = "get_agent_transferred_cases_by_period"
    assert desk.call(tool, **SPRING) == {ANA: 2, BEN: 0, CLEO: 0}
    assert desk.call(tool, **SPRING, qualified_agent_ids=[BEN, DAN]) == {BEN: 0, DAN: 0}
    may = {"start_date": "2025-05-01", "end_date": "2025-06-01"}
    assert desk.call(tool, **may, qualified_agent_ids=[ANA]) == {ANA: 1}
    # Who only passed cases on in the period is counted too.
    assert desk.call(tool, **may) == {ANA: 1, CLEO: 0}
    assert "nobody" in str(refused(desk, tool, **may, qualified_agent_ids=[]))


def test_issue_counts(desk: Desk) -> None:
    items = [TENT_ITEM, TARP_ITEM]
    counts = desk.call("get_issue_counts", **SPRING, order_item_ids=items)
    assert counts == {TORN: 3, LATE: 1}
    assert list(counts) == [TORN, LATE]
    assert desk.call("get_issue_counts", **MARCH, order_item_ids=[LAMP_ITEM]) == {}
    refused(desk, "get_issue_counts", **SPRING, order_item_ids=[])
    refused(desk, "get_issue_counts", **SPRING, order_item_ids=[TENT])


# --- calculations ---------------------------------------------------------------------------------


def test_handle_times_are_means_in_minutes_over_closed_cases(desk: Desk) -> None:
    records = desk.call("get_cases", **SPRING)
    expected = {ANA: 2 * 1440.0, BEN: 2.5 * 1440, CLEO: 4 * 1440.0}
    assert desk.call("calculate_average_handle_time", cases=records) == expected
    ids = [record["Id"] for record in records]
    assert desk.call("calculate_average_handle_time", cases=ids) == expected
    assert desk.call("calculate_average_handle_time", cases=[*ids, *ids]) == expected


def test_closing_times_of_regions_are_means_in_seconds(desk: Desk) -> None:
    states = desk.call("get_shipping_state", cases=cases(1, 4))
    assert [(record["Id"], record["ShippingState"]) for record in states] == [
        (case_id(1), "CA"),
        (case_id(4), "OR"),
    ]
    tool = "calculate_region_average_closure_times"
    assert desk.call(tool, cases=states) == {"CA": 86400.0, "OR": 4 * 86400.0}
    everything = desk.call(tool, cases=cases(1, 2, 3, 4, 5, 6, 7, 8))
    assert everything == {"CA": (1 + 3 + 1 + 4) / 4 * 86400, "OR": 4 * 86400.0}


def test_months(desk: Desk) -> None:
    counts = desk.call("get_month_to_case_count", cases=cases(8, 1, 2, 3, 4))
    assert list(counts.items()) == [("March", 3), ("April", 1), ("July", 1)]


def test_most_and_fewest_cases_report_ties(desk: Desk) -> None:
    assert desk.call("get_agents_with_max_cases", subset_cases=cases(1, 2, 3)) == [ANA]
    assert desk.call("get_agents_with_max_cases", subset_cases=cases(1, 3)) == [ANA, BEN]
    assert desk.call("get_agents_with_min_cases", subset_cases=cases(1, 2, 3)) == [BEN]
    among = {"subset_cases": cases(1, 2, 3), "agent_ids": [ANA, BEN, CLEO]}
    assert desk.call("get_agents_with_min_cases", **among) == [CLEO]
    assert desk.call("get_agents_with_max_cases", **among) == [ANA]
    nothing: dict[str, Any] = {"subset_cases": [], "agent_ids": [ANA, CLEO]}
    assert desk.call("get_agents_with_min_cases", **nothing) == [ANA, CLEO]


def test_qualified_agents_have_more_than_n(local: Desk) -> None:
    handled = local.call("get_agent_handled_cases_by_period", **SPRING)
    tool = "get_qualified_agent_ids_by_case_count"
    assert local.call(tool, agent_handled_cases=handled, n_cases=2) == [ANA, CLEO]
    assert local.call(tool, agent_handled_cases=handled, n_cases=4) == []
    assert local.call(tool, agent_handled_cases={}, n_cases=0) == []
    assert local.call(tool, agent_handled_cases={ANA: 3, BEN: 2}, n_cases=2) == [ANA]
    refused(local, tool, agent_handled_cases=handled, n_cases=-1)
    refused(local, tool, agent_handled_cases=[], n_cases=1)


def test_extremes_of_numbers(local: Desk) -> None:
    values = {"March": 2, "April": 5, "May": 5.0}
    assert local.call("find_id_with_max_value", values_by_id=values) == ["April", "May"]
    assert local.call("find_id_with_min_value", values_by_id=values) == ["March"]
    refused(local, "find_id_with_max_value", values_by_id={})
    refused(local, "find_id_with_max_value", values_by_id={"a": "5"})
    refused(local, "find_id_with_min_value", values_by_id={"a": float("nan")})


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("get_agents_with_max_cases", "subset_cases"),
        ("get_agents_with_min_cases", "subset_cases"),
        ("calculate_average_handle_time", "cases"),
        ("calculate_region_average_closure_times", "cases"),
        ("get_month_to_case_count", "cases"),
        ("get_shipping_state", "cases"),
    ],
)
def test_cases_that_are_none(local: Desk, tool: str, name: str) -> None:
    assert "empty" in str(refused(local, tool, **{name: []}))
    assert refused(local, tool, **{name: cases(1, 99)}).kind == "not_found"
    assert "Id" in str(refused(local, tool, **{name: [{"OwnerId": ANA}]}))
    refused(local, tool, **{name: {"Id": case_id(1)}})
    refused(local, tool, **{name: [5]})


def test_open_cases_have_no_time_to_close(local: Desk) -> None:
    assert "closed" in str(refused(local, "calculate_average_handle_time", cases=cases(5)))


# --- customers ------------------------------------------------------------------------------------


def test_accounts_items_and_purchases(desk: Desk) -> None:
    assert desk.call("get_account_id_by_contact_id", contact_id=MIA) == ACME
    assert desk.call("get_order_item_ids_by_product", product_id=TENT) == [TENT_ITEM]
    bought = {"account_id": ACME, "purchase_date": "2025-02-20"}
    records = desk.call("get_purchase_history", **bought)
    assert [record["Product2Id"] for record in records] == [TENT, TARP]
    assert records[0] == {
        "Product2Id": TENT,
        "ProductName": "Ridge Tent 2-Person Green",
        "OrderItemId": TENT_ITEM,
        "OrderId": key("Order", 1),
        "Quantity": 1,
        "UnitPrice": 20.0,
    }
    some = desk.call("get_purchase_history", **bought, related_product_ids=[TARP, LAMP])
    assert [record["Product2Id"] for record in some] == [TARP]
    assert desk.call("get_purchase_history", **{**bought, "purchase_date": "2025-02-21"}) == []
    refused(desk, "get_purchase_history", **bought, related_product_ids=[])
    refused(desk, "get_account_id_by_contact_id", contact_id=ACME)


def test_messages_of_a_case_oldest_first(desk: Desk) -> None:
    mails = desk.call("get_email_messages_by_case_id", case_id=case_id(1))
    assert [mail["TextBody"] for mail in mails] == ["Message 2", "Message 1"]
    assert desk.call("get_email_messages_by_case_id", case_id=case_id(2)) == []
    (chat,) = desk.call("get_livechat_transcript_by_case_id", case_id=case_id(2))
    assert chat["Body"] == "Mia: Hello?\nAna: Hello!"
    assert refused(desk, "get_email_messages_by_case_id", case_id=case_id(77)).kind == "not_found"


def test_issues(desk: Desk) -> None:
    assert [issue["Name"] for issue in desk.call("get_issues")] == ["Damaged", "Late Delivery"]


# --- search ---------------------------------------------------------------------------------------


def search(desk: Desk, tool: str, words: str) -> list[str]:
    return [record["Id"] for record in desk.call(tool, search_term=words)]


def test_articles_with_most_of_the_words_come_first(desk: Desk) -> None:
    tool = "search_knowledge_articles"
    assert search(desk, tool, "within 30 days") == [RETURNS, REPAIRS]
    assert search(desk, tool, "TORN tents, 30 days?") == [REPAIRS, RETURNS]
    assert search(desk, tool, "how are the drivers") == [NIGHT]
    assert search(desk, tool, "deliver*") == [NIGHT]
    assert search(desk, tool, "submarine") == []
    (night,) = desk.call(tool, search_term="bell")
    assert night["PublishStatus"] == "Draft"


def test_products_by_name_and_description(desk: Desk) -> None:
    tool = "search_products"
    assert search(desk, tool, "green tent for 2-person") == [TENT, TARP]
    assert search(desk, tool, "can't tip") == [LAMP]
    assert desk.call(tool, search_term="glow") == [
        {"Id": LAMP, "Name": "Glow Lamp", "Description": "A lamp that can't tip over."}
    ]


@pytest.mark.parametrize(
    "words", ["", "  ", "?!", "(", "word " * 3 + " ".join(f"w{n}" for n in range(40))]
)
def test_searches_for_nothing_or_too_much(local: Desk, words: str) -> None:
    refused(local, "search_products", search_term=words)


@pytest.mark.parametrize("words", ['"a', "a:b", "NEAR(x", "tent'--", "x AND", "{tent}", "(x", "🎿"])
def test_no_search_is_taken_for_a_language(desk: Desk, words: str) -> None:
    assert isinstance(desk.call("search_products", search_term=words), list)


def test_soql_and_sosl(desk: Desk) -> None:
    result = desk.call(
        "issue_soql_query", query="SELECT Id FROM Case WHERE CreatedDate = YESTERDAY"
    )
    assert result == {"totalSize": 1, "done": True, "records": [{"Id": case_id(8)}]}
    error = refused(desk, "issue_soql_query", query="SELECT Nothing FROM Case")
    assert error.kind == "invalid_field"
    assert "ERROR at Row:1:Column:8" in error.text
    found = desk.call("issue_sosl_query", query="FIND {torn} RETURNING Knowledge__kav(Title)")
    assert [record["Title"] for record in found["searchRecords"]] == ["Repairs of Tents"]
    assert refused(desk, "issue_sosl_query", query="FIND {}").kind == "malformed_search"


def test_respond_keeps_nothing_in_the_org(desk: Desk) -> None:
    assert desk.call("respond", content=ANA) == {"submitted": ANA}
    assert "None" in str(refused(desk, "respond", content=" "))
