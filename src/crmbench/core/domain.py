"""What a domain (a CRM with its tables, tools and rules) gives to the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from crmbench.core.database import Database
from crmbench.core.schema import Row, Schema
from crmbench.core.statements import ConstraintViolation
from crmbench.core.tool import Toolbox
from crmbench.core.world import WorldSource
from crmbench.errors import InputError, ToolError

SeedData = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Table to key to fields."""
SeedRow = Callable[[str, str, Mapping[str, Any]], Row]
"""Table, key and given fields to the row as stored; a ToolError says which rule they break."""


class Domain(Protocol):
    """A CRM. One object a process; episodes get their own database, never their own domain."""

    name: str
    schema: Schema
    toolbox: Toolbox
    tool_sets: tuple[str, ...]
    """The named parts of the tools, for `with_tools`; none: agents always have all of them."""
    default_world: str
    """The world that a sandbox opens where none is named."""
    latents: tuple[str, ...]
    """What the domain's generator can switch off (its argument ``without``); may be none."""

    @property
    def policy(self) -> str:
        """The house rules, as every agent is told them."""

    def handle(self, database: Database) -> Any:
        """What the domain's tools take as their first argument."""

    def world(self, name: str) -> WorldSource:
        """The world of that name.

        Raises:
            InputError: The domain has none of that name.
        """

    def with_tools(self, tool_set: str) -> Domain:
        """The same domain for agents that have a named part of the tools.

        Raises:
            InputError: There is no such part.
        """

    def seed(self, database: Database, data: SeedData) -> None:
        """Put records into a database before an episode's first turn.

        Raises:
            InputError: A record breaks a rule of the domain; names table, key and field.
        """


def load_seed_data(database: Database, data: SeedData, seed_row: SeedRow) -> None:
    """Insert the records of all tables.

    Raises:
        InputError: A table is unknown, `seed_row` refuses a record, or the database does; names the
            table and, but where the database speaks of a whole table, the key.
    """
    for table in data:
        if table not in database.schema.tables:
            raise InputError(f"there is no table '{table}'", field=f"seed_data.{table}")
    # In the schema's order, so that a row comes after those that it refers to.
    for table in [table for table in database.schema.tables if data.get(table)]:
        rows = []
        for key, fields in data[table].items():
            try:
                rows.append(seed_row(table, key, fields))
            except ToolError as error:
                raise InputError(str(error), field=f"seed_data.{table}.{key}") from error
        try:
            database.load(table, rows)
        except ConstraintViolation as error:
            raise InputError(str(error), field=f"seed_data.{table}") from error
