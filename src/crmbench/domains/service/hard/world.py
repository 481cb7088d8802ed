"""A hard org: the easy one's customers and orders; cases, letters and handbook of its own."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache

from crmbench.core.schema import Row
from crmbench.core.world import PackedRows
from crmbench.domains.service.hard.articles import handbook
from crmbench.domains.service.hard.calendar import desk_day, moment_of, text_of
from crmbench.domains.service.hard.case_rows import CaseWriter, Draft, Records
from crmbench.domains.service.hard.conversations import Conversation
from crmbench.domains.service.hard.delivery import (
    LateCases,
    Plan,
    make_line,
    plain_claim,
    product_words,
)
from crmbench.domains.service.hard.desk.asked import (
    credit_memos,
    desk_memos,
    name_credit_memos,
)
from crmbench.domains.service.hard.desk.drawing import Memos, Taken
from crmbench.domains.service.hard.desk.handles import all_nicknames
from crmbench.domains.service.hard.desk.late_case import LateCase
from crmbench.domains.service.hard.duplicates import WebCase, WebForm
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.memos import memos, memos_explained, words_of_the_desk
from crmbench.domains.service.hard.queues import Desk, Queues, Staff
from crmbench.domains.service.hard.rulebook import CARRIERS, Rulebook, make_rulebook, stints
from crmbench.domains.service.hard.schema import HARD, catalog, reference_indexes
from crmbench.domains.service.world import generate as generate_easy
from crmbench.errors import InputError
from crmbench.salesforce.catalog import folded_indexes
from crmbench.salesforce.ids import first_number, record_id
from crmbench.salesforce.sosl.index import create_index, searchable

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FACTOR = 3.0
AGENTS, CLERKS, LEFT = 40, 5, 7
FIRST_MONTH, MONTHS = (2023, 4), 35
LAST_MONTH = date(2026, 2, 1)
PUBLISHED = 3
FOCI = {4: 3, 5: 6}
"""At how many queues, states and periods the memos of an org are aimed, by level; else at one. What
makes a task hard is what must be found for it: if only more cases were asked about, it would be
longer alone.
"""
ROOM = {4: 8, 5: 26}
"""Cases that every agent may have beyond what is usual, by level. Where all queues are given out
the desk would be full after a fifth of them, and the rest would go one way whatever memos say.
"""
MONTHS_ASKED = {4: 3, 5: 12}
"""Months that a review above the published level is about."""
LATE_A_MONTH = 25
NOISE_A_MONTH = 70
BASE = (
    "User", "Account", "Contact", "Issue__c", "ProductCategory", "Product2",
    "ProductCategoryProduct", "Pricebook2", "PricebookEntry", "Order", "OrderItem",
    "Knowledge__kav",
)  # fmt: skip
KINDRED = re.compile(r"credit|\blate\b|goodwill|promise|working day|Plus|deliver", re.IGNORECASE)
"""Articles of the easy org that speak of what the handbook regulates here are left out."""
_NAME = re.compile(r"hard-(\d{1,9})(?:-L([45]))?")


@dataclass(frozen=True)
class HardWorld:
    """An org made anew from its seed. Implements `WorldSource`."""

    seed: int
    level: int = PUBLISHED
    """That its memos are drawn for; those below the published one share its orgs."""
    about = ""

    @property
    def name(self) -> str:
        return f"hard-{self.seed}" if self.level == PUBLISHED else f"hard-{self.seed}-L{self.level}"

    @property
    def foci(self) -> int:
        """At how many queues, states and periods its memos are aimed."""
        return FOCI.get(self.level, 1)

    @property
    def now(self) -> datetime:
        return NOW

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        yield from _packed(self.seed, self.level).tables().items()

    def after_load(self, dialect: str) -> Sequence[str]:
        return index_statements(dialect)

    @cached_property
    def made(self) -> Made:
        """The records, and what lies behind them."""
        return _Maker(self).make()


def index_statements(dialect: str) -> Sequence[str]:
    """Statements that make all indexes but those of keys, the full-text ones among them."""
    objects = catalog()
    indexes = [*reference_indexes(), *folded_indexes(objects), *create_index(objects, dialect)]
    if dialect == "sqlite":
        return indexes
    indexed = [f"{i.name}__fts" for i in objects.objects.values() if any(searchable(i).values())]
    names = [*(table.name for table in HARD.sorted_tables), *indexed]
    return [*indexes, *(f'ANALYZE "{name}"' for name in names)]


@dataclass(frozen=True)
class Made:
    """The records of an org and the latents behind them."""

    rows: dict[str, list[Row]]
    book: Rulebook
    late: list[LateCase]
    case_ids: dict[int, str]
    """Number of a late case to the id of its case."""
    desk: Desk
    """Who can take the cases that wait in the queues."""
    inbox: dict[str, list[WebCase]]
    """The open cases from the web form by state."""
    rules: Mapping[str, Memos]
    """What the desk's memos say on the questions of each mechanism."""


