"""The second way to the truth of routings: from the stored records, letters and notices alone."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from crmbench.core.schema import Row
from crmbench.domains.service.hard.second_truth.memos import read_day

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


@dataclass
class Rules:
    """What the notices have made of the articles, as of today."""

    escalated: int = 1
    waiting: int = 1
    urgent: int = 1
    plus: int = 2
    first: str = ""
    second: str = ""
    more: int = 0
    days: int = 30


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
        self.line_order = {row["Id"]: row["OrderId"] for row in rows["OrderItem"]}
        self.cases = {row["Id"]: row for row in rows["Case"]}
        self.rules, self.gone = self._read()
        self.levels: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
        for row in rows["Skill__c"]:
            entry = (self.issues[row["Issue__c"]], row["Level__c"], row["ExpiresOn__c"] or "9999")
            self.levels[row["User__c"]].append(entry)
        weight = {"Escalated": self.rules.escalated, "Waiting on Customer": self.rules.waiting}
        self.load: dict[str, int] = defaultdict(int)
        for row in rows["Case"]:
            if row["ClosedDate"] is None:
                self.load[row["OwnerId"]] += weight.get(row["Status"], 1)

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
                load[winner] = load.get(winner, 0) + 1
        return result

    def _winner(self, case: Row, load: dict[str, int]) -> str | None:
        letter, account = case["Description"], self.accounts[case["AccountId"]]
        issue = self.issue(letter)
        needed = self.rules.urgent if case["Priority"] in ("Critical", "High") else 1
        if account["Membership__c"] and (account["MemberUntil__c"] or "9999") >= TODAY.isoformat():
            needed = max(needed, self.rules.plus)
        able: dict[str, int] = {}
        for user in self.by_name.values():
            level = self._level(user["Id"], issue)
            free = load.get(user["Id"], 0) < user["MaxOpen__c"] + self.rules.more
            reach = user["Shift__c"] != "Early" or account["ShippingState"] not in "CA OR WA"
            here = user["IsActive"] and user["Id"] not in self.gone
            if level >= needed and free and reach and here:
                able[user["Id"]] = level
        for unwanted in self._named(letter, r"do not give this to|but not|want to deal with"):
            able.pop(unwanted, None)
        asked = self._named(letter, r"Please let|I would like|Could|I want")
        for choice in (*asked, self._former(case)):
            if choice in able:
                return choice
        if not able:
            return None
        order = sorted(
            able,
            key=lambda key: (
                load.get(key, 0),
                -able[key],
                self.users[key]["LastName"],
                self.users[key]["FirstName"],
            ),
        )
        return order[0]

    def _named(self, letter: str, words: str) -> list[str]:
        names = "|".join(map(re.escape, sorted(self.by_name)))
        found = re.findall(rf"(?:{words}) ({names})\b", letter)
        return [self.by_name[name]["Id"] for name in found]

    def _level(self, user: str, issue: str) -> int:
        wanted = {issue} | ({self.rules.first} if issue == self.rules.second else set())
        return max(
            (n for name, n, to in self.levels[user] if name in wanted and to >= TODAY.isoformat()),
            default=0,
        )

    def _former(self, case: Row) -> str | None:
        since = (TODAY - timedelta(days=self.rules.days)).isoformat()
        order = self.line_order[case["OrderItemId__c"]]
        found = [
            (row["ClosedDate"], row["OwnerId"])
            for row in self.rows["Case"]
            if row["AccountId"] == case["AccountId"]
            and (row["ClosedDate"] or "") >= since
            and not row["MasterRecordId"]
            and self.line_order.get(row["OrderItemId__c"] or "") == order
        ]
        return str(max(found)[1]) if found else None

    def _read(self) -> tuple[Rules, set[str]]:
        """The rules, and who is away today."""
        rules, today = Rules(), TODAY.isoformat()
        gone = {
            row["User__c"]
            for row in self.rows["Absence__c"]
            if row["FirstDay__c"] <= today <= row["LastDay__c"]
        }
        articles = [a for a in self.rows["Knowledge__kav"] if a["PublishStatus"] == "Online"]
        for article in sorted(articles, key=lambda row: (row["CreatedDate"], row["Id"])):
            text = article["FAQ_Answer__c"]
            if article["Title"] == "Skills and their levels":
                rules.urgent = int(re.findall(r"High or Critical it needs level (\d)", text)[0])
            if not article["Title"].startswith("Desk notice"):
                continue
            for item in text.split("\n\n"):
                _change(rules, item, article["Title"] == f"Desk notice {TODAY:%Y-%m}")
                self._presence(gone, item)
        return rules, gone

    def _presence(self, gone: set[str], item: str) -> None:
        for name, user in self.by_name.items():
            if name not in item:
                continue
            days: list[Any] = [read_day(found) for found in re.findall(_DAY, item)]
            if len(days) == 2 and days[0] <= TODAY <= days[1]:
                gone.add(user["Id"])
            elif len(days) == 1 and days[0] <= TODAY:
                gone.discard(user["Id"])


def _change(rules: Rules, item: str, this_month: bool) -> None:
    """What one paragraph of a notice changes."""
    if found := re.search(r"escalated cases? counts? as (\w+)", item):
        rules.escalated = 4 if found[1] == "four" else int(found[1])
    elif "do not count from now on" in item:
        rules.waiting = 0
    elif "count for the load again" in item:
        rules.waiting = 1
    elif found := re.search(r"skill for '(.+?)' may from now on also take '(.+?)'", item):
        rules.first, rules.second = found[1], found[2]
    elif found := re.search(r"Plus members need level (\d)", item):
        rules.plus = int(found[1])
    elif found := re.search(r"all caps are (\d) (higher|lower)", item):
        if this_month:
            rules.more = int(found[1]) * (1 if found[2] == "higher" else -1)
    elif found := re.search(r"the time is (\d+) days now", item):
        rules.days = int(found[1])
