"""Who is one firm, which client stays of it and whose details hold: what the generator knows."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.domains.sales.hard.conditions import amount_of
from crmbench.domains.sales.hard.handbook.duplicate_words import (
    CONFIRMED,
    FIRST,
    LAST,
    NUMBER,
    VALUE,
)
from crmbench.domains.sales.hard.handbook.references import by_subject
from crmbench.domains.sales.hard.org import Firm, Org

YEAR = 365


@dataclass(frozen=True, slots=True)
class Cluster:
    """Clients that are one firm; most are alone."""

    stays: str
    others: tuple[str, ...]
    details: str
    """Whose address, phone and e-mail hold."""
    apart: bool = False
    """Whether the handbook has them left apart."""


@dataclass
class Known:
    """What is on record about who the clients are."""

    marks: dict[tuple[str, str], str] = field(default_factory=dict)
    """Client and kind of mark to the mark that counts."""
    renamed: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of which one had the other's name."""
    confirmed: dict[str, date] = field(default_factory=dict)


class Duplicates:
    """Decides who is one firm, and what becomes of it, in one country."""

    def __init__(self, org: Org, known: Known, country: str) -> None:
        self.today = org.today
        self.known = known
        self.firms = {firm.key: firm for firm in org.firms if firm.country == country}
        self._rules: WeakKeyDictionary[Rulebook, Mapping[str, int]] = WeakKeyDictionary()
        self._numbers: dict[Hashable, int] = {}
        self._answers: dict[Hashable, tuple[Any, set[str]]] = {}
        """What was asked to the answer, and the articles that it rests on."""
        self._facts: dict[Hashable, Facts] = {}

    def _answer(self, book: Rulebook, subject: str, facts: Facts) -> Any:
        """What a book answers today; many books are asked that differ in one question alone."""
        rules = self._rules.get(book)
        if rules is None:
            # A number for each way in which a question is ruled on: quick to compare.
            rules = self._rules[book] = {
                name: self._numbers.setdefault(own, len(self._numbers))
                for name, own in by_subject(book).items()
            }
        asked = (rules[subject], *facts.values())
        if asked not in self._answers:
            with book.noting() as bearing:
                self._answers[asked] = book.decide(subject, facts, self.today).value, bearing
        value, bearing = self._answers[asked]
        book.note(bearing)
        return value

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """Kind of mark, and two clients that have one in common."""
        holders: dict[tuple[str, str], list[str]] = {}
        for (key, kind), mark in sorted(self.known.marks.items()):
            if key in self.firms:
                holders.setdefault((kind, mark), []).append(key)
        for (kind, _), keys in holders.items():
            for one, other in itertools.combinations(keys, 2):
                yield kind, one, other
        for one, other in self.known.renamed:
            if one in self.firms and other in self.firms:
                yield "renamed", one, other

    def facts(self, keys: Sequence[str], book: Rulebook) -> Facts:
        """What is true of clients that may be, or are, one firm."""
        public, slow = (self._answer(book, name, {}) for name in ("public body", "slow payer"))
        asked = (public, slow, *keys)
        if asked not in self._facts:
            self._facts[asked] = self._true_of(
                [self.firms[key] for key in keys], amount_of(public), amount_of(slow)
            )
        return self._facts[asked]

    def _true_of(self, firms: Sequence[Firm], public: float, slow: float) -> Facts:
        days = [firm.created for firm in firms]
        trades = {firm.industry for firm in firms}
        return {
            "country": firms[0].country,
            "one industry": trades.pop() if len(trades) == 1 else "",
            "owners differ": len({firm.owner for firm in firms}) > 1,
            "near in time": (max(days) - min(days)).days <= YEAR,
            "some stop": any(firm.stop for firm in firms),
            "some public": any(firm.share >= public for firm in firms),
            "some dispute": any(firm.dispute for firm in firms),
            "some slow": any(len(firm.reminders) >= slow for firm in firms),
            "no contract": any(not firm.contracts for firm in firms),
        }

    @cached_property
    def _pairs(self) -> list[tuple[str, str, str]]:
        return list(self.pairs())

    def joined(self, keys: Iterable[str]) -> frozenset[str]:
        """These and all that marks join to them, whatever the handbook says of the marks."""
        found = {*keys}
        grown = -1
        while grown != len(found):
            grown = len(found)
            for _, one, other in self._pairs:
                if one in found or other in found:
                    found |= {one, other}
        return frozenset(found)

    def groups(self, book: Rulebook, within: frozenset[str] = frozenset()) -> list[list[str]]:
        """The clients, those of one firm together; if given, only these and what joins them."""
        part = {key: [key] for key in within or self.firms}
        for kind, one, other in self._pairs:
            if one not in part or part[one] is part[other]:
                continue
            if self._answer(book, kind, self.facts((one, other), book)):
                joined = part[one] + part[other]
                for key in joined:
                    part[key] = joined
        return list({id(group): group for group in part.values()}.values())

    def clusters(self, book: Rulebook, within: frozenset[str] = frozenset()) -> frozenset[Cluster]:
        """What becomes of the clients; if given, of these alone, to which no others are joined.

        Raises:
            HarnessError: The rules leave a question open, or answer it twice.
        """
        return frozenset(self._cluster(group, book) for group in self.groups(book, within))

    def _cluster(self, group: Sequence[str], book: Rulebook) -> Cluster:
        if len(group) == 1:
            return Cluster(group[0], (), group[0])
        facts = self.facts(group, book)
        stays = self._chosen(group, self._answer(book, "stays", facts))
        confirmed = [key for key in group if key in self.known.confirmed]
        whose = self._answer(book, "details", facts)
        details = stays
        if whose in (FIRST, LAST):
            details = self._chosen(group, whose)
        elif whose == CONFIRMED and confirmed:
            details = max(confirmed, key=lambda key: self.known.confirmed[key])
        apart = bool(self._answer(book, "apart", facts))
        others = tuple(sorted(key for key in group if key != stays))
        return Cluster(stays, others, details, apart)

    def _chosen(self, group: Sequence[str], how: str) -> str:
        """Of several that are equal the one that was created first."""
        firms = sorted((self.firms[key] for key in group), key=lambda firm: firm.created)
        if how == LAST:
            return firms[-1].key
        weight = {
            VALUE: lambda firm: sum(c.value for c in firm.contracts),
            NUMBER: lambda firm: len(firm.contracts),
            FIRST: lambda firm: 0,
        }[how]
        return max(firms, key=weight).key


