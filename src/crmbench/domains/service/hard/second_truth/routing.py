"""The second way to the truth of routings: from the stored records, letters and notices alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from crmbench.core.answer import STATES
from crmbench.core.schema import Row
from crmbench.domains.service.hard.second_truth.desk import read_desk
from crmbench.domains.service.hard.second_truth.memos import read_day

_DESK = ZoneInfo("America/Chicago")
_DAY = r"(\d{1,2} [A-Z][a-z]+ \d{4})"
TODAY = date(2026, 3, 2)

PROBLEMS: dict[str, tuple[str, str]] = {
    "Wrong Item Received": (
        r"in the box was not|you did not send me|I unpacked and it was not",
        "In the box was not the tarp that I ordered but another one.",
    ),
    "Damaged on Arrival": (
        r"was (?:dented|cracked|torn|broken|bent)",
        "The tarp was torn on unpacking.",
    ),
    "Missing Part": (
        r"found that|saw that|is missing|was not in there",
        "When I unpacked the tarp I saw that a strap is missing.",
    ),
    "Assembly Difficulty": (
        r"cannot get it together|how it goes together|stuck at the third step",
        "I have every piece of the rack before me in the attic and am stuck at the third step.",
    ),
    "Defect Under Warranty": (
        r"gave out|stopped doing what|came apart|\bfailed\b",
        "After a few weeks of normal use, the tarp failed.",
    ),
    "Billing Error": (
        r"two charges|a charge that|double charge",
        "My bank shows two charges for the tarp.",
    ),
    "Return or Refund": (
        r"changed my mind|do not need it any more|gave me one",
        "The tarp is unused, but I changed my mind, so may I return it?",
    ),
    "Account Access": (
        r"cannot sign in|locked out|password is refused",
        "I am locked out of my online account, so I cannot see my order of the tarp.",
    ),
    "Product Question": (
        r"(?:before I use|a question about|want to know about) the .*: ",
        "A question about the tarp: what load may it take?",
    ),
}
"""For each issue the words that report it, and a letter with them and with no other's."""
_ASIDE = r"By the way, and no hurry|In passing|Only so that you know it"
_WEIGHTIER = r"What matters more to me, though|More important to me is this|But above all"


