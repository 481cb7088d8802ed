"""What a reader of a reply knows besides the reply: the question, who asked, and the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from crmbench.core.fact import Fact
from crmbench.core.schema import Row
from crmbench.grading.directory import NO_DIRECTORY, Directory
from crmbench.language.capitals import words_of
from crmbench.language.patterns import fold
from crmbench.language.text import plain

_PEOPLE_KEYS = ("owner", "created_by", "uploaded_by", "author", "assignee", "signed_by")
FIGURES = frozenset({"money", "number", "percent", "count"})


@dataclass(frozen=True)
class Context:
    """What stands around a reply. Everything may be left out; the reader is then less sure."""

    question: str = ""
    """What the user said in this turn."""
    earlier: str = ""
    """What was said in the turns before."""
    asker: str = ""
    """The name of the person who asks."""
    facts: tuple[Fact, ...] = ()
    """All that the reply must convey."""
    records: tuple[Any, ...] = ()
    """What the right calls of this turn gave."""
    directory: Directory = NO_DIRECTORY
    """The names of the world's records."""
    history: tuple[Any, ...] = ()
    """What the right calls of the turns before gave."""
    changed: Mapping[str, Row] = field(default_factory=dict)
    """Records as earlier turns left them, by id."""
    about: str = ""
    """What the agent is told of the org: who is who."""
    today: str = ""
    """The day of the conversation."""
    earlier_facts: tuple[Fact, ...] = ()
    """What the replies to the turns before had to convey."""
    writes: bool = False
    """Whether this turn changes the org."""

    @cached_property
    def people(self) -> frozenset[str]:
        """The people that the records name."""
        return frozenset(_people(self.records))

    @cached_property
    def said(self) -> str:
        """All that the user has said, as it stands in a reading."""
        return fold(f"{self.earlier}\n{self.question}")

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The words that a reply may use of names without telling anything new."""
        values = " ".join(_values(self.facts))
        texts = plain(f"{self.question} {self.earlier} {self.asker} {values}")
        return frozenset(words_of(texts))

    @cached_property
    def record_words(self) -> frozenset[str]:
        """The words of the records, those of people's names aside."""
        texts = plain(" ".join(text for text in _texts(self.records) if text not in self.people))
        return frozenset(words_of(texts) - self.people_words)

    @cached_property
    def people_words(self) -> frozenset[str]:
        """The words of people's names in the records."""
        return frozenset(word for name in self.people for word in words_of(plain(name)))

    @cached_property
    def figures(self) -> frozenset[float]:
        """The figures that the reply must convey."""
        return frozenset(float(fact.value) for fact in self.facts if fact.kind in FIGURES)

    @cached_property
    def money(self) -> frozenset[float]:
        """The amounts that the reply must convey, and those of the records."""
        told = {float(fact.value) for fact in self.facts if fact.kind == "money"}
        rows = _rows((*self.records, *self.history))
        held = {row.get(column) for row in rows for column in ("amount", "value", "UnitPrice")}
        return frozenset(told | {float(v) for v in held if isinstance(v, int | float)})

    @cached_property
    def fact_text(self) -> str:
        """What the reply must convey, folded."""
        return fold("\n".join(_values(self.facts)))

    @cached_property
    def amounts_by_version(self) -> dict[str, set[float]]:
        """The amounts of the quotes in the records, by version."""
        found: dict[str, set[float]] = {}
        for version, amount in _versions(self.records):
            found.setdefault(version.lower(), set()).add(amount)
        return found

    @cached_property
    def probabilities(self) -> frozenset[float]:
        """The probabilities that stand in the records."""
        return frozenset(_held(self.records, "probability"))

    @cached_property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """The quotes, deals, contracts and people that were looked up, in this turn and before."""
        found = _rows((*self.history, *self.records))
        return tuple(row for row in found if not _HELD_BY_NAME.isdisjoint(row))

    @cached_property
    def all_rows(self) -> tuple[Mapping[str, Any], ...]:
        """Every record that was looked up, in this turn and before."""
        return tuple(_rows((*self.history, *self.records)))

    @cached_property
    def turn_rows(self) -> tuple[Mapping[str, Any], ...]:
        """Every record that the right calls of this turn gave."""
        return tuple(_rows(self.records))

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, Any]]:
        """What this turn's calls gave by group, a stage or an owner: its count and amount."""
        return {
            fold(str(key)): held
            for row in self.turn_rows
            for key, held in row.items()
            if isinstance(held, Mapping) and {"count", "amount"} <= set(held)
        }

    @cached_property
    def counted(self) -> Mapping[str, frozenset[float]]:
        """What this turn's calls counted, by id in lower case."""
        found: dict[str, set[float]] = {}
        for row in self.turn_rows:
            if all(type(value) in {int, float} for value in row.values()):
                for key, value in row.items():
                    found.setdefault(key.lower(), set()).add(float(value))
        return {key: frozenset(values) for key, values in found.items()}

    @cached_property
    def told_earlier(self) -> frozenset[float]:
        """The figures that the turns before had to tell."""
        return frozenset(float(f.value) for f in self.earlier_facts if f.kind in FIGURES)

    @cached_property
    def totals(self) -> frozenset[float]:
        """What the amounts in the records come to: by the record that they belong to, and of all;
        those of open deals alone too.
        """
        sums: dict[tuple[str, object], float] = {}
        for row in _rows(self.records):
            amount = row.get("amount", row.get("value"))
            if not isinstance(amount, int | float):
                continue
            groups = [(key, row.get(key)) for key in _BELONGS_TO if isinstance(row.get(key), str)]
            for group in (("", ""), *groups):
                kinds = [group, (f"open {group[0]}", group[1])]
                for kind in kinds[: 1 + (not str(row.get("stage", "")).startswith("Closed"))]:
                    sums[kind] = sums.get(kind, 0.0) + amount
        return frozenset(sums.values())

    @cached_property
    def record_text(self) -> str:
        return fold(" \n".join(_texts(self.records)))

    @cached_property
    def history_text(self) -> str:
        """What was looked up in earlier turns, and what the agent was told of the org."""
        return fold(" \n".join([*_texts(self.history), self.about, self.asker]))

    def speaks_of(self, words: str) -> bool:
        """Whether the user, the facts, the records or what was looked up holds these words."""
        if words in self.said or words in self.fact_text:
            return True
        return words in self.record_text or words in self.history_text


