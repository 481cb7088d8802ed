"""ConditionCompiler in SQL, in Salesforce's logic, which has no third truth value.

A condition on an empty field is false and its negation true. So NOT is never handed to the
database: it is pushed down to the single conditions, each of which says what it means for an
empty field. Text is compared without regard to the case of ASCII letters, as ``lower(column)``
against a value folded here; both databases fold just those letters, and an index on
``lower(column)`` serves the comparison. Ids, numbers and dates are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC
from typing import Any

import sqlalchemy as sa

from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.builder import FIRST_YEAR, LAST_YEAR
from crmbench.salesforce.soql.dates import Days, days_of, midnight_text, parse_datetime
from crmbench.salesforce.soql.dates import datetime_text as stored
from crmbench.salesforce.soql.errors import INVALID_FIELD, MALFORMED, SoqlError
from crmbench.salesforce.soql.scope import Scope, Sql, Typed

INVALID_OPERATOR = "INVALID_QUERY_FILTER_OPERATOR"

COMPARE: dict[str, Callable[[Any, Any], Sql]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
EXPECTED = {
    "id": "string and should be enclosed in quotes",
    "string": "string and should be enclosed in quotes",
    "number": "double and should not be enclosed in quotes",
    "integer": "integer and should not be enclosed in quotes",
    "boolean": "boolean and should not be enclosed in quotes",
    "date": "date and should not be enclosed in quotes",
    "datetime": "dateTime and should not be enclosed in quotes",
}
LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

SemiJoinSelect = Callable[[ast.SemiJoin], Any]


def fold(text: str) -> str:
    """Text with the ASCII letters in lower case, as both databases' `lower` has it."""
    return text.translate(LOWER)


def folded(typed: Typed) -> Sql:
    """What an expression is compared and ordered by."""
    if typed.kind in ("string", "textarea"):
        lowered: Sql = sa.func.lower(typed.sql)
        return lowered
    return typed.sql


def full_id(text: str) -> str:
    """An id of 15 characters with the three that make it safe against changes of case."""
    if len(text) != 15:
        return text
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
    suffix = ""
    for start in (0, 5, 10):
        bits = sum(1 << i for i, c in enumerate(text[start : start + 5]) if "A" <= c <= "Z")
        suffix += alphabet[bits]
    return text + suffix


BINDABLE = {("id", "string"), ("string", "string"), ("date", "date"), ("datetime", "datetime")}
"""The kinds of a field and of a value that make a parameter of text."""
BOUND = re.compile(r"(id|string|date|datetime)_at_(\d+)")
"""The name of such a parameter: the field's kind, and where in the query the value stands."""


def plain_value(kind: str, text: str) -> str:
    """What a field of a kind is compared with, as it is stored.

    Raises:
        ValueError: The text is no id, or no date.
    """
    if kind == "id":
        if len(text) not in (15, 18) or not (text.isascii() and text.isalnum()):
            raise ValueError(text)
        return full_id(text)
    if kind == "string":
        return fold(text)
    moment = parse_datetime(text)
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(text)
    return text if kind == "date" else stored(moment.astimezone(UTC))


