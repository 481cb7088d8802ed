"""What a SOQL query says, as frozen data. `pos` is always an offset into the query's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

AGGREGATES = frozenset({"count", "count_distinct", "sum", "avg", "min", "max", "grouping"})

ValueKind = OneOf[
    "string", "number", "date", "datetime", "time", "range", "boolean", "null", "currency", "bind"
]


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field, with the relations that lead to it: ``Account.Owner.Name``."""

    parts: tuple[str, ...]
    pos: int

    @property
    def text(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal. `text` is as written, except for strings, whose escapes are resolved."""

    kind: ValueKind
    text: str
    pos: int
    number: int = 0
    """The n of a relative date such as ``LAST_N_DAYS:n``."""
    pattern: tuple[str | None, ...] = ()
    """For strings: the characters as LIKE reads them; ``None`` marks a run of the wildcard ``%``
    and the empty text the wildcard ``_``."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments."""

    name: str
    arguments: tuple[FieldPath | Call | LiteralValue, ...]
    pos: int
    end: int = 0
    """The offset of the opening parenthesis, where a wrong call is reported."""

    @property
    def function(self) -> str:
        """The function's name in lower case."""
        return self.name.lower()

    @property
    def is_aggregate(self) -> bool:
        """Whether it sums rows up."""
        return self.function in AGGREGATES

    @property
    def text(self) -> str:
        return f"{self.name}({', '.join(a.text for a in self.arguments)})"


Expr = FieldPath | Call


@dataclass(frozen=True, slots=True)
class Field:
    """One selected field or function, and its alias."""

    expr: Expr
    alias: str | None
    pos: int


@dataclass(frozen=True, slots=True)
class When:
    """One branch of TYPEOF: the fields for records of a type."""

    type_name: str
    fields: tuple[FieldPath, ...]
    pos: int


@dataclass(frozen=True, slots=True)
class TypeOf:
    """Fields that depend on the type of the record a relation leads to."""

    relation: FieldPath
    whens: tuple[When, ...]
    otherwise: tuple[FieldPath, ...]
    pos: int


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of a field with a value."""

    left: Expr
    op: OneOf["=", "!=", "<", "<=", ">", ">=", "like"]
    value: LiteralValue
    pos: int


@dataclass(frozen=True, slots=True)
class Among:
    """``IN`` and ``NOT IN`` with values; ``INCLUDES`` and ``EXCLUDES`` if `multi`."""

    left: Expr
    values: tuple[LiteralValue, ...]
    negated: bool
    multi: bool
    pos: int


@dataclass(frozen=True, slots=True)
class SemiJoin:
    """``IN`` (or, negated, ``NOT IN``) with a query."""

    left: Expr
    query: Query
    negated: bool
    pos: int


@dataclass(frozen=True, slots=True)
class Logic:
    """ConditionCompiler joined by one operator; ``not`` has a single one."""

    op: OneOf["and", "or", "not"]
    items: tuple[Condition, ...]
    pos: int


Condition = Compare | Among | SemiJoin | Logic


@dataclass(frozen=True, slots=True)
class FromItem:
    """One item of FROM, and its alias."""

    path: FieldPath
    alias: str | None


@dataclass(frozen=True, slots=True)
class With:
    """A WITH clause. Of all kinds only ``mode`` changes nothing and is executed."""

    kind: OneOf["mode", "category", "visibility", "filter"]
    text: str
    pos: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """GROUP BY and what it groups by, with HAVING."""

    kind: OneOf["plain", "rollup", "cube"]
    exprs: tuple[Expr, ...]
    having: Condition | None
    pos: int


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One item of ORDER BY."""

    expr: Expr
    descending: bool
    nulls_last: bool
    pos: int


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query or subquery."""

    fields: tuple[Field | TypeOf | Query, ...]
    froms: tuple[FromItem, ...]
    scope: str | None
    where: Condition | None
    with_: With | None
    group: Grouping | None
    order: tuple[OrderItem, ...]
    limit: LiteralValue | None
    offset: LiteralValue | None
    tail: tuple[str, ...]
    pos: int
    end: int = 0
