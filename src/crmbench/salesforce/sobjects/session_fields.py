"""Fields that every record has and no column holds: when it last changed, by whom, if it is gone.

Their values follow from what was written since the org was opened. The SQL takes that as
parameters, which stand as marks in a compiled query and are put in when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from crmbench.salesforce.catalog import DerivedField
from crmbench.salesforce.sobjects.history import History

MARK = "\x00"
"""What a parameter begins with that is put in when the query runs; no value of a query has it."""
CREATED, MODIFIED, DELETED, USER = (
    f"{MARK}{name}" for name in ("created", "modified", "deleted", "user")
)
ORIGIN = "2021-01-01T00:00:00.000+0000"
"""When a record was created that does not say it and was there from the beginning."""

Sql = sa.ColumnElement[Any]


def parameter(mark: str) -> Sql:
    """What is put in for a mark."""
    return sa.bindparam(mark[1:] + "_of_session", mark, sa.String())


def constant(text: str) -> Callable[[Any, str], Sql]:
    """The same value for each record; nothing where there is no record."""

    def derive(table: Any, dialect: str) -> Sql:
        del dialect
        return sa.case((table.c["Id"].is_not(None), sa.literal_column(text, sa.String())))

    return derive


def quoted(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def flag(value: bool) -> Callable[[Any, str], Sql]:
    """The same boolean for each record."""

    def derive(table: Any, dialect: str) -> Sql:
        del dialect
        return sa.case((table.c["Id"].is_not(None), sa.true() if value else sa.false()))

    return derive


def _moment(table: Any, dialect: str, mark: str) -> Sql:
    """The moment that the parameter, a JSON object by id, has for a record."""
    key = table.c["Id"]
    if dialect == "postgresql":
        found: Sql = sa.cast(parameter(mark), JSONB).op("->>")(key)
        return found
    return sa.func.json_extract(parameter(mark), sa.literal_column("'$.'").op("||")(key))


def _created(table: Any, dialect: str) -> Sql:
    origin = sa.literal_column(quoted(ORIGIN), sa.String())
    return sa.func.coalesce(_moment(table, dialect, CREATED), origin, type_=sa.String())


def _modified(table: Any, dialect: str) -> Sql:
    created = table.c["CreatedDate"] if "CreatedDate" in table.c else _created(table, dialect)
    return sa.func.coalesce(_moment(table, dialect, MODIFIED), created, type_=sa.String())


def _deleted(table: Any, dialect: str) -> Sql:
    position = sa.func.strpos if dialect == "postgresql" else sa.func.instr
    gone: Sql = position(parameter(DELETED), table.c["Id"]) > sa.literal_column("0")
    return gone


def _user(table: Any, dialect: str) -> Sql:
    del dialect
    return sa.case((table.c["Id"].is_not(None), parameter(USER)))


SESSION_FIELDS = (
    DerivedField("CreatedDate", "datetime", _created, required=True, groupable=False),
    DerivedField("CreatedById", "id", _user, True, "User", groupable=False),
    DerivedField("LastModifiedDate", "datetime", _modified, required=True, groupable=False),
    DerivedField("LastModifiedById", "id", _user, True, "User", groupable=False),
    DerivedField("SystemModstamp", "datetime", _modified, required=True, groupable=False),
    DerivedField("IsDeleted", "boolean", _deleted, required=True, groupable=False),
)
"""What every object has besides its own fields."""


def filled(parameters: Sequence[Any], history: History, user_id: str) -> Sequence[Any]:
    """A statement's parameters with values in the place of marks."""
    if not any(type(p) is str and p[:1] == MARK for p in parameters):
        return parameters
    history.refresh()
    values: dict[str, Callable[[], str]] = {
        CREATED: lambda: orjson.dumps(history.created).decode(),
        MODIFIED: lambda: orjson.dumps(history.modified).decode(),
        DELETED: lambda: " ".join(history.deleted),
        USER: lambda: user_id,
    }
    made: dict[str, str] = {}
    result = []
    for each in parameters:
        if type(each) is str and each in values:
            if each not in made:
                made[each] = values[each]()
            each = made[each]
        result.append(each)
    return result
