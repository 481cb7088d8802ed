"""Running SOSL on the full-text index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import Dialect

from crmbench.salesforce.catalog import Catalog, ObjectInfo
from crmbench.salesforce.soql import ast as soql
from crmbench.salesforce.soql.compiler import Compiler
from crmbench.salesforce.soql.engine import API_PATH, Execute, Record, run_plan
from crmbench.salesforce.soql.errors import MALFORMED, SoqlError
from crmbench.salesforce.soql.plan import QueryPlan
from crmbench.salesforce.soql.scope import Source
from crmbench.salesforce.sosl import ast
from crmbench.salesforce.sosl.index import SCOPES, fts5_query, searchable, tsquery
from crmbench.salesforce.sosl.parser import parse
from crmbench.salesforce.sosl.words import (
    Expression,
    TooManyWordsError,
    expanded,
    is_exact,
    matches,
    parse_words,
    widened,
)

MAX_RECORDS = 2_000
"""How many records a search returns, over all objects."""
MAX_CANDIDATES = 200_000
MAX_PLANS = 512
MATCH = "search_words"
FOUND = "found"
OPEN = "\x00"
"""Stands in a plan's parameters for words that are not known before the search runs."""


@dataclass(frozen=True, slots=True)
class Found:
    """The records of one object that a search found."""

    type_name: str
    records: list[Record]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search returns: per object, in the order of RETURNING."""

    found: list[Found]

    def as_json(self) -> dict[str, Any]:
        """The body of the REST API's answer."""
        return {"searchRecords": [record for each in self.found for record in each.records]}


class _Planned(NamedTuple):
    info: ObjectInfo
    plan: QueryPlan
    """With the words of the search in it, or with `OPEN` in their place."""
    by_ids: QueryPlan | None
    """Takes the ids that were found; None if the index alone decides the search."""


