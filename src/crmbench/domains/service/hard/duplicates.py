"""Open cases from the web form, many of them sent twice, by people with two accounts or none."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

from crmbench.core.schema import Row
from crmbench.domains.service.hard.articles import day_words
from crmbench.domains.service.hard.case_rows import Draft, Records
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.delivery import product_words
from crmbench.domains.service.hard.desk.words import ISSUES
from crmbench.domains.service.hard.grammar import Writer

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STORIES = 26
"""What people write about, once or several times, in each state."""
GAP = timedelta(days=14)
PRIORITIES = ("Low", "Medium", "High", "Critical")


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
    answered: bool
    priority: str
    sender: str
    """The account that it is filed under, else the address in the form."""
    filed: str | None
    """The issue by the field."""


@dataclass(frozen=True)
class Cluster:
    """Cases that are one."""

    master: str
    others: tuple[str, ...]
    priority: str
    """What the master's becomes."""


DUPLICATES = ("account", "letter", "chain", "piece", "span", "answered", "escalated", "priority")
"""Rules that can be left out: two accounts or none, issues by letter, chains, pieces, the 14 days,
and what decides about the case that remains."""


def clusters(
    cases: list[WebCase], answered_first: bool, without: frozenset[str] = frozenset()
) -> list[Cluster]:
    """The duplicates among some cases.

    Args:
        answered_first: Whether a case that the desk has answered goes before an older one.
        without: Rules that are left out.
    """
    groups: dict[tuple[object, ...], list[WebCase]] = defaultdict(list)
    for case in cases:
        piece = 0 if "piece" in without else case.piece
        person = case.sender if "account" in without else case.person
        issue = case.filed or case.issue if "letter" in without else case.issue
        groups[person, case.line, issue, piece].append(case)
    found = []
    for group in groups.values():
        group.sort(key=lambda case: (case.opened, case.id))
        run = [group[0]]
        for case in group[1:]:
            since = run[0] if "chain" in without else run[-1]
            if case.opened - since.opened <= GAP or "span" in without:
                run.append(case)
            else:
                found.append(run)
                run = [case]
        found.append(run)
    return [_merged(run, answered_first, without) for run in found if len(run) > 1]


def _merged(run: list[WebCase], answered_first: bool, without: frozenset[str]) -> Cluster:
    def rank(case: WebCase) -> tuple[bool, bool, datetime, str]:
        escalated = case.escalated and "escalated" not in without
        answered = case.answered and answered_first and "answered" not in without
        return (not escalated, not answered, case.opened, case.id)

    master = min(run, key=rank)
    highest = max((case.priority for case in run), key=PRIORITIES.index)
    priority = master.priority if "priority" in without else highest
    others = tuple(case.id for case in run if case is not master)
    return Cluster(master.id, others, priority)


@dataclass(frozen=True)
class _Sent:
    """What a case is about, before it is a record."""

    person: Row
    line: Row
    issue: str
    piece: int
    answered: bool


class WebForm:
    """Fills the inbox of the web form."""

    def __init__(self, seed: int, records: Records) -> None:
        self.rng = random.Random(f"crmbench hard {seed} web form")
        self.writer = Writer(self.rng)
        self.records = records
        self.answered_first = self.rng.random() < 0.7
        rows = records.rows
        self.accounts = {row["Id"]: row for row in rows["Account"]}
        self.orders = {row["Id"]: row for row in rows["Order"]}
        self.products = {row["Id"]: row["Name"] for row in rows["Product2"]}
        self.agents = [row["Name"] for row in rows["User"] if row["Title"] == "Service Agent"]
        self.sent: dict[str, _Sent] = {}
        self.twins: dict[str, Row] = {}

    def notices(self) -> dict[date, list[str]]:
        """What the notices say about merging."""
        told = [
            (
                "Merging: a case that the desk has answered by e-mail remains before an older one "
                "that it has not. Escalated ones still go first."
            )
        ]
        if self.answered_first:
            return {date(2025, 8, 1): told}
        undone = "Merging: whether a case was answered plays no part any more; it is age again."
        return {date(2025, 6, 1): told, date(2025, 12, 1): [undone]}

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
        moment = NOW - timedelta(minutes=rng.randrange(30_000, 90_000))
        copies = rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4))
        yield self._case(f"{key}/0", item, issue, moment, 1)
        for number in range(1, copies):
            # Far from the 14 days, on either side.
            days = rng.choice((1, 2, 4, 6, 9, 11, 11, 18))
            moment = moment + timedelta(days=days, minutes=rng.randrange(600))
            if moment > NOW - timedelta(hours=2):
                return
            chance = rng.random()
            if chance < 0.14:
                yield self._case(f"{key}/{number}", item, other, moment, 1)
            elif chance < 0.26 and item["Quantity"] > 1:
                yield self._case(f"{key}/{number}", item, issue, moment, 1 + number)
            else:
                yield self._case(f"{key}/{number}", item, issue, moment, 1)

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
        answered = rng.random() < 0.2
        if answered:
            talk.pause(3, 30)
            talk.agent_writes([])
            answered = talk.moment < NOW
            if not answered:
                talk.messages.pop()
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
                )
            )
        return dict(found)
