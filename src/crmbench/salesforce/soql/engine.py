"""Running SOQL: the org's catalog and clock, a database, results as the REST API gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy.engine import Dialect

from crmbench.salesforce.catalog import Catalog
from crmbench.salesforce.soql.compiler import compile_query
from crmbench.salesforce.soql.errors import LIMIT_EXCEEDED, SoqlError
from crmbench.salesforce.soql.grouping import MAX_GROUPS
from crmbench.salesforce.soql.parser import parse
from crmbench.salesforce.soql.plan import ChildPlan, Leaf, Node, QueryPlan, Statement
from crmbench.salesforce.soql.scope import MAX_ROWS, Source
from crmbench.salesforce.soql.template import Shape, Templates

Execute = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
Record = dict[str, Any]
Children = dict[str, list[Record]]

MAX_PLANS = 1_024
API_PATH = "/services/data/v65.0/sobjects"


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query returns."""

    total_size: int
    records: list[Record]

    def as_json(self) -> dict[str, Any]:
        """The body of the REST API's answer."""
        return {"totalSize": self.total_size, "done": True, "records": self.records}


class Soql:
    """Compiles queries for one kind of database and keeps the plans; runs them on any connection.

    Args:
        catalog: The org's objects.
        dialect: SQLAlchemy's dialect of the database, with positional parameters.
        max_rows: How many rows a query may read, those of subqueries counted in.
    """

    def __init__(self, catalog: Catalog, dialect: Dialect, max_rows: int = MAX_ROWS) -> None:
        self.catalog = catalog
        self.dialect = dialect
        self.max_rows = max_rows
        self._plans: dict[tuple[str, date], QueryPlan] = {}
        self._templates = Templates(MAX_PLANS)

    def plan(self, text: str, now: datetime) -> QueryPlan:
        """The plan of a query on the day of `now`; kept, as it costs more than most queries.

        Raises:
            SoqlError: The query is refused.
        """
        # LAST_MONTH and its like are dates in the compiled statement, so a plan holds for one day.
        today = now.astimezone(UTC).date()
        plan = self._plans.get((text, today))
        if plan is None:
            shape = Shape.of(text)
            plan = (self._templates.find(shape, today) if shape else None) or self._compiled(
                text, shape, today
            )
            if len(self._plans) >= MAX_PLANS:
                # The oldest goes: a dict keeps the order in which they came.
                self._plans.pop(next(iter(self._plans)))
            self._plans[text, today] = plan
        return plan

    def _compiled(self, text: str, shape: Shape | None, today: date) -> QueryPlan:
        source = Source(self.catalog, self.dialect.name, today, text, self.max_rows)
        plan = compile_query(source, self.dialect, parse(text))
        if shape is not None:
            self._templates.keep(shape, today, plan)
        return plan

    def run(
        self,
        text: str,
        execute: Execute,
        now: datetime,
        *,
        attributes: bool = False,
        path: str = API_PATH,
    ) -> QueryResult:
        """Run a query.

        Args:
            text: The query.
            execute: Runs one statement with its parameters and returns all rows.
            now: The org's clock; relative dates are relative to its day in UTC.
            attributes: Whether each record says its type and address, as the REST API's do.
            path: What the addresses begin with.

        Raises:
            SoqlError: The query is refused, or exceeds a limit.
        """
        address = path if attributes else None
        return run_plan(self.plan(text, now), execute, self.dialect.name, address, self.max_rows)


def run_plan(
    plan: QueryPlan,
    execute: Execute,
    dialect: str,
    path: str | None,
    max_rows: int = MAX_ROWS,
) -> QueryResult:
    """Run a plan.

    Args:
        path: What the addresses of records begin with; None if records say none.

    Raises:
        SoqlError: The result exceeds a limit.
    """
    return _Execution(execute, dialect, path, max_rows).query(plan)


