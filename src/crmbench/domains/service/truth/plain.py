"""The right answers from the generated rows, in plain Python.

This module shares no code with `crmbench.domains.service.truth.query`, which asks the loaded org.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from crmbench.core.schema import Row
from crmbench.domains.service.families.mention import Mention, MentionedGoods
from crmbench.domains.service.families.records import Records
from crmbench.domains.service.text import (
    ARTICLES,
    ISSUES,
    STORE,
    CaseText,
    ChatLine,
    Email,
    check_text,
)
from crmbench.errors import HarnessError


class Assigned(NamedTuple):
    """The owner assignments of a period."""

    rows: list[Row]
    handled: dict[str, int]
    """Different cases that each agent was given."""
    away: Counter[str]
    """Cases that each agent passed on."""

    @classmethod
    def of(cls, rows: list[Row]) -> Assigned:
        """Read the rows of cases being assigned."""
        cases: dict[str, set[str]] = {}
        for row in rows:
            cases.setdefault(row["NewValue__c"], set()).add(row["CaseId__c"])
        handled = {agent: len(found) for agent, found in cases.items()}
        return cls(rows, handled, Counter(row["OldValue__c"] for row in rows))


@dataclass(frozen=True)
class PlainTruth:
    """Walks over the records of an org."""

    records: Records
    _assigned: dict[tuple[str, str], Assigned] = field(default_factory=dict)

    def issue_counts(self, product: str, start: str, end: str) -> dict[str, int]:
        """The cases about a product that were created in a period, by issue."""
        cases = _within(self.records.cases_about(product), start, end)
        return dict(Counter(case["IssueId__c"] for case in cases))

    def month_counts(self, product: str, start: str, end: str) -> dict[str, int]:
        """The cases about a product that were created in a period, by month (``2024-05``)."""
        cases = _within(self.records.cases_about(product), start, end)
        return dict(Counter(case["CreatedDate"][:7] for case in cases))

    def closing_times(self, start: str, end: str) -> dict[str, float]:
        """Mean seconds from creation to closing of the cases created in a period, by state."""
        times: dict[str, list[float]] = {}
        for case in _within(self.records.cases, start, end):
            if case["ClosedDate"] is not None:
                state = self.records.get("Account", case["AccountId"])["ShippingState"]
                times.setdefault(state, []).append(_seconds(case))
        return {state: sum(found) / len(found) for state, found in times.items()}

    def handled(self, start: str, end: str) -> dict[str, int]:
        """How many different cases were assigned to each agent in a period."""
        return self._assignments(start, end).handled

    def handle_times(self, start: str, end: str, more_than: int) -> dict[str, float]:
        """Mean minutes to close, of agents who handled more than so many cases in a period.

        Counted are closed cases with one owner assignment in all, which lies in the period.
        """
        often = {agent for agent, n in self.handled(start, end).items() if n > more_than}
        times: dict[str, list[float]] = {}
        for row in self._assignments(start, end).rows:
            case = self.records.get("Case", row["CaseId__c"])
            if row["NewValue__c"] in often and case["ClosedDate"] and self._stayed(case):
                times.setdefault(row["NewValue__c"], []).append(_seconds(case) / 60)
        return {agent: sum(found) / len(found) for agent, found in times.items()}

    def transfers(self, start: str, end: str, more_than: int) -> dict[str, int]:
        """Assignments away from each agent who handled more than so many cases in a period."""
        away = self._assignments(start, end).away
        often = (agent for agent, n in self.handled(start, end).items() if n > more_than)
        return {agent: away[agent] for agent in often}

    def route(self, issue: str, product: str, absent: Collection[str] = ()) -> list[str]:
        """The active agents to whom a new case could go, all that are equal by the rules."""
        present = [agent for agent in self.records.agents if agent not in absent]
        closed = [case for case in self.records.cases if case["Status"] == "Closed"]
        about = {case["Id"] for case in self.records.cases_about(product)}
        by_issue = Counter(c["OwnerId"] for c in closed if c["IssueId__c"] == issue)
        by_product = Counter(c["OwnerId"] for c in closed if c["Id"] in about)
        busy = Counter(case["OwnerId"] for case in self.records.open_cases)
        ranks = {a: (-by_issue[a], -by_product[a], busy[a]) for a in present}
        first = min(ranks.values())
        return sorted(agent for agent, rank in ranks.items() if rank == first)

    def bought(self, account: str, day: str) -> dict[str, str]:
        """The products that a customer ordered on a day: names by id."""
        items = self.records.items_of(account).get(day, [])
        return {item["Product2Id"]: self.records.name(item["Product2Id"]) for item in items}

    def fitting(self, account: str, day: str, mention: Mention) -> list[str]:
        """The products that a customer ordered on a day and that some words fit."""
        bought = self.bought(account, day)
        return sorted(
            key for key, name in bought.items() if mention.fits(MentionedGoods.read(name))
        )

    def broken(self, case: str) -> str | None:
        """The id of the article that the agent of a closed case broke, read from the words.

        Raises:
            HarnessError: The words break more than one.
        """
        found = {self._articles[key] for key, _ in check_text(*self._read(case))}
        if len(found) > 1:
            raise HarnessError(f"the words of case {case} break {len(found)} articles")
        return next(iter(found), None)

    def _read(self, case: str) -> tuple[CaseText, str]:
        """A case's stored words as a conversation, and the key of its issue."""
        row = self.records.get("Case", case)
        opened = datetime.fromisoformat(row["CreatedDate"])
        issue = next(i.key for i in ISSUES if i.name == self.records.name(row["IssueId__c"]))
        customer = self.records.get("Contact", row["ContactId"])["Email"]
        emails = tuple(
            Email(
                mail["FromAddress"] == customer,
                mail["Subject"],
                mail["TextBody"],
                _minutes(opened, mail["MessageDate"]),
            )
            for mail in self._emails.get(case, [])
        )
        chat = tuple(line for row in self._chats.get(case, []) for line in _chat(opened, row))
        return CaseText(
            row["Subject"], row["Description"], emails, chat, row["CreatedDate"][:10]
        ), issue

    @cached_property
    def _articles(self) -> dict[str, str]:
        ids = {row["Title"]: row["Id"] for row in self.records.rows["Knowledge__kav"]}
        return {article.key: ids[article.title] for article in ARTICLES}

    @cached_property
    def _emails(self) -> dict[str, list[Row]]:
        return _by(self.records.rows["EmailMessage"], "ParentId", "MessageDate")

    @cached_property
    def _chats(self) -> dict[str, list[Row]]:
        return _by(self.records.rows["LiveChatTranscript"], "CaseId", "EndTime")

    def _assignments(self, start: str, end: str) -> Assigned:
        """Those of a period; kept, as a period is asked for with many numbers of cases."""
        if (start, end) not in self._assigned:
            self._assigned[start, end] = Assigned.of(_within(self.records.assignments, start, end))
        return self._assigned[start, end]

    def _stayed(self, case: Row) -> bool:
        history = self.records.history_of(case["Id"])
        assigned = [row for row in history if row["Field__c"] == "Owner Assignment"]
        return len(assigned) == 1


def _within(rows: list[Row], start: str, end: str) -> list[Row]:
    return [row for row in rows if start <= row["CreatedDate"][:10] < end]


def _seconds(case: Row) -> float:
    opened = datetime.fromisoformat(case["CreatedDate"])
    return (datetime.fromisoformat(case["ClosedDate"]) - opened).total_seconds()


def _by(rows: list[Row], parent: str, moment: str) -> dict[str, list[Row]]:
    """Rows by their parent, in the order of time."""
    groups: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row[moment]):
        groups.setdefault(row[parent], []).append(row)
    return groups


def _minutes(opened: datetime, moment: str) -> int:
    return int((datetime.fromisoformat(moment) - opened).total_seconds() // 60)


_LINE = re.compile(rf"\((\d+)m\) (.+?)( \({STORE}\))?: (.*)")


def _chat(opened: datetime, row: Row) -> Iterator[ChatLine]:
    """The lines of a stored chat; its end is that of the last line."""
    lines = [match.groups() for match in map(_LINE.fullmatch, row["Body"].split("\n")) if match]
    begin = _minutes(opened, row["EndTime"]) - int(lines[-1][0])
    for minute, _name, store, text in lines:
        yield ChatLine(store is None, begin + int(minute), text)
