"""The sales CRM as a domain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from importlib import resources
from typing import Any

from crmbench.core.database import Database
from crmbench.core.domain import SeedData
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
            for key, fields in data.get(entity, {}).items():
                try:
                    self._seed_one(database, entity, key, fields)
                except ToolError as error:
                    raise InputError(str(error), field=f"seed_data.{entity}.{key}") from error

    def _seed_one(
        self, database: Database, entity: str, key: str, fields: Mapping[str, Any]
    ) -> None:
        info = SCHEMA[entity]
        row = rules.clean(entity, {k: v for k, v in fields.items() if v is not None})
        rules.references_exist(database, entity, row)
        for name in info.table.c:
            required = not name.nullable and name.name not in (info.key, info.order)
            if required and row.get(name.name) is None:
                raise ToolError(f"{entity} needs {name.name}.")
        row[info.key] = key
        database.insert(entity, row)


SALES = SalesDomain()
