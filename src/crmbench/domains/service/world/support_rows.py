"""The rows of the service desk: cases and what was written in them, and the cases' history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np

from crmbench.core.schema import Row
from crmbench.domains.service.schema import PICKLISTS
from crmbench.domains.service.text import ISSUES, STORE, compose_case, violable
from crmbench.domains.service.text.model import (
    CaseFacts,
    CaseText,
    Channel,
    ChatLine,
    RuleRef,
    Temper,
)
from crmbench.domains.service.world.moments import DAY, NOW, day_texts, moment_texts
from crmbench.domains.service.world.org import OrgArrays
from crmbench.domains.service.world.rows import CHUNK, Chunk, chunks, contact_emails, user_emails
from crmbench.domains.service.world.seeds import Ints
from crmbench.domains.service.world.words import FIRST_NAMES, LAST_NAMES

CASES_AT_A_TIME = 1000
CHANNELS: tuple[Channel, ...] = ("email", "chat", "both")
TEMPERS: tuple[Temper, ...] = ("calm", "annoyed", "friendly")
PRIORITIES = PICKLISTS["Case", "Priority"]
TALK_SHARE = 0.95
"""How much of a case's time its messages may take."""


def stream_desk(org: OrgArrays) -> Iterator[Chunk]:
    """Cases with e-mails and chats, then the history of all cases in the order of time."""
    written = _Written(org)
    for numbers in chunks(len(org.cases.item), CASES_AT_A_TIME):
        cases, emails, chats = written.write(numbers)
        yield "Case", cases
        yield "EmailMessage", emails
        yield "LiveChatTranscript", chats
    yield from _history(org)


def broken_rule(org: OrgArrays, number: int) -> RuleRef | None:
    """The rule that the agent broke in a case, if any."""
    cases = org.cases
    if not cases.breaks[number]:
        return None
    articles = _rules_by_article(int(cases.issue[number]))
    if not articles:
        return None
    which, rule = cases.rule_chances[number].tolist()
    rules = articles[int(which * len(articles))]
    return rules[int(rule * len(rules))]


@cache
def _rules_by_article(issue: int) -> tuple[tuple[RuleRef, ...], ...]:
    articles: dict[str, list[RuleRef]] = {}
    for reference in violable(ISSUES[issue].key):
        articles.setdefault(reference[0], []).append(reference)
    return tuple(tuple(rules) for rules in articles.values())


@dataclass(frozen=True, slots=True)
class _Times:
    """Where the messages of a case lie in time."""

    opened: int
    start: int
    """When the agent who wrote them got the case."""
    scale: float

    def at(self, minutes: int) -> int:
        return self.start + int(60 * self.scale * minutes) if minutes else self.opened


