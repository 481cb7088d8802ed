"""The service org: how fast it is generated, and what its query languages cost.

SOQL is compared with SQL written by hand for the same rows, in turn and on one connection. Each
query is asked again and again, as in a run of many episodes, so that its plan is kept; what it
costs to make the plan, which a query that was never asked before pays once, is measured beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from time import process_time
from typing import Any, NamedTuple

from crmbench.bench.world import interleaved, seconds_of
from crmbench.core.backends import backend_maker
from crmbench.core.clock import WorldClock
from crmbench.core.database import Database
from crmbench.domains.registry import load_domain
from crmbench.domains.service.org import ServiceOrg, open_org
from crmbench.domains.service.world import ServiceWorld, generate
from crmbench.errors import HarnessError

ALLOWED_MS = 1.0
"""What a SOQL query may cost beside twice the time of the SQL."""


@dataclass(frozen=True, slots=True)
class ServiceEffort:
    """How much is measured."""

    factor: float
    """Of the org, see `crmbench.domains.service.world.generate`."""
    rounds: int
    calls: int
    """Of one query in a round."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Making an org's rows, and nothing else."""

    world: str
    rows: int
    rows_per_cpu_s: float


@dataclass(frozen=True, slots=True)
class QuerySpeed:
    """One SOQL query; milliseconds are medians over rounds."""

    backend: str
    query: str
    records: int
    soql_ms: float
    sql_ms: float
    """The same rows by hand-written SQL, as the driver gives them."""
    plan_ms: float
    """CPU time that is added when the query has never been asked before."""
    beyond: float
    """The median over rounds of (SOQL - 1 ms) / SQL; at most 2 is required."""


@dataclass(frozen=True, slots=True)
class SearchSpeed:
    """One SOSL search."""

    backend: str
    search: str
    records: int
    ms: float


@dataclass(frozen=True, slots=True)
class ServiceSpeed:
    """All that was measured of the service org."""

    generated: Generated
    queries: tuple[QuerySpeed, ...]
    searches: tuple[SearchSpeed, ...]


class Asked(NamedTuple):
    """A query in both languages."""

    name: str
    soql: str
    sql: str


def measure_service(backends: Sequence[str], effort: ServiceEffort) -> ServiceSpeed:
    """Measure one org on each of the backends.

    Raises:
        HarnessError: SOQL and SQL do not find the same number of rows.
    """
    world = generate(factor=effort.factor)
    queries: list[QuerySpeed] = []
    searches: list[SearchSpeed] = []
    for name in backends:
        backend = backend_maker(name)(load_domain("service"))
        try:
            database = backend.acquire(world)
            database.start(WorldClock(world.now, "bench"))
            org = open_org(database)
            queries += [measure_query(name, org, query, effort) for query in asked(database)]
            searches += [measure_search(name, org, search, effort) for search in SEARCHES]
            database.reset()
        finally:
            backend.close()
    return ServiceSpeed(measure_generation(world), tuple(queries), tuple(searches))


def measure_generation(world: ServiceWorld) -> Generated:
    """Stream all rows of a world and keep none."""
    fresh = generate(world.seed, world.factor, world.without)
    started = process_time()
    rows = sum(1 for _, chunk in fresh.stream() for _ in chunk)
    return Generated(world.name, rows, rows / (process_time() - started))


# --- SOQL -----------------------------------------------------------------------------------------


SINCE = "2025-12-02T00:00:00.000+0000"
"""Ninety days before the org's now."""


