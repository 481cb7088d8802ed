"""The tables of one query: what its paths and functions are in SQL, and the joins they need."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import sqlalchemy as sa

from crmbench.salesforce.catalog import Catalog, FieldInfo, Kind, ObjectInfo
from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.errors import (
    INVALID_FIELD,
    INVALID_TYPE,
    MALFORMED,
    NOT_EXECUTED,
    SoqlError,
)

Sql = sa.ColumnElement[Any]

MAX_ROWS = 50_000
MAX_PARENT_LEVELS = 5
HINT = "Please reference your WSDL or the describe call for the appropriate names."


@dataclass(frozen=True)
class Source:
    """Where a query comes from: shared by all its subqueries."""

    catalog: Catalog
    dialect: str
    today: date
    text: str
    max_rows: int = MAX_ROWS
    """How many rows a query may return; one more is asked for, to know that there are."""
    used: Counter[str] = field(default_factory=Counter)
    """How often each object is in the query already."""

    def alias(self, info: ObjectInfo, name: str | None = None) -> Any:
        """The object's table under a name that nothing else in the query has."""
        number = self.used[info.name]
        self.used[info.name] += 1
        return self.catalog.alias(info, number, name)

    def error(self, code: str, detail: str, offset: int) -> SoqlError:
        """An error at a place in the query."""
        return SoqlError(code, detail, text=self.text, offset=offset)

    def not_executed(self, what: str, offset: int) -> SoqlError:
        """The error of something that is understood and not executed."""
        return self.error(NOT_EXECUTED, f"{what} is parsed but not executed by this org", offset)

    def object(self, name: str, offset: int) -> ObjectInfo:
        """The object of this name.

        Raises:
            SoqlError: INVALID_TYPE if there is none.
        """
        info = self.catalog.get(name)
        if info is None:
            raise self.error(
                INVALID_TYPE,
                f"sObject type '{name}' is not supported. If you are attempting to use a custom "
                f"object, be sure to append the '__c' after the entity name. {HINT}",
                offset,
            )
        return info


class Typed(NamedTuple):
    """An expression in SQL."""

    sql: Sql
    kind: Kind
    nullable: bool
    name: str
    field: FieldInfo | None = None


class Place(NamedTuple):
    """A field as reached from the query's object."""

    relations: tuple[str, ...]
    """The canonical names of the relations that lead to it."""
    object: ObjectInfo
    field: str


