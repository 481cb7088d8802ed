"""The sales CRM as a domain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from crmbench.authoring.domain import TaskSet
from crmbench.authoring.pools import Pool, read_pool
from crmbench.authoring.rungs import RUNGS
from crmbench.core.database import Database
from crmbench.core.domain import SeedData, load_seed_data
from crmbench.core.schema import Row
from crmbench.core.world import EmptyWorld, WorldSource
from crmbench.domains.sales import policy, rules
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.tools import TOOLBOX
from crmbench.errors import InputError, ToolError

if TYPE_CHECKING:
    from crmbench.authoring.rule_change import RuleChange
    from crmbench.domains.sales.world import SalesWorld
    from crmbench.salesforce.sobjects.store import Store

EMPTY_NOW = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
"""When conversations that bring their own seed data take place; before every date they name."""


class SalesDomain:
    """Implements `Domain`."""

    name = "sales"
    schema = SCHEMA
    toolbox = TOOLBOX
    tool_sets: tuple[str, ...] = ()
    default_world = "empty"
    latents: tuple[str, ...] = ()
    task_sets = (
        TaskSet("crmbench.domains.sales.generate:generate", ("train", "test", "standard")),
        TaskSet("crmbench.domains.sales.hard.generate:generate", ("hard",)),
        TaskSet("crmbench.domains.sales.rungs:generate", RUNGS, "ladder"),
    )
    pool_generator = "crmbench.domains.sales.generate:generate_pool"

    @property
    def worlds(self) -> tuple[str, ...]:
        """The standard worlds."""
        from crmbench.domains.sales.world import STANDARD_WORLDS

        return tuple(STANDARD_WORLDS)

    @property
    def rule_changes(self) -> tuple[RuleChange, ...]:
        """House rules that can change in the middle of a stream of tasks."""
        from crmbench.domains.sales.rule_changes import CHANGES

        return CHANGES

    @cached_property
    def policy(self) -> str:
        """The house rules, as every agent is told them."""
        return policy.text()

    def handle(self, database: Database) -> Database:
        """Tools take the database itself."""
        return database

    def world(self, name: str) -> WorldSource:
        """The world of that name.

        Raises:
            InputError: There is none.
        """
        if name == "empty":
            return EmptyWorld(EMPTY_NOW)
        return standard_world(name)

    def with_tools(self, tool_set: str) -> SalesDomain:
        """Agents always have all tools.

        Raises:
            InputError: Always.
        """
        raise InputError(
            f"the sales domain has no tool set '{tool_set}'", expected="no --tools: it has one set"
        )

    def sobject_store(self, database: Database) -> Store:
        """The CRM's records as sObjects, for Salesforce's APIs."""
        from crmbench.domains.sales.sobjects.store import open_store

        return open_store(database)

    def seed(self, database: Database, data: SeedData) -> None:
        """Insert records in foreign-key order; the rules for single fields hold, those for the
        moment of a change (a close date in the future, a locked stage) do not.

        Raises:
            InputError: A table is unknown or a record breaks a rule; names table, key and field.
        """
        load_seed_data(database, data, partial(_seed_row, database, data))


_WORLD = re.compile(
    r"(?P<base>[a-z]+-\d\d)(?:(?:\.(?P<pool>train|held_out))?\.(?P<seed>\d+))?(?:-x(?P<scale>\d+(?:\.\d+)?))?"
)


@lru_cache(maxsize=64)
def standard_world(name: str) -> SalesWorld:
    """One of the standard worlds ("harbour-01"), one like it from another seed
    ("harbour-01.77", or "harbour-01.train.77" with the names of a pool), or a larger one
    ("harbour-01-x20").

    Raises:
        InputError: There is none of that name.
    """
    from crmbench.domains.sales.world import STANDARD_WORLDS, generate

    match = _WORLD.fullmatch(name)
    spec = STANDARD_WORLDS.get(match["base"]) if match else None
    if match is None or spec is None:
        known = ", ".join(("empty", *STANDARD_WORLDS))
        raise InputError(f"the sales domain has no world named '{name}'", expected=known)
    if match["seed"]:
        seed = spec.seed + 10_000 * int(match["seed"])
        pool: Pool = read_pool(match["pool"]) if match["pool"] else ""
        within = f"{pool}.{match['seed']}" if pool else match["seed"]
        spec = replace(spec, name=f"{spec.name}.{within}", seed=seed, pool=pool)
    return generate(spec, float(match["scale"] or 1))


def _seed_row(
    database: Database, data: SeedData, entity: str, key: str, fields: Mapping[str, Any]
) -> Row:
    """A record as it is stored.

    Raises:
        ToolError: A field breaks a rule, is missing, or refers to a record that is not there.
    """
    info = SCHEMA[entity]
    row = rules.clean(entity, {k: v for k, v in fields.items() if v is not None})
    for column in _required(entity):
        if row.get(column) is None:
            raise ToolError(f"{entity} needs {column}.")
    for name, target in info.references.items():
        if row.get(name) is not None and row[name] not in data.get(target, {}):
            rules.must_exist(database, target, row[name])
    if "entity_id" in row and row["entity_id"] not in data.get(row["entity_type"], {}):
        rules.must_exist(database, row["entity_type"], row["entity_id"])
    row[info.key] = key
    return row


@cache
def _required(entity: str) -> tuple[str, ...]:
    """The columns that a record in seed data has to fill."""
    info = SCHEMA[entity]
    ours = (info.key, info.order)
    return tuple(c.name for c in info.table.c if not c.nullable and c.name not in ours)


SALES = SalesDomain()
