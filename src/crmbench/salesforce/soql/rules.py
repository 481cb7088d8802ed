"""Rules of SOQL that a context-free grammar does not hold and that need no schema."""

from __future__ import annotations

from collections.abc import Iterator

from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.errors import MALFORMED, OUT_OF_RANGE, SoqlError

DATE_FUNCTIONS = frozenset(
    {
        "calendar_month", "calendar_quarter", "calendar_year", "day_in_month", "day_in_week",
        "day_in_year", "day_only", "fiscal_month", "fiscal_quarter", "fiscal_year", "hour_in_day",
        "week_in_month", "week_in_year",
    }
)  # fmt: skip

ROW_FUNCTIONS = DATE_FUNCTIONS | {"tolabel", "convertcurrency", "converttimezone", "distance"}
SELECT_FUNCTIONS = (ROW_FUNCTIONS | ast.AGGREGATES | {"format", "fields"}) - {"converttimezone"}
WHERE_FUNCTIONS = DATE_FUNCTIONS | {"tolabel", "distance"}
HAVING_FUNCTIONS = WHERE_FUNCTIONS | ast.AGGREGATES
ORDER_FUNCTIONS = DATE_FUNCTIONS | ast.AGGREGATES | {"distance"}
KNOWN_FUNCTIONS = ROW_FUNCTIONS | SELECT_FUNCTIONS
MAX_DEPTH = 5
"""Levels of subqueries in field lists, the outermost query included."""
MAX_SUBQUERIES = 20
MAX_SEMI_JOINS = 2
MAX_GROUPED = 3
MAX_STRING = 4_000
MAX_FIELDS_LIMIT = 200


