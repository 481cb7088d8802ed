"""Aggregates: GROUP BY, ROLLUP, CUBE, HAVING, and queries that are one aggregate over all rows.

SQLite knows neither ROLLUP nor CUBE, so on both databases they are a UNION ALL of one select for
each set of grouped fields.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Protocol

import sqlalchemy as sa

from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.conditions import ConditionCompiler, folded
from crmbench.salesforce.soql.errors import MALFORMED
from crmbench.salesforce.soql.plan import Leaf, Node, QueryPlan, Statement
from crmbench.salesforce.soql.rules import calls, normal, own_path, ungrouped
from crmbench.salesforce.soql.scope import Scope, Source, Sql, Typed
from crmbench.salesforce.soql.shape import converter, formatter

MAX_GROUPS = 2_000

OrderBy = tuple[ast.Expr, ast.OrderItem]
"""What rows are ordered by, and how."""


def is_aggregate(query: ast.Query) -> bool:
    """Whether a query returns groups instead of records."""
    return query.group is not None or any(
        call.is_aggregate
        for field in query.fields
        if isinstance(field, ast.Field)
        for call in calls(field.expr)
    )


class QueryCompiler(Protocol):
    """What groups need of `crmbench.salesforce.soql.compiler.Compiler`, which imports this file."""

    query: ast.Query
    source: Source
    scope: Scope

    def semi_join(self, join: ast.SemiJoin) -> Any: ...
    def filtered(self, columns: list[Any]) -> Any: ...
    def window(self) -> tuple[int, int]: ...
    def statement(self, select: Any) -> Statement: ...


class GroupedSelect:
    """The select of one set of grouped fields."""

    def __init__(
        self, compiler: QueryCompiler, grouped: tuple[int, ...], all_of: list[ast.Expr]
    ) -> None:
        self.compiler = compiler
        self.query = compiler.query
        names = [normal(self.query, e) for e in all_of]
        self.kept = {names[i] for i in grouped}
        self.dropped = set(names) - self.kept
        self.exprs = [self._groupable(all_of[i]) for i in grouped]
        self.rolled = self.query.group is not None and self.query.group.kind != "plain"

    def _groupable(self, expr: ast.Expr) -> Typed:
        typed = self.compiler.scope.expr(expr)
        inner: ast.Expr | ast.LiteralValue = expr
        while isinstance(inner, ast.Call):
            inner = inner.arguments[0]
        if isinstance(inner, ast.FieldPath):
            field = self.compiler.scope.path(inner).field
            if field is not None and not field.groupable:
                raise self.compiler.source.error(
                    MALFORMED, f"field '{field.name}' can not be grouped in a query call", expr.pos
                )
        return typed

    def expr(self, expr: ast.Expr) -> Typed:
        """An expression as it is in this set: null where the field is summed over.

        Raises:
            SoqlError: The field is neither grouped nor summed up.
        """
        name = normal(self.query, expr)
        if isinstance(expr, ast.Call) and expr.function == "grouping" and self.rolled:
            inner = normal(self.query, expr.arguments[0])
            self._known(inner, expr)
            flag = sa.literal_column(str(int(inner in self.dropped)), sa.Integer())
            return Typed(flag, "integer", False, "grouping")
        typed = self.compiler.scope.expr(expr)
        if name in self.dropped:
            return typed._replace(sql=_nothing(typed), nullable=True)
        for part in ungrouped(self.query, expr, frozenset(self.kept | self.dropped)):
            raise self.compiler.source.error(
                MALFORMED, f"Field must be grouped or aggregated: {part.text}", part.pos
            )
        return typed

    def _known(self, name: str, call: ast.Call) -> None:
        if name not in self.kept | self.dropped:
            raise self.compiler.source.error(
                MALFORMED, f"Grouping must be of a grouped field: {call.text}", call.pos
            )

    def select(self, columns: list[Any]) -> Any:
        """The select of `columns`, grouped and with the HAVING clause."""
        group = self.query.group
        having = None
        if group is not None and group.having is not None:
            compiler = self.compiler
            having = ConditionCompiler(compiler.scope, compiler.semi_join, self.expr).sql(
                group.having
            )
        select = self.compiler.filtered(columns)
        if self.exprs:
            select = select.group_by(*[e.sql for e in self.exprs])
        elif self.rolled:
            # A grand total is there only if there are rows that it sums up.
            select = select.having(sa.func.count() > sa.literal_column("0"))
        return select if having is None else select.having(having)


def grouped_plan(compiler: QueryCompiler) -> QueryPlan:
    """The plan of an aggregate query.

    Raises:
        SoqlError: As `Compiler.plan`.
    """
    query = compiler.query
    limit, offset = compiler.window()
    first = query.fields[0]
    if isinstance(first, ast.Field) and is_bare_count(first.expr):
        select = compiler.filtered([sa.func.count().label("c0")])
        node = Node("AggregateResult", None, ())
        counted = (offset, limit if query.limit is not None else None)
        return QueryPlan(compiler.statement(select), node, count_window=counted, aggregate=True)
    exprs = list(query.group.exprs) if query.group is not None else []
    parts = [GroupedSelect(compiler, grouped, exprs) for grouped in _sets(query.group)]
    leaves = _leaves(parts[0])
    # What rows are ordered by; the grouped fields break ties.
    items = [(i.expr, i) for i in query.order]
    items += [(e, ast.OrderItem(e, False, False, e.pos)) for e in exprs]
    select = _single(parts[0], items) if len(parts) == 1 else _union(parts, exprs, items)
    select = select.limit(sa.bindparam("the_limit", min(limit, MAX_GROUPS + 1)))
    if offset:
        select = select.offset(sa.bindparam("the_offset", offset))
    node = Node("AggregateResult", None, tuple((leaf.key, leaf) for leaf in leaves))
    return QueryPlan(compiler.statement(select), node, aggregate=True, leaves=tuple(leaves))


def _columns(part: GroupedSelect) -> list[Any]:
    """The values of the field list."""
    fields = [f for f in part.query.fields if isinstance(f, ast.Field)]
    return [part.expr(f.expr).sql.label(f"c{i}") for i, f in enumerate(fields)]


def _single(part: GroupedSelect, items: list[OrderBy]) -> Any:
    """The ordered select of one set of grouped fields."""
    order = [_ordered(folded(part.expr(_by_alias(part.query, e))), item) for e, item in items]
    # Texts that differ in case alone; other values are in order already.
    texts = [typed for typed in part.exprs if typed.kind == "string"]
    order += [typed.sql.asc().nulls_first() for typed in texts]
    return part.select(_columns(part)).order_by(*order)


def _union(parts: list[GroupedSelect], exprs: list[ast.Expr], items: list[OrderBy]) -> Any:
    """The ordered rows of several sets, with columns of their own for what orders them."""
    query = parts[0].query
    selects = []
    for level, part in enumerate(parts):
        columns = _columns(part)
        shown = [f"c{i}" for i in range(len(columns))]
        columns += [
            folded(part.expr(_by_alias(query, e))).label(f"o{i}") for i, (e, _) in enumerate(items)
        ]
        columns += [part.expr(e).sql.label(f"t{i}") for i, e in enumerate(exprs)]
        columns.append(sa.literal_column(str(level), sa.Integer()).label("level"))
        selects.append(part.select(columns))
    rows = sa.union_all(*selects).subquery()
    order = [_ordered(rows.c[f"o{i}"], item) for i, (_, item) in enumerate(items)]
    order += [rows.c[f"t{i}"].asc().nulls_first() for i in range(len(exprs))]
    return sa.select(*[rows.c[name] for name in shown]).order_by(*order, rows.c["level"].asc())


def _nothing(typed: Typed) -> Sql:
    """A null of the expression's type and, for text on PostgreSQL, of its collation."""
    if typed.kind in ("boolean", "integer", "number"):
        return sa.cast(sa.null(), typed.sql.type)
    some = sa.func.min(typed.sql)
    return sa.func.nullif(some, some)