@lru_cache(maxsize=4)
def hard_world(seed: int, level: int = PUBLISHED) -> HardWorld:
    """The world of a seed; a few are kept, for their records take seconds to make."""
    return HardWorld(seed, max(level, PUBLISHED))


KEPT = 48
"""Orgs whose rows a process keeps packed, at 3 MB an org: those of a published set, and some."""


@lru_cache(maxsize=KEPT)
def _packed(seed: int, level: int) -> PackedRows:
    rows = hard_world(seed, level).made.rows
    return PackedRows({table.name: rows.get(table.name, []) for table in HARD.sorted_tables})


def world_from_name(name: str) -> HardWorld:
    """The world of a name such as ``hard-42``, or ``hard-42-L5``.

    Raises:
        InputError: It is no such name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError(
            f"The hard service domain has no world {name!r}.", field="world", expected="hard-SEED"
        )
    return hard_world(int(match[1]), int(match[2] or PUBLISHED))


def focus_period(seed: int) -> tuple[date, date]:
    """The first day of the period that the published review is about, and the first after it; the
    memos on credits are drawn to bear on it.
    """
    rng = random.Random(f"crmbench hard focus period {seed}")
    number = rng.randrange(20, 34)
    start = date(2023 + (4 + number) // 12, (4 + number) % 12 + 1, 1 + rng.randrange(9))
    return start, start + timedelta(days=19)


def focus_periods(seed: int, level: int) -> tuple[tuple[date, date], ...]:
    """That period, and above the published level others of the months that are asked about."""
    own = focus_period(seed)
    if level not in MONTHS_ASKED:
        return (own,)
    rng = random.Random(f"crmbench hard focus periods {seed} {level}")
    start = focus_months(seed, level)
    months = [month_after(start, n) for n in range(MONTHS_ASKED[level])]
    others = [month for month in months if month != own[0].replace(day=1)]
    begun = [day + timedelta(days=rng.randrange(9)) for day in rng.sample(others, FOCI[level] - 1)]
    return own, *((day, day + timedelta(days=19)) for day in begun)


def focus_months(seed: int, level: int) -> date:
    """The first of the months that a review above the published level is about."""
    month = focus_period(seed)[0].replace(day=1)
    most = MONTHS_ASKED[level]
    back = random.Random(f"crmbench hard focus months {seed} {level}").randrange(most)
    return min(month_after(month, -back), month_after(LAST_MONTH, 1 - most))


def month_after(day: date, months: int) -> date:
    """The first day of the month so many later."""
    number = day.year * 12 + day.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


class _Maker:
    def __init__(self, world: HardWorld) -> None:
        self.seed, self.foci = world.seed, world.foci
        self.room = ROOM.get(world.level, 0)
        self.periods = focus_periods(world.seed, world.level)
        self.book = make_rulebook(self.seed)
        self.records = Records(self.seed, self.rng_of("ids"))

    def rng_of(self, name: str) -> random.Random:
        return random.Random(f"crmbench hard {self.seed} {name}")

    def make(self) -> Made:
        self.base()
        self.people()
        staff = Staff(self.seed, self.records, self.agents, self.room)
        staff.make()
        form = WebForm(self.seed, self.records)
        plans = self.plans()
        nicknames = all_nicknames(f"crmbench hard {self.seed}", more=self.foci > 1)
        taken = Taken(begun=self.book.first_days())
        on_credits = self.credit_rules(plans, taken)
        late = self.late(plans)
        asked = {
            case.number: case.claim
            for case in late
            if any(start <= case.desk_closed < end for start, end in self.periods)
        }
        name_credit_memos(self.seed, on_credits, self.book, asked, nicknames, taken)
        accounts = {row["Id"]: row for row in self.records.rows["Account"]}
        queues = Queues(self.seed, staff, accounts)
        drafts = [*self.late_drafts(late), *self.noise(), *queues.drafts(), *form.drafts()]
        drafts.sort(key=lambda draft: (draft.opened, draft.subject))
        writer = CaseWriter(self.records, self.agents, self.clerks, self.rng_of("rows"))
        case_ids = writer.write(drafts)
        desk = queues.desk(writer.keys)
        inbox = form.inbox(writer.keys)
        rules = {
            **desk_memos(self.seed, desk, inbox, nicknames, taken, self.foci),
            "census": on_credits,
        }
        self.handbook(staff, rules)
        rows = dict(self.records.rows)
        return Made(
            rows, self.book, late, case_ids, desk, inbox,
            rules,
        )  # fmt: skip

    def base(self) -> None:
        """The easy org's tables, with the fields that the hard one has besides."""
        rows: dict[str, list[Row]] = {name: [] for name in BASE}
        for name, chunk in generate_easy(self.seed, FACTOR).stream():
            if name not in BASE:
                break
            rows[name] += chunk
        kept = {item["PriceBookEntryId"] for item in rows["OrderItem"]}
        rows["PricebookEntry"] = [row for row in rows["PricebookEntry"] if row["Id"] in kept]
        rows["Knowledge__kav"] = [
            row for row in rows["Knowledge__kav"] if not KINDRED.search(row["FAQ_Answer__c"])
        ]
        for number, row in enumerate(rows["Knowledge__kav"]):
            row["ArticleNumber"] = f"{1000 + 7 * number:09d}"
        for number, row in enumerate(rows["Order"]):
            row["OrderNumber"] = f"{10_000_000 + 13 * number}"
        self.records.rows.update(rows)
        for name, day in self.book.holidays:
            self.records.rows["Holiday"].append({"Name": name, "ActivityDate": day.isoformat()})
        for number, row in enumerate(self.records.rows["Holiday"]):
            row["Id"] = record_id("Holiday", first_number("Holiday", self.seed) + number)

    def handbook(self, staff: Staff, rules: Mapping[str, Memos]) -> None:
        found = handbook(self.book, self.seed, staff.notices)
        drafts = [draft for each in rules.values() for draft in each.drafts]
        numbers: dict[str, int] = {}
        found += [words_of_the_desk(), memos_explained()]
        found += memos(self.book, self.seed, drafts, numbers)
        for each in rules.values():
            each.numbers.update(numbers)
        found.sort(key=lambda article: (article.published, article.title))
        for number, article in enumerate(found):
            self.records.add(
                "Knowledge__kav",
                Title=article.title,
                Summary=article.summary,
                FAQ_Answer__c=article.text,
                UrlName=f"{re.sub('[^a-z0-9]+', '-', article.title.lower()).strip('-')}",
                PublishStatus=article.status,
                CreatedDate=f"{article.published.isoformat()}T15:00:00.000+0000",
                ArticleNumber=f"{2000 + 3 * number:09d}",
            )

    def people(self) -> None:
        """Who is an agent, who is in Dispatch, who has left; who pays for Plus."""
        rng, rows = self.rng_of("people"), self.records.rows
        users = rows["User"]
        for number, user in enumerate(users):
            agent = number < AGENTS + LEFT
            clerk = AGENTS + LEFT <= number < AGENTS + LEFT + CLERKS
            user["Title"] = "Service Agent" if agent else "Dispatch Clerk" if clerk else "Staff"
            user["UserType"] = "Standard"
            user["IsActive"] = number < AGENTS or (clerk and user["IsActive"])
        self.agents = list(users[: AGENTS + LEFT])
        names = [user["Name"] for user in self.agents[:AGENTS]]
        self.book = replace(self.book, stints=stints(self.seed, names))
        self.clerks = users[AGENTS + LEFT : AGENTS + LEFT + CLERKS]
        for account in rows["Account"]:
            account["Membership__c"] = None
            if rng.random() < 0.34:
                since = date(2022, 6, 1) + timedelta(days=rng.randrange(1100))
                until = since + timedelta(days=rng.randrange(150, 900))
                account["Membership__c"] = "Plus"
                account["MemberSince__c"] = since.isoformat()
                # A membership that ran out stays on the record.
                account["MemberUntil__c"] = until.isoformat() if rng.random() < 0.55 else None

    def plans(self) -> list[Plan]:
        """Which lines are late and complained of: some customers often, some orders twice."""
        rng, rows = self.rng_of("plans"), self.records.rows
        orders = {row["Id"]: row for row in rows["Order"]}
        accounts = {row["Id"]: row for row in rows["Account"]}
        by_month: dict[str, list[Row]] = defaultdict(list)
        lines = defaultdict(list)
        for item in rows["OrderItem"]:
            by_month[orders[item["OrderId"]]["EffectiveDate"][:7]].append(item)
            lines[item["OrderId"]].append(item)
        plagued = set(rng.sample(sorted(accounts), 25))
        chosen: list[Row] = []
        month = date(*FIRST_MONTH, 1) - timedelta(days=20)
        while month < date(2026, 2, 20):
            pool = by_month[f"{month:%Y-%m}"]
            often = [i for i in pool if orders[i["OrderId"]]["AccountId"] in plagued]
            picked = [*rng.sample(often, min(2, len(often))), *rng.sample(pool, LATE_A_MONTH + 3)]
            for item in picked:
                others = [o for o in lines[item["OrderId"]] if o is not item]
                chosen.append(item)
                if others and rng.random() < 0.11:
                    chosen.append(rng.choice(others))
            month = (month.replace(day=1) + timedelta(days=32)).replace(day=1)
        unique = list({item["Id"]: item for item in chosen}.values())
        plans = []
        for item in unique:
            order = orders[item["OrderId"]]
            account = accounts[order["AccountId"]]
            plan = Plan(item, order, account, date.min)
            make_line(rng, self.book, plan, account["ShippingState"])
            arrived = date.fromisoformat(item["DeliveredDate__c"])
            opened = arrived + timedelta(days=rng.choice((1, 1, 2, 2, 3, 4, 6, 9)))
            plans.append(Plan(item, order, account, opened))
        self._on_time(rng, orders)
        plans.sort(key=lambda plan: (plan.opened, plan.item["Id"]))
        return self._apart(plans)

    def credit_rules(self, plans: list[Plan], taken: Taken) -> Memos:
        """What the memos say on credits; from here on the book has it."""
        # What is opened then is closed some days later.
        shift = timedelta(days=5)
        claims = {
            (first, end): [plain_claim(p) for p in plans if first <= p.opened + shift < end]
            for first, end in self.periods
        }
        memos = credit_memos(self.seed, self.book, claims, taken)
        self.book = replace(self.book, desk=memos.books())
        return memos

    def _apart(self, plans: list[Plan]) -> list[Plan]:
        """Without those that are opened on one day about one order."""
        seen = set()
        kept = []
        for plan in plans:
            key = (plan.opened, plan.order["Id"])
            if key not in seen and plan.opened < date(2026, 2, 26):
                kept.append(plan)
            seen.add(key)
        return kept

    def _on_time(self, rng: random.Random, orders: dict[str, Row]) -> None:
        """How the lines travelled that nobody complained of."""
        for item in self.records.rows["OrderItem"]:
            if "PromisedDate__c" in item:
                continue
            ordered = date.fromisoformat(orders[item["OrderId"]]["EffectiveDate"])
            promised = ordered + timedelta(days=rng.randrange(3, 8))
            arrived = promised - timedelta(days=rng.randrange(0, 3))
            freight = item["UnitPrice"] > 330
            item.update(
                Carrier__c=CARRIERS[3] if freight else rng.choice(CARRIERS[:3]),
                Method__c="Freight" if freight else rng.choice(("Express", "Standard")),
                SaleType__c="Clearance" if rng.random() < 0.1 else "Regular",
                PromisedDate__c=promised.isoformat(),
                DeliveredDate__c=arrived.isoformat() if arrived < NOW.date() else None,
            )

    def late(self, plans: list[Plan]) -> list[LateCase]:
        names = {row["Id"]: product_words(row["Name"]) for row in self.records.rows["Product2"]}
        maker = LateCases(self.book, self.rng_of("late"), [a["Name"] for a in self.agents])
        found = []
        for number, plan in enumerate(plans):
            case = maker.make(number, plan, names[plan.item["Product2Id"]])
            if case is not None:
                found.append(case)
        rng = self.rng_of("misfiled")
        others = [
            row["Name"] for row in self.records.rows["Issue__c"] if row["Name"] != "Late Delivery"
        ]
        for case in found:
            if rng.random() < 0.12:
                case.issue = rng.choice((None, rng.choice(others)))
        return found

    def late_drafts(self, late: list[LateCase]) -> Iterator[Draft]:
        rng = self.rng_of("late drafts")
        for case in late:
            talk = case.talk
            subject = talk.say("late_subject")
            yield Draft(
                case.opened, case.closed, talk, subject, case.account, case.item, case.issue, case
            )
            if case.merged:
                again = moment_of(case.opened.date(), 60 * 16) + timedelta(days=rng.randrange(1, 3))
                copy = Conversation(rng, talk.writer, talk.customer, talk.agent, again, talk.values)
                copy.customer_writes([copy.say("late_open")])
                yield Draft(
                    again,
                    max(case.closed, again + timedelta(hours=3)),
                    copy,
                    copy.say("late_subject"),
                    case.account,
                    case.item if rng.random() < 0.7 else None,
                    "Late Delivery",
                    case,
                    copy=True,
                )
            if case.earlier is not None:
                earlier = case.earlier
                opened = earlier.messages[0].moment
                closed = earlier.moment + timedelta(hours=rng.randrange(1, 30))
                yield Draft(
                    opened,
                    closed,
                    earlier,
                    earlier.say("hold_subject"),
                    case.account,
                    case.item if rng.random() < 0.65 or self._twice(case) else None,
                    rng.choice((None, "Product Question", None)),
                )

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Of each order the names of the products of its lines."""
        products = {row["Id"]: row["Name"].lower() for row in self.records.rows["Product2"]}
        found = defaultdict(list)
        for item in self.records.rows["OrderItem"]:
            found[item["OrderId"]].append(products[item["Product2Id"]])
        return found

    def _twice(self, case: LateCase) -> bool:
        """Whether what the customer calls the product fits two lines of the order."""
        return (
            sum(case.talk.values["product"] in name for name in self._names[case.order["Id"]]) > 1
        )

    def noise(self) -> Iterator[Draft]:
        """Cases about other things; a few of them filed as late deliveries."""
        rng, rows = self.rng_of("noise"), self.records.rows
        writer = Writer(rng)
        orders = {row["Id"]: row for row in rows["Order"]}
        accounts = {row["Id"]: row for row in rows["Account"]}
        names = {row["Id"]: product_words(row["Name"]) for row in rows["Product2"]}
        issues = [row["Name"] for row in rows["Issue__c"] if row["Name"] != "Late Delivery"]
        by_month: dict[str, list[Row]] = defaultdict(list)
        for item in rows["OrderItem"]:
            by_month[orders[item["OrderId"]]["EffectiveDate"][:7]].append(item)
        month = date(*FIRST_MONTH, 1)
        while month < NOW.date():
            pool = by_month[f"{month - timedelta(days=25):%Y-%m}"]
            for _ in range(NOISE_A_MONTH if pool else 0):
                item = rng.choice(pool)
                order = orders[item["OrderId"]]
                opened = moment_of(
                    month + timedelta(days=rng.randrange(28)), rng.randrange(420, 1320)
                )
                ordered = date.fromisoformat(order["EffectiveDate"])
                if desk_day(text_of(opened)) <= ordered:
                    # Nobody writes of what is not ordered yet.
                    opened += timedelta(days=31)
                if opened > NOW - timedelta(hours=3):
                    continue
                account = accounts[order["AccountId"]]
                values = {
                    "product": names[item["Product2Id"]],
                    "ordered": f"{ordered.day} {ordered:%B %Y}",
                    "carrier": item["Carrier__c"],
                }
                agent = rng.choice(self.agents)["Name"]
                talk = Conversation(rng, writer, account["Name"], agent, opened, values)
                talk.customer_writes([talk.say("noise_open")], rng.choice((1, 2, 3)))
                talk.pause(2, 60)
                talk.agent_writes([talk.say("noise_answer")], rng.choice((1, 2)))
                talk.messages = [m for m in talk.messages if m.moment <= NOW]
                talk.pause(1, 300)
                closed = talk.moment if talk.moment < NOW - timedelta(hours=9) else None
                issue = "Late Delivery" if rng.random() < 0.035 else rng.choice(issues)
                issue_name = None if rng.random() < 0.06 else issue
                about = item if rng.random() < 0.9 else None
                subject = talk.say("noise_subject")
                chat = rng.random() < 0.2
                origin = "Chat" if chat else None
                yield Draft(
                    opened,
                    closed,
                    talk,
                    subject,
                    account,
                    about,
                    issue_name,
                    origin=origin,
                    chat=chat,
                )
            month = (month + timedelta(days=32)).replace(day=1)
