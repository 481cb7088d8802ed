"""The second way to the ground truth: reads letters and handbook as a clerk would.

It knows nothing of how an org is made: it takes the stored records, parses the articles back into
rules, reads the letters for what counts, and works out each case with code of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from crmbench.core.answer import STATES
from crmbench.core.schema import Row
from crmbench.domains.service.hard.second_truth.desk import read_desk
from crmbench.domains.service.hard.second_truth.memos import Memos, read_day, read_memos, states_in

_DESK = ZoneInfo("America/Chicago")
_DAY = r"(\d{1,2} [A-Z][a-z]+ \d{4})"
_MONEY = r"\$(\d+(?:\.\d\d)?)"

PATTERNS: dict[str, tuple[str, str, str]] = {
    "told": (
        rf"credit[^.?!$]*?(?:of|is|comes to|amounts to) {_MONEY}|credit of {_MONEY}",
        "A credit of $12.40 for the lateness is yours shortly.",
        "Here is a voucher of $12.40 for your next order.",
    ),
    "no_telling": (
        r"voucher|shipping fee|postage|\bif you\b",
        "If you fill in the carrier's form, you would get $12.00 as a credit for the delay.",
        "A credit of $12.40 for the lateness is yours shortly.",
    ),
    "decline": (
        r"(?:not want|give me no|no need for a|not take a) credit|about the credit: ",
        "Please give me no credit, really.",
        "I would like the credit after all.",
    ),
    "undecline": (
        r"(?:like the credit after all|do take the credit|will have the credit)",
        "On second thought: I do take the credit.",
        "I do not want credit.",
    ),
    "held": (
        (
            r"(?:the carrier brings it|it will come|delivery is now set for|"
            rf"have moved the delivery|I changed the delivery)[^.?!]*? {_DAY}"
        ),
        "Done: the carrier brings it on 4 May 2025, as you asked.",
        "Unfortunately, the parcel has left, so 4 May 2025 is not possible.",
    ),
    "unheld": (
        r"the first date stands|it stays as planned|I have undone it",
        "All right, the first date stands.",
        "Done: it will come 4 May 2025.",
    ),
    "part": (
        r"that (\d+) of the (\d+) pieces .* on time",
        "I can see and confirm that 1 of the 3 pieces came on time and 2 came late.",
        "I checked with the warehouse and all 3 pieces came together.",
    ),
    "arrived": (
        (
            r"(?:(?:[Aa]rrival corrected to|Delivered on:|[Tt]rue day of arrival:?|"
            r"arrival here is) "
            rf"{_DAY}|(?:says|confirms) {_DAY} as the day of arrival|day of arrival here is {_DAY})"
        ),
        "Skylark confirms a wrong scan. Delivered on: 4 May 2025.",
        "Customer says it came on 4 May 2025, scan shows another day.",
    ),
}
"""For each thing that letters tell: its pattern, a text that it finds, and one that it does not."""


def find(name: str, text: str) -> re.Match[str] | None:
    """The first place where a text says that thing."""
    return re.search(PATTERNS[name][0], text, re.IGNORECASE if name != "part" else 0)


@dataclass
class Rules:
    """What the articles say."""

    tables: list[tuple[date, date, list[tuple[int, int]], int]] = field(default_factory=list)
    memos: Memos = field(default_factory=Memos)
    closures: list[tuple[str, frozenset[str], date, date]] = field(default_factory=list)


def read_rules(articles: list[Row]) -> Rules:
    """The rules in the articles that are no drafts."""
    rules = Rules(memos=read_memos(articles))
    for article in articles:
        text, title = article["FAQ_Answer__c"], article["Title"]
        if article["PublishStatus"] == "Draft":
            continue
        if title.startswith("Late delivery rates"):
            rules.tables.append(_table(text))
        elif title.startswith("Desk notice"):
            for item in text.split("\n\n"):
                _item(rules, item)
    rules.closures = [
        (carrier, states, first, rules.memos.hindered.get((carrier, states, first), last))
        for carrier, states, first, last in rules.closures
    ]
    return rules


def _group(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"{pattern!r} is not in {text!r}")
    return match[1]


def _table(text: str) -> tuple[date, date, list[tuple[int, int]], int]:
    span = re.search(rf"placed from {_DAY}(?: to {_DAY})?", text)
    if span is None:
        raise ValueError(f"no span in {text!r}")
    last = read_day(span[2]) if span[2] else date.max
    steps = [
        (int(first), int(share))
        for first, share in re.findall(r"(\d+)[^:\n]*working days late: (\d+) percent", text)
    ]
    return read_day(span[1]), last, steps, int(_group(r"at most \$(\d+)", text))


def _item(rules: Rules, item: str) -> None:
    carrier = re.search(r"Skylark|Bluepost|Parcelhound|Norfreight", item)
    days = [read_day(found) for found in re.findall(_DAY, item)]
    if carrier and days:
        rules.closures.append((carrier[0], states_in(item), days[0], days[1]))


class Reader:
    """Works out what a review must find, from the stored records alone.

    Args:
        rows: All records by object.
    """

    def __init__(self, rows: dict[str, list[Row]]) -> None:
        self.rules = read_rules(rows["Knowledge__kav"])
        self.desk = read_desk(rows["Knowledge__kav"])
        self.holidays = {row["ActivityDate"] for row in rows["Holiday"]}
        named = ("Case", "OrderItem", "Order", "Account", "User", "Product2")
        self.by_id = {row["Id"]: row for name in named for row in rows[name]}
        self.mails = _grouped(rows["EmailMessage"], "ParentId", "MessageDate")
        self.comments = _grouped(rows["CaseComment"], "ParentId", "CreatedDate")
        self.credits = _grouped(rows["Credit__c"], "Case__c", "BookedDate__c")
        self.cases = rows["Case"]
        self.by_number = {row["CaseNumber"]: row["Id"] for row in rows["Case"]}
        texts = [row["CommentBody"] for row in rows["CaseComment"]]
        self.taken_back = {n for text in texts for n in re.findall(r"on (?:case )?(\d{8})\b", text)}
        self.of_account = _grouped(rows["Case"], "AccountId", "CreatedDate")
        self.merged = _grouped(rows["Case"], "MasterRecordId", "CreatedDate")

    def review(self, case_id: str) -> tuple[str, Fraction | None]:
        """The outcome and the amount in dollars."""
        case = self.by_id[case_id]
        had = sum((amount for amount, _ in self._booked(case_id)), Fraction(0))
        if self._booked_lately(case, 365) >= 3:
            return "Refer", None
        owed = self._owed(case)
        if owed == had:
            return "Correct", None
        return ("Underpaid", owed - had) if owed > had else ("Overpaid", had - owed)

    def is_late(self, case_id: str) -> bool:
        """Whether the customer's first letter reports a late delivery."""
        text = self.by_id[case_id]["Description"]
        return re.search(_LATE, text, re.IGNORECASE) is not None

    def _booked(self, case_id: str) -> list[tuple[Fraction, str]]:
        family = [case_id, *(row["Id"] for row in self.merged.get(case_id, []))]
        return [
            (Fraction(str(row["Amount__c"])), row["BookedDate__c"])
            for key in family
            for row in self.credits.get(key, [])
            if row["Status__c"] == "Booked" and row["Type__c"] == "Late Delivery"
        ]

    def _booked_lately(self, case: Row, days: int) -> int:
        opened = datetime.fromisoformat(case["CreatedDate"]).astimezone(UTC).date()
        first = (opened - timedelta(days=days)).isoformat()
        count = 0
        for other in self.of_account[case["AccountId"]]:
            if other["Id"] == case["Id"] or other["MasterRecordId"]:
                continue
            count += sum(first <= day < opened.isoformat() for _, day in self._booked(other["Id"]))
        return count

    def _owed(self, case: Row) -> Fraction:
        mails = self.mails[case["Id"]]
        declined, told = False, Fraction(0)
        for mail in mails:
            text = mail["TextBody"]
            if mail["FromAddress"].endswith("@brackenholt.example"):
                for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
                    found = None if find("no_telling", sentence) else find("told", sentence)
                    if found:
                        told = Fraction(found[1] or found[2])
            elif find("undecline", text):
                declined = False
            elif find("decline", text):
                declined = True
        if declined:
            return Fraction(0)
        item = self.by_id[case["OrderItemId__c"]]
        order = self.by_id[item["OrderId"]]
        facts = self._facts(item, order, self.by_id[case["AccountId"]])
        bought = date.fromisoformat(order["EffectiveDate"])
        if self.desk.decide("pledge", facts, bought).value == "not binding":
            told = Fraction(0)
        return max(told, self._table(case, mails))

    def _table(self, case: Row, mails: list[Row]) -> Fraction:
        item = self.by_id[case["OrderItemId__c"]]
        order = self.by_id[item["OrderId"]]
        account = self.by_id[case["AccountId"]]
        ordered = date.fromisoformat(order["EffectiveDate"])
        if self._other_credit(case, order["Id"]):
            return Fraction(0)
        steps, cap = next((s, c) for a, b, s, c in self.rules.tables if a <= ordered <= b)
        days = self._days(case, item, order, account, ordered)
        share = Fraction(([0] + [percent for least, percent in steps if days >= least])[-1])
        facts = self._facts(item, order, account)
        if item["SaleType__c"] == "Clearance":
            share = share / 2 if ordered < self.rules.memos.clearance else Fraction(0)
        since, until = account.get("MemberSince__c"), account.get("MemberUntil__c") or "9999"
        plus = account["Membership__c"] == "Plus" and since <= order["EffectiveDate"] <= until
        if plus and share > 0:
            start, points = self.rules.memos.plus
            share = share + points if ordered >= start else share * Fraction(3, 2)
        since, more = self.rules.memos.second
        if share > 0 and ordered >= since and self._booked_lately(case, 120):
            share += more
        if share > 0:
            share += self._number("added", facts, ordered)
        pieces = item["Quantity"]
        for mail in mails:
            found = find("part", mail["TextBody"])
            if found and mail["FromAddress"].endswith("@brackenholt.example"):
                pieces = item["Quantity"] - int(found[1])
        price, most = Fraction(str(item["UnitPrice"])), self.rules.memos.base_on(ordered)
        if item["Method__c"] == "Freight":
            most = None
        cents = share * pieces * (price if most is None else min(price, Fraction(most)))
        amount = Fraction((2 * cents.numerator + cents.denominator) // (2 * cents.denominator), 100)
        if item["Method__c"] == "Freight" and ordered >= self.rules.memos.freight[0]:
            cap = self.rules.memos.freight[1]
        since, more = self.rules.memos.loyal
        if plus and (ordered - date.fromisoformat(account["MemberSince__c"])).days >= 365:
            cap += more if ordered >= since else 0
        lid = self.desk.decide("lid", facts, ordered).value
        if lid != "the table's own":
            cap += int(lid.split()[0]) * (-1 if "below" in lid else 1)
        amount = min(amount, Fraction(cap))
        return amount if amount >= self._number("least", facts, ordered) else Fraction(0)

    def _number(self, subject: str, facts: dict[str, Any], day: date) -> int:
        return int(str(self.desk.decide(subject, facts, day).value).split()[0])

    def _facts(self, item: Row, order: Row, account: Row) -> dict[str, Any]:
        bought = order["EffectiveDate"]
        since, until = account.get("MemberSince__c"), account.get("MemberUntil__c") or "9999"
        return {
            "state": next(n for n, code in STATES.items() if code == account["ShippingState"]),
            "carrier": item["Carrier__c"],
            "method": item["Method__c"],
            "price": item["UnitPrice"],
            "member": account["Membership__c"] == "Plus" and since <= bought <= until,
            "several": item["Quantity"] > 1,
            "clearance": item["SaleType__c"] == "Clearance",
        }

    def _other_credit(self, case: Row, order: str) -> bool:
        for other in self.of_account[case["AccountId"]]:
            item = self.by_id.get(other["OrderItemId__c"] or "")
            same = item is not None and item["OrderId"] == order
            earlier = other["CreatedDate"] < case["CreatedDate"]
            if same and earlier and not other["MasterRecordId"] and self._booked(other["Id"]):
                return True
        return False

    def _days(self, case: Row, item: Row, order: Row, account: Row, ordered: date) -> int:
        start = date.fromisoformat(item["PromisedDate__c"])
        wished = self._wish(case, item, ordered)
        start = max(start, wished) if wished else start
        end = date.fromisoformat(item["DeliveredDate__c"])
        end = self._told_by_dispatch(case) or end
        six = item["Method__c"] == "Express" and ordered >= self.rules.memos.saturdays
        closed = [
            (first, last)
            for carrier, states, first, last in self.rules.closures
            if carrier == item["Carrier__c"] and account["ShippingState"] in states
        ]
        days = (start + timedelta(days=n) for n in range(1, (end - start).days + 1))
        wait = sum(
            day.weekday() < (6 if six else 5)
            and day.isoformat() not in self.holidays
            and not any(first <= day <= last for first, last in closed)
            for day in days
        )
        quiet = self._number("quiet", self._facts(item, order, account), ordered)
        return max(0, wait - quiet - self.rules.memos.grace_on(ordered, account["ShippingState"]))

    def _told_by_dispatch(self, case: Row) -> date | None:
        """The day of arrival that Dispatch's last comment about a case gives."""
        found = None
        for comment in self.comments.get(case["Id"], []):
            moved = re.search(r"on (?:case )?(\d{8})\b", comment["CommentBody"])
            if moved and self._of_dispatch(comment):
                found = self._day_told(self.comments[self.by_number[moved[1]]][-1])
            elif case["CaseNumber"] not in self.taken_back and self._of_dispatch(comment):
                found = self._day_told(comment) or found
        return found

    def _day_told(self, comment: Row) -> date | None:
        found = find("arrived", comment["CommentBody"])
        return read_day(next(filter(None, found.groups()))) if found else None

    def _of_dispatch(self, comment: Row) -> bool:
        author = self.by_id[comment["CreatedById"]]
        day = datetime.fromisoformat(comment["CreatedDate"]).astimezone(_DESK).date()
        return author["Title"] == "Dispatch Clerk" or self.rules.memos.stands_in(
            author["Name"], day
        )

    def _wish(self, case: Row, item: Row, ordered: date) -> date | None:
        """The later day that was confirmed and stands, from the customer's cases on the order."""
        words = f"{ordered.day} {ordered:%B %Y}"
        product = self.by_id[item["Product2Id"]]["Name"].lower()
        found: date | None = None
        for other in self.of_account[case["AccountId"]]:
            about = self.by_id.get(other["OrderItemId__c"] or "")
            if about:
                same = about["Id"] == item["Id"]
            else:
                named = re.findall(
                    r"(?:back the|(?:my|the|our)) ([a-z -]+?) (?:\(order|from|that I)",
                    other["Description"],
                )
                same = words in other["Description"] and any(n in product for n in named)
            if not same or other["CreatedDate"] > case["CreatedDate"]:
                continue
            for mail in self.mails[other["Id"]]:
                if not mail["FromAddress"].endswith("@brackenholt.example"):
                    continue
                held = find("held", mail["TextBody"])
                if held:
                    found = read_day(held[1])
                elif find("unheld", mail["TextBody"]):
                    found = None
        return found


_LATE = (
    r"came late|arrived later than you said|was late|took longer than promised|"
    r"did not come when it should have|showed up days after|reached me late|was delivered late|"
    r"came after the promised day|was not here on the day that you promised|did not keep it|"
    r"it came later|it was not there by then|turned up after it"
)


def _grouped(rows: list[Row], key: str, moment: str) -> dict[Any, list[Row]]:
    """Rows by their parent, in the order of time."""
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row[moment], row["Id"])):
        found[row[key]].append(row)
    return found