def asked(database: Database) -> list[Asked]:
    """Ten queries such as agents ask, about records that the org has."""
    case, contact, product = (
        database.connection.execute(sql, ())[0][0]
        for sql in (
            'SELECT max("ParentId") FROM "EmailMessage"',
            'SELECT max("ContactId") FROM "Case"',
            """SELECT max(i."Product2Id") FROM "Case" c JOIN "OrderItem" i
            ON i."Id" = c."OrderItemId__c" """,
        )
    )
    return [
        Asked(
            "record by id",
            f"SELECT Id, Subject, Status FROM Case WHERE Id = '{case}'",
            f"""SELECT "Id", "Subject", "Status" FROM "Case" WHERE "Id" = '{case}'""",
        ),
        Asked(
            "cases of a contact",
            "SELECT Id, Subject, Status FROM Case "
            f"WHERE ContactId = '{contact}' ORDER BY CreatedDate",
            f"""SELECT "Id", "Subject", "Status" FROM "Case" WHERE "ContactId" = '{contact}'
            ORDER BY "CreatedDate" """,
        ),
        Asked(
            "e-mails of a case",
            f"SELECT Id, TextBody FROM EmailMessage WHERE ParentId = '{case}' ORDER BY MessageDate",
            f"""SELECT "Id", "TextBody" FROM "EmailMessage" WHERE "ParentId" = '{case}'
            ORDER BY "MessageDate" """,
        ),
        Asked(
            "open cases with owners",
            "SELECT Id, Subject, Owner.Name FROM Case WHERE Status != 'Closed' "
            "ORDER BY CreatedDate DESC LIMIT 50",
            """SELECT c."Id", c."Subject", u."Name" FROM "Case" c JOIN "User" u
            ON u."Id" = c."OwnerId" WHERE c."Status" <> 'Closed'
            ORDER BY c."CreatedDate" DESC LIMIT 50""",
        ),
        Asked(
            "cases of a period",
            "SELECT Id, OwnerId, CreatedDate, ClosedDate FROM Case "
            "WHERE CreatedDate = LAST_N_DAYS:90",
            f"""SELECT "Id", "OwnerId", "CreatedDate", "ClosedDate" FROM "Case"
            WHERE "CreatedDate" >= '{SINCE}'""",
        ),
        Asked(
            "agents by closed cases",
            "SELECT OwnerId, COUNT(Id) n FROM Case WHERE Status = 'Closed' "
            "AND CreatedDate = LAST_N_DAYS:90 GROUP BY OwnerId HAVING COUNT(Id) > 1",
            f"""SELECT "OwnerId", count("Id") FROM "Case" WHERE "Status" = 'Closed'
            AND "CreatedDate" >= '{SINCE}' GROUP BY "OwnerId" HAVING count("Id") > 1""",
        ),
        Asked(
            "issues of a product",
            "SELECT IssueId__c, COUNT(Id) n FROM Case "
            f"WHERE OrderItemId__r.Product2Id = '{product}' GROUP BY IssueId__c",
            f"""SELECT c."IssueId__c", count(c."Id") FROM "Case" c JOIN "OrderItem" i
            ON i."Id" = c."OrderItemId__c" WHERE i."Product2Id" = '{product}'
            GROUP BY c."IssueId__c" """,
        ),
        Asked(
            "cases by month",
            "SELECT CALENDAR_MONTH(CreatedDate) m, COUNT(Id) n FROM Case "
            "GROUP BY CALENDAR_MONTH(CreatedDate)",
            """SELECT CAST(substr("CreatedDate", 6, 2) AS INTEGER), count("Id") FROM "Case"
            GROUP BY CAST(substr("CreatedDate", 6, 2) AS INTEGER)""",
        ),
        Asked(
            "products by part of a name",
            "SELECT Id, Name FROM Product2 WHERE Name LIKE '%tent%'",
            """SELECT "Id", "Name" FROM "Product2" WHERE lower("Name") LIKE '%tent%'""",
        ),
        Asked(
            "accounts by their cases",
            "SELECT Id, Name FROM Account WHERE Id IN "
            "(SELECT AccountId FROM Case WHERE Status = 'Escalated')",
            """SELECT "Id", "Name" FROM "Account" WHERE "Id" IN
            (SELECT "AccountId" FROM "Case" WHERE "Status" = 'Escalated')""",
        ),
    ]