class RoutingReader:
    """Routes cases from the records.

    Args:
        rows: All records by object.
    """

    def __init__(self, rows: dict[str, list[Row]]) -> None:
        self.rows = rows
        self.users = {row["Id"]: row for row in rows["User"]}
        self.accounts = {row["Id"]: row for row in rows["Account"]}
        self.issues = {row["Id"]: row["Name"] for row in rows["Issue__c"]}
        self.by_name = {row["Name"]: row for row in rows["User"] if row["Title"] == "Service Agent"}
        self.items = {row["Id"]: row for row in rows["OrderItem"]}
        self.cases = {row["Id"]: row for row in rows["Case"]}
        self.book = read_desk(rows["Knowledge__kav"])
        self.gone = self._gone()
        self.levels: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
        for row in rows["Skill__c"]:
            entry = (self.issues[row["Issue__c"]], row["Level__c"], row["ExpiresOn__c"] or "9999")
            self.levels[row["User__c"]].append(entry)

    @cached_property
    def load(self) -> dict[str, int]:
        """What each owner has in hand."""
        found: dict[str, int] = defaultdict(int)
        for row in self.rows["Case"]:
            if row["ClosedDate"] is None:
                found[row["OwnerId"]] += self._points(row, row["Status"])
        return found

    def _say(self, subject: str, facts: Mapping[str, Any]) -> str:
        return str(self.book.decide(subject, facts, TODAY).value)

    def _number(self, subject: str, facts: Mapping[str, Any]) -> int:
        return int("".join(c for c in self._say(subject, facts) if c.isdigit()) or 0)

    def _points(self, case: Row, status: str) -> int:
        facts = {"status": status, "priority": case["Priority"], "origin": case["Origin"]}
        return self._number("weight", facts)

    def issue(self, letter: str) -> str:
        """The issue that a letter reports.

        Raises:
            ValueError: It names none, or two without saying which counts.
        """
        text = re.split(_ASIDE, letter)
        main = re.split(_WEIGHTIER, letter)
        if len(main) > 1:
            # What is said next is the problem; the letter's other words may follow it.
            letter = re.split(r"(?<=[.?!])\s", main[1].lstrip(":, "))[0]
        elif len(text) > 1:
            rest = re.split(r"(?<=[.?!])\s", text[1].lstrip(": "), maxsplit=1)
            letter = text[0] + " ".join(rest[1:])
        found = [n for n, (p, _) in PROBLEMS.items() if re.search(p, letter, re.IGNORECASE)]
        if len(found) != 1:
            raise ValueError(f"{found} in {letter!r}")
        return found[0]

    def route(self, ids: list[str]) -> dict[str, str | None]:
        """Who gets each case; None: nobody can."""
        rank = {"Critical": 0, "High": 1, "Medium": 2, "Low": 3}
        rows = [self.cases[key] for key in ids]
        rows.sort(key=lambda row: (rank[row["Priority"]], row["CreatedDate"], row["Id"]))
        load = dict(self.load)
        result: dict[str, str | None] = {}
        for case in rows:
            winner = self._winner(case, load)
            result[case["Id"]] = winner
            if winner is not None:
                load[winner] = load.get(winner, 0) + self._points(case, "New")
        return result

    def _winner(self, case: Row, load: dict[str, int]) -> str | None:
        letter = case["Description"]
        facts = self._facts(case)
        serves = (facts["issue"], self._say("relief", facts).replace("the skill for ", ""))
        barred, needed = self._say("barred", facts), self._number("level", facts)
        able: dict[str, int] = {}
        for user in self.by_name.values():
            level = self._level(user["Id"], serves)
            free = load.get(user["Id"], 0) < self._cap(user)
            here = user["IsActive"] and user["Id"] not in self.gone
            if level >= needed and free and user["Shift__c"] != barred and here:
                able[user["Id"]] = level
        for unwanted in self._named(letter, r"do not give this to|but not|want to deal with"):
            able.pop(unwanted, None)
        asked = self._named(letter, r"Please let|I would like|Could|I want")
        if self._say("wish", facts) != "heeded":
            asked = []
        for choice in (*asked, self._former(case, self._number("knows", facts))):
            if choice in able:
                return choice
        first = {"the higher level": lambda key: -able[key]}.get(self._say("tie", facts))
        if self._say("tie", facts) == "the higher MaxOpen__c":
            first = self._less_room
        order = sorted(
            able,
            key=lambda key: (
                load.get(key, 0),
                first(key) if first else 0,
                self.users[key]["LastName"],
                self.users[key]["FirstName"],
            ),
        )
        return order[0] if order else None

    def _less_room(self, key: str) -> int:
        return -int(self.users[key]["MaxOpen__c"])

    def _cap(self, user: Row) -> int:
        facts = {"shift": user["Shift__c"]}
        sign = -1 if " less " in self._say("cap", facts) else 1
        return int(user["MaxOpen__c"]) + sign * self._number("cap", facts)

    def _facts(self, case: Row) -> dict[str, Any]:
        item, account = self.items[case["OrderItemId__c"]], self.accounts[case["AccountId"]]
        return {
            "issue": self.issue(case["Description"]),
            "state": next(n for n, code in STATES.items() if code == account["ShippingState"]),
            "carrier": item["Carrier__c"],
            "priority": case["Priority"],
            "origin": case["Origin"],
            "price": item["UnitPrice"],
            "plus": bool(account["Membership__c"])
            and (account["MemberUntil__c"] or "9999") >= TODAY.isoformat(),
            "several": item["Quantity"] > 1,
            "clearance": item["SaleType__c"] == "Clearance",
        }

    def _named(self, letter: str, words: str) -> list[str]:
        names = "|".join(map(re.escape, sorted(self.by_name)))
        found = re.findall(rf"(?:{words}) ({names})\b", letter)
        return [self.by_name[name]["Id"] for name in found]

    def _level(self, user: str, serves: tuple[str, str]) -> int:
        return max(
            (n for name, n, to in self.levels[user] if name in serves and to >= TODAY.isoformat()),
            default=0,
        )

    def _former(self, case: Row, days: int) -> str | None:
        """Who closed the last case about the order, if that is not too long ago."""
        order = self.items[case["OrderItemId__c"]]["OrderId"]
        found = [
            (row["ClosedDate"], row["OwnerId"])
            for row in self.rows["Case"]
            if row["AccountId"] == case["AccountId"]
            and row["ClosedDate"]
            and not row["MasterRecordId"]
            and row["OrderItemId__c"]
            and self.items[row["OrderItemId__c"]]["OrderId"] == order
        ]
        if not found:
            return None
        moment, owner = max(found)
        closed = datetime.fromisoformat(moment).astimezone(_DESK).date()
        return str(owner) if closed >= TODAY - timedelta(days=days) else None

    def _gone(self) -> set[str]:
        """Who is away today."""
        today = TODAY.isoformat()
        gone = {
            row["User__c"]
            for row in self.rows["Absence__c"]
            if row["FirstDay__c"] <= today <= row["LastDay__c"]
        }
        notices = [a for a in self.rows["Knowledge__kav"] if a["Title"].startswith("Desk notice")]
        for article in sorted(notices, key=lambda row: (row["CreatedDate"], row["Id"])):
            for item in article["FAQ_Answer__c"].split("\n\n"):
                self._presence(gone, item)
        return gone

    def _presence(self, gone: set[str], item: str) -> None:
        for name, user in self.by_name.items():
            if name not in item:
                continue
            days: list[Any] = [read_day(found) for found in re.findall(_DAY, item)]
            if len(days) == 2 and days[0] <= TODAY <= days[1]:
                gone.add(user["Id"])
            elif len(days) == 1 and days[0] <= TODAY:
                gone.discard(user["Id"])