Merges = Mapping[str, Mapping[str, str]]
"""Client that goes, to the one that stays and whose details hold, as `merge_clients` has them."""


def merges(clusters: Iterable[Cluster]) -> Merges:
    """What has to be merged for these firms."""
    return {
        other: {
            "survivor_id": cluster.stays,
            "details_from": "duplicate" if other == cluster.details else "survivor",
        }
        for cluster in clusters
        for other in cluster.others
        if not cluster.apart
    }


def outcome(
    rows: Mapping[str, Mapping[str, Any]], made: Merges, keys: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """What merges change in the records of some clients: of one that goes nothing is left.

    Args:
        rows: Client to its record as it stands.
        made: What is merged.
        keys: The clients that are asked about.
    """
    details = {
        merge["survivor_id"]: gone
        for gone, merge in made.items()
        if merge["details_from"] == "duplicate"
    }
    found: dict[str, dict[str, Any]] = {}
    for key in keys:
        row = rows[key]
        new = dict.fromkeys(row) if key in made else {}
        if key in details and key not in made:
            new = {name: rows[details[key]][name] for name in _DETAILS}
        changed = {name: value for name, value in new.items() if value != row[name]}
        if changed:
            found[f"Client/{key}"] = changed
    return found


_DETAILS = ("email", "phone", "address")
