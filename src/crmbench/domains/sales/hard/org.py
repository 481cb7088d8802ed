"""The org of a hard task: firms with contracts to renew, and what is on record about them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from crmbench.authoring.handbook.days import long_date
from crmbench.domains.sales.hard.notes import CHATTER, DEPARTMENT, HEARSAY, NOTES
from crmbench.domains.sales.world.banks import Banks, banks, slug
from crmbench.domains.sales.world.draw import new_ids

COUNTRIES: Mapping[str, str] = {
    "NL": "Netherlands", "BE": "Belgium", "DE": "Germany", "AT": "Austria", "IT": "Italy",
    "FR": "France", "ES": "Spain", "PT": "Portugal", "IE": "Ireland", "DK": "Denmark",
    "NO": "Norway", "SE": "Sweden", "FI": "Finland",
}  # fmt: skip
PRODUCTS = (
    "Cold Chain Audit", "Dock Scheduling", "Fleet Telematics", "Label Printing", "Pallet Tracking",
    "Route Planning", "Shelf Analytics", "Yard Cameras",
)  # fmt: skip
REPS = 4
"""Representatives of a world, each with a list of renewals."""
_MINUTE = "{}T{:02d}:{:02d}:00Z"


@dataclass(slots=True)
class Contract:
    """A running contract; `renewal` is the id of the open deal that renews it, if one is due."""

    key: str
    deal: str
    product: str
    value: float
    start: date
    end: date
    renewal: str = ""


@dataclass(slots=True)
class Firm:
    """A client, and what is true of it today."""

    key: str
    name: str
    industry: str
    country: str
    created: date
    owner: str
    contracts: list[Contract] = field(default_factory=list)
    share: int = 0
    """Percent in public hands."""
    reminders: list[date] = field(default_factory=list)
    """Those not withdrawn."""
    stop: bool = False
    dispute: bool = False
    group: int = -1
    """Firms of one number belong together; -1: it stands alone."""
    bought: bool = False
    """Whether another client took it over and did not have to give it up."""
    buyer: str = ""
    """Id of the client that took it over, where chains of takeovers are drawn."""
    taken_over: date | None = None
    """When it was taken over, if that holds today and Legal has not consented since."""


@dataclass(frozen=True, slots=True)
class Move:
    """Somebody works elsewhere from a day on."""

    person: str
    department: str
    """Accounts, Legal, Sales or the desks."""
    joins: str
    day: date


@dataclass(frozen=True, slots=True)
class Team:
    """Who works where."""

    manager: str
    reps: tuple[str, ...]
    desks: tuple[str, ...]
    accounts: tuple[str, ...]
    legal: tuple[str, ...]
    moved: str
    """Was in Accounts until the day below and is in Sales since."""
    moved_on: date
    moves: tuple[Move, ...] = ()
    """Those that the article on who is who does not tell."""

    def of(self, department: str) -> tuple[str, ...]:
        return self.accounts if department == "Accounts" else self.legal

    def members(self, department: str, day: date) -> tuple[str, ...]:
        """Who works in Accounts or Legal on a day, all moves counted."""
        listed = dict.fromkeys(self.accounts, "Accounts") | dict.fromkeys(self.legal, "Legal")
        first = Move(self.moved, "Accounts", "Sales", self.moved_on)
        for move in sorted((first, *self.moves), key=lambda m: m.day):
            if move.day <= day:
                listed[move.person] = move.joins
        return tuple(sorted(p for p, place in listed.items() if place == department))


@dataclass
class Org:
    """All of a world but its handbook."""

    today: date
    team: Team
    firms: list[Firm]
    rows: dict[str, list[dict[str, Any]]]
    """Table to records, as they are loaded."""

    @cached_property
    def by_key(self) -> Mapping[str, Firm]:
        return {firm.key: firm for firm in self.firms}

    @cached_property
    def groups(self) -> Mapping[int, Sequence[Firm]]:
        """The firms of each group."""
        groups: dict[int, list[Firm]] = {}
        for firm in self.firms:
            groups.setdefault(firm.group, []).append(firm)
        return groups


class OrgWriter:
    """Draws an org.

    Args:
        seed: Of all draws.
        per_rep: Renewals on each representative's list.
    """

    def __init__(self, seed: str, per_rep: int) -> None:
        self.rng = random.Random(f"{seed} org")
        self.bank: Banks = banks()
        self.ids: Iterator[str] = new_ids(f"{seed} ids")
        self.per_rep = per_rep
        month = self.rng.randrange(12)
        self.today = _working_day(date(2026, 1, 5) + timedelta(days=29 * month))
        self.team = self._team()
        # Some have more clients in trouble than others, so that no count is the usual one.
        self.trouble = {rep: self.rng.uniform(0.1, 3.2) for rep in self.team.reps}
        self.rows: dict[str, list[dict[str, Any]]] = {
            t: [] for t in ("Client", "Contact", "Opportunity", "Contract", "Note")
        }
        self.refs = iter(self.rng.sample(range(1000, 9999), 8000))
        self.notes: list[tuple[date, str, str, str, str]] = []
        self._emails: set[str] = set()

    def write(self) -> Org:
        firms = [self._firm(rep) for rep in self.team.reps for _ in range(self.per_rep)]
        firms += [
            self._firm(self.rng.choice(self.team.reps), False) for _ in range(len(firms) // 5)
        ]
        self._takeovers(firms)
        for firm in firms:
            self._history(firm)
        self.rng.shuffle(firms)
        for firm in firms:
            self._records(firm)
        self._note_rows()
        return Org(self.today, self.team, firms, self.rows)

    # --- people and firms -------------------------------------------------------------------------

    def _person(self, taken: set[str]) -> str:
        languages = [one for r in self.bank.regions.values() for one in r.people.things]
        while True:
            language = self.rng.choice(languages)
            first, last = self.rng.choice(language.first), self.rng.choice(language.last)
            name = f"{first.text} {last.text}"
            plain = name.replace(" ", "").isalpha() and (name[0] + last.text[0]).isascii()
            if plain and len(name.split()) == 2 and name not in taken:
                taken.add(name)
                return name

    def _team(self) -> Team:
        taken: set[str] = set()
        people = [self._person(taken) for _ in range(1 + REPS + 4 + 3 + 3)]
        ago = timedelta(days=self.rng.randrange(120, 260))
        return Team(
            people[0],
            tuple(people[1:5]),
            tuple(people[5:9]),
            tuple(people[9:12]),
            tuple(people[12:15]),
            people[11],
            self.today - ago,
        )

    def _firm(self, owner: str, due: bool = True) -> Firm:
        rng = self.rng
        trade = rng.choice(_TRADES)
        names = {f["name"] for f in self.rows["Client"]}
        code = rng.choice(list(COUNTRIES))
        legal = rng.choice(self.bank.countries[code].legal)
        name = ""
        while not name or name in names:
            name = f"{rng.choice(self.bank.leads)} {rng.choice(self.bank.trades[trade])} {legal}"
        created = date(2010, 1, 1) + timedelta(days=rng.randrange(15 * 365))
        firm = Firm(next(self.ids), name, trade, COUNTRIES[code], created, owner)
        # The name is held at once, so that no two firms share it; the rest is filled in later.
        self.rows["Client"].append({"client_id": firm.key, "name": name})
        products = rng.sample(PRODUCTS, rng.choice((1, 1, 2, 2, 3)))
        for place, product in enumerate(products):
            firm.contracts.append(self._contract(product, due and place == 0))
        return firm

    def _contract(self, product: str, due: bool) -> Contract:
        rng = self.rng
        years = rng.choice((1, 1, 2, 3))
        end = self.today + timedelta(days=rng.randrange(125, 240))
        if not due:
            end += timedelta(days=rng.randrange(130, 500))
            # It has begun, or it would not be Active.
            years = max(years, (end - self.today).days // 365 + 1)
        value = 200.0 * rng.randrange(30, 500)
        return Contract(
            next(self.ids),
            next(self.ids),
            product,
            value,
            end - timedelta(days=365 * years),
            end,
            next(self.ids) if due else "",
        )

    def _takeovers(self, firms: list[Firm]) -> None:
        """Some firms have bought others; it stands on the buyer's record alone."""
        rng = self.rng
        pool = rng.sample(firms, len(firms) * 2 // 5 // 2 * 2)
        for number, (buyer, bought) in enumerate(zip(pool[::2], pool[1::2], strict=True)):
            # Never a round number of days ago, so that no limit is met exactly.
            days = rng.choice((rng.randrange(12, 150), rng.randrange(210, 900)))
            day = self._ago(days + (days % 10 == 0))
            self._formal(buyer, "takeover", day, name=bought.name)
            if rng.random() < 0.2:
                later = min(day + timedelta(days=rng.randrange(9, 90)), self._ago(1))
                self._formal(buyer, "given up", later, name=bought.name)
                continue
            buyer.group = bought.group = number
            bought.taken_over = day
            bought.bought = True
            if rng.random() < 0.35:
                self._formal(bought, "consent", min(day + timedelta(days=8), self._ago(1)))
                bought.taken_over = None
            elif rng.random() < 0.4:
                self._hearsay(bought, "consent")

    # --- what is on record ------------------------------------------------------------------------

    def _history(self, firm: Firm) -> None:
        rng = self.rng
        trouble = self.trouble[firm.owner]
        kinds = (self._ownership, self._reminders, self._stop, self._dispute)
        shares = (0.42, 0.42, 0.28 * trouble, 0.24 * trouble)
        for kind, share in zip(kinds, shares, strict=True):
            if rng.random() < share:
                kind(firm)
        for _ in range(rng.randrange(3)):
            self._note(firm, self._ago(rng.randrange(5, 800)), rng.choice(CHATTER), firm.owner)
        if rng.random() < 0.2:
            self._hearsay(firm, rng.choice(("takeover", "reminder", "stop", "dispute")))

    def _ownership(self, firm: Firm) -> None:
        rng = self.rng
        day = self._ago(rng.randrange(300, 1500))
        for _ in range(rng.choice((1, 1, 2))):
            firm.share = rng.choice((0, 20, 30, 37, 44, 48, 56, 58, 64, 70, 82, 100))
            share, rest = str(firm.share), str(100 - firm.share)
            self._formal(firm, "ownership", day, share=share, rest=rest)
            day = self._ago(rng.randrange(20, 290))
        if rng.random() < 0.4:
            self._hearsay(firm, "ownership")

    def _reminders(self, firm: Firm) -> None:
        rng = self.rng
        for _ in range(rng.randrange(1, 6)):
            recent = rng.random() < 0.75
            day = self._ago(rng.randrange(14, 350) if recent else rng.randrange(380, 700))
            ref = f"R-{next(self.refs)}"
            trusted = rng.random() < 0.85
            self._formal(firm, "reminder", day, trusted=trusted, ref=ref)
            withdrawn = rng.random() < 0.25
            if withdrawn:
                later = min(day + timedelta(days=rng.randrange(3, 40)), self._ago(1))
                self._formal(firm, "reminder withdrawn", later, ref=ref)
            if recent and trusted and not withdrawn:
                firm.reminders.append(day)

    def _stop(self, firm: Firm) -> None:
        rng = self.rng
        day = self._ago(rng.randrange(60, 300))
        firm.stop = True
        self._formal(firm, "stop", day)
        if rng.random() < 0.35:
            self._formal(firm, "lift", day + timedelta(days=rng.randrange(5, 50)))
            firm.stop = False
        elif rng.random() < 0.45:
            later = self._ago(rng.randrange(2, 50))
            self._formal(firm, "lift", later, trusted=False)
        elif rng.random() < 0.5:
            self._hearsay(firm, "lift")

    def _dispute(self, firm: Firm) -> None:
        rng = self.rng
        refs = [f"D-{next(self.refs)}" for _ in range(rng.choice((1, 1, 2)))]
        for ref in refs:
            day = self._ago(rng.randrange(70, 400))
            self._formal(firm, "dispute", day, ref=ref)
            if rng.random() < 0.5:
                closed = day + timedelta(days=rng.randrange(9, 60))
                self._formal(firm, "dispute over", closed, ref=ref)
                continue
            firm.dispute = True
            if rng.random() < 0.5:
                self._formal(firm, "dispute over", self._ago(20), trusted=False, ref=ref)

    def _formal(
        self,
        firm: Firm,
        kind: str,
        day: date,
        *,
        trusted: bool = True,
        **gaps: str,
    ) -> None:
        """A note in the words of the department whose word counts; by others if not trusted."""
        author = self._author(kind, day, trusted)
        text = NOTES.say(kind, self.rng, date=long_date(day), **gaps)
        self._note(firm, day, text, author)

    def _author(self, kind: str, day: date, trusted: bool) -> str:
        """Who notes such a thing; one whose word does not count if not trusted."""
        team = self.team
        people = team.of(DEPARTMENT[kind]) if trusted else (*team.reps, *team.desks, team.moved)
        if (trusted and day >= team.moved_on) or (not trusted and day < team.moved_on):
            people = tuple(p for p in people if p != team.moved)
        return self.rng.choice(people)

    def _hearsay(self, firm: Firm, kind: str) -> None:
        day = self._ago(self.rng.randrange(3, 40))
        self._note(firm, day, self.rng.choice(HEARSAY[kind]), firm.owner)

    def _note(self, firm: Firm, day: date, text: str, author: str) -> None:
        self.notes.append((day, "Client", firm.key, text, author))

    def _ago(self, days: int) -> date:
        return self.today - timedelta(days=days)

    # --- records ----------------------------------------------------------------------------------

    def _records(self, firm: Firm) -> None:
        rng = self.rng
        row = next(r for r in self.rows["Client"] if r["client_id"] == firm.key)
        code = next(code for code, name in COUNTRIES.items() if name == firm.country)
        street = rng.choice(self.bank.countries[code].streets)
        cities = [c for r in self.bank.regions.values() for c in r.cities if c.country == code]
        city = rng.choice(cities).name
        row |= {
            "industry": firm.industry,
            "email": self._email(firm),
            "phone": self.bank.countries[code].phone + f"{rng.randrange(1000, 9999)}",
            "address": f"{street} {rng.randrange(1, 180)}, {city}, {firm.country}",
            "status": "Active",
            "created_date": firm.created.isoformat(),
            "owner": firm.owner,
        }
        for contract in firm.contracts:
            self._contract_records(firm, contract)

    def _email(self, firm: Firm) -> str:
        """An address of its own: names that differ in a dot alone would share one."""
        address = f"office@{slug(firm.name).lower()}.example"
        if address in self._emails:
            address = f"office{len(self._emails)}@{slug(firm.name).lower()}.example"
        self._emails.add(address)
        return address

    def _contract_records(self, firm: Firm, contract: Contract) -> None:
        signed = contract.start - timedelta(days=20)
        deal = {
            "opportunity_id": contract.deal,
            "name": f"{firm.name} - {contract.product}",
            "client_id": firm.key,
            "stage": "Closed-Won",
            "amount": contract.value,
            "close_date": signed.isoformat(),
            "owner": firm.owner,
            "probability": 99,
            "created_at": _MINUTE.format(signed - timedelta(days=60), 10, 12),
        }
        self.rows["Opportunity"].append(deal)
        paper = {
            "contract_id": contract.key,
            "client_id": firm.key,
            "opportunity_id": contract.deal,
            "start_date": contract.start.isoformat(),
            "end_date": contract.end.isoformat(),
            "value": contract.value,
            "status": "Active",
        }
        self.rows["Contract"].append(paper)
        if contract.renewal:
            self.rows["Opportunity"].append(self._renewal(deal, contract))

    def _renewal(self, deal: Mapping[str, Any], contract: Contract) -> dict[str, Any]:
        return {
            **deal,
            "opportunity_id": contract.renewal,
            "name": f"{deal['name']} renewal",
            "stage": "Qualification",
            "close_date": contract.end.isoformat(),
            "probability": 25,
            "created_at": _MINUTE.format(self._ago(9), 9, self.rng.randrange(60)),
        }

    def _note_rows(self) -> None:
        for number, (day, table, key, text, author) in enumerate(sorted(self.notes)):
            self.rows["Note"].append(
                {
                    "note_id": next(self.ids),
                    "entity_type": table,
                    "entity_id": key,
                    "content": text,
                    "created_by": author,
                    "created_at": _MINUTE.format(day, 8 + number % 9, number % 60),
                }
            )


_TRADES = ("Bakery", "Beverages", "Chemicals", "Dairy", "Freight", "Paper", "Seafood", "Textiles")


def _working_day(day: date) -> date:
    while day.weekday() > 4:
        day += timedelta(days=1)
    return day
