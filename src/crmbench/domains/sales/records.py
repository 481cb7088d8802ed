"""Create, modify and search records: what all entities have in common."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache, partial
from itertools import product
from typing import Any

import sqlalchemy as sa

from crmbench.core.arguments import check_number, check_text, label_of
from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.domains.sales import rules
from crmbench.domains.sales.schema import SCHEMA
from crmbench.errors import ToolError

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
_UUID_LENGTH = 36
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_TODAY_COLUMNS = ("created_date",)
_NOW_COLUMNS = ("created_at", "uploaded_at")


def public(entity: str, row: Row) -> Row:
    """A record as tools show it."""
    return SCHEMA[entity].public(row)


def create(database: Database, entity: str, fields: Mapping[str, Any]) -> Row:
    """Create a record from the fields that were given; id and times are filled in.

    Raises:
        ToolError: A field or a rule refuses it.
    """
    info = SCHEMA[entity]
    row = rules.clean(entity, {k: v for k, v in fields.items() if v is not None})
    rules.enforce(database, entity, None, row)
    clock = database.clock
    if info.key in row:
        if database.get(entity, row[info.key]) is not None:
            raise ToolError(f"{entity} already exists with ID '{row[info.key]}'.", "duplicate")
    else:
        row[info.key] = clock.next_id()
    for name in info.columns:
        if name in _TODAY_COLUMNS:
            row.setdefault(name, clock.today().isoformat())
        elif name in _NOW_COLUMNS:
            row.setdefault(name, clock.timestamp())
    return public(entity, database.insert(entity, row))


def modify(
    database: Database,
    entity: str,
    key: str,
    updates: Mapping[str, Any] | None,
    fields: Mapping[str, Any],
) -> Row:
    """Change a record: either by an object of updates, or by the fields themselves, or both.

    Naming no field changes nothing and gives the record as it is, as published conversations
    expect.

    Raises:
        ToolError: There is no such record, or a field or rule refuses the change.
    """
    before = rules.must_exist(database, entity, key)
    given = dict(updates or {})
    for name, value in fields.items():
        if name in given and given[name] != value:
            raise ToolError(f"{label_of(name)} is given twice, with different values.")
        given[name] = value
    own_key = SCHEMA[entity].key
    if given.pop(own_key, key) != key:
        raise ToolError(f"{label_of(own_key)} cannot be changed.")
    if not given:
        return public(entity, before)
    changes = rules.clean(entity, given)
    rules.enforce(database, entity, before, changes)
    return public(entity, database.update(entity, before, changes))


def search(
    database: Database,
    entity: str,
    criteria: Mapping[str, Any],
    limit: int = DEFAULT_LIMIT,
    offset: int = 0,
) -> Row:
    """The records that fit every criterion, in their order of creation.

    Returns:
        ``{"total_count": all that fit, "limit": …, "offset": …, "records": [those of the page]}``.

    Raises:
        ToolError: A criterion names no field or has a value of the wrong type.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise ToolError(f"Limit must be between 1 and {MAX_LIMIT}.")
    if offset < 0:
        raise ToolError("Offset must not be negative.")
    shape, parameters = _conditions(entity, criteria)
    records = database.select(
        ("search", entity, shape),
        partial(_search_statement, database.dialect, entity, shape),
        {**parameters, "page": limit, "skip": offset},
    )
    total = offset + len(records)
    if len(records) == limit or (offset and not records):
        count = partial(_count_statement, database.dialect, entity, shape)
        total = database.select(("count", entity, shape), count, parameters)[0]["n"]
    return {
        "total_count": total,
        "limit": limit,
        "offset": offset,
        "records": [public(entity, row) for row in records],
    }


def all_matching(database: Database, entity: str, criteria: Mapping[str, Any]) -> list[Row]:
    """Every record that fits, without pages."""
    shape, parameters = _conditions(entity, criteria)
    return database.select(
        ("search", entity, shape),
        partial(_search_statement, database.dialect, entity, shape),
        {**parameters, "page": 2**31 - 1, "skip": 0},
    )