class Sosl:
    """Compiles searches for one kind of database; runs them on any connection with the index.

    Args:
        catalog: The org's objects.
        dialect: SQLAlchemy's dialect of the database, with positional parameters.
        objects: The objects that are indexed; all that have text if empty.
    """

    def __init__(self, catalog: Catalog, dialect: Dialect, objects: Iterable[str] = ()) -> None:
        self.catalog = catalog
        self.dialect = dialect
        names = list(objects) or [i.name for i in catalog.objects.values()]
        self.objects = [n for n in names if any(searchable(catalog.objects[n.lower()]).values())]
        self._plans: dict[tuple[str, date], list[_Planned]] = {}

    def can_find(self, name: str) -> bool:
        """Whether records of an object can be found at all."""
        return name.lower() in {each.lower() for each in self.objects}

    def run(
        self,
        text: str,
        execute: Execute,
        now: datetime,
        *,
        attributes: bool = True,
        path: str = API_PATH,
    ) -> SearchResult:
        """Run a search.

        Args:
            text: The search.
            execute: Runs one statement with its parameters and returns all rows.
            now: The org's clock.
            attributes: Whether each record says its type and address; without them records of
                several objects cannot be told apart in `SearchResult.as_json`.
            path: What the addresses begin with.

        Raises:
            SoqlError: The search is refused.
        """
        search = parse(text)
        today = now.astimezone(UTC).date()
        planned = self._plans.get((text, today))
        if planned is None:
            planned = self._plan(search, text, today)
            if len(self._plans) >= MAX_PLANS:
                self._plans.pop(next(iter(self._plans)))
            self._plans[text, today] = planned
        expression = parse_words(search.words)
        left = MAX_RECORDS if search.limit is None else min(int(search.limit.text), MAX_RECORDS)
        address = path if attributes else None
        found = []
        for each in planned:
            plan = self._filled(each, expression, search.fields, execute)
            records: list[Record] = []
            if plan is not None:
                records = run_plan(plan, execute, self.dialect.name, address).records[:left]
            left -= len(records)
            found.append(Found(each.info.name, records))
        return SearchResult(found)

    def _filled(
        self, planned: _Planned, expression: Expression, fields: str, execute: Execute
    ) -> QueryPlan | None:
        """The plan with what the wildcards stand for at this moment; None if for nothing."""
        if planned.by_ids is None:
            return planned.plan
        info = planned.info
        try:
            spelled = expanded(expression, lambda stem: self._vocabulary(info, stem, execute))
        except TooManyWordsError:
            pass
        else:
            words = None if spelled is None else self._words(spelled, fields)
            return None if words is None else _with_words(planned.plan, words)
        ids = self._ids(info, expression, fields, execute)
        return _with_ids(planned.by_ids, ids, self.dialect.name)

    def _plan(self, search: ast.Search, text: str, today: date) -> list[_Planned]:
        source = Source(self.catalog, self.dialect.name, today, text)
        _refuse(source, search)
        targets = search.targets or tuple(_ids_of(name) for name in self.objects)
        expression = parse_words(search.words)
        planned = []
        for target in targets:
            path = target.query.froms[0].path
            info = source.object(path.text, path.pos)
            if info.name not in self.objects:
                raise source.error(
                    MALFORMED, f"entity type {info.name} is not searchable", path.pos
                )
            query = target.query
            if not target.counted:
                query = replace(query, limit=soql.LiteralValue("number", str(MAX_RECORDS), 0))
            compiler = Compiler(source, self.dialect, query, info, alias=FOUND)
            key = compiler.scope.table.c["Id"]
            exact = is_exact(expression)
            words = self._words(expression, search.fields) if exact else OPEN
            compiler.restriction = self._found(key, info, words)
            plan, by_ids = compiler.plan(), None
            if not exact:
                compiler = Compiler(source, self.dialect, query, info, alias=FOUND)
                compiler.restriction = compiler.of_ids(compiler.scope.table.c["Id"])
                by_ids = compiler.plan()
            planned.append(_Planned(info, plan, by_ids))
        return planned

    def _words(self, expression: Expression, fields: str) -> str:
        """An expression that the index decides, in the index's own language."""
        ask = tsquery if self.dialect.name == "postgresql" else fts5_query
        return ask(expression, fields)

    def _found(self, key: Any, info: ObjectInfo, words: str) -> Any:
        """That the index finds the row of the table called `FOUND`; the search is a parameter."""
        index = f'"{info.name}__fts"'
        if self.dialect.name == "postgresql":
            statement = f"SELECT id FROM {index} WHERE vector @@ CAST(:{MATCH} AS tsquery)"
        else:
            # The index holds the table's own row numbers, a shorter way to the row than its id.
            key = sa.literal_column(f"{FOUND}.rowid", sa.Integer())
            statement = f"SELECT rowid FROM {index} WHERE {index} MATCH :{MATCH}"
        select = sa.text(statement).bindparams(sa.bindparam(MATCH, words, sa.String()))
        matching = select.columns(sa.column("found", key.type))
        if self.dialect.name == "postgresql":
            # The index first, whatever the planner expects of words that it does not know.
            return key == sa.any_(
                sa.func.array(matching.scalar_subquery(), type_=ARRAY(sa.String()))
            )
        return key.in_(matching)

    def _vocabulary(self, info: ObjectInfo, stem: str, execute: Execute) -> list[str]:
        """The words of an object's index that begin with a stem."""
        mark = "%s" if self.dialect.name == "postgresql" else "?"
        text = f'SELECT term FROM "{info.name}__fts_words" WHERE term >= {mark} AND term <= {mark}'
        return [row[0] for row in execute(text, (stem, stem + "\U0010ffff"))]

    def _ids(
        self, info: ObjectInfo, expression: Expression, fields: str, execute: Execute
    ) -> list[str]:
        """The ids of what fits wildcards that no index decides."""
        groups = searchable(info)
        names = [name for group in SCOPES[fields] for name in groups[group]]
        if not names:
            return []
        table: Any = info.table.alias(FOUND)
        key = table.c["Id"]
        select = sa.select(key, *[table.c[name] for name in names]).where(
            self._found(key, info, self._words(widened(expression), fields))
        )
        compiled = select.limit(sa.literal_column(str(MAX_CANDIDATES))).compile(
            dialect=self.dialect, compile_kwargs={"render_postcompile": True}
        )
        values = [compiled.params[name] for name in getattr(compiled, "positiontup", None) or ()]
        rows = execute(str(compiled), values)
        return [row[0] for row in rows if matches(expression, [v for v in row[1:] if v])]


def _ids_of(name: str) -> ast.ReturnedObject:
    path = soql.FieldPath((name,), 0)
    field = soql.Field(soql.FieldPath(("Id",), 0), None, 0)
    query = soql.Query(
        (field,), (soql.FromItem(path, None),), None, None, None, None, (), None, None, (), 0
    )
    return ast.ReturnedObject(query, False)


def _refuse(source: Source, search: ast.Search) -> None:
    """Refuse clauses whose effect this org does not have."""
    if search.bound or (search.limit is not None and search.limit.kind == "bind"):
        raise source.error(MALFORMED, "Bind variables only allowed in Apex code", search.pos)
    for clause in search.withs:
        if not clause.harmless:
            raise source.not_executed(f"WITH {clause.name}", clause.pos)


def _with_words(plan: QueryPlan, words: str) -> QueryPlan:
    statement = plan.statement
    parameters = tuple(words if p == OPEN else p for p in statement.parameters)
    return replace(plan, statement=replace(statement, parameters=parameters))


def _with_ids(plan: QueryPlan, ids: list[str], dialect: str) -> QueryPlan:
    statement = plan.statement
    if statement.ids_at is None:
        raise SoqlError(MALFORMED, "the search has no place for the ids it found")
    parameters = list(statement.parameters)
    parameters[statement.ids_at] = ids if dialect == "postgresql" else orjson.dumps(ids).decode()
    return replace(plan, statement=replace(statement, parameters=tuple(parameters), ids_at=None))
