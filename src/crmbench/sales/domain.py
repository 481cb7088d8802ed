"""The sales CRM as a domain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from importlib import resources
from typing import Any

from crmbench.core.database import ConstraintViolation, Database
from crmbench.core.domain import SeedData
from crmbench.core.schema import Row
from crmbench.core.world import EmptyWorld, WorldSource
from crmbench.errors import InputError, ToolError
from crmbench.sales import rules
from crmbench.sales.schema import SCHEMA
from crmbench.sales.tools import TOOLBOX

EMPTY_NOW = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
"""When conversations that bring their own seed data take place; before every date they name."""


class SalesDomain:
    """Implements `Domain`."""

    name = "sales"
    schema = SCHEMA
    toolbox = TOOLBOX

    @cached_property
    def policy(self) -> str:
        return (resources.files("crmbench.sales") / "policy.md").read_text(encoding="utf-8")

    def handle(self, database: Database) -> Database:
        return database

    def world(self, name: str) -> WorldSource:
        if name == "empty":
            return EmptyWorld(EMPTY_NOW)
        raise InputError(f"the sales domain has no world named '{name}'", expected="empty")

    def seed(self, database: Database, data: SeedData) -> None:
        """Insert records in foreign-key order; the rules for single fields hold, those for the
        moment of a change (a close date in the future, a locked stage) do not.
        """
        for entity in SCHEMA.tables:
            rows = []
            for key, fields in data.get(entity, {}).items():
                place = f"seed_data.{entity}.{key}"
                try:
                    rows.append(_seed_row(database, data, entity, key, fields))
                except ToolError as error:
                    raise InputError(str(error), field=place) from error
            try:
                database.load(entity, rows)
            except ConstraintViolation as error:
                raise InputError(str(error), field=f"seed_data.{entity}") from error


def _seed_row(
    database: Database, data: SeedData, entity: str, key: str, fields: Mapping[str, Any]
) -> Row:
    """A record as it is stored.

    Raises:
        ToolError: A field breaks a rule, is missing, or refers to a record that is not there.
    """
    info = SCHEMA[entity]
    row = rules.clean(entity, {k: v for k, v in fields.items() if v is not None})
    for column in info.table.c:
        required = not column.nullable and column.name not in (info.key, info.order)
        if required and row.get(column.name) is None:
            raise ToolError(f"{entity} needs {column.name}.")
    for name, target in info.references.items():
        if row.get(name) is not None and row[name] not in data.get(target, {}):
            rules.must_exist(database, target, row[name])
    if "entity_id" in row and row["entity_id"] not in data.get(row["entity_type"], {}):
        rules.must_exist(database, row["entity_type"], row["entity_id"])
    row[info.key] = key
    return row


SALES = SalesDomain()
