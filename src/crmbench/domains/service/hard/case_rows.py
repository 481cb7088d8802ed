"""Drafts of cases become records: the case, its history, letters, comments and credits."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from crmbench.core.schema import Row
from crmbench.domains.service.hard.calendar import text_of
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.desk.late_case import LateCase
from crmbench.salesforce.ids import first_number, record_id

OPEN = ("New", "Working", "Waiting on Customer", "Escalated")


@dataclass
class Records:
    """Rows by object, with ids given out in order."""

    seed: int
    rng: random.Random
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, **fields: object) -> Row:
        """A record of an object; ids have gaps, as records are deleted in real orgs."""
        # The easy org's articles have the first numbers of their object.
        number = self.numbers.get(name, first_number(name, self.seed) + 1000)
        self.numbers[name] = number + self.rng.choice((1, 1, 1, 2, 3))
        row: Row = {"Id": record_id(name, number), **fields}
        self.rows[name].append(row)
        return row


@dataclass(frozen=True)
class Draft:
    opened: datetime
    closed: datetime | None
    talk: Conversation
    subject: str
    account: Row
    item: Row | None
    issue: str | None
    late: LateCase | None = None
    copy: bool = False
    """Whether it is the duplicate that was merged into the late case."""
    owner: Row | None = None
    """Who has it; the agent of the conversation if None."""
    status: str | None = None
    priority: str | None = None
    origin: str | None = None
    supplied: str | None = None
    """The address given in the form; the contact's if None."""
    bare: bool = False
    """Whether the case has neither account nor contact."""
    key: str | None = None
    """What the maker of the draft calls it."""
    chat: bool = False
    """Whether it was a chat, and no letters."""


_NAMED = re.compile(r"@(\d+)@")
"""Where a comment names a late case, ``@17@``, of which the number is not known yet."""


def _case_number(place: int) -> str:
    return f"{1_204_000 + 3 * place + place % 2:08d}"


