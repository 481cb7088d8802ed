"""The right answers from the loaded org, in SQL (of SQLite), and from the latent variables.

This module shares no code with `crmbench.domains.service.truth.plain`, which walks over the rows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from crmbench.domains.service.families.mention import Mention
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.world.latents import Latents

_ABOUT = """
FROM "OrderItem" i JOIN "Case" c ON c."OrderItemId__c" = i."Id"
WHERE i."Product2Id" = ? AND c."CreatedDate" >= ? AND c."CreatedDate" < ? GROUP BY 1"""
_BOUGHT = """
SELECT p."Id", p."Name" FROM "Order" o JOIN "OrderItem" i ON i."OrderId" = o."Id"
JOIN "Product2" p ON p."Id" = i."Product2Id" WHERE o."AccountId" = ? AND o."EffectiveDate" = ?"""
_CLOSING = """
SELECT a."ShippingState", avg(unixepoch(substr(c."ClosedDate", 1, 19))
                              - unixepoch(substr(c."CreatedDate", 1, 19)))
FROM "Case" c JOIN "Account" a ON a."Id" = c."AccountId"
WHERE c."ClosedDate" IS NOT NULL AND c."CreatedDate" >= ? AND c."CreatedDate" < ?
GROUP BY 1"""
_HANDLED = """
SELECT "NewValue__c" AS agent, count(DISTINCT "CaseId__c") AS n FROM "CaseHistory__c"
WHERE "Field__c" = 'Owner Assignment' AND "CreatedDate" >= ? AND "CreatedDate" < ? GROUP BY 1"""
_HANDLE = f"""
WITH handled AS ({_HANDLED}),
once AS (SELECT "CaseId__c" AS id, min("NewValue__c") AS agent, min("CreatedDate") AS at
         FROM "CaseHistory__c" WHERE "Field__c" = 'Owner Assignment'
         GROUP BY 1 HAVING count(*) = 1)
SELECT once.agent, avg((unixepoch(substr(c."ClosedDate", 1, 19))
                        - unixepoch(substr(c."CreatedDate", 1, 19))) / 60.0)
FROM once JOIN "Case" c ON c."Id" = once.id AND c."Status" = 'Closed'
JOIN handled ON handled.agent = once.agent AND handled.n > ?
WHERE once.at >= ? AND once.at < ? GROUP BY 1"""
_TRANSFERS = f"""
WITH handled AS ({_HANDLED})
SELECT handled.agent, handled.n, count(h."Id") FROM handled
LEFT JOIN "CaseHistory__c" h ON h."OldValue__c" = handled.agent
  AND h."Field__c" = 'Owner Assignment' AND h."CreatedDate" >= ? AND h."CreatedDate" < ?
GROUP BY 1, 2"""
_ROUTE = """
WITH issues AS (SELECT "OwnerId" AS id, count(*) AS n FROM "Case"
                WHERE "ClosedDate" IS NOT NULL AND "IssueId__c" = ? GROUP BY 1),
products AS (SELECT c."OwnerId" AS id, count(*) AS n
             FROM "OrderItem" i JOIN "Case" c ON c."OrderItemId__c" = i."Id"
             WHERE c."ClosedDate" IS NOT NULL AND i."Product2Id" = ? GROUP BY 1),
busy AS (SELECT "OwnerId" AS id, count(*) AS n FROM "Case" WHERE "ClosedDate" IS NULL GROUP BY 1)
SELECT u."Id", coalesce(issues.n, 0), coalesce(products.n, 0), coalesce(busy.n, 0)
FROM "User" u LEFT JOIN issues ON issues.id = u."Id"
LEFT JOIN products ON products.id = u."Id" LEFT JOIN busy ON busy.id = u."Id"
WHERE u."IsActive" ORDER BY 2 DESC, 3 DESC, 4"""

_REST = """replace(replace(substr(p."Name", instr(p."Name", ' ') + 1), 'III ', ''), 'II ', '')"""
"""A product's name without its first word and its version."""


