"""Open cases from the web form, many of them sent twice, by people with two accounts or none."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any

from crmbench.authoring.handbook import Rulebook
from crmbench.core.schema import Row
from crmbench.domains.service.hard.articles import day_words
from crmbench.domains.service.hard.case_rows import Draft, Records
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.delivery import product_words
from crmbench.domains.service.hard.desk.words import ISSUES
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.queues import case_facts

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STORIES = 15
"""What people write about, once or several times, in each state."""
PRIORITIES = ("Low", "Medium", "High", "Critical")
SPANS = (6, 8, 12, 14, 17, 21, 30)
"""Days that rules may name; no two cases of a story lie near one of them."""
NEAR = timedelta(hours=4)


@dataclass(frozen=True)
class WebCase:
    """One case from the form, and what lies behind it."""

    id: str
    opened: datetime
    person: str
    """Id of the person's main account."""
    line: str
    issue: str
    piece: int
    """Which piece of the line it is about."""
    escalated: bool
    answered: datetime | None
    """When the desk first answered."""
    priority: str
    sender: str
    """The account that it is filed under, else the address in the form."""
    filed: str | None
    """The issue by the field."""
    facts: Mapping[str, Any]
    """What the desk's rules can ask of it."""


@dataclass(frozen=True)
class Cluster:
    """Cases that are one."""

    master: str
    others: tuple[str, ...]
    priority: str
    """What the master's becomes."""


READING = ("account", "letter")
"""What can be left out beside single memos: that people have two accounts or none, and letters."""


class Merger:
    """Finds what is one case, by a rulebook.

    Args:
        book: The desk's rules.
        today: The day that counts.
        without: What is left out, of `READING`.
    """

    def __init__(self, book: Rulebook, today: date, without: frozenset[str] = frozenset()) -> None:
        self.book, self.today, self.without = book, today, without

    def clusters(self, cases: Sequence[WebCase]) -> list[Cluster]:
        """The duplicates among some cases."""
        stories: dict[tuple[str, str], list[WebCase]] = defaultdict(list)
        for case in cases:
            person = case.sender if "account" in self.without else case.person
            seen = case
            if "letter" in self.without and case.filed:
                seen = replace(case, issue=case.filed, facts={**case.facts, "issue": case.filed})
            stories[person, case.line].append(seen)
        found = []
        for story in stories.values():
            left = sorted(story, key=lambda case: (case.opened, case.id))
            while left:
                group = self._group(left)
                left = [case for case in left if case not in group]
                if len(group) > 1:
                    found.append(self._merged(group))
        return found

    def _decide(self, subject: str, case: WebCase) -> str:
        return str(self.book.decide(subject, case.facts, self.today).value)

    def _group(self, cases: Sequence[WebCase]) -> list[WebCase]:
        """The first case, and all that are one with it."""
        first = cases[0]
        alike = {first.issue, self._decide("alike", first)}
        span = timedelta(days=int(self._decide("span", first).split()[0]))
        from_first = self._decide("reach", first) == "the first case"
        any_piece = self._decide("pieces", first) == "the same case"
        group = [first]
        for case in cases[1:]:
            since = group[0] if from_first else group[-1]
            same = case.issue in alike and (any_piece or case.piece == first.piece)
            if same and case.opened - since.opened <= span:
                group.append(case)
        return group

    def _merged(self, group: Sequence[WebCase]) -> Cluster:
        first = group[0]
        may = [case for case in group if case.escalated]
        if not may or self._decide("escalated", first) != "granted":
            may = list(group)
        master = _remaining(self._decide("remains", first), may)
        ranks = [PRIORITIES.index(case.priority) for case in group]
        priority = {
            "the highest of all": PRIORITIES[max(ranks)],
            "the lowest of all": PRIORITIES[min(ranks)],
            "its own": master.priority,
            "that of the case opened last": group[-1].priority,
        }[self._decide("raised", first)]
        others = tuple(case.id for case in group if case is not master)
        return Cluster(master.id, others, priority)


def _remaining(rule: str, cases: Sequence[WebCase]) -> WebCase:
    """The one of some cases, the oldest first, that a rule lets remain."""
    if rule == "the one opened last":
        return cases[-1]
    if rule == "the one with the highest priority":
        return max(cases, key=lambda case: PRIORITIES.index(case.priority))
    answered = [case for case in cases if case.answered]
    if rule == "the one that the desk answered first" and answered:
        return min(answered, key=lambda case: (case.answered, case.opened))
    return cases[0]