class ConditionCompiler:
    """Compiles conditions over one scope."""

    def __init__(
        self,
        scope: Scope,
        select: SemiJoinSelect,
        expr: Callable[[ast.Expr], Typed] | None = None,
    ) -> None:
        """Args:
        select: Makes the select of a semi join.
        expr: What an expression is in SQL; the scope's own reading if None.
        """
        self.scope = scope
        self.source = scope.source
        self._select = select
        self._expr = expr or scope.expr

    def sql(self, condition: ast.Condition, positive: bool = True) -> Sql:
        """The condition, or its negation if not `positive`.

        Raises:
            SoqlError: A value does not suit its field.
        """
        if isinstance(condition, ast.Logic):
            if condition.op == "not":
                return self.sql(condition.items[0], not positive)
            items = [self.sql(item, positive) for item in condition.items]
            return sa.and_(*items) if (condition.op == "and") == positive else sa.or_(*items)
        if isinstance(condition, ast.SemiJoin):
            return self._semi_join(condition, positive)
        left = self._expr(condition.left)
        if left.kind == "textarea":
            raise self.source.error(
                INVALID_FIELD,
                f"field '{left.name}' can not be filtered in a query call",
                condition.pos,
            )
        if isinstance(condition, ast.Among):
            return self._among(condition, left, positive != condition.negated)
        if condition.op == "like":
            return self._like(condition, left, positive)
        return self._compare(condition, left, positive)

    # --- one value ----------------------------------------------------------------------------

    def _compare(self, condition: ast.Compare, left: Typed, positive: bool) -> Sql:
        value = condition.value
        op: str = condition.op
        if self._is_null(value, left):
            if op not in ("=", "!="):
                return sa.false() if positive else sa.true()
            empty: Sql = left.sql.is_(None) if left.nullable else sa.false()
            filled: Sql = left.sql.is_not(None) if left.nullable else sa.true()
            return empty if (op == "=") == positive else filled
        if left.kind == "boolean":
            return self._boolean(condition, left, positive)
        self._no_order_of_ids(condition, left)
        if value.kind == "range":
            return self._in_days(left, op, self._days(value, left), positive)
        plain = self.value(value, left)
        # `!=` is the negation of `=`, and so holds for empty fields.
        if op == "!=":
            op, positive = "=", not positive
        if positive:
            return COMPARE[op](folded(left), plain)
        return self._or_empty(COMPARE[OPPOSITE[op]](folded(left), plain), left)

    def _boolean(self, condition: ast.Compare, left: Typed, positive: bool) -> Sql:
        """An empty checkbox is an unchecked one."""
        value = condition.value
        if value.kind == "bind":
            raise self._bind_error(value)
        if condition.op not in ("=", "!="):
            raise self._operator_error(condition.op, left, condition.pos)
        if value.kind not in ("boolean", "null"):
            raise self.type_error(value, left)
        checked = (value.text == "true") == (condition.op == "=")
        if checked == positive:
            return left.sql.is_(sa.true())
        return sa.or_(left.sql.is_(sa.false()), left.sql.is_(None))

    def _in_days(self, left: Typed, op: str, days: Days, positive: bool) -> Sql:
        text = midnight_text if left.kind == "datetime" else _iso
        start, end = text(days.start), text(days.end)
        if op == "!=":
            op, positive = "=", not positive
        if not positive and op != "=":
            op = OPPOSITE[op]
        if op == "=":
            inside = sa.and_(left.sql >= start, left.sql < end)
            outside = sa.or_(left.sql < start, left.sql >= end)
            return inside if positive else self._or_empty(outside, left)
        edges = {"<": left.sql < start, "<=": left.sql < end, ">": left.sql >= end}
        sql = edges.get(op, left.sql >= start)
        return sql if positive else self._or_empty(sql, left)

    def _like(self, condition: ast.Compare, left: Typed, positive: bool) -> Sql:
        if left.kind != "string":
            raise self._operator_error("like", left, condition.pos)
        value = condition.value
        if value.kind == "bind":
            raise self._bind_error(value)
        pattern = "".join(_like_piece(piece) for piece in value.pattern)
        sql = folded(left).like(sa.literal(pattern, sa.String()), escape="\\")
        return sql if positive else self._or_empty(sa.not_(sql), left)

    # --- several values -----------------------------------------------------------------------

    def _among(self, condition: ast.Among, left: Typed, positive: bool) -> Sql:
        if condition.multi:
            raise self._operator_error("includes", left, condition.pos)
        if left.kind == "boolean" or any(v.kind == "range" for v in condition.values):
            return self._any_of(condition, left, positive)
        values = [v for v in condition.values if not self._is_null(v, left)]
        with_null = len(values) < len(condition.values)
        plain = [self.value(v, left) for v in values]
        if positive:
            found = folded(left).in_(plain)
            return sa.or_(found, left.sql.is_(None)) if with_null else found
        missing = folded(left).not_in(plain)
        if with_null:
            return sa.and_(missing, left.sql.is_not(None))
        return self._or_empty(missing, left)

    def _any_of(self, condition: ast.Among, left: Typed, positive: bool) -> Sql:
        each = [
            self._compare(ast.Compare(condition.left, "=", v, condition.pos), left, positive)
            for v in condition.values
        ]
        return sa.or_(*each) if positive else sa.and_(*each)

    def _semi_join(self, join: ast.SemiJoin, positive: bool) -> Sql:
        left = self._expr(join.left)
        if left.kind != "id":
            raise self.source.error(
                INVALID_FIELD,
                f"semi join requires an id or reference field; {left.name} is neither",
                join.pos,
            )
        inner = self._select(join)
        if positive != join.negated:
            return left.sql.in_(inner)
        return self._or_empty(left.sql.not_in(inner), left)

    # --- values -------------------------------------------------------------------------------

    def value(self, value: ast.LiteralValue, left: Typed) -> Any:
        """A literal as it is compared with `left`, bound as a parameter.

        Raises:
            SoqlError: The literal's type is not the field's.
        """
        kind, text = left.kind, value.text
        if value.kind == "bind":
            raise self._bind_error(value)
        if (kind, value.kind) in BINDABLE:
            return self._bound(kind, value)
        if kind in ("number", "integer") and value.kind in ("number", "currency"):
            return _number(text[3:] if value.kind == "currency" else text)
        raise self.type_error(value, left)

    def type_error(self, value: ast.LiteralValue, left: Typed) -> SoqlError:
        """The error of a value that does not suit its field."""
        expected = EXPECTED.get(left.kind, EXPECTED["string"])
        return self.source.error(
            INVALID_FIELD,
            f"value of filter criterion for field '{left.name}' must be of type {expected}",
            value.pos,
        )

    def _bound(self, kind: str, value: ast.LiteralValue) -> Sql:
        """A parameter whose name says where in the query its value stands; see `BOUND`."""
        try:
            plain = plain_value(kind, value.text)
        except ValueError:
            raise self.source.error(
                INVALID_OPERATOR, f"invalid ID field: {value.text}", value.pos
            ) from None
        return sa.bindparam(f"{kind}_at_{value.pos}", plain, type_=sa.String())

    def _days(self, value: ast.LiteralValue, left: Typed) -> Days:
        if left.kind not in ("date", "datetime"):
            raise self.type_error(value, left)
        try:
            return days_of(value.text, value.number, self.source.today)
        except OverflowError:
            raise self.source.error(
                MALFORMED, f"Invalid date: {value.text.upper()}:{value.number}", value.pos
            ) from None

    @staticmethod
    def _is_null(value: ast.LiteralValue, left: Typed) -> bool:
        """Salesforce keeps no empty text: '' and null are the same."""
        if left.kind == "boolean":
            return False
        empty = value.kind == "string" and value.text == "" and left.kind in ("id", "string")
        return value.kind == "null" or empty

    def _no_order_of_ids(self, condition: ast.Compare, left: Typed) -> None:
        if left.kind == "id" and condition.value.kind != "string":
            if condition.value.kind == "bind":
                raise self._bind_error(condition.value)
            raise self.type_error(condition.value, left)

    def _bind_error(self, value: ast.LiteralValue) -> SoqlError:
        return self.source.error(MALFORMED, "Bind variables only allowed in Apex code", value.pos)

    def _operator_error(self, operator: str, left: Typed, pos: int) -> SoqlError:
        return self.source.error(
            INVALID_OPERATOR,
            f"invalid operator {operator.upper()} on the field '{left.name}' of type {left.kind}",
            pos,
        )

    @staticmethod
    def _or_empty(sql: Sql, left: Typed) -> Sql:
        return sa.or_(sql, left.sql.is_(None)) if left.nullable else sql


def _iso(day: Any) -> str:
    text: str = day.isoformat()
    return text


def _number(text: str) -> Any:
    number = float(text)
    if number.is_integer() and abs(number) < 2**31:
        return sa.literal(int(number), sa.Integer())
    return sa.literal(number, sa.Float())


def _like_piece(piece: str | None) -> str:
    if piece is None:
        return "%"
    if piece == "":
        return "_"
    escaped = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return fold(escaped)