Shape = tuple[tuple[str, str, int], ...]
"""For each criterion: the field, how it is compared, and how many spellings are tried."""


def _conditions(entity: str, criteria: Mapping[str, Any]) -> tuple[Shape, dict[str, Any]]:
    known = rules.field_names(entity)
    shape: list[tuple[str, str, int]] = []
    parameters: dict[str, Any] = {}
    for name in sorted(criteria, key=str):
        if name not in known:
            raise rules.unknown_field(entity, str(name))
        value = criteria[name]
        if value is None:
            shape.append((name, "null", 0))
        elif _is_text(entity, name):
            spellings = _spellings(check_text(value, label_of(name)))
            exact = _is_id(entity, name) and len(value) == _UUID_LENGTH
            shape.append((name, "equal" if exact else "contains", len(spellings)))
            values = [value] if exact else spellings
            parameters |= {f"{name}_{i}": text for i, text in enumerate(values)}
        else:
            shape.append((name, "equal", 1))
            parameters[f"{name}_0"] = check_number(value, label_of(name))
    return tuple(shape), parameters


def _search_statement(dialect: str, entity: str, shape: Shape) -> sa.SelectBase:
    table = SCHEMA[entity].table
    return (
        sa.select(table)
        .where(*_clauses(dialect, entity, shape))
        .order_by(table.c.seq)
        .limit(sa.bindparam("page", type_=sa.Integer))
        .offset(sa.bindparam("skip", type_=sa.Integer))
    )


def _count_statement(dialect: str, entity: str, shape: Shape) -> sa.SelectBase:
    table = SCHEMA[entity].table
    counted = sa.select(sa.func.count().label("n")).select_from(table)
    return counted.where(*_clauses(dialect, entity, shape))


def _clauses(dialect: str, entity: str, shape: Shape) -> list[sa.ColumnElement[bool]]:
    table = SCHEMA[entity].table
    position = sa.func.instr if dialect == "sqlite" else sa.func.strpos
    clauses: list[sa.ColumnElement[bool]] = []
    for name, how, spellings in shape:
        column = table.c[name]
        if how == "null":
            clauses.append(column.is_(None))
        elif how == "equal":
            clauses.append(column == sa.bindparam(f"{name}_0"))
        else:
            # lower() folds ASCII only: on SQLite always, on PostgreSQL by the "C" collation.
            folded = sa.func.lower(sa.cast(column, sa.Text) if name == "contacts" else column)
            found = [
                position(folded, sa.bindparam(f"{name}_{i}", type_=sa.Text)) > 0
                for i in range(spellings)
            ]
            clauses.append(sa.or_(*found))
    return clauses


@lru_cache(maxsize=1024)
def _spellings(needle: str) -> tuple[str, ...]:
    """The needle with ASCII folded, and its other letters in both cases.

    The databases fold ASCII letters alike and others each in its own way, so the letters beyond
    ASCII are spelled out; with many of them only the usual forms are tried.
    """
    cased = [
        (c.lower(), c.upper())
        if not c.isascii() and len(c.lower()) == len(c.upper()) == 1
        else (c, c)
        for c in needle
    ]
    letters = sum(low != high for low, high in cased)
    if letters <= 3:
        forms = {"".join(form) for form in product(*(sorted(set(pair)) for pair in cased))}
    else:
        forms = {needle, needle.lower(), needle.upper(), needle.title(), needle.capitalize()}
    return tuple(sorted({form.translate(_ASCII_LOWER) for form in forms}))


@lru_cache(maxsize=256)
def _is_text(entity: str, name: str) -> bool:
    return isinstance(SCHEMA[entity].table.c[name].type, sa.String | sa.JSON)


def _is_id(entity: str, name: str) -> bool:
    info = SCHEMA[entity]
    return name == info.key or name in info.references or name == "entity_id"


def related(database: Database, entity: str, column: str, key: Hashable) -> list[Row]:
    """The records of `entity` whose `column` is `key`, as tools show them."""
    return [public(entity, row) for row in database.find(entity, column, key)]