class _Checker:
    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, detail: str, offset: int, code: str = MALFORMED) -> SoqlError:
        return SoqlError(code, detail, text=self.text, offset=offset)

    # --- the query as a whole -----------------------------------------------------------------

    def query(self, query: ast.Query, depth: int = 1) -> None:
        if depth > MAX_DEPTH:
            raise self.error("subqueries are nested too deeply", query.pos)
        subqueries = [f for f in query.fields if isinstance(f, ast.Query)]
        if len(subqueries) > MAX_SUBQUERIES:
            raise self.error(f"at most {MAX_SUBQUERIES} subqueries are allowed", subqueries[-1].pos)
        for subquery in subqueries:
            if self._aggregates(subquery) or subquery.group is not None:
                raise self.error("Only root queries support aggregate expressions", subquery.pos)
            if subquery.offset is not None and (query.limit is None or query.limit.text != "1"):
                raise self.error(
                    "OFFSET in a subquery requires LIMIT 1 in its parent", subquery.offset.pos
                )
            self.query(subquery, depth + 1)
        self._fields(query)
        self._where(query)
        self._grouping(query)
        self._order(query)
        self._window(query)

    def _aggregates(self, query: ast.Query) -> list[ast.Call]:
        found = []
        for field in query.fields:
            if isinstance(field, ast.Field):
                found += [c for c in calls(field.expr) if c.is_aggregate]
        return found

    def _fields(self, query: ast.Query) -> None:
        for field in query.fields:
            if not isinstance(field, ast.Field):
                continue
            if isinstance(field.expr, ast.Call):
                self.call(field.expr, SELECT_FUNCTIONS)
            elif field.alias is not None and query.group is None:
                raise self.error("only aggregate expressions use field aliasing", field.pos)
            if query.group is None:
                self._no_date_function(field.expr)
        typeofs = [f for f in query.fields if isinstance(f, ast.TypeOf)]
        if not typeofs:
            return
        functions = [f for f in query.fields if isinstance(f, ast.Field)]
        if query.group is not None or any(isinstance(f.expr, ast.Call) for f in functions):
            raise self.error("TYPEOF cannot be used with functions or grouping", typeofs[0].pos)

    def _no_date_function(self, expr: ast.Expr) -> None:
        for call in calls(expr):
            if call.function in DATE_FUNCTIONS:
                raise self.error(f"Field must be grouped or aggregated: {call.text}", call.pos)

    def _where(self, query: ast.Query) -> None:
        if query.where is None:
            return
        for condition in conditions(query.where):
            if isinstance(condition, ast.SemiJoin):
                continue
            if isinstance(condition.left, ast.Call):
                self.call(condition.left, WHERE_FUNCTIONS)
            self._values(condition)
        semi_joins = list(self._top_semi_joins(query.where, True))
        if len(semi_joins) > MAX_SEMI_JOINS:
            raise self.error(
                "Maximum 2 semi join sub-selects are allowed in a query", semi_joins[-1].pos
            )
        for semi_join in semi_joins:
            self._semi_join(query, semi_join)

    def _top_semi_joins(self, condition: ast.Condition, top: bool) -> Iterator[ast.SemiJoin]:
        if isinstance(condition, ast.SemiJoin):
            if not top:
                raise self.error(
                    "Semi join sub-selects are only allowed at the top level WHERE expressions "
                    "and not in nested WHERE expressions.",
                    condition.pos,
                )
            yield condition
        elif isinstance(condition, ast.Logic):
            for item in condition.items:
                yield from self._top_semi_joins(item, top and condition.op == "and")

    def _semi_join(self, outer: ast.Query, join: ast.SemiJoin) -> None:
        inner = join.query
        if isinstance(join.left, ast.Call) or len(self._own(outer, join.left)) > 1:
            raise self.error(
                "The left operand of a semi join must be an id or reference field of the object",
                join.pos,
            )
        field = inner.fields[0]
        if (
            len(inner.fields) != 1
            or not isinstance(field, ast.Field)
            or isinstance(field.expr, ast.Call)
            or field.alias is not None
            or len(self._own(inner, field.expr)) > 1
        ):
            raise self.error(
                "semi join sub-selects must select exactly one field, an id or a reference",
                inner.pos,
            )
        self._plain_inner(inner)
        if inner.where is not None and any(
            isinstance(c, ast.SemiJoin) for c in conditions(inner.where)
        ):
            raise self.error("Nesting of semi join sub-selects is not supported", inner.pos)
        if inner.froms[0].path.text.lower() == outer.froms[0].path.text.lower():
            raise self.error(
                "The inner and outer selects should not be on the same object type", inner.pos
            )
        self._where(inner)

    def _plain_inner(self, inner: ast.Query) -> None:
        clauses = {
            "ORDER BY": bool(inner.order),
            "LIMIT": inner.limit is not None,
            "OFFSET": inner.offset is not None,
            "GROUP BY": inner.group is not None,
            "FOR": bool(inner.tail),
        }
        for name, present in clauses.items():
            if present:
                raise self.error(f"{name} is not allowed in a semi join sub-select", inner.pos)

    @staticmethod
    def _own(query: ast.Query, path: ast.Expr) -> tuple[str, ...]:
        if isinstance(path, ast.Call):
            return ()
        return own_path(query, path)

    # --- grouping -----------------------------------------------------------------------------

    def _grouping(self, query: ast.Query) -> None:
        aggregates = self._aggregates(query)
        bare = [c for c in aggregates if c.function == "count" and not c.arguments]
        if bare:
            if len(query.fields) > 1 or query.group is not None or query.order:
                raise self.error(
                    "COUNT() must be the only field selected and cannot be grouped or ordered",
                    bare[0].pos,
                )
            return
        group = query.group
        if group is None:
            if aggregates:
                self._all_grouped(query, frozenset())
                if query.limit is not None:
                    raise self.error(
                        "Non-grouped query that uses overall aggregate functions cannot also use "
                        "LIMIT",
                        query.limit.pos,
                    )
            return
        for expr in group.exprs:
            if isinstance(expr, ast.Call):
                self.call(expr, DATE_FUNCTIONS | {"tolabel", "converttimezone", "rollup", "cube"})
        if group.kind != "plain" and len(group.exprs) > MAX_GROUPED:
            raise self.error(
                f"at most {MAX_GROUPED} fields can be grouped by {group.kind.upper()}", group.pos
            )
        grouped = frozenset(normal(query, e) for e in group.exprs)
        self._all_grouped(query, grouped)
        if group.having is not None:
            self._having(query, group.having, grouped)

    def _all_grouped(self, query: ast.Query, grouped: frozenset[str]) -> None:
        for field in query.fields:
            if not isinstance(field, ast.Field):
                raise self.error("Only root queries support aggregate expressions", field.pos)
            for part in ungrouped(query, field.expr, grouped):
                raise self.error(f"Field must be grouped or aggregated: {part.text}", part.pos)

    def _having(self, query: ast.Query, having: ast.Condition, grouped: frozenset[str]) -> None:
        for condition in conditions(having):
            if isinstance(condition, ast.SemiJoin):
                raise self.error("semi join sub-selects are not allowed in HAVING", condition.pos)
            if isinstance(condition.left, ast.Call):
                self.call(condition.left, HAVING_FUNCTIONS)
            for part in ungrouped(query, condition.left, grouped):
                raise self.error(f"Field must be grouped or aggregated: {part.text}", part.pos)
            self._values(condition)

    # --- order and window ---------------------------------------------------------------------

    def _order(self, query: ast.Query) -> None:
        if query.order and "FOR UPDATE" in query.tail:
            raise self.error("ORDER BY is not allowed with FOR UPDATE", query.order[0].pos)
        for item in query.order:
            if isinstance(item.expr, ast.Call):
                self.call(item.expr, ORDER_FUNCTIONS)
                aggregated = any(c.is_aggregate for c in calls(item.expr))
                if aggregated and query.group is None and not self._aggregates(query):
                    raise self.error("Ordering by an aggregate requires grouping", item.pos)

    def _window(self, query: ast.Query) -> None:
        for field in query.fields:
            if not isinstance(field, ast.Field) or not isinstance(field.expr, ast.Call):
                continue
            call = field.expr
            if call.function != "fields" or call.arguments[0].text.lower() == "standard":
                continue
            limit = query.limit
            bounded = limit is not None and (
                limit.kind == "bind" or int(limit.text) <= MAX_FIELDS_LIMIT
            )
            if not bounded and not self._by_id(query.where):
                raise self.error(
                    "The SOQL FIELDS function must have a LIMIT of at most 200", call.pos
                )

    @staticmethod
    def _by_id(where: ast.Condition | None) -> bool:
        found = list(conditions(where)) if where is not None else []
        return bool(found) and all(
            isinstance(c.left, ast.FieldPath) and c.left.parts[-1].lower() == "id" for c in found
        )

    # --- functions and values -----------------------------------------------------------------

    def call(self, call: ast.Call, allowed: frozenset[str] | set[str]) -> None:
        """Check one function where the functions `allowed` may stand, and what is inside it."""
        name = call.function
        if name not in KNOWN_FUNCTIONS:
            raise self.error("unexpected token: '('", call.end)
        if name not in allowed:
            raise self.error(f"function not allowed here: {call.name}", call.pos)
        arguments = call.arguments
        if name == "distance":
            return self._distance(call)
        if name == "fields":
            known = len(arguments) == 1 and arguments[0].text.lower() in ARGUMENTS_OF_FIELDS
            if not known:
                raise self.error("FIELDS takes ALL, STANDARD or CUSTOM", call.pos)
            return None
        if name == "count" and not arguments:
            if allowed is not SELECT_FUNCTIONS:
                raise self.error("COUNT() is allowed in the field list only", call.pos)
            return None
        if len(arguments) != 1 or isinstance(arguments[0], ast.LiteralValue):
            raise self.error(f"{call.name} takes one field", call.pos)
        if isinstance(arguments[0], ast.Call):
            self.call(arguments[0], NESTED.get(name, frozenset()))
        return None

    def _distance(self, call: ast.Call) -> None:
        if len(call.arguments) != 3:
            raise self.error("DISTANCE takes a field, a location and a unit", call.pos)
        field, place, unit = call.arguments
        if not isinstance(field, ast.FieldPath):
            raise self.error("DISTANCE takes a location field first", field.pos)
        if isinstance(place, ast.Call):
            good = place.function == "geolocation" and len(place.arguments) == 2
            good = good and all(
                isinstance(a, ast.LiteralValue) and a.kind in ("number", "bind")
                for a in place.arguments
            )
        else:
            good = isinstance(place, ast.LiteralValue) and place.kind == "bind"
        if not good:
            raise self.error("DISTANCE takes GEOLOCATION(latitude, longitude)", place.pos)
        bound = isinstance(unit, ast.LiteralValue) and unit.kind == "bind"
        if not bound and unit.text.lower() not in ("mi", "km"):
            raise self.error("the unit of DISTANCE is 'mi' or 'km'", unit.pos)

    def _values(self, condition: ast.Compare | ast.Among) -> None:
        values = condition.values if isinstance(condition, ast.Among) else (condition.value,)
        for value in values:
            if value.kind == "string" and len(value.text) > MAX_STRING:
                raise self.error(
                    f"strings in conditions cannot exceed {MAX_STRING} characters", value.pos
                )
        call = condition.left
        if not isinstance(call, ast.Call):
            return
        for value in values:
            literal = value.kind == "range" and call.function in DATE_FUNCTIONS - {"day_only"}
            if literal or (value.kind == "currency" and call.is_aggregate):
                raise self.error(f"{call.name} cannot be compared with {value.text}", value.pos)
        if call.function == "distance":
            plain = isinstance(condition, ast.Compare) and condition.op not in ("like",)
            if not plain:
                raise self.error("DISTANCE is compared with a number", condition.pos)


