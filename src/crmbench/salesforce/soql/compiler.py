"""Syntax tree to plan: one statement for the query and one for each of its subqueries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect

from crmbench.salesforce.catalog import ChildRelation, FieldInfo, ObjectInfo
from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.conditions import BOUND, ConditionCompiler, folded
from crmbench.salesforce.soql.errors import INVALID_FIELD, INVALID_TYPE, MALFORMED
from crmbench.salesforce.soql.grouping import grouped_plan, is_aggregate
from crmbench.salesforce.soql.plan import (
    PARENT_IDS,
    ChildPlan,
    Convert,
    Leaf,
    Node,
    QueryPlan,
    Statement,
    ValueSlot,
)
from crmbench.salesforce.soql.rules import calls, conditions
from crmbench.salesforce.soql.scope import HINT, Place, Scope, Source, Sql, Typed
from crmbench.salesforce.soql.shape import converter, formatter

MAX_CONDITIONS = 400
MAX_VALUES = 20_000

HARMLESS_SCOPES = frozenset({"everything"})


class Entries:
    """The keys of a record as they are added, parents as records inside it."""

    def __init__(self, type_name: str, id_index: int | None) -> None:
        self.type_name = type_name
        self.id_index = id_index
        self.items: dict[str, Leaf | Entries | ChildPlan] = {}

    def node(self) -> Node:
        """The same as a node of the plan, frozen."""
        entries = tuple(
            (key, item.node() if isinstance(item, Entries) else item)
            for key, item in self.items.items()
        )
        return Node(self.type_name, self.id_index, entries)


class Compiler:
    """Compiles one query or subquery."""

    def __init__(
        self,
        source: Source,
        dialect: Dialect,
        query: ast.Query,
        info: ObjectInfo,
        child: ChildRelation | None = None,
        alias: str | None = None,
    ) -> None:
        """Args:
        child: For a subquery the relation that leads to it.
        alias: The name in SQL of the query's own table, where a restriction needs to know it.
        """
        self.source = source
        self.dialect = dialect
        self.query = query
        self.info = info
        self.child = child
        self.scope = Scope(source, info, query, alias)
        self.conditions = ConditionCompiler(self.scope, self.semi_join)
        self.columns: list[Sql] = []
        self.restriction: Sql | None = None
        """A condition beside WHERE: for SOSL, that the search finds the record."""

    def plan(self) -> QueryPlan:
        """The plan of the query.

        Raises:
            SoqlError: It names what the org has not, or does not fit the types of its fields.
        """
        refuse_unexecuted(self.source, self.query)
        if is_aggregate(self.query):
            return grouped_plan(self)
        key = self._add(self.scope.table.c["Id"])
        parent = None
        if self.child is not None:
            parent = self._add(self.scope.table.c[self.child.field])
        root = Entries(self.info.name, key)
        for field in self.query.fields:
            self._field(root, field)
        order = list(self.order())
        statement = self.statement(self._windowed(order))
        node = root.node()
        leaves = tuple(item for _, item in node.entries if isinstance(item, Leaf))
        return QueryPlan(
            statement,
            node,
            sort_index=None if order or self._sorted_in_sql() else key,
            parent_index=parent,
            leaves=leaves if len(leaves) == len(node.entries) else (),
        )

    # --- the field list -----------------------------------------------------------------------

    def _add(self, sql: Sql) -> int:
        for index, column in enumerate(self.columns):
            if column is sql:
                return index
        self.columns.append(sql)
        return len(self.columns) - 1

    def _field(self, root: Entries, field: ast.Field | ast.TypeOf | ast.Query) -> None:
        if isinstance(field, ast.Query):
            self._subquery(root, field)
        elif isinstance(field, ast.TypeOf):
            self._typeof(root, field)
        elif isinstance(field.expr, ast.Call):
            self._function(root, field, field.expr)
        else:
            self._path(root, field.expr)

    def _path(self, root: Entries, path: ast.FieldPath, convert: Convert | None = None) -> None:
        place = self.scope.place(path)
        typed = self.scope.at(place, path.pos)
        entries = self._parent(root, place)
        leaf = self._leaf(typed.name, typed, convert)
        self._put(entries, typed.name, leaf, path)

    def _leaf(self, key: str, typed: Typed, convert: Convert | None = None) -> Leaf:
        return Leaf(key, self._add(typed.sql), convert or converter(typed, self.source.dialect))

    def _parent(self, root: Entries, place: Place) -> Entries:
        """The record inside the record that the relations of a place lead to."""
        entries = root
        for depth, name in enumerate(place.relations, start=1):
            found = entries.items.get(name)
            if not isinstance(found, Entries):
                relations = place.relations[:depth]
                target = self.source.object(
                    self.source.object(entries.type_name, 0).parents[name.lower()].target, 0
                )
                key = self.scope.at(Place(relations, target, "Id"), 0)
                found = entries.items[name] = Entries(target.name, self._add(key.sql))
            entries = found
        return entries

    def _put(
        self, entries: Entries, key: str, item: Leaf | ChildPlan, where: ast.FieldPath | ast.Field
    ) -> None:
        if key in entries.items:
            text = where.text if isinstance(where, ast.FieldPath) else key
            raise self.source.error(INVALID_FIELD, f"duplicate field selected: {text}", where.pos)
        entries.items[key] = item

    def _function(self, root: Entries, field: ast.Field, call: ast.Call) -> None:
        name = call.function
        if name == "fields":
            self._fields_of(root, call)
            return
        typed = self.scope.expr(call)
        convert = formatter(typed) if name == "format" else None
        argument = call.arguments[0]
        renders = name in ("tolabel", "format", "convertcurrency", "converttimezone")
        if renders and field.alias is None and isinstance(argument, ast.FieldPath):
            self._path(root, argument, convert)
            return
        if name in ("tolabel", "format", "convertcurrency"):
            key = field.alias or self._implied(root)
            self._put(root, key, self._leaf(key, typed, convert), field)
            return
        raise self.source.error(
            MALFORMED, f"Invalid select: {call.name} requires a GROUP BY", field.pos
        )

    @staticmethod
    def _implied(root: Entries) -> str:
        return f"expr{sum(key.startswith('expr') for key in root.items)}"

    def _fields_of(self, root: Entries, call: ast.Call) -> None:
        wanted = call.arguments[0].text.lower()
        chosen: list[FieldInfo] = [
            f
            for f in self.info.fields.values()
            if wanted == "all" or f.custom == (wanted == "custom")
        ]
        if not chosen and len(self.query.fields) == 1:
            raise self.source.error(
                MALFORMED,
                "'FIELDS(...)' expansion function must result in at least one field being "
                "selected.",
                call.pos,
            )
        for info in chosen:
            self._path(root, ast.FieldPath((info.name,), call.pos))

    def _typeof(self, root: Entries, typeof: ast.TypeOf) -> None:
        """The type of what a relation of this org leads to is known before any row is read."""
        place = self.scope.place(ast.FieldPath((*typeof.relation.parts, "Id"), typeof.pos))
        for when in typeof.whens:
            self.source.object(when.type_name, when.pos)
        fitting = (w for w in typeof.whens if w.type_name.lower() == place.object.name.lower())
        when_or_none = next(fitting, None)
        paths = typeof.otherwise if when_or_none is None else when_or_none.fields
        self._parent(root, place)
        for path in paths:
            self._path(root, ast.FieldPath((*typeof.relation.parts, *path.parts), path.pos))

    def _subquery(self, root: Entries, query: ast.Query) -> None:
        path = query.froms[0].path
        if len(query.froms) > 1:
            raise self.source.not_executed("FROM with several objects", path.pos)
        relation = self.info.children.get(path.parts[-1].lower())
        if relation is None or len(path.parts) > 2:
            raise self.source.error(
                INVALID_TYPE,
                f"Didn't understand relationship '{path.parts[-1]}' in FROM part of query call. If "
                "you are attempting to use a custom relationship, be sure to append the '__r' "
                f"after the custom relationship name. {HINT}",
                path.pos,
            )
        info = self.source.object(relation.object, path.pos)
        plan = Compiler(self.source, self.dialect, query, info, relation).plan()
        child = ChildPlan(relation.name, plan, 0)
        self._put(root, relation.name, child, ast.Field(path, None, path.pos))

    # --- rows ---------------------------------------------------------------------------------

    def semi_join(self, join: ast.SemiJoin) -> Any:
        """The inner select of a semi join; empty references in it match nothing.

        Raises:
            SoqlError: The query asks for something that is not executed.
        """
        query = join.query
        refuse_unexecuted(self.source, query)
        path = query.froms[0].path
        scope = Scope(self.source, self.source.object(path.text, path.pos), query)
        field = query.fields[0]
        if not isinstance(field, ast.Field):
            raise self.source.error(MALFORMED, "unexpected token: 'TYPEOF'", field.pos)
        typed = scope.expr(field.expr)
        if typed.kind != "id":
            raise self.source.error(
                INVALID_FIELD,
                f"semi join requires an id or reference field; {typed.name} is neither",
                field.pos,
            )
        where = None
        if query.where is not None:
            where = ConditionCompiler(scope, self.semi_join).sql(query.where)
        select = sa.select(typed.sql).select_from(scope.joined).correlate(None)
        if typed.nullable:
            select = select.where(typed.sql.is_not(None))
        return select if where is None else select.where(where)

    def filtered(self, columns: list[Any]) -> Any:
        """A select of `columns` with the WHERE clause and, for a subquery, its parents."""
        where = None
        if self.query.where is not None:
            where = self.conditions.sql(self.query.where)
        select = sa.select(*columns).select_from(self.scope.joined)
        if self.child is not None:
            select = select.where(self.of_ids(self.scope.table.c[self.child.field]))
        if self.restriction is not None:
            select = select.where(self.restriction)
        return select if where is None else select.where(where)

    def of_ids(self, column: Any) -> Sql:
        """That the column is one of many ids, which are one parameter."""
        if self.source.dialect == "postgresql":
            ids = sa.bindparam(PARENT_IDS, [], type_=postgresql.ARRAY(sa.String()))
            of_any: Sql = column == sa.any_(ids)
            return of_any
        each = sa.func.json_each(sa.bindparam(PARENT_IDS, "[]", type_=sa.String()))
        in_list: Sql = column.in_(sa.select(each.table_valued("value").c.value))
        return in_list

    def order(self) -> Iterator[Sql]:
        """The ORDER BY clause: empty values first unless the query says last.

        Raises:
            SoqlError: The query asks for something that is not executed.
        """
        for item in self.query.order:
            typed = self.scope.expr(item.expr)
            if typed.kind == "textarea":
                raise self.source.error(
                    INVALID_FIELD,
                    f"field '{typed.name}' can not be sorted in a query call",
                    item.pos,
                )
            yield ordered(folded(typed), item, typed.nullable)

    def _sorted_in_sql(self) -> bool:
        return self.query.limit is not None or self.query.offset is not None

    def _windowed(self, order: list[Sql]) -> Any:
        """The select with order, LIMIT and OFFSET; for children these hold for each parent."""
        key = self.scope.table.c["Id"]
        columns: list[Any] = [c.label(f"c{i}") for i, c in enumerate(self.columns)]
        limit, offset = self.window()
        if self.child is None or not self._sorted_in_sql():
            select = self.filtered(columns)
            if order or self._sorted_in_sql():
                select = select.order_by(*order, key)
            select = select.limit(sa.bindparam("the_limit", min(limit, self.source.max_rows + 1)))
            return select.offset(sa.bindparam("the_offset", offset)) if offset else select
        parent = self.scope.table.c[self.child.field]
        number = sa.func.row_number().over(partition_by=parent, order_by=[*order, key])
        inner = self.filtered([*columns, number.label("place")]).subquery()
        place = inner.c["place"]
        return (
            sa.select(*[c for c in inner.c if c is not place])
            .where(place > offset, place <= offset + limit)
            .order_by(place)
        )

    def window(self) -> tuple[int, int]:
        """LIMIT (if there is none, more rows than are allowed) and OFFSET."""
        limit = (
            self.source.max_rows + 1 if self.query.limit is None else self._count(self.query.limit)
        )
        return limit, 0 if self.query.offset is None else self._count(self.query.offset)

    def _count(self, value: ast.LiteralValue) -> int:
        if value.kind == "bind":
            raise self.source.error(
                MALFORMED, "Bind variables only allowed in Apex code", value.pos
            )
        return min(int(value.text), 2**31 - 1)

    def statement(self, select: Any) -> Statement:
        """A select as text and parameters for the driver."""
        compiled = select.compile(dialect=self.dialect, compile_kwargs={"render_postcompile": True})
        names = list(compiled.positiontup or ())
        values = compiled.params
        ids_at = names.index(PARENT_IDS) if PARENT_IDS in names else None
        named = ((index, BOUND.fullmatch(name)) for index, name in enumerate(names))
        slots = (ValueSlot(index, found[1], int(found[2])) for index, found in named if found)
        return Statement(str(compiled), tuple(values[name] for name in names), ids_at, tuple(slots))


def ordered(sql: Sql, item: ast.OrderItem, nullable: bool = True) -> Sql:
    """One expression of ORDER BY."""
    direction = sql.desc() if item.descending else sql.asc()
    if not nullable:
        # Saying where nulls go would keep SQLite from reading the rows in an index's order.
        return direction
    return direction.nulls_last() if item.nulls_last else direction.nulls_first()


def refuse_unexecuted(source: Source, query: ast.Query) -> None:
    """Refuse clauses whose effect this org does not have; those without effect pass.

    Raises:
        SoqlError: The query asks for something that is not executed.
    """
    _refuse_complicated(source, query)
    if query.scope is not None and query.scope.lower() not in HARMLESS_SCOPES:
        raise source.not_executed(f"USING SCOPE {query.scope}", query.pos)
    if query.with_ is not None and query.with_.kind != "mode":
        raise source.not_executed(f"WITH {query.with_.text}", query.with_.pos)
    if "SET OPTIONS" in query.tail:
        raise source.not_executed("SET OPTIONS", query.pos)
    for field in query.fields:
        if isinstance(field, ast.Field):
            for call in calls(field.expr):
                if call.function == "distance":
                    raise source.not_executed("DISTANCE", call.pos)


def _refuse_complicated(source: Source, query: ast.Query) -> None:
    """Refuse conditions that are more than a database takes in one statement."""
    having = None if query.group is None else query.group.having
    found = [c for part in (query.where, having) if part is not None for c in conditions(part)]
    values = sum(len(c.values) for c in found if isinstance(c, ast.Among))
    if len(found) > MAX_CONDITIONS or values > MAX_VALUES:
        raise source.error(
            "QUERY_TOO_COMPLICATED",
            f"a query can have at most {MAX_CONDITIONS} conditions and {MAX_VALUES} values",
            query.pos,
        )


def compile_query(source: Source, dialect: Dialect, query: ast.Query) -> QueryPlan:
    """The plan of a parsed query.

    Raises:
        SoqlError: It names what the org has not, or asks for what this org does not execute.
    """
    path = query.froms[0].path
    info = source.object(path.text, path.pos)
    return Compiler(source, dialect, query, info).plan()
