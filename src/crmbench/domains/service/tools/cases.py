"""Questions about cases: which there are, who handled them, what they are about."""

from __future__ import annotations

from functools import partial
from typing import Any

import sqlalchemy as sa

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg, among
from crmbench.domains.service.records import ASSIGNMENT, must_all_exist
from crmbench.domains.service.schema import CASE, CASE_HISTORY
from crmbench.domains.service.tools.arguments import (
    MAX_IDS,
    Cases,
    Ids,
    Moment,
    Statuses,
    check_period,
)
from crmbench.domains.service.tools.calculations import counted, read_cases
from crmbench.errors import ToolError

CASE_FIELDS = (
    "Id", "Subject", "Status", "Priority", "CreatedDate", "ClosedDate", "OwnerId", "AccountId",
    "ContactId", "OrderItemId__c", "IssueId__c",
)  # fmt: skip
"""What get_cases tells of a case; its description, e-mails and chat have to be asked for."""

FILTERS = {
    "agent_ids": ("OwnerId", "User"),
    "case_ids": ("Id", "Case"),
    "order_item_ids": ("OrderItemId__c", "OrderItem"),
    "issue_ids": ("IssueId__c", "Issue__c"),
    "statuses": ("Status", ""),
}
"""For each list that narrows get_cases its field and the object that the ids are of."""

_MINE = CASE_HISTORY.c
_ASSIGNED = _MINE.Field__c == ASSIGNMENT


