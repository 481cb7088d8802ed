"""An org's rows in memory, with the look-ups that the tasks are drawn from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TypeVar

from crmbench.core.schema import Row
from crmbench.core.world import WorldSource

ASSIGNMENT = "Owner Assignment"
T = TypeVar("T")
UNUSED = frozenset({"PricebookEntry", "Pricebook2", "ProductCategoryProduct"})
"""Objects that no task asks about; they are most of the rows."""


@dataclass(frozen=True)
class Records:
    """The rows of an org by object, in the order in which they are loaded."""

    rows: dict[str, list[Row]]
    today: date

    @classmethod
    def of(cls, world: WorldSource) -> Records:
        """Read the rows of a world."""
        rows: dict[str, list[Row]] = defaultdict(list)
        for name, found in world.stream():
            if name not in UNUSED:
                rows[name].extend(found)
        return cls(dict(rows), world.now.date())

    def get(self, name: str, key: str) -> Row:
        """The record of an object with this id.

        Raises:
            KeyError: There is none.
        """
        return self._by_key[name][key]

    def name(self, key: str) -> str:
        """The Name of a user, account, product or issue."""
        return str(self._names[key])

    @property
    def cases(self) -> list[Row]:
        """All cases, oldest first."""
        return self.rows["Case"]

    def product_of(self, case: Row) -> Row:
        """The product that a case is about."""
        return self.get("Product2", self.get("OrderItem", case["OrderItemId__c"])["Product2Id"])

    def cases_about(self, product: str) -> list[Row]:
        """All cases about order items of a product, oldest first."""
        return self._by_product.get(product, [])

    def number_about(self, product: str, start: str, end: str) -> int:
        """How many cases about a product were created in a period."""
        return sum(start <= case["CreatedDate"] < end for case in self.cases_about(product))

    def history_of(self, case: str) -> list[Row]:
        """A case's history, oldest first."""
        return self._history.get(case, [])

    def items_of(self, account: str) -> dict[str, list[Row]]:
        """The order lines of an account by the day of their order."""
        return self._bought.get(account, {})

    @cached_property
    def agents(self) -> list[str]:
        """Ids of the active users who have ever been given a case."""
        known = {row["NewValue__c"] for row in self.assignments}
        return [u["Id"] for u in self.rows["User"] if u["Id"] in known and u["IsActive"]]

    @cached_property
    def assignments(self) -> list[Row]:
        """The history of who was given which case."""
        return [row for row in self.rows["CaseHistory__c"] if row["Field__c"] == ASSIGNMENT]

    @cached_property
    def closed_by_state(self) -> dict[str, list[str]]:
        """By state of the customer, the moments at which the closed cases were created."""
        return _grouped(
            (self.get("Account", case["AccountId"])["ShippingState"], case["CreatedDate"])
            for case in self.cases
            if case["ClosedDate"] is not None
        )

    @cached_property
    def kept_cases(self) -> dict[str, list[str]]:
        """By agent, the moments at which they were given the closed cases that nobody else ever
        had: those that count for handle times.
        """
        single = Counter(row["CaseId__c"] for row in self.assignments)
        closed = {case["Id"] for case in self.cases if case["ClosedDate"] is not None}
        return _grouped(
            (row["NewValue__c"], row["CreatedDate"])
            for row in self.assignments
            if single[row["CaseId__c"]] == 1 and row["CaseId__c"] in closed
        )

    @cached_property
    def desk_user(self) -> str:
        """Name of the user in whose name the agent under test works: the org's oldest."""
        return self.name(min(row["Id"] for row in self.rows["User"]))

    @cached_property
    def open_cases(self) -> list[Row]:
        """The cases that are not closed, oldest first."""
        return [case for case in self.cases if case["ClosedDate"] is None]

    @cached_property
    def complained_of(self) -> list[str]:
        """Ids of the products that cases are about, each once for each of its first six cases."""
        counts = Counter(self.product_of(case)["Id"] for case in self.cases)
        return [key for key, n in counts.items() for _ in range(min(n, 6))]

    @cached_property
    def _by_key(self) -> dict[str, dict[str, Row]]:
        return {name: {row["Id"]: row for row in rows} for name, rows in self.rows.items()}

    @cached_property
    def _names(self) -> dict[str, str]:
        named = ("User", "Account", "Contact", "Product2", "Issue__c")
        return {row["Id"]: row["Name"] for name in named for row in self.rows[name]}

    @cached_property
    def _by_product(self) -> dict[str, list[Row]]:
        about = (case for case in self.cases if case["OrderItemId__c"] is not None)
        return _grouped((self.product_of(case)["Id"], case) for case in about)

    @cached_property
    def _history(self) -> dict[str, list[Row]]:
        return _grouped((row["CaseId__c"], row) for row in self.rows["CaseHistory__c"])

    @cached_property
    def _bought(self) -> dict[str, dict[str, list[Row]]]:
        found: dict[str, dict[str, list[Row]]] = {}
        for item in self.rows["OrderItem"]:
            order = self.get("Order", item["OrderId"])
            days = found.setdefault(order["AccountId"], {})
            days.setdefault(order["EffectiveDate"], []).append(item)
        return found


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for key, row in pairs:
        groups[key].append(row)
    return dict(groups)