ARGUMENTS_OF_FIELDS = ("all", "standard", "custom")
NESTED: dict[str, frozenset[str] | set[str]] = {
    **{name: frozenset({"converttimezone"}) for name in DATE_FUNCTIONS},
    "format": ROW_FUNCTIONS | ast.AGGREGATES,
    "sum": {"convertcurrency"},
    "avg": {"convertcurrency"},
    "min": ROW_FUNCTIONS,
    "max": ROW_FUNCTIONS,
    "count": {"distance"},
    "count_distinct": ROW_FUNCTIONS,
    "grouping": DATE_FUNCTIONS | {"tolabel"},
    "convertcurrency": {"sum", "avg", "min", "max"},
}


def check_query(query: ast.Query, text: str) -> None:
    """Refuse what Salesforce refuses of any org.

    Raises:
        SoqlError: With the place in `text`.
    """
    checker = _Checker(text)
    checker.query(query)
    offset = query.offset
    if offset is not None and offset.kind != "bind" and int(offset.text) > 2000:
        raise checker.error("SOQL offset should be between 0 to 2000", offset.pos, OUT_OF_RANGE)


def calls(expr: ast.Expr | ast.LiteralValue) -> Iterator[ast.Call]:
    """Every call in an expression."""
    if isinstance(expr, ast.Call):
        yield expr
        for argument in expr.arguments:
            yield from calls(argument)


