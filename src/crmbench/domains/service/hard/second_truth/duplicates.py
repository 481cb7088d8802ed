"""The second way to the truth of duplicates: pair by pair over the stored records and letters."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from typing import Any

from crmbench.core.answer import STATES
from crmbench.core.schema import Row
from crmbench.domains.service.hard.second_truth.memos import read_day
from crmbench.domains.service.hard.second_truth.routing import TODAY, RoutingReader

_ORDERED = r"(?:order of|order was of|Ordered on) (\d{1,2} [A-Z][a-z]+ \d{4})"
_OTHER = (
    r"not the one that I wrote about|not mean the one from my last|first one is settled|"
    r"my letter about the first one"
)
RANK = ("Low", "Medium", "High", "Critical")


class DuplicateReader:
    """Finds duplicates among open web cases.

    Args:
        rows: All records by object.
    """

    def __init__(self, rows: dict[str, list[Row]]) -> None:
        self.rows = rows
        self.issues = RoutingReader(rows)
        self.cases = {row["Id"]: row for row in rows["Case"]}
        self.accounts = {row["Id"]: row for row in rows["Account"]}
        self.by_mail = {row["PersonEmail"].lower(): row["Id"] for row in rows["Account"]}
        self.orders = {row["Id"]: row for row in rows["Order"]}
        self.names = {row["Id"]: row["Name"].lower() for row in rows["Product2"]}
        self.lines: dict[str, list[Row]] = defaultdict(list)
        for row in rows["OrderItem"]:
            self.lines[self.orders[row["OrderId"]]["AccountId"]].append(row)
        self.persons: dict[tuple[str, str], list[str]] = defaultdict(list)
        for row in rows["Account"]:
            self.persons[self._identity(row)].append(row["Id"])
        self.answered: dict[str, str] = {}
        for row in sorted(rows["EmailMessage"], key=lambda row: row["MessageDate"]):
            if row["FromAddress"].endswith("@brackenholt.example"):
                self.answered.setdefault(row["ParentId"], row["MessageDate"])
        self.book = self.issues.book
        self.items = {row["Id"]: row for row in rows["OrderItem"]}
        self._read: dict[str, tuple[object, str]] = {}

    def _identity(self, account: Row) -> tuple[str, str]:
        digits = re.sub(r"\D", "", account["Phone"])[-10:]
        return account["LastName"].lower(), digits

    def person(self, case: Row) -> tuple[str, str]:
        """Last name and telephone number of the customer."""
        account = case["AccountId"]
        if account is None:
            box, _, host = case["SuppliedEmail"].lower().partition("@")
            account = self.by_mail[f"{box.split('+')[0]}@{host}"]
        return self._identity(self.accounts[account])

    def line(self, case: Row) -> str:
        """The order line that the case is about.

        Raises:
            ValueError: No line fits, or several do.
        """
        if case["OrderItemId__c"]:
            return str(case["OrderItemId__c"])
        letter = case["Description"]
        day = read_day(re.findall(_ORDERED, letter)[0]).isoformat()
        found = [
            item["Id"]
            for account in self.persons[self.person(case)]
            for item in self.lines[account]
            if self.orders[item["OrderId"]]["EffectiveDate"] == day
            and self._words(item) in letter.lower()
        ]
        if len(found) != 1:
            raise ValueError(f"{len(found)} lines fit {letter!r}")
        return str(found[0])

    def _words(self, item: Row) -> str:
        """The kind of a product, without series, size and color."""
        *words, last = self.names[item["Product2Id"]].split(" in ")[0].split()[1:]
        kept = [word for word in words if word not in _SIZES and not word[0].isdigit()]
        return " ".join([*kept, last])

    def merge(self, ids: list[str]) -> dict[str, tuple[tuple[str, ...], str]]:
        """For each case that remains, those that are merged into it, and its priority."""
        waiting = sorted(ids, key=lambda key: (_moment(self.cases[key]), key))
        result = {}
        while waiting:
            group = self._with(waiting[0], waiting[1:])
            waiting = [key for key in waiting if key not in group]
            if len(group) > 1:
                master, merged = self._remaining(group)
                result[master] = merged
        return result

    def _with(self, first: str, later: list[str]) -> list[str]:
        """A case and those that are one with it, in the order of time."""
        case, facts = self.cases[first], self._facts(first)
        issues = (facts["issue"], self._say("alike", facts))
        hours = 24 * int(self._say("span", facts).removesuffix(" days"))
        group = [first]
        for key in later:
            other = self.cases[key]
            if self._customer_and_line(first) != self._customer_and_line(key):
                continue
            piece = bool(re.search(_OTHER, other["Description"]))
            if piece and self._say("pieces", facts) != "the same case":
                continue
            back = first if self._say("reach", facts) == "the first case" else group[-1]
            apart = (_moment(other) - _moment(self.cases[back])).total_seconds() / 3600
            if self.issues.issue(other["Description"]) in issues and apart <= hours:
                group.append(key)
        own = re.search(_OTHER, case["Description"])
        return [first] if own and self._say("pieces", facts) != "the same case" else group

    def _customer_and_line(self, key: str) -> tuple[object, str]:
        """Of a case; read once, since every pair of cases asks for it."""
        if key not in self._read:
            self._read[key] = self.person(self.cases[key]), self.line(self.cases[key])
        return self._read[key]

    def _say(self, subject: str, facts: dict[str, Any]) -> str:
        return str(self.book.decide(subject, facts, TODAY).value)

    def _facts(self, key: str) -> dict[str, Any]:
        case = self.cases[key]
        item = self.items[self._customer_and_line(key)[1]]
        oldest = min(
            (self.accounts[a] for a in self.persons[self.person(case)]),
            key=lambda row: row["CreatedDate"],
        )
        until = oldest.get("MemberUntil__c") or "9999"
        return {
            "issue": self.issues.issue(case["Description"]),
            "state": next(n for n, code in STATES.items() if code == oldest["ShippingState"]),
            "carrier": item["Carrier__c"],
            "priority": case["Priority"],
            "origin": case["Origin"],
            "price": item["UnitPrice"],
            "plus": oldest["Membership__c"] == "Plus" and until >= TODAY.isoformat(),
            "several": item["Quantity"] > 1,
            "clearance": item["SaleType__c"] == "Clearance",
        }

    def _remaining(self, group: list[str]) -> tuple[str, tuple[tuple[str, ...], str]]:
        facts = self._facts(group[0])
        first = [key for key in group if self.cases[key]["Status"] == "Escalated"]
        if self._say("escalated", facts) == "not granted" or not first:
            first = group
        rank = {key: RANK.index(self.cases[key]["Priority"]) for key in group}
        rule = self._say("remains", facts)
        master = first[0]
        if "opened last" in rule:
            master = first[-1]
        elif "highest" in rule:
            master = sorted(first, key=lambda key: -rank[key])[0]
        elif "answered" in rule:
            master = sorted(first, key=lambda key: self.answered.get(key, "9999"))[0]
        kept = self._say("raised", facts)
        priority = rank[master]
        if "of all" in kept:
            priority = (max if "highest" in kept else min)(rank.values())
        elif "opened last" in kept:
            priority = rank[group[-1]]
        return master, (tuple(key for key in group if key != master), RANK[priority])


_SIZES = frozenset(
    [
        "ii",
        "iii",
        "m",
        "l",
        "cm",
        "mm",
        "kg",
        "inch",
        "lumen",
        "small",
        "medium",
        "large",
        "extra",
        "short",
        "regular",
        "long",
        "single",
        "double",
        "cotton",
        "silk",
        "fleece",
        "light",
        "heavy",
        "size",
    ]
)


def _moment(case: Row) -> datetime:
    return datetime.fromisoformat(case["CreatedDate"])