@dataclass(frozen=True)
class _Sent:
    """What a case is about, before it is a record."""

    person: Row
    line: Row
    issue: str
    piece: int
    answered: datetime | None


class WebForm:
    """Fills the inbox of the web form."""

    def __init__(self, seed: int, records: Records) -> None:
        self.rng = random.Random(f"crmbench hard {seed} web form")
        self.writer = Writer(self.rng)
        self.records = records
        rows = records.rows
        self.accounts = {row["Id"]: row for row in rows["Account"]}
        self.orders = {row["Id"]: row for row in rows["Order"]}
        self.products = {row["Id"]: row["Name"] for row in rows["Product2"]}
        self.agents = [row["Name"] for row in rows["User"] if row["Title"] == "Service Agent"]
        self.sent: dict[str, _Sent] = {}
        self.twins: dict[str, Row] = {}

    def drafts(self) -> Iterator[Draft]:
        self.user = self.records.add(
            "User",
            LastName="Web Inbox Queue",
            Name="Web Inbox Queue",
            Email="web@brackenholt.example",
            Username="web@brackenholt.example",
            Alias="web",
            Title="Queue",
            UserType="Queue",
            IsActive=True,
            CreatedDate="2022-01-03T15:00:00.000+0000",
        )
        lines: dict[str, list[Row]] = defaultdict(list)
        for item in self.records.rows["OrderItem"]:
            order = self.orders[item["OrderId"]]
            if "2025-07-01" <= order["EffectiveDate"] <= "2025-12-20":
                lines[self.accounts[order["AccountId"]]["ShippingState"]].append(item)
        for state in sorted(lines):
            stories = self.rng.sample(lines[state], min(STORIES, len(lines[state])))
            for number, item in enumerate(self._unmistakable(stories)):
                yield from self._story(f"{state}/{number}", item)

    def _unmistakable(self, items: list[Row]) -> list[Row]:
        """Without lines whose words are in those of another line of that day (paddle board)."""
        kept = []
        for item in items:
            words = product_words(self.products[item["Product2Id"]])
            order = self.orders[item["OrderId"]]
            bought = [
                product_words(self.products[other["Product2Id"]])
                for other in self.by_day[order["AccountId"], order["EffectiveDate"]]
            ]
            if sum(words in other or other in words for other in bought) == 1:
                kept.append(item)
        return kept

    @cached_property
    def by_day(self) -> Mapping[tuple[str, str], list[Row]]:
        """The lines of each customer's orders by day."""
        found: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for item in self.records.rows["OrderItem"]:
            order = self.orders[item["OrderId"]]
            found[order["AccountId"], order["EffectiveDate"]].append(item)
        return found

    def _story(self, key: str, item: Row) -> Iterator[Draft]:
        """One case or several about a line."""
        rng = self.rng
        issues = [issue for issue in ISSUES if issue != "Assembly Difficulty"]
        issue, other = rng.sample(issues, 2)
        copies = rng.choice((1, 1, 2, 2, 3, 3, 4))
        for number, moment in enumerate(self._moments(copies)):
            chance, said, piece = rng.random(), issue, 1
            if number and chance < 0.24:
                said = other
            elif number and chance < 0.4 and item["Quantity"] > 1:
                piece = 1 + number
            yield self._case(f"{key}/{number}", item, said, moment, piece)

    def _moments(self, copies: int) -> list[datetime]:
        """When so many letters were sent, no two of them near a span that a rule may name."""
        rng = self.rng
        while True:
            moments = [NOW - timedelta(minutes=rng.randrange(24_000, 80_000))]
            for _ in range(copies - 1):
                days = rng.choice((1, 3, 4, 7, 7, 10, 10, 13, 15, 19, 25))
                moments.append(moments[-1] + timedelta(days=days, minutes=rng.randrange(600)))
            apart = [two - one for n, one in enumerate(moments) for two in moments[n + 1 :]]
            near = any(abs(gap - timedelta(days=span)) < NEAR for gap in apart for span in SPANS)
            if not near and moments[-1] < NOW - timedelta(hours=40):
                return moments

    def _case(self, key: str, item: Row, issue: str, opened: datetime, piece: int) -> Draft:
        rng, order = self.rng, self.orders[item["OrderId"]]
        person = self.accounts[order["AccountId"]]
        values = {
            "product": product_words(self.products[item["Product2Id"]]),
            "ordered": day_words(date.fromisoformat(order["EffectiveDate"])),
            "carrier": item["Carrier__c"],
        }
        talk = Conversation(
            rng, self.writer, person["Name"], rng.choice(self.agents), opened, values
        )
        said = [talk.say(f"issue_{issue.lower().replace(' ', '_')}"), talk.say("from_order")]
        if piece > 1:
            said.append(talk.say("other_piece"))
        elif not key.endswith("/0") and rng.random() < 0.3:
            said.append(talk.say("wrote_before"))
        talk.customer_writes(said, rng.choice((0, 1, 2)))
        answered = None
        if rng.random() < 0.4:
            talk.pause(3, 30)
            talk.agent_writes([])
            answered = talk.moment
        self.sent[key] = _Sent(person, item, issue, piece, answered)
        account, supplied = self._sender(person, not key.endswith("/0"))
        filed = rng.random()
        return Draft(
            opened,
            None,
            talk,
            talk.say("noise_subject"),
            account or person,
            item if account is person and rng.random() < 0.75 else None,
            issue if filed < 0.6 else None if filed < 0.8 else rng.choice(ISSUES),
            owner=self.user,
            status=rng.choice(("New", "New", "New", "Working", "Escalated")),
            priority=rng.choice(("Low", "Medium", "Medium", "High", "Critical")),
            key=key,
            origin="Web",
            supplied=supplied,
            bare=account is None,
        )

    def _sender(self, person: Row, again: bool) -> tuple[Row | None, str | None]:
        """The account that a case is filed under, None for no account, and the address given."""
        chance = self.rng.random()
        if again and chance < 0.28:
            return self._twin(person), None
        if chance < 0.45:
            box, _, host = person["PersonEmail"].partition("@")
            styles = (f"{box}@{host}", f"{box.title()}@{host}", f"{box}+shop@{host}",
                      f"{box}+orders@{host}".upper())  # fmt: skip
            return None, self.rng.choice(styles)
        return person, None

    def _twin(self, person: Row) -> Row:
        """The second account of a person, made when it is first needed."""
        if person["Id"] not in self.twins:
            rng = self.rng
            digits = "".join(c for c in person["Phone"] if c.isdigit())
            style = rng.choice(("{0}-{1}-{2}", "+1 {0} {1} {2}", "{0}.{1}.{2}", "1{0}{1}{2}"))
            phone = style.format(digits[:3], digits[3:6], digits[6:])
            first = rng.choice((person["FirstName"], person["FirstName"][0] + "."))
            last = rng.choice((person["LastName"], person["LastName"].upper()))
            number = rng.randrange(10, 99)
            twin = self.records.add(
                "Account",
                **dict.fromkeys(("Membership__c", "MemberSince__c", "MemberUntil__c")),
                FirstName=first,
                LastName=last,
                Name=f"{first} {last}",
                PersonEmail=f"{person['LastName'].lower()}{number}@mailnook.example",
                Phone=phone,
                RecordTypeId=person["RecordTypeId"],
                ShippingCity=person["ShippingCity"],
                ShippingState=person["ShippingState"],
                CreatedDate="2025-12-28T16:00:00.000+0000",
            )
            self.records.add(
                "Contact",
                FirstName=first,
                LastName=last,
                Name=twin["Name"],
                Email=twin["PersonEmail"],
                AccountId=twin["Id"],
                OwnerId=self.user["Id"],
                CreatedDate=twin["CreatedDate"],
            )
            self.twins[person["Id"]] = twin
        return self.twins[person["Id"]]

    def inbox(self, keys: Mapping[str, str]) -> dict[str, list[WebCase]]:
        """The cases of each state, from the records."""
        rows = {row["Id"]: row for row in self.records.rows["Case"]}
        names = {row["Id"]: row["Name"] for row in self.records.rows["Issue__c"]}
        found: dict[str, list[WebCase]] = defaultdict(list)
        for key, sent in self.sent.items():
            row = rows[keys[key]]
            found[key.split("/")[0]].append(
                WebCase(
                    row["Id"],
                    datetime.fromisoformat(row["CreatedDate"]),
                    sent.person["Id"],
                    sent.line["Id"],
                    sent.issue,
                    sent.piece,
                    row["Status"] == "Escalated",
                    sent.answered,
                    row["Priority"],
                    row["AccountId"] or row["SuppliedEmail"],
                    names.get(row["IssueId__c"]),
                    case_facts(row, sent.line, sent.person) | {"issue": sent.issue},
                )
            )
        return dict(found)