class Scope:
    """One query's object under an alias of its own, and its joined parents."""

    def __init__(
        self, source: Source, info: ObjectInfo, query: ast.Query, alias: str | None = None
    ) -> None:
        self.source = source
        self.info = info
        self.table: Any = source.alias(info, alias)
        self.tables: dict[tuple[str, ...], Any] = {(): self.table}
        self.joined: Any = self.table
        self._names = self._own_names(query)
        self._aliases = self._relation_aliases(query)

    def _own_names(self, query: ast.Query) -> frozenset[str]:
        first = query.froms[0]
        names = {first.path.parts[-1].lower(), self.info.name.lower()}
        if first.alias is not None:
            names.add(first.alias.lower())
        return frozenset(names)

    def _relation_aliases(self, query: ast.Query) -> dict[str, tuple[str, ...]]:
        """Aliases of parents, from ``FROM Contact c, c.Account a``."""
        aliases: dict[str, tuple[str, ...]] = {}
        for item in query.froms[1:]:
            parts = list(item.path.parts)
            if parts[0].lower() in aliases:
                parts[:1] = aliases[parts[0].lower()]
            elif parts[0].lower() in self._names and len(parts) > 1:
                parts = parts[1:]
            else:
                raise self.source.not_executed("FROM with several objects", item.path.pos)
            relations = self._relations(parts, item.path.pos)[0]
            aliases[(item.alias or parts[-1]).lower()] = relations
        return aliases

    # --- paths --------------------------------------------------------------------------------

    def place(self, path: ast.FieldPath) -> Place:
        """Where a path leads.

        Raises:
            SoqlError: INVALID_FIELD if a relation of it does not exist.
        """
        parts = list(path.parts)
        if len(parts) > 1:
            head = parts[0].lower()
            if head in self._aliases:
                parts[:1] = self._aliases[head]
            elif head in self._names and head not in self.info.parents:
                parts = parts[1:]
        relations, info = self._relations(parts[:-1], path.pos)
        return Place(relations, info, parts[-1])

    def _relations(self, parts: list[str], pos: int) -> tuple[tuple[str, ...], ObjectInfo]:
        info = self.info
        relations: list[str] = []
        for part in parts:
            relation = info.parents.get(part.lower())
            if relation is None:
                raise self.source.error(
                    INVALID_FIELD,
                    f"Didn't understand relationship '{part}' in field path. If you are attempting "
                    "to use a custom relationship, be sure to append the '__r' after the custom "
                    f"relationship name. {HINT}",
                    pos,
                )
            relations.append(relation.name)
            info = self.source.object(relation.target, pos)
        if len(relations) > MAX_PARENT_LEVELS:
            raise self.source.error(
                INVALID_FIELD,
                f"a field path may follow at most {MAX_PARENT_LEVELS} relationships",
                pos,
            )
        return tuple(relations), info

    def table_of(self, relations: tuple[str, ...]) -> Any:
        """The joined table that relations lead to; joins it if it is not there yet."""
        found = self.tables.get(relations)
        if found is not None:
            return found
        child = self.table_of(relations[:-1])
        info = self.info
        for name in relations[:-1]:
            info = self.source.object(info.parents[name.lower()].target, 0)
        relation = info.parents[relations[-1].lower()]
        parent = self.source.alias(self.source.object(relation.target, 0))
        self.tables[relations] = parent
        reference = info.fields[relation.field.lower()].sql(child, self.source.dialect)
        self.joined = self.joined.outerjoin(parent, reference == parent.c["Id"])
        return parent

    def path(self, path: ast.FieldPath) -> Typed:
        """A field in SQL.

        Raises:
            SoqlError: INVALID_FIELD if it does not exist.
        """
        place = self.place(path)
        return self.at(place, path.pos)

    def at(self, place: Place, pos: int) -> Typed:
        """The field at a place in SQL.

        Raises:
            SoqlError: The org has no such field, or it cannot stand there.
        """
        field = place.object.fields.get(place.field.lower())
        if field is None:
            if place.field.lower() == "type" and place.relations:
                return self._type_name(place)
            raise self.source.error(
                INVALID_FIELD,
                f"No such column '{place.field}' on entity '{place.object.name}'. If you are "
                "attempting to use a custom field, be sure to append the '__c' after the custom "
                f"field name. {HINT}",
                pos,
            )
        if field.name == "Id" and len(place.relations) > 0:
            return self._reference(place, field)
        column = field.sql(self.table_of(place.relations), self.source.dialect)
        nullable = bool(place.relations) or not field.required
        return Typed(column, field.kind, nullable, field.name, field)

    def _reference(self, place: Place, field: FieldInfo) -> Typed:
        """``Account.Id`` is ``AccountId``: no join is needed."""
        info = self.info
        for name in place.relations[:-1]:
            info = self.source.object(info.parents[name.lower()].target, 0)
        reference = info.parents[place.relations[-1].lower()].field
        table = self.table_of(place.relations[:-1])
        column = info.fields[reference.lower()].sql(table, self.source.dialect)
        return Typed(column, "id", True, field.name, field)

    def _type_name(self, place: Place) -> Typed:
        """``Owner.Type``: the name of the object that a relation leads to."""
        reference = self._reference(place, place.object.key)
        name = sa.case((reference.sql.is_not(None), sa.literal(place.object.name, sa.String())))
        return Typed(name, "string", True, "Type")

    # --- functions ----------------------------------------------------------------------------

    def expr(self, expr: ast.Expr | ast.LiteralValue) -> Typed:
        """A field or function in SQL.

        Raises:
            SoqlError: The org has no such field, or it cannot stand there.
        """
        if isinstance(expr, ast.FieldPath):
            return self.path(expr)
        if isinstance(expr, ast.LiteralValue):
            raise self.source.error(MALFORMED, f"unexpected token: '{expr.text}'", expr.pos)
        name = expr.function
        if name in ("distance", "geolocation"):
            raise self.source.not_executed("DISTANCE", expr.pos)
        if name in ("tolabel", "convertcurrency", "converttimezone", "format"):
            # Labels are the values, there is one currency, and users live in UTC.
            return self.expr(expr.arguments[0])
        if expr.is_aggregate:
            return self._aggregate(expr)
        return self._date_function(expr)

    def _aggregate(self, call: ast.Call) -> Typed:
        name = call.function
        if name == "grouping":
            raise self.source.error(MALFORMED, "GROUPING requires ROLLUP or CUBE", call.pos)
        if not call.arguments:
            return Typed(sa.func.count(), "integer", False, "count")
        given = self.expr(call.arguments[0])
        if name == "count":
            return Typed(sa.func.count(given.sql), "integer", False, name)
        if name == "count_distinct":
            return Typed(sa.func.count(given.sql.distinct()), "integer", False, name)
        numeric = given.kind in ("number", "integer")
        if given.kind in ("boolean", "textarea") or (name in ("sum", "avg") and not numeric):
            raise self.source.error(
                MALFORMED,
                f"field {given.name} does not support aggregate operator {call.name.upper()}",
                call.pos,
            )
        if name in ("sum", "avg"):
            return Typed(self._rounded(name, given), "number", True, name)
        return Typed(getattr(sa.func, name)(given.sql), given.kind, True, name, given.field)

    def _rounded(self, name: str, given: Typed) -> Sql:
        """SUM and AVG to six decimals, so that both databases order and compare them alike."""
        sql = given.sql
        if self.source.dialect == "postgresql":
            sql = sa.cast(sql, sa.Numeric())
        aggregate = getattr(sa.func, name)(sql)
        rounded: Sql = sa.func.round(aggregate, sa.literal_column("6"))
        return rounded

    def _date_function(self, call: ast.Call) -> Typed:
        given = self.expr(call.arguments[0])
        name = call.function
        needs = ("datetime",) if name in ("day_only", "hour_in_day") else ("date", "datetime")
        if given.kind not in needs:
            raise self.source.error(
                INVALID_FIELD,
                f"The {call.name.upper()} function is not supported for the field {given.name}",
                call.pos,
            )
        if name == "day_only":
            return Typed(_piece(given.sql, 1, 10), "date", given.nullable, name)
        sql = date_part(name, given.sql, self.source.dialect)
        return Typed(sql, "integer", given.nullable, name)


