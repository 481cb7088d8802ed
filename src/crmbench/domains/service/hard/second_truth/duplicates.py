"""The second way to the truth of duplicates: pair by pair over the stored records and letters."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import combinations

from crmbench.core.schema import Row
from crmbench.domains.service.hard.second_truth.memos import read_day
from crmbench.domains.service.hard.second_truth.routing import RoutingReader

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
        self.answered = {
            row["ParentId"]
            for row in rows["EmailMessage"]
            if row["FromAddress"].endswith("@brackenholt.example")
        }
        self.answered_first = self._rule()

    def _identity(self, account: Row) -> tuple[str, str]:
        digits = re.sub(r"\D", "", account["Phone"])[-10:]
        return account["LastName"].lower(), digits

    def _rule(self) -> bool:
        found = False
        articles = sorted(self.rows["Knowledge__kav"], key=lambda row: row["CreatedDate"])
        for article in articles:
            text = article["FAQ_Answer__c"]
            if "answered by e-mail remains before an older" in text:
                found = True
            elif "whether a case was answered plays no part" in text:
                found = False
        return found

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
        parent = {key: key for key in ids}

        def root(key: str) -> str:
            while parent[key] != key:
                key = parent[key]
            return key

        about = {key: self._about(self.cases[key]) for key in ids}
        for one, two in combinations(ids, 2):
            apart = abs(_moment(self.cases[one]) - _moment(self.cases[two]))
            if about[one] == about[two] and apart <= timedelta(days=14):
                parent[root(one)] = root(two)
        groups: dict[str, list[str]] = defaultdict(list)
        for key in ids:
            groups[root(key)].append(key)
        return dict(self._remaining(group) for group in groups.values() if len(group) > 1)

    def _about(self, case: Row) -> tuple[object, ...]:
        other = case["Id"] if re.search(_OTHER, case["Description"]) else ""
        return self.person(case), self.line(case), self.issues.issue(case["Description"]), other

    def _remaining(self, group: list[str]) -> tuple[str, tuple[tuple[str, ...], str]]:
        group.sort(key=lambda key: (_moment(self.cases[key]), key))
        master = group[0]
        if self.answered_first:
            master = next((key for key in group if key in self.answered), master)
        escalated = [key for key in group if self.cases[key]["Status"] == "Escalated"]
        if escalated:
            answered = [key for key in escalated if key in self.answered]
            master = answered[0] if answered and self.answered_first else escalated[0]
        highest = max(RANK.index(self.cases[key]["Priority"]) for key in group)
        return master, (tuple(key for key in group if key != master), RANK[highest])


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
