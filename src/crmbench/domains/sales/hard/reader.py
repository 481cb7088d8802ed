"""The second truth: the right writes of a list, from the stored rows alone.

It shares the wordings with the generator and nothing else: it reads the articles back into rules
and the notes into evidence, joins the records as an agent has to, and decides by a handbook put
together from the bottom (`consolidated`), not as the generator does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from functools import cached_property
from typing import Any, Protocol

from crmbench.authoring.handbook import Facts
from crmbench.authoring.handbook.days import read_date
from crmbench.domains.sales.hard.articles import ReadHandbook
from crmbench.domains.sales.hard.conditions import amount_of
from crmbench.domains.sales.hard.desk import Renewal
from crmbench.domains.sales.hard.handbook.consolidated import Consolidated
from crmbench.domains.sales.hard.notes import DEPARTMENT, NOTES

Row = Mapping[str, Any]
YEAR, NEAR = 365, 30


class Answers(Protocol):
    """What answers questions as a handbook does."""

    def answer(self, subject: str, facts: Facts, day: date) -> Any: ...


class ListReader:
    """Reads one world.

    Args:
        tables: Table to rows, the articles among them: all of a world, or as much as somebody has
            looked up.
        today: Of the world.
    """

    def __init__(self, tables: Mapping[str, Iterable[Row]], today: date) -> None:
        self.today = today
        articles = list(tables["Article"])
        self.handbook = ReadHandbook(articles)
        book = self.handbook.book
        self.rules: Answers = Consolidated(book.provisions, book.amendments)
        self._texts = [str(row["text"]) for row in articles]
        self.clients = {row["client_id"]: row for row in tables["Client"]}
        self.deals = {row["opportunity_id"]: row for row in tables["Opportunity"]}
        self._open_renewals: dict[str, list[Row]] = defaultdict(list)
        for deal in self.deals.values():
            if _is_renewal(deal):
                self._open_renewals[deal["client_id"]].append(deal)
        self.contracts: dict[str, list[Row]] = defaultdict(list)
        for row in tables["Contract"]:
            if row["status"] == "Active":
                self.contracts[row["client_id"]].append(row)
        self.evidence: dict[str, list[tuple[str, Mapping[str, str], date]]] = defaultdict(list)
        for note in tables["Note"]:
            self._note(note)
        self.buyer: dict[str, tuple[str, date]] = {}
        self._takeovers()
        self.stops, self.disputes = self._open("stop", "lift"), self._open("dispute", "")

    def _note(self, note: Row) -> None:
        day = date.fromisoformat(note["created_at"][:10])
        for said in NOTES.read(note["content"]):
            author = note["created_by"]
            if self.handbook.works_in(author, DEPARTMENT[said.kind], day):
                self.evidence[note["entity_id"]].append((said.kind, said.gaps, day))

    def _takeovers(self) -> None:
        by_name = {row["name"]: key for key, row in self.clients.items()}
        for key in self.clients:
            for kind, gaps, _ in self.evidence[key]:
                other = by_name.get(gaps.get("name", ""), "")
                if kind == "takeover":
                    self.buyer[other] = (key, read_date(gaps["date"]))
                elif kind == "given up":
                    self.buyer.pop(other, None)

    def _open(self, kind: str, over: str) -> dict[str, int]:
        """For every client how many stops, or disputes, are its own and not over."""
        found: dict[str, int] = defaultdict(int)
        by_name = {row["name"]: key for key, row in self.clients.items()}
        for key, told in self.evidence.items():
            for said, gaps, _ in told:
                if said == kind:
                    found[key] += 1
                elif said == (over or f"{kind} over"):
                    found[key] -= 1
                elif said == f"{kind} moved":
                    found[key] -= 1
                    found[by_name.get(gaps["name"], "")] += 1
        return found

    @property
    def manager(self) -> str:
        """Who manages sales, as the article on who is who says."""
        (text,) = (t for t in self._texts if "Sales manager: " in t)
        return text.partition("Sales manager: ")[2].partition(".")[0]

    def renewals(self) -> dict[str, Renewal]:
        """Client to its open renewal as it stands."""
        found = {}
        for key, deal in self.deals.items():
            if not _is_renewal(deal) or deal["client_id"] not in self.clients:
                continue
            client = self.clients[deal["client_id"]]
            owner, contract = client["client_id"], self.old_contract(deal)
            found[client["name"]] = Renewal(
                key,
                client["name"],
                client["address"].rpartition(", ")[2],
                client["industry"],
                deal["name"].removesuffix(" renewal").rpartition(" - ")[2],
                deal["owner"],
                deal["amount"],
                deal["close_date"],
                deal["probability"],
                self.stops[owner] > 0,
                self.disputes[owner] > 0,
                owner in self.buyer,
                contract["value"],
                contract["end_date"],
            )
        return found

    def writes(self, owner: str) -> dict[str, dict[str, Any]]:
        """Deal to the fields that change, for every renewal of a person's clients."""
        return self.changes(
            key
            for key, row in self.deals.items()
            if _is_renewal(row) and self.clients[row["client_id"]]["owner"] == owner
        )

    def changes(self, deals: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Deal to the fields that change, for some renewals."""
        found = {}
        for key in deals:
            row = self.deals[key]
            target = self._target(row)
            found[key] = {k: v for k, v in target.items() if row[k] != v}
        return found

    def _target(self, deal: Row) -> dict[str, Any]:
        """The fields of a renewal as they have to be."""
        contract = self.old_contract(deal)
        keeper = self.clients[deal["client_id"]]["owner"]
        end = date.fromisoformat(contract["end_date"])
        facts = self._facts(deal, contract, end)
        facts["buyer hold"] = self._buyer_held(deal["client_id"])
        if self.rules.answer("hold", facts, end):
            return {
                "amount": contract["value"],
                "close_date": contract["end_date"],
                "owner": keeper,
                "probability": 5,
            }
        facts["group hold"] = any(
            self._held(other)
            for member in self._group(deal["client_id"]) - {deal["client_id"]}
            for other in self._open_renewals[member]
        )
        uplift, most, lead, desk = (
            self.rules.answer(subject, facts, end)
            for subject in ("uplift", "ceiling", "lead time", "desk")
        )
        percent = min([amount_of(uplift)] + ([amount_of(most)] if most else []))
        signing = end - timedelta(days=int(amount_of(lead)))
        value = contract["value"]
        return {
            "amount": float(round(value + value * percent / 100)),
            "close_date": signing.isoformat(),
            "owner": self._present(desk or keeper, signing),
            "probability": 25,
        }

    def answer(self, subject: str, deal: Row, day: date) -> Any:
        """What the handbook answers on a renewal on a day."""
        contract = self.old_contract(deal)
        end = date.fromisoformat(contract["end_date"])
        facts = self._facts(deal, contract, end, day)
        return self.rules.answer(subject, facts, day)

    def _held(self, deal: Row) -> bool:
        contract = self.old_contract(deal)
        end = date.fromisoformat(contract["end_date"])
        facts = self._facts(deal, contract, end)
        facts["buyer hold"] = self._buyer_held(deal["client_id"])
        return bool(self.rules.answer("hold", facts, end))

    def _buyer_held(self, key: str) -> bool:
        """Whether the client that took this one over is on hold."""
        if key not in self.buyer:
            return False
        return any(self._held(other) for other in self._open_renewals[self.buyer[key][0]])

    def _head(self, key: str) -> str:
        """Who stands at the head of its group."""
        while key in self.buyer:
            key = self.buyer[key][0]
        return key

    def _present(self, person: str, day: date) -> str:
        for absence in self.handbook.absences:
            if absence.person == person and absence.start <= day <= absence.until:
                return absence.deputy
        return person

    def old_contract(self, deal: Row) -> Row:
        wanted = deal["name"].removesuffix(" renewal")
        (contract,) = (
            row
            for row in self.contracts[deal["client_id"]]
            if self.deals[row["opportunity_id"]]["name"] == wanted
        )
        return contract

    def _facts(
        self, deal: Row, contract: Row, end: date, day: date | None = None
    ) -> dict[str, Any]:
        """What is true of a renewal by the definitions of a day, the one that counts if none."""
        client = self.clients[deal["client_id"]]
        key = client["client_id"]

        def defined(name: str) -> float:
            return amount_of(self.rules.answer(name, {}, day or end))

        group = self._group(key)
        public = defined("public body")
        slow = defined("slow payer")
        reminders, head = self._reminders(key), self._head(key)
        return {
            "industry": client["industry"],
            "country": client["address"].rpartition(", ")[2],
            "product": deal["name"].removesuffix(" renewal").rpartition(" - ")[2],
            "value": contract["value"],
            "payment stop": self.stops[key] > 0,
            "dispute": self.disputes[key] > 0,
            "public body": self._share(key) >= public,
            "long-standing": _birthday(client["created_date"], int(defined("long-standing")))
            <= end,
            "large account": self._value(group) >= defined("large account"),
            "slow payer": len(reminders) >= slow,
            "head public": self._share(head) >= public,
            "head slow": len(self._reminders(head)) >= slow,
            "changed hands": self._changed_hands(key, defined("changed hands")),
            "buyer public": key in self.buyer and self._share(self.buyer[key][0]) >= public,
            "group stop": any(self.stops[other] > 0 for other in group - {key}),
            "close reminders": any(
                (other - one).days <= NEAR
                for place, one in enumerate(reminders)
                for other in reminders[place + 1 :]
            ),
        }

    def _share(self, key: str) -> int:
        void = {gaps["date"] for kind, gaps, _ in self.evidence[key] if kind == "extract void"}
        extracts = [
            (read_date(gaps["date"]), int(gaps["share"]))
            for kind, gaps, _ in self.evidence[key]
            if kind == "ownership" and gaps["date"] not in void
        ]
        return max(extracts)[1] if extracts else 0

    @cached_property
    def _bought(self) -> Mapping[str, set[str]]:
        """Client to those that it took over."""
        found: dict[str, set[str]] = defaultdict(set)
        for bought, (buyer, _) in self.buyer.items():
            found[buyer].add(bought)
        return found

    def _group(self, key: str) -> set[str]:
        group, waiting = {key}, [key]
        while waiting:
            one = waiting.pop()
            near = {self.buyer[one][0]} if one in self.buyer else set()
            near |= self._bought[one]
            waiting += near - group
            group |= near
        return group

    def _value(self, group: set[str]) -> float:
        return sum(float(c["value"]) for member in sorted(group) for c in self.contracts[member])

    def _reminders(self, key: str) -> list[date]:
        """The days of those that count, in order."""
        told = [each for c in self.contracts[key] for each in self.evidence[c["contract_id"]]]
        told += self.evidence[key]
        back = {gaps["ref"] for kind, gaps, _ in told if kind == "reminder withdrawn"}
        back |= {gaps["other"] for kind, gaps, _ in told if kind == "same reminder"}
        since = self.today - timedelta(days=YEAR)
        days = {
            gaps["ref"]: read_date(gaps["date"])
            for kind, gaps, _ in told
            if kind == "reminder" and gaps["ref"] not in back
        }
        return sorted(day for day in days.values() if day >= since)

    def _changed_hands(self, key: str, days: float) -> bool:
        if key not in self.buyer:
            return False
        day = self.buyer[key][1]
        consents = [
            read_date(gaps["date"]) for kind, gaps, _ in self.evidence[key] if kind == "consent"
        ]
        return (self.today - day).days <= days and not any(c >= day for c in consents)


def _is_renewal(deal: Row) -> bool:
    return bool(deal["name"].endswith(" renewal")) and not deal["stage"].startswith("Closed")


def _birthday(text: str, years: int) -> date:
    day = date.fromisoformat(text)
    try:
        return day.replace(year=day.year + years)
    except ValueError:
        return date(day.year + years, 3, 1)