class CaseWriter:
    """Writes cases with their history, letters, comments and credits."""

    def __init__(
        self, records: Records, agents: list[Row], clerks: list[Row], rng: random.Random
    ) -> None:
        self.records, self.clerks, self.rng = records, clerks, rng
        self.agents = agents
        self.agent = {user["Name"]: user for user in agents}
        self.issues = {row["Name"]: row["Id"] for row in records.rows["Issue__c"]}
        self.contact: dict[str, Row] = {}
        for row in records.rows["Contact"]:
            self.contact.setdefault(row["AccountId"], row)
        self.case_ids: dict[int, str] = {}
        self.case_numbers: dict[int, str] = {}
        self.noted_by: dict[int, Row] = {}
        """Who of Dispatch writes about a late case."""
        self.keys: dict[str, str] = {}
        """The ids of cases by what the makers of their drafts call them."""

    def write(self, drafts: list[Draft]) -> dict[int, str]:
        for number, draft in enumerate(drafts):
            if draft.late is not None and not draft.copy:
                self.case_numbers[draft.late.number] = _case_number(number)
        for number, draft in enumerate(drafts):
            case = self._case(draft, number)
            self._history(draft, case)
            self._letters(draft, case)
            self._comments(draft, case)
            self._credits(draft, case)
        for name, key in (
            ("EmailMessage", "MessageDate"), ("CaseHistory__c", "CreatedDate"),
            ("CaseComment", "CreatedDate"), ("LiveChatTranscript", "EndTime"),
            ("Credit__c", "BookedDate__c"),
        ):  # fmt: skip
            self._number(name, key)
        return self.case_ids

    def _number(self, name: str, key: str) -> None:
        """Give ids in the order of time."""
        rows = self.records.rows.pop(name, [])
        rows.sort(key=lambda row: (row[key], row["Id"]))
        ids = sorted(row["Id"] for row in rows)
        self.records.rows[name] = [{**row, "Id": key} for row, key in zip(rows, ids, strict=True)]

    def _case(self, draft: Draft, number: int) -> Row:
        rng, contact = self.rng, self.contact[draft.account["Id"]]
        master = None
        if draft.copy and draft.late is not None:
            master = self.case_ids[draft.late.number]
        case = self.records.add(
            "Case",
            CaseNumber=_case_number(number),
            Origin=draft.origin or rng.choice(("Email", "Email", "Phone", "Chat")),
            Subject=draft.subject[:255],
            Description=draft.talk.messages[0].body,
            Priority=draft.priority or rng.choice(("Low", *["Medium"] * 3, "High", "Critical")),
            Status="Closed" if draft.closed else draft.status or rng.choice(OPEN),
            ContactId=contact["Id"] if rng.random() < 0.93 and not draft.bare else None,
            AccountId=None if draft.bare else draft.account["Id"],
            OwnerId=(draft.owner or self.agent[draft.talk.agent])["Id"],
            OrderItemId__c=draft.item["Id"] if draft.item else None,
            IssueId__c=self.issues[draft.issue] if draft.issue else None,
            CreatedDate=text_of(draft.opened),
            ClosedDate=text_of(draft.closed) if draft.closed else None,
            SuppliedEmail=draft.supplied or contact["Email"],
            SuppliedName=draft.account["Name"],
            MasterRecordId=master,
        )
        if draft.late is not None and not draft.copy:
            self.case_ids[draft.late.number] = case["Id"]
        if draft.key is not None:
            self.keys[draft.key] = case["Id"]
        return case

    def _history(self, draft: Draft, case: Row) -> None:
        def add(field_name: str, moment: datetime, old: str | None, new: str | None) -> None:
            self.records.add(
                "CaseHistory__c",
                CaseId__c=case["Id"],
                Field__c=field_name,
                OldValue__c=old,
                NewValue__c=new,
                CreatedDate=text_of(moment),
            )

        rng = self.rng
        add("Case Creation", draft.opened, None, None)
        moment = draft.opened + timedelta(minutes=rng.randrange(2, 90))
        owner = case["OwnerId"]
        if rng.random() < 0.25:
            other = rng.choice(self.agents)["Id"]
            if other != owner:
                add("Owner Assignment", moment, None, other)
                later = moment + timedelta(minutes=rng.randrange(20, 300))
                add("Owner Assignment", later, other, owner)
            else:
                add("Owner Assignment", moment, None, owner)
        else:
            add("Owner Assignment", moment, None, owner)
        if draft.closed is None:
            return
        if draft.late is None and rng.random() < 0.08:
            # It was closed once before, and opened again.
            middle = draft.opened + (draft.closed - draft.opened) / 2
            add("Case Closed", middle, None, None)
        add("Case Closed", draft.closed, None, None)

    def _chat(self, draft: Draft, case: Row) -> None:
        """The conversation as a chat, a line for each of its paragraphs."""
        agent = self.agent[draft.talk.agent]
        first = draft.talk.customer.split()[0]
        names = {False: first, True: f"{agent['Name'].split()[0]} (Brackenholt)"}
        start = draft.talk.messages[0].moment
        lines = []
        for number, message in enumerate(draft.talk.messages):
            # The greeting and the name below are a letter's, not a chat's.
            body = " ".join(message.body.split("\n\n")[1:-1])
            lines.append(f"({2 * number}m) {names[message.store]}: {body}")
        self.records.add(
            "LiveChatTranscript",
            CaseId=case["Id"],
            AccountId=case["AccountId"],
            OwnerId=agent["Id"],
            ContactId=self.contact[draft.account["Id"]]["Id"],
            Body="\n".join(lines),
            EndTime=text_of(start + timedelta(minutes=2 * len(lines))),
            LiveChatVisitorId=None,
        )

    def _letters(self, draft: Draft, case: Row) -> None:
        if draft.chat:
            self._chat(draft, case)
            return
        agent = self.agent[draft.talk.agent]
        customer = draft.supplied or self.contact[draft.account["Id"]]["Email"]
        for number, message in enumerate(draft.talk.messages):
            self.records.add(
                "EmailMessage",
                Subject=f"{'' if number == 0 else 'Re: '}{draft.subject}"[:255],
                TextBody=message.body,
                ParentId=case["Id"],
                FromAddress=agent["Email"] if message.store else customer,
                ToIds=case["ContactId"] if message.store else agent["Id"],
                MessageDate=text_of(message.moment),
            )

    def _comments(self, draft: Draft, case: Row) -> None:
        for moment, text, dispatch in draft.talk.comments:
            author = self.rng.choice(self.clerks if dispatch else self.agents)
            if isinstance(dispatch, str):
                author = self.agent[dispatch]
            elif dispatch and draft.late is not None:
                # Whoever wrote under the wrong case says so, and corrects what is wrong.
                named = _NAMED.search(text)
                about = int(named[1]) if named else draft.late.number
                author = self.noted_by.setdefault(about, author)
            self.records.add(
                "CaseComment",
                ParentId=case["Id"],
                CommentBody=_NAMED.sub(lambda found: self.case_numbers[int(found[1])], text),
                CreatedById=author["Id"],
                CreatedDate=text_of(moment),
            )

    def _credits(self, draft: Draft, case: Row) -> None:
        if draft.late is None:
            return
        for credit in draft.late.credits:
            if credit.merged == draft.copy:
                self.records.add(
                    "Credit__c",
                    Case__c=case["Id"],
                    Amount__c=float(credit.amount),
                    Status__c=credit.status,
                    Type__c=credit.kind,
                    BookedDate__c=credit.day.isoformat(),
                )