@dataclass(frozen=True)
class QueryTruth:
    """Asks an org in SQLite."""

    org: ServiceOrg
    latents: Latents
    """Of the world that the org is; they know which rules were broken."""
    _transfers: dict[tuple[str, str], list[tuple[str, int, int]]] = field(default_factory=dict)
    """Agents with what they handled and passed on, by period: asked for with many bounds."""

    def issue_counts(self, product: str, start: str, end: str) -> dict[str, int]:
        """The cases about a product that were created in a period, by issue."""
        text = f'SELECT c."IssueId__c", count(*) {_ABOUT}'
        return dict(self._sql(text, product, start, end))

    def month_counts(self, product: str, start: str, end: str) -> dict[str, int]:
        """The cases about a product that were created in a period, by month (``2024-05``)."""
        text = f'SELECT substr(c."CreatedDate", 1, 7), count(*) {_ABOUT}'
        return dict(self._sql(text, product, start, end))

    def closing_times(self, start: str, end: str) -> dict[str, float]:
        """Mean seconds from creation to closing of the cases created in a period, by state."""
        return dict(self._sql(_CLOSING, start, end))

    def handled(self, start: str, end: str) -> dict[str, int]:
        """How many different cases were assigned to each agent in a period."""
        return dict(self._sql(_HANDLED, start, end))

    def handle_times(self, start: str, end: str, more_than: int) -> dict[str, float]:
        """Mean minutes to close, of agents who handled more than so many cases in a period."""
        return dict(self._sql(_HANDLE, start, end, more_than, start, end))

    def transfers(self, start: str, end: str, more_than: int) -> dict[str, int]:
        """Assignments away from each agent who handled more than so many cases in a period."""
        if (start, end) not in self._transfers:
            found = self._sql(_TRANSFERS, start, end, start, end)
            self._transfers[start, end] = [(agent, n, away) for agent, n, away in found]
        return {agent: away for agent, n, away in self._transfers[start, end] if n > more_than}

    def route(self, issue: str, product: str, absent: Collection[str] = ()) -> list[str]:
        """The active agents to whom a new case could go, all that are equal by the rules."""
        rows = [row for row in self._sql(_ROUTE, issue, product) if row[0] not in absent]
        return sorted(row[0] for row in rows if row[1:] == rows[0][1:])

    def bought(self, account: str, day: str) -> dict[str, str]:
        """The products that a customer ordered on a day: names by id."""
        return dict(self._sql(_BOUGHT, account, day))

    def fitting(self, account: str, day: str, mention: Mention) -> list[str]:
        """The products that a customer ordered on a day and that some words fit."""
        tests, values = _name_tests(mention)
        found = self._sql(f"{_BOUGHT} AND {' AND '.join(tests)}", account, day, *values)
        return sorted({row[0] for row in found})

    def broken(self, case: str) -> str | None:
        """The id of the article that the agent of a closed case broke, as the world has it."""
        found = self.latents.policy_violations.get(case)
        return found.article if found else None

    def _sql(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.org.database.connection.execute(text, values)


def _name_tests(mention: Mention) -> tuple[list[str], list[str]]:
    """Conditions on a product's name, and the patterns in them."""
    ends = [f"in {color}" for color in mention.colors] if mention.colors else ["in %"]
    # Behind the series and the version a name goes on with the size, or with the kind.
    starts = ["", "% "] if mention.size is None else [f"{mention.size} "]
    patterns = [f"{s}{kind} {end}" for s in starts for kind in mention.kinds for end in ends]
    tests = [f"({' OR '.join(f'{_REST} LIKE ?' for _ in patterns)})"]
    if mention.version is not None:
        later = ("% II %", "% III %")
        here = {1: (), 2: later[:1], 3: later[1:]}[mention.version]
        for pattern in later:
            tests.append(f"""p."Name" {"LIKE" if pattern in here else "NOT LIKE"} ?""")
            patterns.append(pattern)
    return tests, patterns
