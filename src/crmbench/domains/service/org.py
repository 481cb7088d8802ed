"""An org while an episode runs in it: its database, its query languages, and its clock."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import Dialect

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.domains.service.schema import catalog
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.sosl.engine import Sosl

Build = Callable[[str], sa.SelectBase]
"""Makes a select for a dialect of that name."""


@dataclass(frozen=True, slots=True)
class ServiceOrg:
    """What the tools of the service domain work on."""

    database: Database
    soql: Soql
    sosl: Sosl

    @property
    def dialect(self) -> str:
        """Name of the database's dialect."""
        return self.database.dialect

    @property
    def now(self) -> datetime:
        """The world's time, UTC."""
        return self.database.clock.now()

    def stamp(self) -> str:
        """Now, as the org stores moments."""
        return moment_text(self.now)

    def select(self, name: Hashable, build: Build, **parameters: Any) -> list[Row]:
        """Run the select that `build` makes, compiled once and kept under `name`.

        A parameter that is a list must have been put into the statement by `among`.
        """
        bound = {k: self._bound(v) for k, v in parameters.items()}
        return self.database.select(name, lambda: build(self.dialect), bound)

    def _bound(self, value: Any) -> Any:
        if isinstance(value, list) and self.dialect == "sqlite":
            return orjson.dumps(value).decode()
        return value


def open_org(database: Database) -> ServiceOrg:
    """The org of a database; what its query languages have compiled is kept for the next."""
    soql, sosl = _languages(database.connection.dialect)
    return ServiceOrg(database, soql, sosl)


@cache
def _languages(dialect: Dialect) -> tuple[Soql, Sosl]:
    return Soql(catalog(), dialect), Sosl(catalog(), dialect)


def among(dialect: str, column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """That a column is one of the values of the list parameter `name`, however long it is."""
    if dialect == "sqlite":
        each = sa.func.json_each(sa.bindparam(name, type_=sa.String()))
        return column.in_(sa.select(each.table_valued("value").c.value))
    return column == sa.any_(sa.bindparam(name, type_=ARRAY(sa.String())))


def moment_text(moment: datetime) -> str:
    """A moment as the org stores it, in UTC."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}.000+0000"


def parse_moment(text: str) -> datetime:
    """A moment that the org stored."""
    return datetime.fromisoformat(text)


def distinct(values: Sequence[str]) -> list[str]:
    """The values without repetitions, in their order."""
    return list(dict.fromkeys(values))
