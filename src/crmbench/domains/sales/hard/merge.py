"""Duplicates to merge: one firm by chains of evidence, look-alikes that are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from crmbench.authoring.handbook import Phrasebook
from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.org import COUNTRIES, Firm, Org, OrgWriter
from crmbench.domains.sales.hard.wording import long_date, read_date

CLIENTS: Mapping[int, int] = {1: 12, 2: 25, 3: 60, 4: 150, 5: 400}
"""Clients in a country, by level."""
PLACES = 4
"""Countries of a world, one task each."""
_DUPLICATES = (0.05, 0.5)
"""Between these lies a country's share of firms that are there more than once."""

DEPARTMENT: Mapping[str, str] = {
    "tax": "Accounts",
    "confirmed": "Accounts",
    "register": "Legal",
    "renamed": "Legal",
}
SAYINGS: Mapping[str, Sequence[str]] = {
    "tax": (
        "Tax number on the invoice of {date}: {tax}.",
        "Their tax number as of {date} is {tax}.",
    ),
    "register": (
        "Register entry {entry}, seen on {date}.",
        "On {date} we looked them up: entry {entry}.",
    ),
    "renamed": (
        "Has traded under this name since {date}; was {name} before.",
        "Change of name on {date}, formerly {name}.",
    ),
    "confirmed": ("Address, phone and e-mail confirmed on {date}.",),
}
NOTES = Phrasebook(
    SAYINGS,
    {
        "date": r"\d{1,2} [A-Z][a-z]+ \d{4}",
        "tax": r"[A-Z]{2}[\d .]*\d",
        "entry": r"[A-Z]{2}-\d{5}",
        "name": r"[^;:.]+?",
    },
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Clients that are one firm; most are alone."""

    stays: str
    others: tuple[str, ...]
    details: str
    """Whose address, phone and e-mail hold."""


@dataclass(frozen=True)
class Clients:
    """A world of clients, some of them twice."""

    org: Org
    clusters: Mapping[str, Sequence[Cluster]]
    """Country to its clusters."""


class ClientWriter(OrgWriter):
    """Draws clients and what is on record about who they are."""

    def __init__(self, seed: str, size: int) -> None:
        super().__init__(f"{seed} merge", 0)
        self.size = size
        self.share = 0.0
        self.confirmed: dict[str, date] = {}
        self._stray: list[tuple[Firm, str, str, bool]] = []
        self._marked: set[tuple[str, str]] = set()
        self._codes = iter(self.rng.sample(range(10**8, 10**9), 4 * PLACES * size))
        self._entries = iter(self.rng.sample(range(10**4, 10**5), 4 * PLACES * size))

    def draw(self) -> Clients:
        clusters: dict[str, list[Cluster]] = {}
        firms: list[Firm] = []
        for code in self.rng.sample(sorted(COUNTRIES), PLACES):
            clusters[COUNTRIES[code]] = []
            count = 0
            self.share = self.rng.uniform(*_DUPLICATES)
            while count < self.size:
                group = self._group(code, min(self._many(), self.size - count))
                clusters[COUNTRIES[code]].append(self._cluster(group))
                firms += group
                count += len(group)
        self._lookalikes(firms)
        self.rng.shuffle(firms)
        for firm in firms:
            self._records(firm)
        self._note_rows()
        return Clients(Org(self.today, self.team, firms, self.rows), clusters)

    def _many(self) -> int:
        return self.rng.choice((2, 2, 3, 4)) if self.rng.random() < self.share else 1

    # --- one firm ---------------------------------------------------------------------------------

    def _group(self, code: str, size: int) -> list[Firm]:
        rng = self.rng
        group = [self._client(code)]
        marks = [self._marks(code)]
        while len(group) < size:
            place = rng.randrange(len(group))
            firm = self._client(code, group[place] if rng.random() < 0.5 else None)
            own: dict[str, str] = {}
            how = rng.choice(("tax", "register", "renamed"))
            if how == "renamed":
                old, new = rng.sample((firm, group[place]), 2)
                self._told(new, "renamed", self._ago(rng.randrange(30, 900)), {"name": old.name})
                if rng.random() < 0.5:
                    own["register"] = self._entry(code)
            else:
                own[how] = marks[place].setdefault(how, self._mark(how, code))
            group.append(firm)
            marks.append(own)
        for firm, known in zip(group, marks, strict=True):
            self._write_marks(firm, known, code)
        return group

    def _client(self, code: str, like: Firm | None = None) -> Firm:
        """A client in a country, with or without contracts; named like another one if given."""
        rng = self.rng
        firm = self._firm(rng.choice(self.team.reps), False)
        row = next(r for r in self.rows["Client"] if r["client_id"] == firm.key)
        taken = {r["name"] for r in self.rows["Client"]}
        legal = rng.choice(self.bank.countries[code].legal)
        name = ""
        for _ in range(20):
            lead, trade = rng.choice(self.bank.leads), rng.choice(self.bank.trades[firm.industry])
            if like is not None:
                lead, trade = like.name.split()[0], rng.choice((trade, "Group", "Trading"))
            name = f"{lead} {trade} {legal}"
            if name not in taken:
                break
        if name in taken:
            name = f"{name} {len(taken)}"
        row["name"] = firm.name = name
        firm.country = COUNTRIES[code]
        if rng.random() < 0.4:
            firm.contracts.clear()
        return firm

    def _marks(self, code: str) -> dict[str, str]:
        known = {}
        if self.rng.random() < 0.75:
            known["tax"] = self._mark("tax", code)
        if self.rng.random() < 0.5:
            known["register"] = self._entry(code)
        return known

    def _mark(self, how: str, code: str) -> str:
        return f"{code}{next(self._codes)}" if how == "tax" else self._entry(code)

    def _entry(self, code: str) -> str:
        return f"{code}-{next(self._entries)}"

    def _write_marks(self, firm: Firm, known: Mapping[str, str], code: str) -> None:
        rng = self.rng
        for kind, mark in known.items():
            gap = "tax" if kind == "tax" else "entry"
            self._marked.add((firm.key, kind))
            days = rng.randrange(20, 500)
            if rng.random() < 0.15:
                # What was noted first was wrong, and was put right later.
                wrong = self._mark(kind, code)
                earlier = self._ago(days + rng.randrange(20, 300))
                self._told(firm, kind, earlier, {gap: self._shown(wrong, kind)})
                self._stray.append((firm, kind, wrong, True))
            self._told(firm, kind, self._ago(days), {gap: self._shown(mark, kind)})
            if rng.random() < 0.12:
                self._stray.append((firm, kind, mark, False))
        if rng.random() < 0.5:
            day = self._ago(rng.randrange(4, 2000))
            while day in self.confirmed.values():
                day -= timedelta(days=1)
            self._told(firm, "confirmed", day, {})
            self.confirmed[firm.key] = day
            if rng.random() < 0.25:
                self._told(firm, "confirmed", self._ago(2), {}, trusted=False)

    def _lookalikes(self, firms: Sequence[Firm]) -> None:
        """Marks that a client no longer has, on another one; marks that it has, by hearsay."""
        by_country: dict[str, list[Firm]] = {}
        for firm in firms:
            by_country.setdefault(firm.country, []).append(firm)
        for firm, kind, mark, trusted in self._stray:
            other = self.rng.choice(by_country[firm.country])
            if other is firm or (trusted and (other.key, kind) in self._marked):
                continue
            self._marked.add((other.key, kind))
            gap = "tax" if kind == "tax" else "entry"
            day = self._ago(self.rng.randrange(20, 400))
            self._told(other, kind, day, {gap: self._shown(mark, kind)}, trusted)

    def _shown(self, mark: str, kind: str) -> str:
        """A mark as it is written; a tax number now with spaces, now with dots."""
        if kind != "tax":
            return mark
        code, digits = mark[:2], mark[2:]
        gap = self.rng.choice(("", " ", "."))
        return f"{code} {digits[:3]}{gap}{digits[3:6]}{gap}{digits[6:]}"

    def _told(
        self, firm: Firm, kind: str, day: date, gaps: Mapping[str, str], trusted: bool = True
    ) -> None:
        team = self.team
        people = team.of(DEPARTMENT[kind]) if trusted else team.reps
        if trusted and day >= team.moved_on:
            people = tuple(p for p in people if p != team.moved)
        text = NOTES.say(kind, self.rng, date=long_date(day), **dict(gaps))
        self._note(firm, day, text, self.rng.choice(people))

    def _cluster(self, group: Sequence[Firm]) -> Cluster:
        stays = max(group, key=_weight)
        known = [firm for firm in group if firm.key in self.confirmed]
        details = max(known, key=lambda f: self.confirmed[f.key], default=stays)
        others = tuple(sorted(firm.key for firm in group if firm is not stays))
        return Cluster(stays.key, others, details.key)


def _weight(firm: Firm) -> tuple[float, int]:
    """What decides which client of a firm stays."""
    return sum(c.value for c in firm.contracts), -firm.created.toordinal()


@lru_cache(maxsize=16)
def clients(seed: str, level: int) -> Clients:
    """The world of clients of a seed."""
    return ClientWriter(seed, CLIENTS[level]).draw()


# --- tasks ----------------------------------------------------------------------------------------

_WORDS = (
    (
        "Merge the duplicates among our {count} clients in {country}, by the rules, and leave the "
        "others alone. How many clients are there in {country} afterwards? You have {calls} tool "
        "calls."
    ),
    (
        "Our {count} clients in {country} hold duplicates. Find and merge them as the rules say; "
        "nothing else changes. Tell me how many clients in {country} remain. {calls} tool calls "
        "are yours."
    ),
)


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """One task for each country of a world."""
    made = clients(seed, level)
    places = enumerate(made.clusters)
    return [_task(made, country, number, level, world, canary) for number, country in places]


def _task(made: Clients, country: str, number: int, level: int, world: str, canary: str) -> Task:
    clusters = made.clusters[country]
    count, limit = CLIENTS[level], 3 * CLIENTS[level] + 60
    words = _WORDS[(number + len(world)) % 2].format(count=count, country=country, calls=limit)
    fact = Fact("count", len(clusters), label="clients that remain", unit="clients")
    return Task(
        task_id=f"{world}-{number + 1}",
        domain="sales_hard",
        world=world,
        turns=(Turn(1, words),),
        gold=Gold(
            (GoldTurn(tuple(call for c in clusters for call in _calls(c)), facts=(fact,)),),
            canary=canary,
            items=tuple(_item(cluster) for cluster in clusters),
        ),
        family="merge_duplicates",
        category="Client Management",
        complexity="complex",
        persona=f"{made.org.team.manager}, sales manager",
        tags=(f"level:L{level}", "mechanism:merge", f"size:{count}"),
        call_limit=limit,
    )


def _calls(cluster: Cluster) -> Iterable[GoldCall]:
    for other in cluster.others:
        arguments: dict[str, Any] = {"survivor_id": cluster.stays, "duplicate_id": other}
        # The details are taken over when the client that has them is merged.
        keep = "duplicate" if other == cluster.details else "survivor"
        yield GoldCall("merge_clients", {**arguments, "details_from": keep})


def _item(cluster: Cluster) -> GoldItem:
    records = tuple(("Client", key) for key in (cluster.stays, *cluster.others))
    return GoldItem(cluster.stays, 1, records)


# --- the second truth -----------------------------------------------------------------------------


def read_clusters(
    tables: Mapping[str, Iterable[Mapping[str, Any]]],
    people: Mapping[str, Sequence[str]],
    moves: Mapping[str, date],
    country: str,
) -> set[Cluster]:
    """The clusters of a country, from the stored rows alone.

    Args:
        people: Department to those whom the handbook lists there.
        moves: Person to the day on which they left their department.
    """
    rows = {r["client_id"]: r for r in tables["Client"] if r["address"].endswith(f", {country}")}
    names = {row["name"]: key for key, row in rows.items()}
    latest: dict[tuple[str, str], tuple[date, str]] = {}
    pairs: list[tuple[str, str]] = []
    for note in tables["Note"]:
        key, author = note["entity_id"], note["created_by"]
        for said in NOTES.read(note["content"]) if key in rows else ():
            if author not in people[DEPARTMENT[said.kind]]:
                continue
            if author in moves and date.fromisoformat(note["created_at"][:10]) >= moves[author]:
                continue
            if said.kind == "renamed":
                pairs.append((key, names[said.gaps["name"]]))
                continue
            mark = said.gaps.get("tax", said.gaps.get("entry", ""))
            told = (read_date(said.gaps["date"]), mark.replace(" ", "").replace(".", ""))
            latest[key, said.kind] = max(latest.get((key, said.kind), told), told)
    holders: dict[tuple[str, str], str] = {}
    for (key, kind), (_, mark) in latest.items():
        if kind != "confirmed":
            pairs.append((key, holders.setdefault((kind, mark), key)))
    values: dict[str, float] = dict.fromkeys(rows, 0.0)
    for contract in tables["Contract"]:
        if contract["client_id"] in rows and contract["status"] == "Active":
            values[contract["client_id"]] += contract["value"]
    found = set()
    for group in _joined(rows, pairs):
        by_weight = sorted(group, key=lambda k: (-values[k], rows[k]["created_date"]))
        known = [k for k in group if (k, "confirmed") in latest]
        details = max(known, key=lambda k: latest[k, "confirmed"], default=by_weight[0])
        found.add(Cluster(by_weight[0], tuple(sorted(by_weight[1:])), details))
    return found


def _joined(keys: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The parts into which pairs join the keys."""
    part = {key: {key} for key in keys}
    for first, second in pairs:
        if part[first] is not part[second]:
            joined = part[first] | part[second]
            for key in joined:
                part[key] = joined
    return list({id(group): group for group in part.values()}.values())
