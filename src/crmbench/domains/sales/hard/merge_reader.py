"""The second truth on duplicates: who is one firm, from the stored rows alone."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from crmbench.authoring.handbook.days import read_date
from crmbench.domains.sales.hard.conditions import amount_of
from crmbench.domains.sales.hard.handbook.duplicate_words import (
    CONFIRMED,
    FIRST,
    LAST,
    NUMBER,
    STAYING,
)
from crmbench.domains.sales.hard.reader import ListReader

Row = Mapping[str, Any]
Writes = dict[str, dict[str, Any]]
_GAPS = {"tax": "tax", "register": "entry"}
_YEAR = 365


class MergeReader(ListReader):
    """Reads one country of a world; see `ListReader`."""

    def __init__(self, tables: Mapping[str, Iterable[Row]], today: date, country: str) -> None:
        super().__init__(tables, today)
        self.country = country
        self.own = {
            key: row for key, row in self.clients.items() if row["address"].endswith(f", {country}")
        }
        self.counted: Callable[[list[tuple[date, str]]], tuple[date, str]] = max
        """Which of the marks noted on a client counts."""
        self.asked_about: int | None = None
        """Of how many clients of a firm, at most, a question on it is asked."""

    def merges(self) -> Writes:
        """Client that goes to the one that stays, and whose details hold then."""
        writes: Writes = {}
        for group in self._firms():
            stays, details = self._outcome(sorted(group))
            for key in sorted(group - {stays}) if stays else ():
                keep = "duplicate" if key == details else "survivor"
                writes[key] = {"survivor_id": stays, "details_from": keep}
        return writes

    # --- who is one firm --------------------------------------------------------------------------

    def _firms(self) -> list[set[str]]:
        firms = [{key} for key in self.own]
        for kind, one, other in self._links():
            if self._ask(kind, [one, other]):
                joined = [firm for firm in firms if firm & {one, other}]
                firms = [firm for firm in firms if not firm & {one, other}]
                firms.append(set().union(*joined))
        return [firm for firm in firms if len(firm) > 1]

    def _links(self) -> list[tuple[str, str, str]]:
        by_name = {row["name"]: key for key, row in self.clients.items()}
        found = []
        for kind in _GAPS:
            found += _alike(kind, self._marks(kind))
        found += _alike("phone", {key: row["phone"] for key, row in self.own.items()})
        for key in self.own:
            for kind, gaps, _ in self.evidence[key]:
                if kind == "renamed" and by_name.get(gaps["name"]) in self.own:
                    found.append((kind, key, by_name[gaps["name"]]))
        return found

    def _marks(self, kind: str) -> dict[str, str]:
        """Client to its mark: the one noted last, on it or on another one by mistake."""
        by_name = {row["name"]: key for key, row in self.clients.items()}
        noted: dict[str, list[tuple[date, str]]] = defaultdict(list)
        for key, told in self.evidence.items():
            moved = {
                _plain(gaps[_GAPS[kind]]): (by_name.get(gaps["name"], ""), day)
                for said, gaps, day in told
                if said == f"{kind} moved"
            }
            for mark, (place, day) in moved.items():
                noted[place].append((day, mark))
            noted[key] += [
                (read_date(gaps["date"]), mark)
                for said, gaps, _ in told
                if said == kind and (mark := _plain(gaps[_GAPS[kind]])) not in moved
            ]
        return {key: self.counted(noted[key])[1] for key in self.own if noted[key]}

    # --- what becomes of it -----------------------------------------------------------------------

    def _outcome(self, group: Sequence[str]) -> tuple[str, str]:
        """Who stays and whose details hold; nobody where they are left apart."""
        if self._ask("apart", group):
            return "", ""
        stays = self._choose(group, self._ask("stays", group))
        whose = self._ask("details", group)
        if whose == STAYING:
            return stays, stays
        if whose == CONFIRMED:
            days = {key: max(found) for key in group if (found := self._confirmed(key))}
            return stays, max(days, key=lambda key: days[key], default=stays)
        return stays, self._choose(group, whose)

    def _confirmed(self, key: str) -> list[date]:
        told = self.evidence[key]
        return [read_date(gaps["date"]) for kind, gaps, _ in told if kind == "confirmed"]

    def _choose(self, group: Sequence[str], how: str) -> str:
        old_first = sorted(group, key=lambda key: str(self.clients[key]["created_date"]))
        if how == FIRST:
            return old_first[0]
        if how == LAST:
            return old_first[-1]
        contracts = {key: self.contracts[key] for key in group}
        if how == NUMBER:
            return max(old_first, key=lambda key: len(contracts[key]))
        return max(old_first, key=lambda key: sum(float(c["value"]) for c in contracts[key]))

    def _ask(self, question: str, group: Sequence[str]) -> Any:
        some = sorted(group)[: self.asked_about]
        return self.rules.answer(question, self._true_of(some), self.today)

    def _true_of(self, group: Sequence[str]) -> dict[str, Any]:
        rows = [self.clients[key] for key in group]

        def defined(name: str) -> float:
            return amount_of(self.rules.answer(name, {}, self.today))

        days = sorted(date.fromisoformat(row["created_date"]) for row in rows)
        alike = len({row["industry"] for row in rows}) == 1
        return {
            "country": self.country,
            "one industry": rows[0]["industry"] if alike else "",
            "owners differ": any(row["owner"] != rows[0]["owner"] for row in rows),
            "near in time": (days[-1] - days[0]).days <= _YEAR,
            "some stop": any(self.stops[key] > 0 for key in group),
            "some public": any(self._share(key) >= defined("public body") for key in group),
            "some dispute": any(self.disputes[key] > 0 for key in group),
            "some slow": any(len(self._reminders(key)) >= defined("slow payer") for key in group),
            "no contract": not all(self.contracts[key] for key in group),
        }


def _alike(kind: str, marks: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [
        (kind, one, other)
        for one, other in itertools.combinations(sorted(marks), 2)
        if marks[one] == marks[other]
    ]


def _plain(mark: str) -> str:
    return mark.replace(" ", "").replace(".", "")
