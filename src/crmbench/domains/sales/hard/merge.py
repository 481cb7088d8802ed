"""Duplicates to merge: one firm by chains of evidence, under a handbook on what proves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.core.fact import Fact
from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.sales.hard.agents.careful import allowed, merge_calls
from crmbench.domains.sales.hard.articles import ArticleWriter, Naming
from crmbench.domains.sales.hard.duplicates import Cluster, Duplicates, Known, merges, outcome
from crmbench.domains.sales.hard.handbook.chains import ChainWriter
from crmbench.domains.sales.hard.handbook.merge_rules import MergeRuleWriter, MergeSize
from crmbench.domains.sales.hard.handbook.references import unnumbered
from crmbench.domains.sales.hard.lists import ListOrgWriter
from crmbench.domains.sales.hard.org import COUNTRIES, Firm, Org
from crmbench.domains.sales.hard.rules import Rules
from crmbench.errors import HarnessError

CLIENTS: Mapping[int, int] = {1: 10, 2: 20, 3: 40, 4: 90, 5: 200}
"""Clients in the country that is asked about, by level."""
SIZES: Mapping[int, MergeSize] = {
    1: MergeSize(special=1, terms=2, chains=5, changes=1, articles=150, unnumbered=4),
    2: MergeSize(special=1, terms=3, chains=11, changes=1, articles=210, unnumbered=8),
    3: MergeSize(special=2, terms=4, chains=18, changes=1, articles=320, unnumbered=15),
    4: MergeSize(special=3, terms=5, chains=26, changes=3, articles=470, unnumbered=22),
    5: MergeSize(special=4, terms=6, chains=36, changes=5, articles=640, unnumbered=30),
}
DEPTHS: Mapping[int, int] = {1: 2, 2: 5, 3: 5, 4: 2}
"""Articles in a chain of changes, and how often."""
NAMING = Naming(content=0.8, number=0.05, otherwise=0.2)
"""What changes something mostly names it by what it says, else by its title: whoever stops at the
numbers stops at the first link."""
PLACES = 3
"""Countries of a world; one of them is asked about."""
_DUPLICATES = (0.3, 0.6)
"""Between these lies a country's share of firms that are there more than once."""


@dataclass(frozen=True)
class Clients:
    """A world of clients, some of them twice, and its handbook."""

    org: Org
    country: str
    duplicates: Duplicates
    rules: Rules
    articles: Sequence[Mapping[str, Any]]

    @cached_property
    def deciding(self) -> Mapping[str, frozenset[Cluster]]:
        """Each article that changes another one and without which the clients would come out
        otherwise, to how they would.
        """
        book, found = self.rules.book, dict[str, frozenset[Cluster]]()
        right = self.duplicates.clusters(book)
        for amendment in book.amendments:
            try:
                other = self.duplicates.clusters(book.without(amendment.article))
            except HarnessError:
                # Without it two articles of one rank answer.
                continue
            if other != right:
                found[amendment.article] = other
        return found

    @property
    def unnumbered(self) -> frozenset[str]:
        """Those of them that name what they change by its title or by what it says."""
        return unnumbered(self.rules.book, self.articles) & {*self.deciding}

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        return {**self.org.rows, "Article": [dict(row) for row in self.articles]}