def is_bare_count(expr: ast.Expr) -> bool:
    """Whether it is COUNT() without a field."""
    return isinstance(expr, ast.Call) and expr.function == "count" and not expr.arguments


def _sets(group: ast.Grouping | None) -> list[tuple[int, ...]]:
    """The sets of grouped fields, by position; the fullest first."""
    if group is None:
        return [()]
    size = len(group.exprs)
    everything = tuple(range(size))
    if group.kind == "plain":
        return [everything]
    if group.kind == "rollup":
        return [everything[:n] for n in range(size, -1, -1)]
    return [chosen for n in range(size, -1, -1) for chosen in combinations(everything, n)]


def _leaves(part: GroupedSelect) -> list[Leaf]:
    query, source = part.query, part.compiler.source
    leaves: list[Leaf] = []
    implied = 0
    for index, field in enumerate(f for f in query.fields if isinstance(f, ast.Field)):
        typed = part.expr(field.expr)
        if field.alias is not None:
            key = field.alias
        elif isinstance(field.expr, ast.FieldPath):
            key = typed.name
        else:
            key, implied = f"expr{implied}", implied + 1
        if any(key.lower() == leaf.key.lower() for leaf in leaves):
            raise source.error(MALFORMED, f"duplicate alias: {key}", field.pos)
        convert = converter(typed, source.dialect)
        if isinstance(field.expr, ast.Call) and field.expr.function == "format":
            convert = formatter(typed)
        leaves.append(Leaf(key, index, convert))
    return leaves


def _by_alias(query: ast.Query, expr: ast.Expr) -> ast.Expr:
    """ORDER BY may name an alias of the field list."""
    if not isinstance(expr, ast.FieldPath) or len(own_path(query, expr)) > 1:
        return expr
    for field in query.fields:
        alias = field.alias if isinstance(field, ast.Field) else None
        if isinstance(field, ast.Field) and (alias or "").lower() == expr.parts[-1].lower():
            return field.expr
    return expr


def _ordered(sql: Sql, item: ast.OrderItem) -> Sql:
    direction = sql.desc() if item.descending else sql.asc()
    return direction.nulls_last() if item.nulls_last else direction.nulls_first()
