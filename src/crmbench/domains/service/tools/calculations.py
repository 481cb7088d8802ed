"""Calculations on cases and numbers that other tools gave."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import fmean

import sqlalchemy as sa

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg, among, distinct, parse_moment
from crmbench.domains.service.records import must_all_exist
from crmbench.domains.service.schema import ACCOUNT, CASE
from crmbench.domains.service.tools.arguments import CaseLists, Cases, Ids, Numbers
from crmbench.domains.service.tools.periods import MONTHS
from crmbench.errors import ToolError

DECIMALS = 4


def _cases_statement(dialect: str) -> sa.SelectBase:
    c = CASE.c
    return (
        sa.select(c.Id, c.OwnerId, c.CreatedDate, c.ClosedDate, ACCOUNT.c.ShippingState)
        .select_from(CASE.join(ACCOUNT, ACCOUNT.c.Id == c.AccountId))
        .where(among(dialect, c.Id, "ids"))
        .order_by(c.Id)
    )


def read_cases(org: ServiceOrg, ids: list[str]) -> list[Row]:
    """The cases of these ids, each once: Id, OwnerId, CreatedDate, ClosedDate, ShippingState.

    Raises:
        ToolError: The list is empty, or there is no case of one of the ids.
    """
    wanted = distinct(ids)
    if not wanted:
        raise ToolError("The list of cases is empty: there is nothing to compute.")
    rows = org.select("cases to compute with", _cases_statement, ids=wanted)
    if len(rows) < len(wanted):
        must_all_exist(org, "Case", wanted)
    return rows


def _extreme(counts: dict[str, float], largest: bool) -> list[str]:
    best = (max if largest else min)(counts.values())
    return sorted(key for key, count in counts.items() if count == best)


def _cases_by_agent(
    org: ServiceOrg, cases: list[str], agent_ids: list[str] | None
) -> dict[str, float]:
    if agent_ids is None:
        return dict(Counter(row["OwnerId"] for row in read_cases(org, cases)))
    if not agent_ids:
        raise ToolError("Agent ids is an empty list: there is nobody to choose among.")
    must_all_exist(org, "User", agent_ids)
    counts: dict[str, float] = dict.fromkeys(agent_ids, 0)
    for row in read_cases(org, cases) if cases else ():
        if row["OwnerId"] in counts:
            counts[row["OwnerId"]] += 1
    return counts


@tool()
def get_agents_with_max_cases(
    org: ServiceOrg, subset_cases: Cases, agent_ids: Ids | None = None
) -> list[str]:
    """The agents who own most of some cases. Returns a list of user ids: more than one id is a tie.

    Args:
        subset_cases: the cases to count: their ids, or the records that get_cases returned
        agent_ids: choose among these agents only; one who owns none of the cases counts with 0
    """
    return _extreme(_cases_by_agent(org, subset_cases, agent_ids), largest=True)


@tool()
def get_agents_with_min_cases(
    org: ServiceOrg, subset_cases: Cases, agent_ids: Ids | None = None
) -> list[str]:
    """The agents who own fewest of some cases. Without agent_ids only agents who own at least one
    of the cases are considered; to find out who of some agents has the least work, give agent_ids.
    Returns a list of user ids: more than one id is a tie.

    Args:
        subset_cases: the cases to count: their ids, or the records that get_cases returned
        agent_ids: choose among these agents only; one who owns none of the cases counts with 0
    """
    return _extreme(_cases_by_agent(org, subset_cases, agent_ids), largest=False)


@tool()
def calculate_average_handle_time(org: ServiceOrg, cases: Cases) -> dict[str, float]:
    """The mean time in minutes from the creation of a case to its closing, for each agent who owns
    some of the cases. Open cases are left out. Returns an object of user ids and minutes, such as
    {"005…": 1520.5}.

    Args:
        cases: the cases to average over: their ids, or the records that get_cases returned
    """
    return _means(org, cases, "OwnerId", 60)


@tool()
def calculate_region_average_closure_times(org: ServiceOrg, cases: Cases) -> dict[str, float]:
    """The mean time in seconds from the creation of a case to its closing, for each state that the
    customers' goods are shipped to. Open cases are left out. Returns an object of two-letter states
    and seconds, such as {"CA": 86400.0}.

    Args:
        cases: the cases to average over: their ids, or the records that get_cases or
            get_shipping_state returned
    """
    return _means(org, cases, "ShippingState", 1)


def _means(org: ServiceOrg, cases: list[str], group: str, unit: int) -> dict[str, float]:
    """Mean times to close by group, in units of so many seconds."""
    times: dict[str, list[float]] = defaultdict(list)
    for row in read_cases(org, cases):
        if row["ClosedDate"] is not None and row[group] is not None:
            lasted = parse_moment(row["ClosedDate"]) - parse_moment(row["CreatedDate"])
            times[row[group]].append(lasted.total_seconds())
    if not times:
        raise ToolError("None of these cases is closed: there is no time to average.")
    return {key: round(fmean(times[key]) / unit, DECIMALS) for key in sorted(times)}


@tool()
def get_month_to_case_count(org: ServiceOrg, cases: Cases) -> dict[str, int]:
    """How many of some cases were created in each month of the calendar, whatever the year. Returns
    an object of English month names and counts, such as {"March": 4}; months without a case are
    left out.

    Args:
        cases: the cases to count: their ids, or the records that get_cases returned
    """
    counts = Counter(int(row["CreatedDate"][5:7]) for row in read_cases(org, cases))
    return {MONTHS[month - 1]: counts[month] for month in sorted(counts)}


@tool()
def get_qualified_agent_ids_by_case_count(
    org: ServiceOrg, agent_handled_cases: CaseLists, n_cases: int
) -> list[str]:
    """The agents who handled more than n cases (n itself is not enough). Returns a list of user
    ids, empty if there is none.

    Args:
        agent_handled_cases: for each agent the list of handled cases, as
            get_agent_handled_cases_by_period returns it
        n_cases: the number of cases to exceed
    """
    del org
    if n_cases < 0:
        raise ToolError("N cases must not be negative.")
    return sorted(agent for agent, count in agent_handled_cases.items() if count > n_cases)


@tool()
def find_id_with_max_value(org: ServiceOrg, values_by_id: Numbers) -> list[str]:
    """The key of the largest of some numbers. Returns a list: more than one key is a tie.

    Args:
        values_by_id: numbers by id (or by month or state), such as {"005…": 12.5, "005…": 9}
    """
    del org
    return _extreme(_some(values_by_id), largest=True)


@tool()
def find_id_with_min_value(org: ServiceOrg, values_by_id: Numbers) -> list[str]:
    """The key of the smallest of some numbers. Returns a list: more than one key is a tie.

    Args:
        values_by_id: numbers by id (or by month or state), such as {"005…": 12.5, "005…": 9}
    """
    del org
    return _extreme(_some(values_by_id), largest=False)


def _some(values: dict[str, float]) -> dict[str, float]:
    if not values:
        raise ToolError("Values by id is empty: there is nothing to compare.")
    return values


def counted(rows: Iterable[Row], key: str, value: str) -> dict[str, int]:
    """An object of what the rows of a grouped select hold."""
    return {row[key]: row[value] for row in rows}


TOOLS = (
    get_agents_with_max_cases,
    get_agents_with_min_cases,
    calculate_average_handle_time,
    calculate_region_average_closure_times,
    get_month_to_case_count,
    get_qualified_agent_ids_by_case_count,
    find_id_with_max_value,
    find_id_with_min_value,
)