NOTHING_KNOWN = Context()


def _values(facts: tuple[Fact, ...]) -> Iterator[str]:
    for fact in facts:
        yield from (fact.label, fact.subject, fact.unit, *fact.aliases, *fact.options)
        if fact.kind == "list":
            yield from _values(fact.items())
        else:
            yield str(fact.value)


def _people(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        first = value.get("first_name") or value.get("FirstName")
        last = value.get("last_name") or value.get("LastName")
        if isinstance(first, str) and isinstance(last, str):
            yield f"{first} {last}"
        for key, held in value.items():
            if key in _PEOPLE_KEYS and isinstance(held, str) and held:
                yield held
            else:
                yield from _people(held)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _people(item)


def _versions(value: Any) -> Iterator[tuple[str, float]]:
    """The version and the amount of each quote in the records."""
    if isinstance(value, Mapping):
        version, amount = value.get("version"), value.get("amount")
        if isinstance(version, str) and isinstance(amount, int | float):
            yield version, float(amount)
        for each in value.values():
            yield from _versions(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _versions(each)


def _rows(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from _rows(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _rows(each)


_HELD_BY_NAME = frozenset({"version", "stage", "first_name", "amount"})
_BELONGS_TO = ("client_id", "opportunity_id", "owner", "stage", "status")


def _held(value: Any, column: str) -> Iterator[float]:
    """The numbers in a column of the records."""
    if isinstance(value, Mapping):
        held = value.get(column)
        if isinstance(held, int | float):
            yield float(held)
        for each in value.values():
            yield from _held(each, column)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _held(each, column)


def _texts(value: Any) -> list[str]:
    """All texts and numbers in a value, in order."""
    found: list[str] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[str]) -> None:
    # Whole tables of records go through here: asking for the exact type is several times as fast
    # as asking for a Mapping, and what tools give is of these types.
    kind = type(value)
    if kind is str:
        found.append(value)
    elif kind is dict:
        for held in value.values():
            _gather(held, found)
    elif kind is list or kind is tuple:
        for item in value:
            _gather(item, found)
    elif kind is int or kind is float:
        found.append(str(value))