class _Written:
    """Writes cases in their order and counts the records that come of them."""

    def __init__(self, org: OrgArrays) -> None:
        self.org = org
        self.rng = Random()
        self.emails = 0
        self.chats = 0
        self.user_emails = user_emails(org)
        self.contact_emails = contact_emails(org)

    def write(self, numbers: Ints) -> tuple[list[Row], list[Row], list[Row]]:
        """The rows of some cases: cases, e-mails, chats."""
        cases = self._case_rows(numbers)
        emails: list[Row] = []
        chats: list[Row] = []
        facts = self._facts(numbers)
        times = self._times(numbers)
        for number, row, fact, (opened, start, end) in zip(
            numbers.tolist(), cases, facts, times, strict=True
        ):
            # Each case has chance of its own, so that no other case changes its words.
            self.rng.seed((self.org.seed << 32) + number)
            text = compose_case(self.rng, fact)
            row["Subject"], row["Description"] = text.subject, text.description
            room = TALK_SHARE * (end - start) / 60
            when = _Times(opened, start, min(1.0, room / max(text.last_minute, 1)))
            emails += self._email_rows(number, row, text, when)
            if text.chat and row["Status"] != "New":
                chats.append(self._chat_row(row, fact, text.chat, when))
        self._finish(emails, chats)
        return cases, emails, chats

    def _case_rows(self, numbers: Ints) -> list[Row]:
        org, cases = self.org, self.org.cases
        ids = org.ids
        closed = cases.closed[numbers]
        ended = moment_texts(closed)
        columns = zip(
            ids.of("Case", numbers),
            cases.priority[numbers].tolist(),
            self._statuses(numbers),
            ids.of("Contact", cases.contact[numbers]),
            moment_texts(cases.opened[numbers]),
            [text if at >= 0 else None for text, at in zip(ended, closed.tolist(), strict=True)],
            ids.of("OrderItem", cases.item[numbers]),
            ids.of("Issue__c", cases.issue[numbers]),
            ids.of("Account", cases.account[numbers]),
            ids.of("User", cases.owner[numbers]),
            strict=True,
        )
        return [
            {
                "Id": key,
                "Priority": PRIORITIES[priority],
                "Subject": None,
                "Description": None,
                "Status": status,
                "ContactId": contact,
                "CreatedDate": opened,
                "ClosedDate": end,
                "OrderItemId__c": item,
                "IssueId__c": issue,
                "AccountId": account,
                "OwnerId": owner,
            }
            for key, priority, status, contact, opened, end, item, issue, account, owner in columns
        ]

    def _statuses(self, numbers: Ints) -> list[str]:
        cases = self.org.cases
        unanswered = cases.opened[numbers] > NOW - DAY
        waiting = cases.waiting[numbers]
        status = np.where(waiting < 0.75, "Waiting on Customer", "Escalated")
        status = np.where(waiting < 0.42, "Working", status)
        status = np.where(unanswered, "New", status)
        texts: list[str] = np.where(cases.closed[numbers] >= 0, "Closed", status).tolist()
        return texts

    def _times(self, numbers: Ints) -> Iterator[tuple[int, int, int]]:
        cases = self.org.cases
        start = cases.assigned[numbers].max(axis=1)
        return zip(
            cases.opened[numbers].tolist(),
            start.tolist(),
            cases.ends[numbers].tolist(),
            strict=True,
        )

    def _facts(self, numbers: Ints) -> Iterator[CaseFacts]:
        org, cases, people = self.org, self.org.cases, self.org.people
        item = cases.item[numbers]
        columns = zip(
            numbers.tolist(),
            people.contact_first[cases.contact[numbers]].tolist(),
            people.account_last[cases.account[numbers]].tolist(),
            people.user_first[cases.owner[numbers]].tolist(),
            org.orders.item_product[item].tolist(),
            cases.issue[numbers].tolist(),
            day_texts(org.orders.item_day[item]),
            moment_texts(cases.opened[numbers]),
            cases.channel[numbers].tolist(),
            cases.temper[numbers].tolist(),
            cases.reply[numbers].tolist(),
            strict=True,
        )
        for number, first, last, agent, product, issue, day, moment, way, temper, reply in columns:
            yield CaseFacts(
                customer_first=FIRST_NAMES[first],
                customer_last=LAST_NAMES[last],
                agent_first=FIRST_NAMES[agent],
                product=org.products.items[product].name,
                issue=ISSUES[issue].key,
                order_date=day,
                opened=moment,
                violated=broken_rule(org, number),
                channel=CHANNELS[way],
                temper=TEMPERS[temper],
                reply_minutes=reply,
            )

    def _email_rows(self, number: int, row: Row, text: CaseText, when: _Times) -> list[Row]:
        cases = self.org.cases
        customer = self.contact_emails[cases.contact[number]]
        agent = self.user_emails[cases.owners[number, 2]]
        emails = text.emails
        if row["Status"] != "Closed":
            # What is still open breaks off: a new case after the customer's first words.
            emails = emails[: 1 if row["Status"] == "New" else (len(emails) + 1) // 2]
        return [
            {
                "Id": None,
                "Subject": email.subject,
                "TextBody": email.body,
                "ParentId": row["Id"],
                "FromAddress": customer if email.from_customer else agent,
                "ToIds": row["OwnerId"] if email.from_customer else row["ContactId"],
                "MessageDate": when.at(email.minutes_after_open),
            }
            for email in emails
        ]

    def _chat_row(
        self, row: Row, fact: CaseFacts, lines: tuple[ChatLine, ...], when: _Times
    ) -> Row:
        first = lines[0].minutes_after_open
        agent = f"{fact.agent_first} ({STORE})"
        # A chat begins when its agent has the case, or later if its lines do.
        begin = when.start + int(60 * when.scale * first)
        body = "\n".join(
            f"({int(when.scale * (line.minutes_after_open - first))}m) "
            f"{fact.customer_first if line.from_customer else agent}: {line.text}"
            for line in lines
        )
        return {
            "Id": None,
            "CaseId": row["Id"],
            "AccountId": row["AccountId"],
            "OwnerId": row["OwnerId"],
            "ContactId": row["ContactId"],
            "Body": body,
            "EndTime": begin + int(60 * when.scale * (lines[-1].minutes_after_open - first)) + 40,
            "LiveChatVisitorId": None,
        }

    def _finish(self, emails: list[Row], chats: list[Row]) -> None:
        """Fill in what is made for many rows at once: ids and moments as text."""
        ids = self.org.ids
        _fill(emails, "Id", ids.of("EmailMessage", self.emails + np.arange(len(emails))))
        _fill(emails, "MessageDate", _moments(emails, "MessageDate"))
        numbers = self.chats + np.arange(len(chats))
        _fill(chats, "Id", ids.of("LiveChatTranscript", numbers))
        _fill(chats, "LiveChatVisitorId", ids.of("LiveChatVisitor", numbers))
        _fill(chats, "EndTime", _moments(chats, "EndTime"))
        self.emails += len(emails)
        self.chats += len(chats)


def _fill(rows: list[Row], column: str, values: list[str]) -> None:
    for row, value in zip(rows, values, strict=True):
        row[column] = value


def _moments(rows: list[Row], column: str) -> list[str]:
    return moment_texts(np.array([row[column] for row in rows], dtype=np.int64))


def _history(org: OrgArrays) -> Iterator[Chunk]:
    """Who had which case when: one row for each event, by time."""
    event, case, moment = _events(org)
    owners = org.cases.owners
    fields = ("Case Creation", "Owner Assignment", "Owner Assignment", "Owner Assignment")
    names = (*fields, "Case Closed")
    for numbers in chunks(len(event), CHUNK):
        kind, which = event[numbers], case[numbers]
        columns = zip(
            org.ids.of("CaseHistory__c", numbers),
            org.ids.of("Case", which),
            org.ids.of("User", owners[which, np.clip(kind - 2, 0, 2)]),
            org.ids.of("User", owners[which, np.clip(kind - 1, 0, 2)]),
            moment_texts(moment[numbers]),
            kind.tolist(),
            strict=True,
        )
        yield (
            "CaseHistory__c",
            [
                {
                    "Id": key,
                    "CaseId__c": parent,
                    "OldValue__c": old if kind in (2, 3) else None,
                    "NewValue__c": new if kind in (1, 2, 3) else None,
                    "CreatedDate": created,
                    "Field__c": names[kind],
                }
                for key, parent, old, new, created, kind in columns
            ],
        )


def _events(org: OrgArrays) -> tuple[Ints, Ints, Ints]:
    """All events by time: kind (0 opened, 1 to 3 assigned, 4 closed), case, moment."""
    cases = org.cases
    moments = np.column_stack((cases.opened, cases.assigned, cases.closed))
    happened = moments >= 0
    case, event = np.nonzero(happened)
    moment = moments[happened]
    order = np.lexsort((event, case, moment))
    return event[order].astype(np.int64), case[order].astype(np.int64), moment[order]
