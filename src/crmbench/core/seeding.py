"""A task's own records, put into its world in the order of their references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crmbench.core.connection import ConstraintViolation
from crmbench.core.database import Database
from crmbench.core.domain import SeedData
from crmbench.core.schema import Row
from crmbench.errors import InputError, ToolError

SeedRow = Callable[[str, str, Mapping[str, Any]], Row]
"""Table, key and given fields to the row as stored; a ToolError says which rule they break."""


def load_seed_data(database: Database, data: SeedData, seed_row: SeedRow) -> None:
    """Insert the records of all tables.

    Raises:
        InputError: A table is unknown, `seed_row` refuses a record, or the database does; names the
            table and, but where the database speaks of a whole table, the key.
    """
    for table in data:
        if table not in database.schema.tables:
            raise InputError(f"there is no table '{table}'", field=f"seed_data.{table}")
    for table in database.schema.tables:
        rows = []
        for key, fields in data.get(table, {}).items():
            try:
                rows.append(seed_row(table, key, fields))
            except ToolError as error:
                raise InputError(str(error), field=f"seed_data.{table}.{key}") from error
        try:
            database.load(table, rows)
        except ConstraintViolation as error:
            raise InputError(str(error), field=f"seed_data.{table}") from error
