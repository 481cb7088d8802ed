"""Queries that differ in values alone share one compiled plan.

A query's *shape* is its text with a mark in the place of every string and date that could be
exchanged. When a query is compiled, its statements say which of their parameters came from which
place in the text; those values are *free*, and a query of the same shape gets the same statements
with its own. All other values (a pattern of LIKE is one) are fixed: they have to be the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from crmbench.salesforce.soql.conditions import plain_value
from crmbench.salesforce.soql.plan import ChildPlan, QueryPlan, Statement

MARK = "\x00"
"""Stands for a value in a shape; no query that parses has it."""
LITERAL = re.compile(
    r"'(?:[^'\\]|\\.)*'|(?<![\w:.+-])\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?(?![\w:.+-])", re.DOTALL
)
PLAIN = re.compile("'[^'\\\\()\x00\ud800-\udfff]+'")
"""A string that means its characters. Parentheses count as nesting wherever they stand."""
LONGEST = 100
"""Characters of a value: what makes a query too long is not among them."""


class Shape(NamedTuple):
    """A query's text, taken apart."""

    text: str
    values: tuple[str, ...]
    places: tuple[int, ...]
    """Where in the query each value begins."""

    @classmethod
    def of(cls, query: str) -> Shape | None:
        """The shape of a query; None if there is none to be had."""
        if MARK in query:
            return None
        parts, values, places, at = [], [], [], 0
        for found in LITERAL.finditer(query):
            value = found.group()
            if len(value) > LONGEST or (value[0] == "'" and not PLAIN.fullmatch(value)):
                continue
            kind = "s" if value[0] == "'" else "t" if "T" in value else "d"
            parts += [query[at : found.start()], MARK, kind]
            values.append(value)
            places.append(found.start())
            at = found.end()
        parts.append(query[at:])
        return cls("".join(parts), tuple(values), tuple(places))


@dataclass(frozen=True)
class _Family:
    """The plans of one shape."""

    free: frozenset[int]
    """Which of its values, by their number."""
    plans: dict[tuple[str, ...], QueryPlan] = field(default_factory=dict)
    """By the values that are not free; parameters name values by their number."""

    def fixed(self, shape: Shape) -> tuple[str, ...]:
        return tuple(v for number, v in enumerate(shape.values) if number not in self.free)


class Templates:
    """Keeps compiled plans by shape.

    Args:
        most: Shapes, and plans of each.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._families: dict[tuple[str, date], _Family] = {}

    def find(self, shape: Shape, today: date) -> QueryPlan | None:
        """The plan of a query of this shape, with its own values; None if it must be compiled."""
        family = self._families.get((shape.text, today))
        plan = None if family is None else family.plans.get(family.fixed(shape))
        if plan is None:
            return None
        try:
            return _changed(plan, lambda statement: _filled(statement, shape.values))
        except ValueError:
            return None

    def keep(self, shape: Shape, today: date, plan: QueryPlan) -> None:
        """Remember a query's plan for those of the same shape."""
        numbers = {place: number for number, place in enumerate(shape.places)}
        kept = _changed(plan, lambda statement: _numbered(statement, numbers))
        free = frozenset(slot.place for found in _statements(kept) for slot in found.slots)
        family = self._families.setdefault((shape.text, today), _Family(free))
        family.plans[family.fixed(shape)] = kept
        if len(self._families) > self._most:
            del self._families[next(iter(self._families))]
        if len(family.plans) > self._most:
            del family.plans[next(iter(family.plans))]


def _numbered(statement: Statement, numbers: Mapping[int, int]) -> Statement:
    """The statement, its slots by the number of the value; where a value has none, it is fixed."""
    slots = (s._replace(place=numbers[s.place]) for s in statement.slots if s.place in numbers)
    return replace(statement, slots=tuple(slots))


def _filled(statement: Statement, values: Sequence[str]) -> Statement:
    """The statement with other values.

    Raises:
        ValueError: One of them is not what its place takes.
    """
    parameters = list(statement.parameters)
    for parameter, kind, number in statement.slots:
        value = values[number]
        parameters[parameter] = plain_value(kind, value[1:-1] if value[0] == "'" else value)
    return replace(statement, parameters=tuple(parameters))


def _changed(plan: QueryPlan, change: Callable[[Statement], Statement]) -> QueryPlan:
    """The plan with its own statement and those of its subqueries changed."""
    entries = tuple(
        (key, replace(item, plan=_changed(item.plan, change)))
        if isinstance(item, ChildPlan)
        else (key, item)
        for key, item in plan.node.entries
    )
    node = replace(plan.node, entries=entries)
    return replace(plan, statement=change(plan.statement), node=node)


def _statements(plan: QueryPlan) -> Iterator[Statement]:
    yield plan.statement
    for _, item in plan.node.entries:
        if isinstance(item, ChildPlan):
            yield from _statements(item.plan)
