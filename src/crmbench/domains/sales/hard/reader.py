"""The second truth: the right writes of a list, from the stored rows alone.

It shares the wordings with the generator and nothing else: it reads the articles back into rules
and the notes into evidence, and joins the records as an agent has to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from crmbench.domains.sales.hard.articles import ReadHandbook
from crmbench.domains.sales.hard.notes import DEPARTMENT, NOTES
from crmbench.domains.sales.hard.wording import amount_of, read_date

Row = Mapping[str, Any]
YEAR = 365


class ListReader:
    """Reads one world.

    Args:
        tables: Table to rows, the articles among them.
        today: Of the world.
    """

    def __init__(self, tables: Mapping[str, Iterable[Row]], today: date) -> None:
        self.today = today
        self.handbook = ReadHandbook(tables["Article"])
        self.clients = {row["client_id"]: row for row in tables["Client"]}
        self.deals = {row["opportunity_id"]: row for row in tables["Opportunity"]}
        self.contracts: dict[str, list[Row]] = defaultdict(list)
        for row in tables["Contract"]:
            if row["status"] == "Active":
                self.contracts[row["client_id"]].append(row)
        self.evidence: dict[str, list[tuple[str, Mapping[str, str], date]]] = defaultdict(list)
        for note in tables["Note"]:
            self._note(note)
        self.buyer: dict[str, tuple[str, date]] = {}
        self._takeovers()

    def _note(self, note: Row) -> None:
        day = date.fromisoformat(note["created_at"][:10])
        for said in NOTES.read(note["content"]):
            author = note["created_by"]
            listed = author in self.handbook.people[DEPARTMENT[said.kind]]
            left = self.handbook.moves.get(author)
            if listed and (left is None or day < left):
                self.evidence[note["entity_id"]].append((said.kind, said.gaps, day))

    def _takeovers(self) -> None:
        by_name = {row["name"]: key for key, row in self.clients.items()}
        for key in self.clients:
            for kind, gaps, _ in self.evidence[key]:
                if kind == "takeover":
                    self.buyer[by_name[gaps["name"]]] = (key, read_date(gaps["date"]))
                elif kind == "given up":
                    self.buyer.pop(by_name[gaps["name"]], None)

    def writes(self, owner: str) -> dict[str, dict[str, Any]]:
        """Deal to the fields that change, for every renewal of a person's clients."""
        found = {}
        for key, row in self.deals.items():
            due = row["name"].endswith(" renewal") and not row["stage"].startswith("Closed")
            if due and self.clients[row["client_id"]]["owner"] == owner:
                target = self._target(row)
                found[key] = {k: v for k, v in target.items() if row[k] != v}
        return found

    def _target(self, deal: Row) -> dict[str, Any]:
        """The fields of a renewal as they have to be."""
        contract = self._old_contract(deal)
        keeper = self.clients[deal["client_id"]]["owner"]
        end = date.fromisoformat(contract["end_date"])
        facts = self._facts(deal, contract, end)
        book = self.handbook.book
        if book.decide("hold", facts, end).value:
            return {
                "amount": contract["value"],
                "close_date": contract["end_date"],
                "owner": keeper,
                "probability": 5,
            }
        uplift, lead, desk = (
            book.decide(subject, facts, end).value for subject in ("uplift", "lead time", "desk")
        )
        signing = end - timedelta(days=int(amount_of(lead)))
        value = contract["value"]
        return {
            "amount": float(round(value + value * amount_of(uplift) / 100)),
            "close_date": signing.isoformat(),
            "owner": self._present(desk or keeper, signing),
            "probability": 25,
        }

    def _present(self, person: str, day: date) -> str:
        for absence in self.handbook.absences:
            if absence.person == person and absence.start <= day <= absence.until:
                return absence.deputy
        return person

    def _old_contract(self, deal: Row) -> Row:
        wanted = deal["name"].removesuffix(" renewal")
        (contract,) = (
            row
            for row in self.contracts[deal["client_id"]]
            if self.deals[row["opportunity_id"]]["name"] == wanted
        )
        return contract

    def _facts(self, deal: Row, contract: Row, end: date) -> dict[str, Any]:
        client = self.clients[deal["client_id"]]
        key = client["client_id"]

        def defined(name: str) -> float:
            return amount_of(self.handbook.book.decide(name, {}, end).value)

        count: dict[str, int] = defaultdict(int)
        for kind, _, _ in self.evidence[key]:
            count[kind] += 1
        return {
            "industry": client["industry"],
            "country": client["address"].rpartition(", ")[2],
            "product": deal["name"].removesuffix(" renewal").rpartition(" - ")[2],
            "value": contract["value"],
            "payment stop": count["stop"] > count["lift"],
            "dispute": count["dispute"] > count["dispute over"],
            "public body": self._share(key) >= defined("public body"),
            "long-standing": _birthday(client["created_date"], int(defined("long-standing")))
            <= end,
            "large account": self._group_value(key) >= defined("large account"),
            "slow payer": self._reminders(key) >= defined("slow payer"),
            "changed hands": self._changed_hands(key, defined("changed hands")),
        }

    def _share(self, key: str) -> int:
        extracts = [
            (read_date(gaps["date"]), int(gaps["share"]))
            for kind, gaps, _ in self.evidence[key]
            if kind == "ownership"
        ]
        return max(extracts)[1] if extracts else 0

    def _group_value(self, key: str) -> float:
        group, waiting = {key}, [key]
        while waiting:
            one = waiting.pop()
            near = {self.buyer[one][0]} if one in self.buyer else set()
            near |= {bought for bought, (buyer, _) in self.buyer.items() if buyer == one}
            waiting += near - group
            group |= near
        return sum(float(c["value"]) for member in sorted(group) for c in self.contracts[member])

    def _reminders(self, key: str) -> int:
        told = [each for c in self.contracts[key] for each in self.evidence[c["contract_id"]]]
        told += self.evidence[key]
        back = {gaps["ref"] for kind, gaps, _ in told if kind == "reminder withdrawn"}
        since = self.today - timedelta(days=YEAR)
        return sum(
            kind == "reminder" and gaps["ref"] not in back and read_date(gaps["date"]) >= since
            for kind, gaps, _ in told
        )

    def _changed_hands(self, key: str, days: float) -> bool:
        if key not in self.buyer:
            return False
        day = self.buyer[key][1]
        consents = [
            read_date(gaps["date"]) for kind, gaps, _ in self.evidence[key] if kind == "consent"
        ]
        return (self.today - day).days <= days and not any(c >= day for c in consents)


def _birthday(text: str, years: int) -> date:
    day = date.fromisoformat(text)
    try:
        return day.replace(year=day.year + years)
    except ValueError:
        return date(day.year + years, 3, 1)