def conditions(condition: ast.Condition) -> Iterator[ast.Compare | ast.Among | ast.SemiJoin]:
    """Every single condition under the logical operators."""
    if isinstance(condition, ast.Logic):
        for item in condition.items:
            yield from conditions(item)
    else:
        yield condition


def own_path(query: ast.Query, path: ast.FieldPath) -> tuple[str, ...]:
    """The path without the name or alias of the object that the query is about."""
    first = query.froms[0]
    names = {first.path.parts[-1].lower(), (first.alias or first.path.parts[-1]).lower()}
    if len(path.parts) > 1 and path.parts[0].lower() in names:
        return path.parts[1:]
    return path.parts


def normal(query: ast.Query, expr: ast.Expr | ast.LiteralValue) -> str:
    """A text that is the same for expressions that mean the same."""
    if isinstance(expr, ast.FieldPath):
        return ".".join(own_path(query, expr)).lower()
    if isinstance(expr, ast.Call):
        return f"{expr.function}({','.join(normal(query, a) for a in expr.arguments)})"
    return expr.text


def ungrouped(
    query: ast.Query, expr: ast.Expr | ast.LiteralValue, grouped: frozenset[str]
) -> Iterator[ast.Expr]:
    """What of an expression is neither grouped nor inside an aggregate."""
    if isinstance(expr, ast.LiteralValue) or normal(query, expr) in grouped:
        return
    if isinstance(expr, ast.FieldPath) or expr.function == "fields":
        yield expr
    elif not expr.is_aggregate:
        for argument in expr.arguments:
            yield from ungrouped(query, argument, grouped)