def _piece(sql: Sql, start: int, length: int) -> Sql:
    """Characters of an ISO date; the numbers are ours and so part of the statement."""
    piece: Sql = sa.func.substr(
        sql, sa.literal_column(str(start)), sa.literal_column(str(length)), type_=sa.String()
    )
    return piece


def _plus(sql: Sql, number: int) -> Sql:
    return sql + sa.literal_column(str(number), sa.Integer())


def _divided(sql: Sql, number: int) -> Sql:
    # Both databases divide integers without a rest; SQLAlchemy's `/` would make floats of them.
    quotient: Sql = sql.op("/", precedence=8, return_type=sa.Integer())(
        sa.literal_column(str(number), sa.Integer())
    )
    return quotient


def date_part(name: str, sql: Sql, dialect: str) -> Sql:
    """A SOQL date function of an ISO date or datetime as an integer in SQL."""
    pieces = {"year": (1, 4), "month": (6, 2), "day_in_month": (9, 2), "hour_in_day": (12, 2)}
    short = name.replace("calendar_", "").replace("fiscal_", "")
    if short in pieces:
        return sa.cast(_piece(sql, *pieces[short]), sa.Integer())
    if short == "quarter":
        return _divided(_plus(sa.cast(_piece(sql, 6, 2), sa.Integer()), 2), 3)
    if short == "week_in_month":
        return _plus(_divided(_plus(date_part("day_in_month", sql, dialect), -1), 7), 1)
    if short == "week_in_year":
        return _plus(_divided(_plus(date_part("day_in_year", sql, dialect), -1), 7), 1)
    day = _piece(sql, 1, 10)
    if dialect == "postgresql":
        part = "dow" if short == "day_in_week" else "doy"
        number: Sql = sa.cast(sa.extract(part, sa.cast(day, sa.Date())), sa.Integer())
    else:
        code = "'%w'" if short == "day_in_week" else "'%j'"
        number = sa.cast(sa.func.strftime(sa.literal_column(code), day), sa.Integer())
    return _plus(number, 1) if short == "day_in_week" else number