def measure_query(backend: str, org: ServiceOrg, query: Asked, effort: ServiceEffort) -> QuerySpeed:
    """Time a query in both languages, and its first time.

    Raises:
        HarnessError: They do not find the same number of rows.
    """
    execute, now = org.database.connection.execute, org.now

    def soql() -> list[Any]:
        return org.soql.run(query.soql, execute, now).records

    def sql() -> list[Any]:
        return execute(query.sql, ())

    found = len(soql())
    if found != len(sql()):
        raise HarnessError(f"{query.name}: SOQL finds {found} rows, SQL {len(sql())}")
    taken = interleaved(
        {
            "soql": _each(soql, effort.calls),
            "sql": _each(sql, effort.calls),
            "plan": _planning(org, query.soql, now),
        },
        effort.rounds,
    )
    ms = {name: 1000 * median(seconds) for name, seconds in taken.items()}
    beyond = beyond_sql(taken["soql"], taken["sql"])
    return QuerySpeed(backend, query.name, found, ms["soql"], ms["sql"], ms["plan"], beyond)


def beyond_sql(soql: Sequence[float], sql: Sequence[float]) -> float:
    """The median over rounds of what SOQL takes beyond `ALLOWED_MS`, as a multiple of the SQL;
    0 where it takes less. Times are in seconds.
    """
    shares = [(one - ALLOWED_MS / 1000) / two for one, two in zip(soql, sql, strict=True)]
    return max(median(shares), 0.0)


def _each(action: Callable[[], object], calls: int) -> Callable[[], float]:
    def repeated() -> None:
        for _ in range(calls):
            action()

    return lambda: seconds_of(repeated) / calls


def _planning(org: ServiceOrg, text: str, now: datetime) -> Callable[[], float]:
    """A measurement of parsing and compiling, in CPU time, of a query of a new shape each time."""
    whole, limit = text.split(" LIMIT ")[0], 40_000

    def measure() -> float:
        nonlocal limit
        limit -= 1
        unknown = f"{whole} LIMIT {limit}"
        started = process_time()
        org.soql.plan(unknown, now)
        return process_time() - started

    return measure


# --- SOSL -----------------------------------------------------------------------------------------

RETURNING = "IN ALL FIELDS RETURNING Case(Id, Subject LIMIT 20), Knowledge__kav(Id, Title LIMIT 20)"
SEARCHES = tuple(
    f"FIND {{{words}}} {RETURNING}"
    for words in (
        "tent",
        "freight",
        '"store credit"',
        "tent AND torn",
        "zipper OR buckle",
        "tent AND NOT late",
        "warrant*",
        "t?nt",
        "re*nd AND (jacket OR boot)",
    )
)


def measure_search(
    backend: str, org: ServiceOrg, search: str, effort: ServiceEffort
) -> SearchSpeed:
    """Time a search."""
    execute, now = org.database.connection.execute, org.now

    def find() -> int:
        return sum(len(each.records) for each in org.sosl.run(search, execute, now).found)

    found = find()
    taken = interleaved({"search": _each(find, max(effort.calls // 10, 1))}, effort.rounds)
    words = search[search.index("{") + 1 : search.index("}")]
    return SearchSpeed(backend, words, found, 1000 * median(taken["search"]))


# --- in words -------------------------------------------------------------------------------------


def render_service(results: Mapping[str, Any]) -> list[str]:
    """The lines of text of ``bench.json``'s ``service``; none if it was not measured."""
    data = results["service"]
    if data is None:
        return []
    made = Generated(**data["generated"])
    head = (
        f"  {'':<9}{'query':<28}{'records':>8}{'SOQL':>9}{'SQL':>9}{'first time':>12}"
        f"{'(SOQL - 1 ms) / SQL':>21}"
    )
    return [
        f"Service org {made.world}: {made.rows:,} rows, {made.rows_per_cpu_s:,.0f} a second of CPU",
        "SOQL against hand-written SQL, milliseconds",
        head,
        *(_query_line(QuerySpeed(**query)) for query in data["queries"]),
        "SOSL, milliseconds",
        *(_search_line(SearchSpeed(**search)) for search in data["searches"]),
    ]


def _query_line(speed: QuerySpeed) -> str:
    return (
        f"  {speed.backend:<9}{speed.query:<28}{speed.records:>8,}{speed.soql_ms:>9.3f}"
        f"{speed.sql_ms:>9.3f}{speed.plan_ms:>+12.2f}{speed.beyond:>21.2f}"
    )


def _search_line(speed: SearchSpeed) -> str:
    return f"  {speed.backend:<9}{speed.search:<28}{speed.records:>8,}{speed.ms:>9.3f}"
