"""The names of a world's records: who or what an id or a name stands for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from crmbench.core.domain import Domain
from crmbench.core.schema import Row
from crmbench.language.patterns import fold

_NAME_COLUMNS = ("Name", "Title", "name", "file_name")
_PERSON_COLUMNS = ("owner",)
NUMBER = "CaseNumber"
"""The column of a number by which people call a record."""


@dataclass(frozen=True)
class Directory:
    """Ids and names of records, by table. People who only stand in a column are of table ""."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Id to name."""
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Name, folded, to the tables that have a record of that name."""
    rows: Mapping[str, Row] = field(default_factory=dict)
    """Id to the record as the world begins, long texts aside."""

    def near(self, keys: Iterable[str], hops: int = 2) -> Iterator[Row]:
        """Records by id, and those that they refer to, so many references on."""
        reached = list(dict.fromkeys(keys))
        seen = set(reached)
        for left in range(hops, -1, -1):
            rows = [self.rows[key] for key in reached if key in self.rows]
            yield from rows
            if not left:
                return
            found = (value for row in rows for value in row.values() if isinstance(value, str))
            reached = [key for key in dict.fromkeys(found) if key in self.rows and key not in seen]
            seen.update(reached)

    @cached_property
    def _referring(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key, row in self.rows.items():
            for value in row.values():
                if isinstance(value, str) and value != key and value in self.rows:
                    found.setdefault(value, []).append(key)
        return found

    @cached_property
    def by_number(self) -> dict[str, str]:
        """The number of a record, where it has one, to its id."""
        return {str(row[NUMBER]): key for key, row in self.rows.items() if row.get(NUMBER)}

    def around(self, keys: Iterable[str]) -> Iterator[Row]:
        """Records that refer to these: the notes and quotes of a deal."""
        for key in keys:
            for other in self._referring.get(key, ())[:_MANY]:
                yield self.rows[other]

    def shown(self, key: str) -> tuple[str, ...]:
        """What people call a record: its name, else the names of what it refers to."""
        if key in self.names:
            return (self.names[key],)
        row = self.rows.get(key, {})
        held = (value for value in row.values() if isinstance(value, str) and value != key)
        return tuple(self.names[value] for value in held if value in self.names)

    @cached_property
    def few(self) -> frozenset[str]:
        """The tables of a handful of names, which are categories rather than records."""
        counted = Counter(table for tables in self.tables.values() for table in tables)
        return frozenset(table for table, number in counted.items() if number < _HANDFUL)

    @cached_property
    def _by_first_word(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for name in self.tables:
            found.setdefault(_WORD.findall(name)[0], []).append(name)
        return {word: tuple(sorted(names, key=len, reverse=True)) for word, names in found.items()}

    @cached_property
    def _with_digits(self) -> Directory:
        """The names that hold digits and letters."""
        found = {n: t for n, t in self.tables.items() if _DIGIT.search(n) and _LETTER.search(n)}
        return Directory(tables=found)

    def masked(self, text: str) -> str:
        """A text without the digits that are part of a record's name: the year in "Dock
        Scheduling 2026 v1" is no figure.
        """
        low = text.lower()
        if not self.names or len(low) != len(text) or not _DIGIT.search(low):
            return text
        for _, start, end in self._with_digits.mentions(low):
            text = text[:start] + _DIGIT.sub("x", text[start:end]) + text[end:]
        return text

    @cached_property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """Name, folded, to the ids of the records of that name."""
        found: dict[str, list[str]] = {}
        for key, name in self.names.items():
            found.setdefault(fold(name), []).append(key)
        return {name: tuple(keys) for name, keys in found.items()}

    def mentions(self, low: str) -> tuple[tuple[str, int, int], ...]:
        """The names, folded, that a text in lower case holds, each with its place; the longest
        where one begins another.
        """
        found = self._found.get(low)
        if found is None:
            if len(self._found) >= _MOST_TEXTS:
                self._found.clear()
            found = self._found[low] = tuple(self._mentions(low))
        return found

    @cached_property
    def _found(self) -> dict[str, tuple[tuple[str, int, int], ...]]:
        """What was found in the texts that were read last: each is asked about several times."""
        return {}

    def _mentions(self, low: str) -> Iterator[tuple[str, int, int]]:
        by_first = self._by_first_word
        taken = 0
        for match in _WORD.finditer(low):
            if match.start() < taken:
                continue
            for name in by_first.get(match[0], ()):
                end = match.start() + len(name)
                if low.startswith(name, match.start()) and not low[end : end + 1].isalnum():
                    taken = end
                    yield name, match.start(), end
                    break


_WORD = re.compile(r"[a-z0-9]+")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[a-z]")
NO_DIRECTORY = Directory()


_LONG = 160
"""Characters of a text from which on it is no value that people name."""
_MANY = 200
_MOST_TEXTS = 256
_HANDFUL = 25
_WORLDS = 64
"""Worlds whose directories are kept: more than any published set has for a kind of task, and few
enough that a set of ten thousand worlds does not fill memory with them."""
_KEPT: dict[tuple[str, str], Directory] = {}
"""The one that was asked for last stands last."""


def directory_of(domain: Domain, world: str) -> Directory:
    """The directory of a domain's world, kept for the next episode in it: equal names of worlds
    mean equal rows.
    """
    place = (domain.name, world)
    found = _KEPT.pop(place, None) or _directory(domain, world)
    _KEPT[place] = found
    if len(_KEPT) > _WORLDS:
        del _KEPT[next(iter(_KEPT))]
    return found


def _directory(domain: Domain, world: str) -> Directory:
    names: dict[str, str] = {}
    tables: dict[str, set[str]] = {}
    kept: dict[str, Row] = {}
    for table, rows in domain.world(world).stream():
        for row in rows:
            kept[str(next(iter(row.values())))] = {
                column: value
                for column, value in row.items()
                if not isinstance(value, str) or len(value) <= _LONG
            }
            for key, name in _named(table, row):
                folded = fold(name)
                if not _WORD.search(folded):
                    continue
                if key:
                    # A user has a name and a job title: the id stands for the name.
                    names.setdefault(key, name)
                tables.setdefault(folded, set()).add(table if key else "")
    return Directory(names, {name: frozenset(found) for name, found in tables.items()}, kept)


def _named(table: str, row: Row) -> Iterator[tuple[str, str]]:
    key = str(next(iter(row.values())))
    for column in _NAME_COLUMNS:
        if isinstance(row.get(column), str) and row[column]:
            yield key, str(row[column])
    if isinstance(row.get("first_name"), str) and isinstance(row.get("last_name"), str):
        yield key, f"{row['first_name']} {row['last_name']}"
    for column in _PERSON_COLUMNS:
        if isinstance(row.get(column), str) and row[column]:
            yield "", str(row[column])
