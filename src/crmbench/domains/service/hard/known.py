"""What a reply may speak of: reading calls whose results the reader of replies knows."""

from __future__ import annotations

from collections.abc import Sequence

from crmbench.core.task import GoldCall

ABOUT = (
    "CaseNumber", "Subject", "Priority", "Status", "Account.Name", "IssueId__r.Name",
    "OrderItemId__r.Product2.Name",
)  # fmt: skip
PEOPLE = ("Service Agent", "Dispatch Clerk", "Queue")


def reading_calls(cases: Sequence[str]) -> list[GoldCall]:
    """Calls that show the cases, the names of issues, of the desk's people and of its articles."""
    listed = ", ".join(f"'{key}'" for key in cases)
    queries = (
        f"SELECT Id, {', '.join(ABOUT)} FROM Case WHERE Id IN ({listed})",
        "SELECT Id, Name FROM Issue__c",
        f"SELECT Id, Name, Title FROM User WHERE Title IN ({', '.join(map(repr, PEOPLE))})",
        "SELECT Id, Title FROM Knowledge__kav",
    )
    return [GoldCall("issue_soql_query", {"query": query}) for query in queries]