def _from(column: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    return column >= sa.bindparam("start_date", type_=sa.String())


def _until(column: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    return column < sa.bindparam("end_date", type_=sa.String())


@tool()
def get_cases(
    org: ServiceOrg,
    start_date: Moment | None = None,
    end_date: Moment | None = None,
    agent_ids: Ids | None = None,
    case_ids: Ids | None = None,
    order_item_ids: Ids | None = None,
    issue_ids: Ids | None = None,
    statuses: Statuses | None = None,
) -> list[Row]:
    """The cases that fit all of what is given; leave out what does not matter. Returns a list of
    records, oldest first, with Id, Subject, Status, Priority, CreatedDate, ClosedDate (null while a
    case is open), OwnerId (the agent who has it now), AccountId, ContactId, OrderItemId__c and
    IssueId__c. Moments are in UTC.

    Args:
        start_date: only cases created at or after this date, such as 2025-03-01
        end_date: only cases created before this date, such as 2025-06-01
        agent_ids: only cases that one of these users owns now
        case_ids: only cases with one of these ids
        order_item_ids: only cases about one of these order items
        issue_ids: only cases of one of these issues
        statuses: only cases in one of these states: New, Working, Waiting on Customer, Escalated,
            Closed
    """
    check_period(start_date, end_date)
    lists = {
        "agent_ids": agent_ids,
        "case_ids": case_ids,
        "order_item_ids": order_item_ids,
        "issue_ids": issue_ids,
        "statuses": statuses,
    }
    given: dict[str, Any] = {k: v for k, v in lists.items() if v is not None}
    for name, values in given.items():
        if not values:
            raise ToolError(
                f"{name} is an empty list, which no case can fit. Leave it out to get cases "
                "whatever their value."
            )
        if FILTERS[name][1]:
            must_all_exist(org, FILTERS[name][1], values)
    bounds = {"start_date": start_date, "end_date": end_date}
    given |= {name: moment for name, moment in bounds.items() if moment is not None}
    shape = tuple(given)
    rows = org.select(("cases", shape), partial(_cases_statement, shape), **given)
    if len(rows) > MAX_IDS:
        raise ToolError(
            f"More than {MAX_IDS:,} cases fit. Narrow the search, by dates for example."
        )
    return rows


def _cases_statement(shape: tuple[str, ...], dialect: str) -> sa.SelectBase:
    clauses = []
    for name in shape:
        if name == "start_date":
            clauses.append(_from(CASE.c.CreatedDate))
        elif name == "end_date":
            clauses.append(_until(CASE.c.CreatedDate))
        else:
            clauses.append(among(dialect, CASE.c[FILTERS[name][0]], name))
    chosen = sa.select(*(CASE.c[name] for name in CASE_FIELDS)).where(*clauses)
    return chosen.order_by(CASE.c.CreatedDate, CASE.c.Id).limit(MAX_IDS + 1)


@tool()
def get_agent_handled_cases_by_period(
    org: ServiceOrg, start_date: Moment, end_date: Moment
) -> dict[str, list[str]]:
    """Who handled which cases in a period: the cases that were assigned to each agent in it, a
    case that was passed on later included. Returns an object of user ids and lists of case ids.

    Args:
        start_date: where the period starts, such as 2025-03-01
        end_date: where it ends, and what is no part of it, such as 2025-06-01
    """
    check_period(start_date, end_date)
    rows = org.select("handled", _handled_statement, start_date=start_date, end_date=end_date)
    handled: dict[str, list[str]] = {}
    for row in rows:
        handled.setdefault(row["agent"], []).append(row["case"])
    return handled


def _handled_statement(dialect: str) -> sa.SelectBase:
    del dialect
    agent, case = _MINE.NewValue__c.label("agent"), _MINE.CaseId__c.label("case")
    return (
        sa.select(agent, case)
        .where(_ASSIGNED, _from(_MINE.CreatedDate), _until(_MINE.CreatedDate))
        .where(_MINE.NewValue__c.is_not(None))
        .distinct()
        .order_by(_MINE.NewValue__c, _MINE.CaseId__c)
    )


@tool()
def get_non_transferred_case_ids(
    org: ServiceOrg, start_date: Moment, end_date: Moment
) -> list[str]:
    """The cases that were assigned in a period and never transferred: each has had exactly one
    owner assignment, and that lies in the period. Open and closed cases. Returns a list of case
    ids.

    Args:
        start_date: where the period starts, such as 2025-03-01
        end_date: where it ends, and what is no part of it, such as 2025-06-01
    """
    check_period(start_date, end_date)
    rows = org.select(
        "not transferred", _non_transferred_statement, start_date=start_date, end_date=end_date
    )
    return [row["case"] for row in rows]


def _non_transferred_statement(dialect: str) -> sa.SelectBase:
    del dialect
    other = CASE_HISTORY.alias("other")
    another = sa.exists().where(
        other.c.CaseId__c == _MINE.CaseId__c,
        other.c.Field__c == ASSIGNMENT,
        other.c.Id != _MINE.Id,
    )
    return (
        sa.select(_MINE.CaseId__c.label("case"))
        .where(_ASSIGNED, _from(_MINE.CreatedDate), _until(_MINE.CreatedDate), ~another)
        .order_by(_MINE.CaseId__c)
    )


@tool()
def get_agent_transferred_cases_by_period(
    org: ServiceOrg, start_date: Moment, end_date: Moment, qualified_agent_ids: Ids | None = None
) -> dict[str, int]:
    """How many times each agent passed a case on to another agent in a period. Returns an object of
    user ids and counts. Every agent of qualified_agent_ids is in it, with 0 if nothing was passed
    on; without them, everybody who handled a case in the period or passed one on.

    Args:
        start_date: where the period starts, such as 2025-03-01
        end_date: where it ends, and what is no part of it, such as 2025-06-01
        qualified_agent_ids: only count for these users
    """
    check_period(start_date, end_date)
    period = {"start_date": start_date, "end_date": end_date}
    if qualified_agent_ids is None:
        agents = [row["agent"] for row in org.select("handled", _handled_statement, **period)]
    else:
        agents = qualified_agent_ids
        if not agents:
            raise ToolError("Qualified agent ids is an empty list: there is nobody to count for.")
        must_all_exist(org, "User", agents)
    counts = dict.fromkeys(sorted(agents), 0)
    for row in org.select("transferred", _transferred_statement, **period):
        if row["agent"] in counts or qualified_agent_ids is None:
            counts[row["agent"]] = row["n"]
    return counts


def _transferred_statement(dialect: str) -> sa.SelectBase:
    del dialect
    agent = _MINE.OldValue__c
    return (
        sa.select(agent.label("agent"), sa.func.count().label("n"))
        .where(_ASSIGNED, _from(_MINE.CreatedDate), _until(_MINE.CreatedDate))
        .where(agent.is_not(None), agent != _MINE.NewValue__c)
        .group_by(agent)
        .order_by(agent)
    )


@tool()
def get_issue_counts(
    org: ServiceOrg, start_date: Moment, end_date: Moment, order_item_ids: Ids
) -> dict[str, int]:
    """How often each issue was reported: the number of cases created in a period, about some order
    items, by issue. Returns an object of issue ids and counts, the most frequent first; it is empty
    when there was no case.

    Args:
        start_date: where the period starts, such as 2025-03-01
        end_date: where it ends, and what is no part of it, such as 2025-06-01
        order_item_ids: the order items, as get_order_item_ids_by_product returns them
    """
    check_period(start_date, end_date)
    if not order_item_ids:
        raise ToolError("Order item ids is an empty list: no case can be about them.")
    must_all_exist(org, "OrderItem", order_item_ids)
    rows = org.select(
        "issues of items",
        _issue_counts_statement,
        start_date=start_date,
        end_date=end_date,
        items=order_item_ids,
    )
    return counted(rows, "issue", "n")


def _issue_counts_statement(dialect: str) -> sa.SelectBase:
    c = CASE.c
    number = sa.func.count()
    return (
        sa.select(c.IssueId__c.label("issue"), number.label("n"))
        .where(among(dialect, c.OrderItemId__c, "items"), c.IssueId__c.is_not(None))
        .where(_from(c.CreatedDate), _until(c.CreatedDate))
        .group_by(c.IssueId__c)
        .order_by(number.desc(), c.IssueId__c)
    )


@tool()
def get_shipping_state(org: ServiceOrg, cases: Cases) -> list[Row]:
    """The state that each case's customer has goods shipped to. Returns a list of records with Id,
    OwnerId, CreatedDate, ClosedDate and ShippingState (two letters), which can be given to
    calculate_region_average_closure_times.

    Args:
        cases: the cases: their ids, or the records that get_cases returned
    """
    return read_cases(org, cases)


TOOLS = (
    get_cases,
    get_agent_handled_cases_by_period,
    get_non_transferred_case_ids,
    get_agent_transferred_cases_by_period,
    get_issue_counts,
    get_shipping_state,
)
