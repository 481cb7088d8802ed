"""The tools on a generated org give what plain Python finds in the rows that it was made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from statistics import fmean
from typing import Any

import pytest
from tests.domains.service.example_org import Desk, sqlite_backend

from crmbench.core.clock import WorldClock
from crmbench.core.schema import Row
from crmbench.domains.service.world import world_from_name

Rows = dict[str, list[Row]]
PERIODS = [("2023-01-01", "2024-01-01"), ("2024-05-17", "2024-08-17"), ("2025-12-01", "2026-03-01")]


@pytest.fixture(scope="module")
def rows() -> Rows:
    found: Rows = defaultdict(list)
    for table, chunk in world_from_name("org-42-x0.5").stream():
        found[table] += chunk
    return found


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    world = world_from_name("org-42-x0.5")
    backend = sqlite_backend()
    database = backend.acquire(world)
    database.start(WorldClock(world.now, "test"))
    yield Desk(database)
    database.reset()
    backend.release(world, database)
    backend.close()


def assignments(rows: Rows, start: str, end: str) -> list[Row]:
    return [
        row
        for row in rows["CaseHistory__c"]
        if row["Field__c"] == "Owner Assignment" and start <= row["CreatedDate"] < end
    ]


def minutes(case: Row) -> float:
    opened, closed = (datetime.fromisoformat(case[f]) for f in ("CreatedDate", "ClosedDate"))
    return (closed - opened).total_seconds() / 60


@pytest.mark.parametrize(("start", "end"), PERIODS)
def test_handling_and_transfers(desk: Desk, rows: Rows, start: str, end: str) -> None:
    period: dict[str, Any] = {"start_date": start, "end_date": end}
    made = assignments(rows, start, end)
    handled = defaultdict(set)
    for row in made:
        handled[row["NewValue__c"]].add(row["CaseId__c"])
    assert desk.call("get_agent_handled_cases_by_period", **period) == {
        agent: sorted(cases) for agent, cases in handled.items()
    }
    away = Counter(row["OldValue__c"] for row in made if row["OldValue__c"] is not None)
    counts = desk.call("get_agent_transferred_cases_by_period", **period)
    assert counts == {agent: away[agent] for agent in {*handled, *away}}
    assert 0 in counts.values()


@pytest.mark.parametrize(("start", "end"), PERIODS)
def test_handle_times(desk: Desk, rows: Rows, start: str, end: str) -> None:
    period: dict[str, Any] = {"start_date": start, "end_date": end}
    ever = Counter(row["CaseId__c"] for row in assignments(rows, "0", "9"))
    single = {row["CaseId__c"] for row in assignments(rows, start, end)}
    single = {case for case in single if ever[case] == 1}
    assert desk.call("get_non_transferred_case_ids", **period) == sorted(single)
    times = defaultdict(list)
    for case in rows["Case"]:
        if case["Id"] in single and case["ClosedDate"] is not None:
            times[case["OwnerId"]].append(minutes(case))
    found = desk.call("calculate_average_handle_time", cases=sorted(single))
    assert found == {agent: pytest.approx(fmean(times[agent])) for agent in times}


@pytest.mark.parametrize(("start", "end"), PERIODS)
def test_regions_issues_and_months(desk: Desk, rows: Rows, start: str, end: str) -> None:
    period: dict[str, Any] = {"start_date": start, "end_date": end}
    inside = [case for case in rows["Case"] if start <= case["CreatedDate"] < end]
    closed = [case for case in inside if case["Status"] == "Closed"]
    cases = desk.call("get_cases", **period, statuses=["Closed"])
    assert [case["Id"] for case in cases] == [
        case["Id"] for case in sorted(closed, key=lambda case: (case["CreatedDate"], case["Id"]))
    ]
    state = {account["Id"]: account["ShippingState"] for account in rows["Account"]}
    times = defaultdict(list)
    for case in closed:
        times[state[case["AccountId"]]].append(60 * minutes(case))
    found = desk.call("calculate_region_average_closure_times", cases=cases)
    assert found == {name: pytest.approx(fmean(times[name])) for name in times}

    product = {item["Id"]: item["Product2Id"] for item in rows["OrderItem"]}
    about = Counter(product[case["OrderItemId__c"]] for case in inside if case["OrderItemId__c"])
    ((most, _),) = about.most_common(1)
    items = desk.call("get_order_item_ids_by_product", product_id=most)
    assert items == sorted(item for item, sold in product.items() if sold == most)
    reported = [case for case in inside if case["OrderItemId__c"] in set(items)]
    issues = Counter(case["IssueId__c"] for case in reported if case["IssueId__c"])
    assert desk.call("get_issue_counts", **period, order_item_ids=items) == issues
    months = desk.call("get_month_to_case_count", cases=[case["Id"] for case in reported])
    names = [datetime.fromisoformat(case["CreatedDate"]).strftime("%B") for case in reported]
    assert months == Counter(names)