class _Execution:
    """One execution of a plan, with its subqueries."""

    def __init__(self, execute: Execute, dialect: str, path: str | None, max_rows: int) -> None:
        self.execute = execute
        self.dialect = dialect
        self.path = path
        self.max_rows = max_rows
        self.rows_read = 0

    def query(self, plan: QueryPlan) -> QueryResult:
        rows = self._rows(plan.statement, None)
        if plan.count_window is not None:
            skip, most = plan.count_window
            # COUNT() counts before LIMIT and OFFSET in SQL, and after them in SOQL.
            count = max(0, rows[0][0] - skip)
            return QueryResult(count if most is None else min(count, most), [])
        if plan.aggregate and len(rows) > MAX_GROUPS:
            raise SoqlError(
                LIMIT_EXCEEDED,
                "Aggregate query does not support queryMore(), use LIMIT to restrict the results "
                "to a single batch",
            )
        records = self.records(plan, rows)
        return QueryResult(len(records), records)

    def records(self, plan: QueryPlan, rows: list[tuple[Any, ...]]) -> list[Record]:
        """Rows in the shape of records."""
        if plan.sort_index is not None:
            rows.sort(key=itemgetter(plan.sort_index))
        if plan.leaves and self.path is None:
            return _flat(plan.leaves, rows)
        children = {
            id(item): self._children(item, rows)
            for _, item in plan.node.entries
            if isinstance(item, ChildPlan)
        }
        return [self._record(plan.node, row, children) for row in rows]

    def _record(self, node: Node, row: tuple[Any, ...], children: dict[int, Children]) -> Record:
        record: Record = {}
        if self.path is not None:
            record["attributes"] = self._attributes(node, row)
        for key, item in node.entries:
            if isinstance(item, Leaf):
                value = row[item.index]
                record[key] = value if item.convert is None else item.convert(value)
            elif isinstance(item, Node):
                # An outer join gives a parent of nulls where there is none: SOQL says null for the
                # whole.
                absent = item.id_index is not None and row[item.id_index] is None
                record[key] = None if absent else self._record(item, row, children)
            else:
                found = children[id(item)].get(row[item.parent_id])
                record[key] = QueryResult(len(found), found).as_json() if found else None
        return record

    def _attributes(self, node: Node, row: tuple[Any, ...]) -> Record:
        if node.id_index is None:
            return {"type": node.type_name}
        return {
            "type": node.type_name,
            "url": f"{self.path}/{node.type_name}/{row[node.id_index]}",
        }

    def _children(self, child: ChildPlan, rows: list[tuple[Any, ...]]) -> Children:
        """The children of all rows, by the parent's id, from one statement."""
        parents = [row[child.parent_id] for row in rows]
        if not parents:
            return {}
        plan = child.plan
        found = self._rows(plan.statement, parents)
        if plan.sort_index is not None:
            found.sort(key=itemgetter(plan.sort_index))
        records = self.records(plan, found)
        by_parent: Children = {}
        index = plan.parent_index or 0
        for row, record in zip(found, records, strict=True):
            by_parent.setdefault(row[index], []).append(record)
        return by_parent

    def _rows(self, statement: Statement, parents: list[str] | None) -> list[tuple[Any, ...]]:
        parameters = list(statement.parameters)
        if statement.ids_at is not None and parents is not None:
            json_ids = partial(orjson.dumps, parents)
            parameters[statement.ids_at] = (
                # PostgreSQL binds an array; SQLite has none, and unpacks JSON.
                parents if self.dialect == "postgresql" else json_ids().decode()
            )
        rows = self.execute(statement.sql, parameters)
        # Subqueries count too, as they do in an org.
        self.rows_read += len(rows)
        if self.rows_read > self.max_rows:
            raise SoqlError("LIMIT_EXCEEDED", f"Too many query rows: {self.max_rows + 1}")
        return rows


def _flat(leaves: tuple[Leaf, ...], rows: list[tuple[Any, ...]]) -> list[Record]:
    """Records without parents and children, which need no walk through a tree."""
    if len(leaves) == 1:
        (leaf,) = leaves
        key, index, convert = leaf.key, leaf.index, leaf.convert
        if convert is None:
            return [{key: row[index]} for row in rows]
        return [{key: convert(row[index])} for row in rows]
    keys = [leaf.key for leaf in leaves]
    pick = itemgetter(*(leaf.index for leaf in leaves))
    records = [dict(zip(keys, pick(row), strict=True)) for row in rows]
    for leaf in leaves:
        if leaf.convert is not None:
            for record in records:
                record[leaf.key] = leaf.convert(record[leaf.key])
    return records