class ClientWriter(ListOrgWriter):
    """Draws clients and what is on record about who they are."""

    def __init__(self, seed: str, size: int) -> None:
        super().__init__(f"{seed} merge", 0)
        self.size = size
        self.known = Known()
        self.corrected: set[str] = set()
        self._phones: dict[str, str] = {}
        self._days: set[date] = set()
        self._codes = iter(self.rng.sample(range(10**8, 10**9), 9 * PLACES * size))
        self._entries = iter(self.rng.sample(range(10**4, 10**5), 9 * PLACES * size))

    def draw(self) -> tuple[Org, Known, str]:
        places = self.rng.sample(sorted(COUNTRIES), PLACES)
        by_place: dict[str, list[Firm]] = {code: self._country(code) for code in places}
        firms = [firm for found in by_place.values() for firm in found]
        for code, found in by_place.items():
            self._strays(code, found, firms)
            before = self.corrected
            self._corrections(found)
            self.corrected |= before
        for firm in firms:
            self._history(firm)
            self._confirm(firm)
        self.rng.shuffle(firms)
        # Nor do the rows stand in the order in which they were thought of.
        self.rng.shuffle(self.rows["Client"])
        for firm in firms:
            self._records(firm)
        self._set_phones(firms)
        self._note_rows()
        return Org(self.today, self.team, firms, self.rows), self.known, COUNTRIES[places[0]]

    def _country(self, code: str) -> list[Firm]:
        share = self.rng.uniform(*_DUPLICATES)
        firms: list[Firm] = []
        while len(firms) < self.size:
            many = self.rng.choice((2, 2, 3, 3, 4)) if self.rng.random() < share else 1
            firms += self._group(code, min(many, self.size - len(firms)), firms)
        return firms

    # --- one firm ---------------------------------------------------------------------------------

    def _group(self, code: str, size: int, before: Sequence[Firm]) -> list[Firm]:
        """Clients joined by a mark each; strangers are as often alike in name."""
        rng = self.rng
        like = rng.choice(before) if before and rng.random() < 0.45 else None
        group = [self._client(code, like)]
        for kind, share in (("tax", 0.75), ("register", 0.5)):
            if rng.random() < share:
                self._mark(group[0], kind, self._fresh_mark(kind, code))
        while len(group) < size:
            near = rng.choice(group)
            firm = self._client(code, near if rng.random() < 0.45 else None)
            group.append(firm)
            kinds = rng.sample(("tax", "register", "renamed", "phone"), rng.choice((1, 1, 2)))
            for kind in kinds:
                self._join(kind, near, firm, code)
            if rng.random() < 0.4:
                free = [k for k in ("tax", "register") if (firm.key, k) not in self.known.marks]
                for kind in free[:1]:
                    self._mark(firm, kind, self._fresh_mark(kind, code))
        return group

    def _join(self, kind: str, near: Firm, firm: Firm, code: str) -> None:
        if kind == "renamed":
            old, new = self.rng.sample((firm, near), 2)
            day = self._ago(self.rng.randrange(30, 900))
            self._formal(new, "renamed", day, name=old.name)
            self.known.renamed.append((new.key, old.key))
        elif kind == "phone":
            self._phones[firm.key] = self._phones.setdefault(near.key, self._phone(code))
        else:
            mark = self.known.marks.get((near.key, kind))
            if mark is None:
                mark = self._fresh_mark(kind, code)
                self._mark(near, kind, mark)
            self._mark(firm, kind, mark)

    def _client(self, code: str, like: Firm | None = None) -> Firm:
        """A client in a country, with or without contracts; named like another one if given."""
        rng = self.rng
        firm = self._firm(rng.choice(self.team.reps), False)
        row = next(r for r in self.rows["Client"] if r["client_id"] == firm.key)
        taken = {r["name"] for r in self.rows["Client"]}
        if like is not None and rng.random() < 0.5:
            firm.industry = like.industry
        legal = rng.choice(self.bank.countries[code].legal)
        name = row["name"]
        while name in taken:
            lead, trade = rng.choice(self.bank.leads), rng.choice(self.bank.trades[firm.industry])
            if like is not None and rng.random() < 0.8:
                lead, trade = like.name.split()[0], rng.choice((trade, "Group", "Trading"))
            name = f"{lead} {trade} {legal}"
        row["name"] = firm.name = name
        firm.country = COUNTRIES[code]
        if like is not None and rng.random() < 0.4:
            firm.created = like.created + timedelta(days=rng.choice((365, 366, 200, -365)))
        while firm.created in self._days or firm.created >= self._ago(400):
            firm.created -= timedelta(days=1)
        self._days.add(firm.created)
        if rng.random() < 0.4:
            firm.contracts.clear()
        return firm

    # --- marks ------------------------------------------------------------------------------------

    def _fresh_mark(self, kind: str, code: str) -> str:
        return f"{code}{next(self._codes)}" if kind == "tax" else f"{code}-{next(self._entries)}"

    def _phone(self, code: str) -> str:
        return self.bank.countries[code].phone + f"{self.rng.randrange(10**5, 10**6)}"

    def _mark(self, firm: Firm, kind: str, mark: str) -> None:
        """Note a mark, now and then after a wrong one, or on a wrong client first."""
        rng = self.rng
        days = rng.randrange(20, 380)
        self.known.marks[firm.key, kind] = mark
        draw = rng.random()
        if draw < 0.15:
            earlier = self._ago(days + rng.randrange(20, 300))
            self._noted(firm, kind, self._fresh_mark(kind, mark[:2]), earlier)
        elif draw < 0.3:
            # A later one, noted by somebody whose word does not count.
            wrong = self._fresh_mark(kind, mark[:2])
            self._noted(firm, kind, wrong, self._ago(rng.randrange(2, 19)), trusted=False)
        self._noted(firm, kind, mark, self._ago(days))

    def _noted(self, firm: Firm, kind: str, mark: str, day: date, *, trusted: bool = True) -> None:
        gap = "tax" if kind == "tax" else "entry"
        gaps: dict[str, Any] = {gap: self._shown(mark, kind)}
        self._formal(firm, kind, day, trusted=trusted, **gaps)

    def _strays(self, code: str, found: Sequence[Firm], firms: Sequence[Firm]) -> None:
        """Marks on clients that do not have them: superseded, hearsay, meant for another."""
        rng = self.rng
        marks = self.known.marks
        for firm in rng.sample(list(found), len(found) // 3):
            kind = rng.choice(("tax", "register"))
            of = rng.choice(found)
            mark = marks.get((of.key, kind))
            if of is firm or mark is None:
                continue
            draw = rng.random()
            if draw < 0.35 and (firm.key, kind) in marks:
                # It had this number once; another one was noted later.
                self._noted(firm, kind, mark, self._ago(rng.randrange(700, 900)))
            elif draw < 0.6:
                self._noted(firm, kind, mark, self._ago(rng.randrange(2, 19)), trusted=False)
            elif (firm.key, kind) not in marks:
                # Where the correction does not count, the mark stays where it was noted: in the
                # country, since who is one firm is asked of its clients alone.
                trusted = rng.random() < 0.75
                self._meant_for(firm, of, kind, rng.choice(firms if trusted else found), trusted)
        for firm in rng.sample(list(found), len(found) // 8):
            other = rng.choice(found)
            if other is not firm and firm.key not in self._phones:
                self._phones[firm.key] = self._phones.setdefault(other.key, self._phone(code))

    def _meant_for(self, firm: Firm, of: Firm, kind: str, wrong: Firm, trusted: bool) -> None:
        """A mark of one client is another's too, but was noted on a third one by mistake."""
        rng = self.rng
        if wrong is firm or (wrong.key, kind) in self.known.marks:
            return
        mark = self.known.marks[of.key, kind]
        day = self._ago(rng.randrange(60, 300))
        self._noted(wrong, kind, mark, day)
        gap = "tax" if kind == "tax" else "entry"
        gaps: dict[str, Any] = {gap: self._shown(mark, kind), "name": firm.name}
        self._formal(wrong, f"{kind} moved", day + timedelta(days=9), trusted=trusted, **gaps)
        self.known.marks[(firm if trusted else wrong).key, kind] = mark

    def _shown(self, mark: str, kind: str) -> str:
        """A mark as it is written; a tax number now with spaces, now with dots."""
        if kind != "tax":
            return mark
        code, digits = mark[:2], mark[2:]
        gap = self.rng.choice(("", " ", "."))
        return f"{code} {digits[:3]}{gap}{digits[3:6]}{gap}{digits[6:]}"

    def _confirm(self, firm: Firm) -> None:
        rng = self.rng
        if rng.random() < 0.6:
            days = (self.today - firm.created).days
            day = self._ago(rng.randrange(30, min(days, 900)))
            while day in self.known.confirmed.values():
                day += timedelta(days=1)
            self._formal(firm, "confirmed", day)
            self.known.confirmed[firm.key] = day
        if rng.random() < 0.25:
            self._formal(firm, "confirmed", self._ago(rng.randrange(2, 28)), trusted=False)

    def _set_phones(self, firms: Sequence[Firm]) -> None:
        rows = {row["client_id"]: row for row in self.rows["Client"]}
        codes = {name: code for code, name in COUNTRIES.items()}
        for firm in firms:
            phone = self._phones.get(firm.key) or self._phone(codes[firm.country])
            rows[firm.key]["phone"] = phone
            self.known.marks[firm.key, "phone"] = phone


class _Pair:
    """Two clients with a mark in common, at which changes are aimed."""

    def __init__(self, duplicates: Duplicates, kind: str, keys: Sequence[str]) -> None:
        self.duplicates = duplicates
        self.keys = keys
        self.near = duplicates.joined(keys)
        self.day = duplicates.today
        self.subjects: Mapping[str, int] = (
            {kind: 1} if kind else {"stays": 4, "details": 3, "apart": 1, "defined": 1}
        )

    def facts(self, book: Rulebook) -> Facts:
        return self.duplicates.facts(self.keys, book)

    def outcome(self, book: Rulebook) -> object:
        return self.duplicates.clusters(book, self.near)


@lru_cache(maxsize=16)
def clients(seed: str, level: int) -> Clients:
    """The world of clients of a seed: the first one drawn in which enough is merged, and enough
    hangs on changes that are not named by number.
    """
    draw = 0
    while True:
        made = _drawn(f"{seed} {draw}", level)
        draw += 1
        firms = [c for c in made.duplicates.clusters(made.rules.book) if c.others]
        merged = sum(not cluster.apart for cluster in firms)
        enough = merged >= max(1, CLIENTS[level] // 8) and merged >= len(firms) * 2 / 3
        if enough and len(made.unnumbered) >= SIZES[level].unnumbered:
            return made


def _drawn(seed: str, level: int) -> Clients:
    org, known, country = ClientWriter(seed, CLIENTS[level]).draw()
    duplicates = Duplicates(org, known, country)
    writer = MergeRuleWriter(f"{seed} merge", org, country, SIZES[level])
    writer.provisions()
    base = Rules(writer.drafts, ()).book
    aims = [_Pair(duplicates, kind, (one, other)) for kind, one, other in duplicates.pairs()]
    groups = [group for group in duplicates.groups(base) if len(group) > 1]
    aims += [_Pair(duplicates, "", group) for group in groups]
    places = {"one industry": writer.trades, "country": sorted(COUNTRIES.values())}
    whole = _Pair(duplicates, "", sorted(duplicates.firms))
    ChainWriter(writer, aims, places, DEPTHS, whole).write(SIZES[level].chains)
    rules = writer.finish()
    articles = ArticleWriter(f"{seed} merge", rules, org.team, org.today, NAMING).write()
    return Clients(org, country, duplicates, rules, articles)


# --- tasks ----------------------------------------------------------------------------------------

_WORDS = (
    (
        "Merge the duplicates among our {count} clients in {country}, by the handbook, and leave "
        "the others alone. Then answer with one number: how many clients there are in {country}. "
        "You have {calls} tool calls."
    ),
    (
        "Our {count} clients in {country} hold duplicates. Find and merge them as the handbook "
        "says; nothing else changes. All I want to hear then is how many clients in {country} "
        "remain, as a number. {calls} tool calls are yours."
    ),
)


def tasks(seed: str, level: int, world: str, canary: str) -> list[Task]:
    """The task of a world."""
    made = clients(seed, level)
    clusters = sorted(made.duplicates.clusters(made.rules.book), key=lambda c: c.stays)
    calls = [call for cluster in clusters for call in _calls(cluster)]
    count, country = CLIENTS[level], made.country
    limit = allowed(merge_calls(made.tables(), made.org.today, country)[1], "merge")
    words = _WORDS[crc32(f"{world} words".encode()) % 2]
    fact = Fact("count", count - len(calls), label="clients that remain", unit="clients")
    task = Task(
        task_id=f"{world}-1",
        domain="sales_hard",
        world=world,
        turns=(Turn(1, words.format(count=count, country=country, calls=limit)),),
        gold=Gold(
            (GoldTurn(tuple(calls), facts=(fact,)),),
            canary=canary,
            items=tuple(_item(made, cluster) for cluster in clusters),
        ),
        family="merge_duplicates",
        category="Client Management",
        complexity="complex",
        persona=f"{made.org.team.manager}, sales manager",
        tags=(f"level:L{level}", "mechanism:merge", f"size:{count}"),
        call_limit=limit,
    )
    return [task]


def _calls(cluster: Cluster) -> Iterable[GoldCall]:
    for other in () if cluster.apart else cluster.others:
        arguments: dict[str, Any] = {"survivor_id": cluster.stays, "duplicate_id": other}
        # The details are taken over when the client that has them is merged.
        keep = "duplicate" if other == cluster.details else "survivor"
        yield GoldCall("merge_clients", {**arguments, "details_from": keep})


def _item(made: Clients, cluster: Cluster) -> GoldItem:
    keys = (cluster.stays, *cluster.others)
    rows = {row["client_id"]: row for row in made.org.rows["Client"]}
    right = outcome(rows, merges(made.duplicates.clusters(made.rules.book)), keys)
    others = {
        article: outcome(rows, merges(clusters), keys)
        for article, clusters in made.deciding.items()
    }
    return GoldItem(
        cluster.stays,
        1,
        tuple(("Client", key) for key in keys),
        rules=deciding(made, cluster),
        alternatives=tuple(
            Alternative((article,), other) for article, other in others.items() if other != right
        ),
    )


def deciding(made: Clients, cluster: Cluster) -> tuple[str, ...]:
    """The articles that answer the questions on a firm that is there more than once."""
    if not cluster.others:
        return ()
    book, today = made.rules.book, made.org.today
    group = {cluster.stays, *cluster.others}
    facts = made.duplicates.facts(sorted(group), book)
    found = [
        book.decide(kind, made.duplicates.facts((one, other), book), today).winner.article
        for kind, one, other in made.duplicates.pairs()
        if {one, other} <= group
    ]
    for subject in ("stays", "details", "apart"):
        found.append(book.decide(subject, facts, today).winner.article)
    return tuple(dict.fromkeys(found))
