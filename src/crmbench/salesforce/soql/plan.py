"""What a compiled query is: statements, and the shape in which their rows are handed back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Convert = Callable[[Any], Any]

PARENT_IDS = "parent_ids"
"""The name of the parameter that takes the ids of the rows whose children are wanted."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of a record: its key, its column in the row, what is done to it."""

    key: str
    index: int
    convert: Convert | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A record, or a parent inside one."""

    type_name: str
    id_index: int | None
    """The column of its id, by which a missing parent is known; None for aggregates."""
    entries: tuple[tuple[str, Leaf | Node | ChildPlan], ...]


class ValueSlot(NamedTuple):
    """A parameter whose value stands in the query."""

    number: int
    """Of the parameter, from 0."""
    kind: str
    """Of the field that it is compared with."""
    place: int
    """Where in the query it begins."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement with its parameters, as the driver takes them."""

    sql: str
    parameters: tuple[Any, ...]
    ids_at: int | None = None
    """Where in the parameters the parents' ids belong."""
    slots: tuple[ValueSlot, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query that can be run."""

    statement: Statement
    node: Node
    sort_index: int | None = None
    """The column of the ids by which rows are put in order when nothing else orders them."""
    parent_index: int | None = None
    """For a subquery: the column that says whose child a row is."""
    count_window: tuple[int, int | None] | None = None
    """For SELECT COUNT(): how many to skip and how many to count at most."""
    aggregate: bool = False
    leaves: tuple[Leaf, ...] = field(default=())
    """The entries of a flat record, in order; empty if a record is not flat."""


@dataclass(frozen=True, slots=True)
class ChildPlan:
    """A subquery in a field list: one statement for the children of all rows."""

    key: str
    plan: QueryPlan
    parent_id: int
    """The column of the outer row that holds its id."""
