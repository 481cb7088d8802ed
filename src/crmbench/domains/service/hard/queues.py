"""Cases that wait in queues, and the people they can go to."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from crmbench.core.schema import Row
from crmbench.domains.service.hard.articles import STATE_NAMES, day_words
from crmbench.domains.service.hard.calendar import desk_day, text_of
from crmbench.domains.service.hard.case_rows import Draft, Records
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.delivery import product_words
from crmbench.domains.service.hard.desk.words import ISSUES
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.staffing import SHIFTS, Agent, OpenCase, QueueCase, Skill

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TODAY = NOW.date()
BUILT = ("tent", "table", "bench", "rack", "bicycle", "stand", "wardrobe", "cabinet", "machine",
         "bike", "bed", "canopy", "swing", "treadmill", "trailer", "shelf", "stove")  # fmt: skip
"""Words of what is put together at home."""
QUEUE_SIZE = (15, 18)
AGO = (8, 12, 25, 37, 41, 52, 75, 83, 110)
"""Days since a former case was closed; none is near a time that a rule names."""


@dataclass(frozen=True)
class Plan:
    """What a waiting case is about, before it is a record."""

    issue: str
    account: Row
    wanted: str | None
    unwanted: str | None
    item: Row


@dataclass
class Desk:
    """The agents and the queues of today."""

    agents: list[Agent]
    queues: dict[str, list[QueueCase]] = field(default_factory=dict)


class Staff:
    """Gives the agents skills, shifts and absences, and writes the notices about them.

    Args:
        seed: Of all chance.
        records: Take the skills and absences.
        agents: Their rows.
        room: Cases that each may have beyond what is usual.
    """

    def __init__(self, seed: int, records: Records, agents: list[Row], room: int = 0) -> None:
        self.rng = random.Random(f"crmbench hard {seed} staff")
        self.records, self.agents, self.room = records, agents, room
        self.issues = {row["Name"]: row["Id"] for row in records.rows["Issue__c"]}
        self.writer = Writer(self.rng)
        self.notices: dict[date, list[str]] = defaultdict(list)
        self.skills: dict[str, list[Skill]] = defaultdict(list)
        self.away: set[str] = set()
        self.unusual: set[str] = set()
        """Who is away, or back before the day that the record names."""

    def make(self) -> None:
        for user in self.agents:
            user["Shift__c"] = self.rng.choice(SHIFTS)
            user["MaxOpen__c"] = self.rng.randrange(6, 11) + self.room
            for issue in self.rng.sample(ISSUES, self.rng.choice((2, 3, 3, 4))):
                self._skill(user, issue)
        self._absences()

    def _skill(self, user: Row, issue: str) -> None:
        expires = None
        if self.rng.random() < 0.3:
            expires = TODAY + timedelta(days=self.rng.choice((-200, -60, -9, 12, 80, 300)))
        level = self.rng.choice((1, 1, 2, 3))
        self.skills[user["Id"]].append(Skill(issue, level, expires))
        self.records.add(
            "Skill__c",
            User__c=user["Id"],
            Issue__c=self.issues[issue],
            Level__c=level,
            ExpiresOn__c=expires.isoformat() if expires else None,
        )

    def _absences(self) -> None:
        rng = self.rng
        people = [user for user in self.agents if user["IsActive"]]
        rng.shuffle(people)
        for number, user in enumerate(people[:14]):
            first = TODAY - timedelta(days=rng.randrange(1, 9))
            last = TODAY + timedelta(days=rng.randrange(3, 12))
            if number < 9:
                self.unusual.add(user["Id"])
            if number < 4:  # Away by the record.
                self._absent(user, first, last)
                self.away.add(user["Id"])
            elif number < 7:  # Away by a notice alone.
                self.notices[date(2026, 3, 1)].append(self._notice(user, first, last))
                self.away.add(user["Id"])
            elif number < 9:  # Planned, and back before today.
                self._absent(user, first, last)
                back = TODAY - timedelta(days=rng.randrange(0, 2))
                text = self.writer.write("notice_back", name=user["Name"], day=day_words(back))
                self.notices[date(2026, 3, 1)].append(text)
            elif number < 12:  # Past or to come.
                days = rng.choice((-60, -25, 20))
                self._absent(user, first + timedelta(days=days), last + timedelta(days=days))
            else:
                before = timedelta(days=rng.choice((45, 75)))
                text = self._notice(user, first - before, last - before)
                self.notices[date(2026, 1, 1)].append(text)

    def _absent(self, user: Row, first: date, last: date) -> None:
        self.records.add(
            "Absence__c",
            User__c=user["Id"],
            FirstDay__c=first.isoformat(),
            LastDay__c=last.isoformat(),
        )

    def _notice(self, user: Row, first: date, last: date) -> str:
        return self.writer.write(
            "notice_away", name=user["Name"], first=day_words(first), last=day_words(last)
        )


class Queues:
    """Fills the queues and the agents' own lists."""

    def __init__(self, seed: int, staff: Staff, accounts: Mapping[str, Row]) -> None:
        self.rng = random.Random(f"crmbench hard {seed} queues")
        self.writer = Writer(self.rng)
        self.staff, self.records = staff, staff.records
        self.accounts = accounts
        self.plans: dict[str, Plan] = {}
        self.users: dict[str, Row] = {}
        rows = self.records.rows
        self.orders = {row["Id"]: row for row in rows["Order"]}
        self.products = {row["Id"]: row for row in rows["Product2"]}
        self.names = {row["Id"]: row["Name"] for row in rows["Issue__c"]}
        self.categories = {row["Id"]: row["Name"] for row in rows["ProductCategory"]}

    def drafts(self) -> Iterator[Draft]:
        yield from self._own_lists()
        category = {
            row["ProductId"]: row["ProductCategoryId"]
            for row in self.records.rows["ProductCategoryProduct"]
        }
        lines: dict[str, list[Row]] = defaultdict(list)
        for item in self.records.rows["OrderItem"]:
            day = self.orders[item["OrderId"]]["EffectiveDate"]
            if "2025-10-15" <= day <= "2026-02-15":
                lines[category[item["Product2Id"]]].append(item)
        for number, (key, name) in enumerate(self.categories.items()):
            self._user(name, number)
            size = self.rng.randrange(*QUEUE_SIZE)
            # No two were opened in the same minute, for the older one goes first.
            ages = self.rng.sample(range(40, 6500), size)
            for place, item in enumerate(self.rng.sample(lines[key], size)):
                yield from self._waiting(name, place, item, ages[place])

    def _user(self, category: str, number: int) -> None:
        name = f"{category} Queue"
        box = f"queue{number}@brackenholt.example"
        self.users[category] = self.records.add(
            "User",
            LastName=name,
            Name=name,
            Email=box,
            Username=box,
            Alias=f"queue{number}",
            Title="Queue",
            UserType="Queue",
            IsActive=True,
            CreatedDate="2022-01-03T15:00:00.000+0000",
        )

    def _talk(self, item: Row, opened: datetime) -> tuple[Conversation, Row]:
        order = self.orders[item["OrderId"]]
        account = self.accounts[order["AccountId"]]
        agent = self.rng.choice(self.staff.agents)["Name"]
        values = {
            "product": product_words(self.products[item["Product2Id"]]["Name"]),
            "ordered": day_words(date.fromisoformat(order["EffectiveDate"])),
            "carrier": item["Carrier__c"],
        }
        talk = Conversation(self.rng, self.writer, account["Name"], agent, opened, values)
        return talk, account

    def _own_lists(self) -> Iterator[Draft]:
        """The cases that agents have in hand."""
        rng = self.rng
        pool = [
            item
            for item in self.records.rows["OrderItem"]
            if "2025-08-01" <= self.orders[item["OrderId"]]["EffectiveDate"] <= "2026-01-20"
        ]
        for user in self.staff.agents:
            # Who is not there, or is back early, has little in hand, so that it matters.
            few = user["Id"] in self.staff.unusual or not user["IsActive"]
            for _ in range(rng.randrange(0, 2) if few else rng.randrange(2, 5)):
                opened = NOW - timedelta(minutes=rng.randrange(2000, 50_000))
                item = rng.choice(pool)
                talk, account = self._talk(item, opened)
                issue = rng.choice(ISSUES)
                talk.customer_writes([self._problem(talk, issue)])
                status = rng.choice(
                    ("Working", "Working", "Working", "Waiting on Customer", "Escalated")
                )
                subject = talk.say("noise_subject")
                filed = issue if rng.random() < 0.9 else None
                yield Draft(
                    opened, None, talk, subject, account, item, filed, owner=user, status=status
                )

    def _problem(self, talk: Conversation, issue: str) -> str:
        return talk.say(f"issue_{issue.lower().replace(' ', '_')}")

    def _waiting(self, category: str, place: int, item: Row, age: int) -> Iterator[Draft]:
        rng = self.rng
        opened = NOW - timedelta(minutes=age)
        talk, account = self._talk(item, opened)
        built = any(word in talk.values["product"] for word in BUILT)
        first, second = rng.sample([i for i in ISSUES if built or i != ISSUES[3]], 2)
        said, issue = self._letter(talk, first, second)
        wanted, unwanted = self._wishes(talk, said, issue)
        talk.customer_writes(said, rng.choice((1, 2)))
        key = f"{category}/{place}"
        self.plans[key] = Plan(issue, account, wanted, unwanted, item)
        filed = rng.random()
        yield Draft(
            opened,
            None,
            talk,
            talk.say("noise_subject"),
            account,
            item,
            issue if filed < 0.66 else None if filed < 0.8 else rng.choice(ISSUES),
            owner=self.users[category],
            status="New",
            priority=rng.choice(("Low", "Medium", "Medium", "Medium", "High", "Critical")),
            key=key,
        )
        if rng.random() < 0.4:
            before = self._before(item, issue)
            # Nobody writes of what is not ordered yet.
            ordered = self.orders[item["OrderId"]]["EffectiveDate"]
            if desk_day(text_of(before.opened)).isoformat() > ordered:
                yield before

    def _letter(self, talk: Conversation, first: str, second: str) -> tuple[list[str], str]:
        """What the letter says of the problem, and which issue that is."""
        said = [self._problem(talk, first)]
        chance = self.rng.random()
        if chance < 0.12:
            said.append(talk.say("weightier") + " " + self._problem(talk, second))
            return said, second
        if chance < 0.24:
            said.append(talk.say("aside") + " " + self._problem(talk, second))
        return said, first

    def _wishes(
        self, talk: Conversation, said: list[str], issue: str
    ) -> tuple[str | None, str | None]:
        """Whom the customer asks for, and whom not."""
        chance = self.rng.random()
        if chance > 0.44:
            return None, None
        fit = self._fit(issue)
        # Mostly one who could take the case, so that the wish makes a difference.
        user = self.rng.choice(fit if fit and self.rng.random() < 0.8 else self.staff.agents)
        rule = "ask_for" if chance < 0.2 else "ask_not" if chance < 0.34 else "praise"
        said.append(talk.say(rule, name=user["Name"]))
        return (
            user["Id"] if rule == "ask_for" else None,
            user["Id"] if rule == "ask_not" else None,
        )

    def _fit(self, issue: str) -> list[Row]:
        """Agents who are there today and have the skill at a higher level."""
        return [
            user
            for user in self.staff.agents
            if user["IsActive"]
            and user["Id"] not in self.staff.away
            and any(
                s.issue == issue and s.level > 1 and (s.expires is None or s.expires >= TODAY)
                for s in self.staff.skills[user["Id"]]
            )
        ]

    def _before(self, item: Row, now: str) -> Draft:
        """A case about the same order that was closed some time ago."""
        rng = self.rng
        closed = NOW - timedelta(days=rng.choice(AGO), minutes=rng.randrange(200))
        opened = closed - timedelta(hours=rng.randrange(5, 90))
        talk, account = self._talk(item, opened)
        fit = self._fit(now)
        if fit and rng.random() < 0.7:
            talk.agent = rng.choice(fit)["Name"]
        issue = rng.choice(ISSUES)
        talk.customer_writes([self._problem(talk, issue)])
        talk.pause(2, 4)
        talk.agent_writes([talk.say("noise_answer")])
        return Draft(opened, closed, talk, talk.say("noise_subject"), account, item, issue)

    def desk(self, keys: Mapping[str, str]) -> Desk:
        """The desk of today, from the records.

        Args:
            keys: The ids of the waiting cases by what their drafts are called.
        """
        rows = self.records.rows
        held: dict[str, list[OpenCase]] = defaultdict(list)
        for case in rows["Case"]:
            if case["Status"] != "Closed":
                held[case["OwnerId"]].append(
                    OpenCase(case["Status"], case["Priority"], case["Origin"])
                )
        agents = [
            Agent(
                user["Id"],
                user["Name"],
                user["Shift__c"],
                user["MaxOpen__c"],
                tuple(self.staff.skills[user["Id"]]),
                user["Id"] in self.staff.away,
                tuple(held[user["Id"]]),
            )
            for user in self.staff.agents
            if user["IsActive"]
        ]
        desk = Desk(agents)
        closers = self._closers()
        cases = {row["Id"]: row for row in rows["Case"]}
        for key, plan in self.plans.items():
            found = self._queue_case(cases[keys[key]], plan, closers)
            desk.queues.setdefault(key.split("/")[0], []).append(found)
        return desk

    def _queue_case(
        self, case: Row, plan: Plan, closers: Mapping[tuple[str, str], list[tuple[int, str]]]
    ) -> QueueCase:
        facts = case_facts(case, plan.item, plan.account) | {"issue": plan.issue}
        return QueueCase(
            case["Id"],
            case["CreatedDate"],
            case["Priority"],
            plan.issue,
            self.names.get(case["IssueId__c"]),
            facts,
            tuple(closers.get((plan.account["Id"], plan.item["OrderId"]), ())),
            plan.wanted,
            plan.unwanted,
        )

    def _closers(self) -> dict[tuple[str, str], list[tuple[int, str]]]:
        """Who closed the cases of a customer about an order, how many days ago, latest first."""
        items = {row["Id"]: row["OrderId"] for row in self.records.rows["OrderItem"]}
        found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
        for case in sorted(
            self.records.rows["Case"], key=lambda row: row["ClosedDate"] or "", reverse=True
        ):
            about = case["OrderItemId__c"]
            if case["ClosedDate"] and about and not case["MasterRecordId"]:
                days = (TODAY - desk_day(case["ClosedDate"])).days
                found[case["AccountId"], items[about]].append((days, case["OwnerId"]))
        return found


def case_facts(case: Row, item: Row, account: Row) -> dict[str, Any]:
    """What the desk's rules can ask of a case, as the records have it."""
    until = account.get("MemberUntil__c")
    plus = account["Membership__c"] == "Plus" and (until is None or until >= TODAY.isoformat())
    return {
        "state": STATE_NAMES[account["ShippingState"]],
        "carrier": item["Carrier__c"],
        "priority": case["Priority"],
        "origin": case["Origin"],
        "price": item["UnitPrice"],
        "plus": plus,
        "several": item["Quantity"] > 1,
        "clearance": item["SaleType__c"] == "Clearance",
    }
