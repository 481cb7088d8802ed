"""A small service org whose every case is written out, for the tests of the tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from crmbench.core.clock import WorldClock
from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.tool import Tool
from crmbench.core.world import Backend
from crmbench.domains.service.org import ServiceOrg, open_org
from crmbench.domains.service.schema import SCHEMA, catalog
from crmbench.domains.service.tools import TOOLBOX
from crmbench.errors import ToolError
from crmbench.salesforce.catalog import folded_indexes
from crmbench.salesforce.ids import record_id
from crmbench.salesforce.sosl.index import create_index

NOW = datetime(2025, 7, 15, 9, 0, tzinfo=UTC)


def key(name: str, number: int) -> str:
    return record_id(name, number)


ANA, BEN, CLEO, DAN = (key("User", n) for n in range(1, 5))
"""Agents; Dan is not active."""
ACME, BOLT = key("Account", 1), key("Account", 2)
MIA, NOAH = key("Contact", 1), key("Contact", 2)
TENT, TARP, LAMP = (key("Product2", n) for n in range(1, 4))
TENT_ITEM, TARP_ITEM, LAMP_ITEM = (key("OrderItem", n) for n in range(1, 4))
LATE, TORN = key("Issue__c", 1), key("Issue__c", 2)
RETURNS, REPAIRS, NIGHT = (key("Knowledge__kav", n) for n in range(1, 4))


def case_id(number: int) -> str:
    return key("Case", number)


# number, owners in turn with the days on which each got it, opened, closed, item, issue
CASES: list[tuple[int, list[tuple[str, str]], str, str | None, str | None, str | None]] = [
    (1, [(ANA, "2025-03-01")], "2025-03-01", "2025-03-02", TENT_ITEM, LATE),
    (2, [(ANA, "2025-03-05")], "2025-03-05", "2025-03-08", TENT_ITEM, TORN),
    (3, [(BEN, "2025-03-31")], "2025-03-31", "2025-04-01", TENT_ITEM, TORN),
    (4, [(ANA, "2025-04-01"), (BEN, "2025-04-02")], "2025-04-01", "2025-04-05", LAMP_ITEM, LATE),
    (5, [(ANA, "2025-04-10"), (CLEO, "2025-05-01")], "2025-04-10", None, LAMP_ITEM, LATE),
    (6, [(CLEO, "2025-04-11")], "2025-04-11", None, TARP_ITEM, TORN),
    (7, [(CLEO, "2025-04-12")], "2025-04-12", "2025-04-16", None, None),
    (8, [(BEN, "2025-07-14")], "2025-07-14", None, TENT_ITEM, LATE),
]


def moment(day: str, hour: int = 8) -> str:
    return f"{day}T{hour:02d}:00:00.000+0000"


@dataclass(frozen=True)
class DeskWorld:
    """Implements `WorldSource`."""

    name: str = "desk"
    now: datetime = NOW
    about: str = ""

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        rows = {**people(), **goods(), **cases()}
        for table in SCHEMA.tables:
            yield table, rows.get(table, [])

    def after_load(self, dialect: str) -> Sequence[str]:
        return [*create_index(catalog(), dialect), *folded_indexes(catalog())]


def people() -> dict[str, list[Row]]:
    made = {"CreatedDate": moment("2024-01-01")}
    names = {ANA: "Ana Ruiz", BEN: "Ben Ode", CLEO: "Cleo Park", DAN: "Dan Voss"}
    users = []
    for user, name in names.items():
        first, last = name.split()
        users.append(
            {
                "Id": user, "FirstName": first, "LastName": last, "Name": name,
                "Username": f"{first.lower()}@desk.example", "IsActive": user != DAN, **made,
            }
        )  # fmt: skip
    accounts = [
        {"Id": ACME, "LastName": "Acre", "Name": "Mia Acre", "ShippingState": "CA", **made},
        {"Id": BOLT, "LastName": "Bolt", "Name": "Noah Bolt", "ShippingState": "OR", **made},
    ]
    contacts = [
        {"Id": MIA, "LastName": "Acre", "Name": "Mia Acre", "AccountId": ACME, "OwnerId": ANA},
        {"Id": NOAH, "LastName": "Bolt", "Name": "Noah Bolt", "AccountId": BOLT, "OwnerId": ANA},
    ]
    return {
        "User": users,
        "Account": accounts,
        "Contact": [{**contact, **made} for contact in contacts],
    }


def goods() -> dict[str, list[Row]]:
    book = key("Pricebook2", 1)
    products = {
        TENT: ("Ridge Tent 2-Person Green", "A light tent for two, with a porch."),
        TARP: ("Ridge Tarp Green", "Keeps the rain off a tent or a table."),
        LAMP: ("Glow Lamp", "A lamp that can't tip over."),
    }
    entries = {product: key("PricebookEntry", n) for n, product in enumerate(products)}
    orders = [
        {"Id": key("Order", 1), "AccountId": ACME, "EffectiveDate": "2025-02-20"},
        {"Id": key("Order", 2), "AccountId": BOLT, "EffectiveDate": "2025-02-21"},
    ]
    items = [(TENT_ITEM, 1, TENT), (TARP_ITEM, 1, TARP), (LAMP_ITEM, 2, LAMP)]
    return {
        "Product2": [
            {"Id": product, "Name": name, "Description": text, "IsActive": True}
            for product, (name, text) in products.items()
        ],
        "Pricebook2": [{"Id": book, "Name": "Standard", "IsActive": True}],
        "PricebookEntry": [
            {"Id": entry, "Pricebook2Id": book, "Product2Id": product, "UnitPrice": 20.0}
            for product, entry in entries.items()
        ],
        "Order": [{**order, "Pricebook2Id": book, "Status": "Activated"} for order in orders],
        "OrderItem": [
            {
                "Id": item, "OrderId": key("Order", order), "Product2Id": product, "Quantity": 1,
                "UnitPrice": 20.0, "PriceBookEntryId": entries[product],
            }
            for item, order, product in items
        ],
    }  # fmt: skip


def cases() -> dict[str, list[Row]]:
    rows: list[Row] = []
    history: list[Row] = []

    def note(case: str, day: str, field: str, old: str | None, new: str | None) -> None:
        history.append(
            {
                "Id": key("CaseHistory__c", len(history) + 1), "CaseId__c": case, "Field__c": field,
                "OldValue__c": old, "NewValue__c": new, "CreatedDate": moment(day),
            }
        )  # fmt: skip

    for number, owners, opened, closed, item, issue in CASES:
        case = case_id(number)
        customer, account = (NOAH, BOLT) if item == LAMP_ITEM else (MIA, ACME)
        rows.append(
            {
                "Id": case, "Priority": "Medium", "Subject": f"Case number {number}",
                "Description": "Something went wrong.", "Status": "Closed" if closed else "Working",
                "ContactId": customer, "AccountId": account, "OwnerId": owners[-1][0],
                "CreatedDate": moment(opened), "ClosedDate": closed and moment(closed),
                "OrderItemId__c": item, "IssueId__c": issue,
            }
        )  # fmt: skip
        note(case, opened, "Case Creation", None, None)
        before: str | None = None
        for owner, day in owners:
            note(case, day, "Owner Assignment", before, owner)
            before = owner
        if closed:
            note(case, closed, "Case Closed", None, None)
    return {
        "Issue__c": [
            {"Id": LATE, "Name": "Late Delivery", "Description__c": "It came late."},
            {"Id": TORN, "Name": "Damaged", "Description__c": "It came torn or broken."},
        ],
        "Knowledge__kav": articles(),
        "Case": rows,
        "CaseHistory__c": history,
        "EmailMessage": [
            {
                "Id": key("EmailMessage", n), "ParentId": case_id(1), "Subject": "Where is it?",
                "TextBody": f"Message {n}", "FromAddress": "mia@home.example",
                "MessageDate": moment(f"2025-03-0{3 - n}"),
            }
            for n in (1, 2)
        ],
        "LiveChatTranscript": [
            {
                "Id": key("LiveChatTranscript", 1), "CaseId": case_id(2), "AccountId": ACME,
                "OwnerId": ANA, "ContactId": MIA, "Body": "Mia: Hello?\nAna: Hello!",
                "EndTime": moment("2025-03-06"),
            }
        ],
    }  # fmt: skip


def articles() -> list[Row]:
    texts = {
        RETURNS: ("Returns", "Goods come back within 30 days.", "Online"),
        REPAIRS: ("Repairs of Tents", "A torn tent is mended within 30 days for a fee.", "Online"),
        NIGHT: ("Night Deliveries", "Drivers ring the bell twice.", "Draft"),
    }
    return [
        {
            "Id": article, "Title": title, "Summary": "What holds.", "FAQ_Answer__c": text,
            "UrlName": title.lower().replace(" ", "-"), "PublishStatus": status,
            "CreatedDate": moment("2024-02-01"),
        }
        for article, (title, text, status) in texts.items()
    ]  # fmt: skip


class Desk:
    """The org with its tools, called as an episode calls them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.org: ServiceOrg = open_org(database)

    def call(self, name: str, **arguments: Any) -> Any:
        """The result of a tool; a refused call changes nothing and raises its ToolError."""
        tool: Tool = TOOLBOX.get(name)
        checked = tool.check(arguments)
        self.database.begin_call()
        try:
            result = tool.function(self.org, **checked)
        except ToolError:
            self.database.undo_call()
            raise
        changes = self.database.end_call()
        assert tool.writes or not changes
        return result

    def soql(self, query: str) -> list[Row]:
        records: list[Row] = self.call("issue_soql_query", query=query)["records"]
        return records


@contextmanager
def desk_on(backend: Backend) -> Iterator[Desk]:
    """The org on a backend, put back as it was at the end."""
    world = DeskWorld()
    database = backend.acquire(world)
    database.start(WorldClock(NOW, "test"))
    try:
        yield Desk(database)
    finally:
        database.reset()
        backend.release(world, database)


def sqlite_backend() -> SqliteBackend:
    return SqliteBackend(SCHEMA)
