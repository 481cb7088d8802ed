"""The service org as a domain."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from crmbench.authoring.domain import TaskSet
from crmbench.authoring.rungs import RUNGS
from crmbench.core.database import Database
from crmbench.core.domain import SeedData, load_seed_data
from crmbench.core.schema import Row
from crmbench.core.stored_world import stored_world
from crmbench.core.world import WorldSource
from crmbench.domains.service.org import ServiceOrg, open_org
from crmbench.domains.service.org_domain import OrgDomain
from crmbench.domains.service.records import must_exist
from crmbench.domains.service.schema import PICKLISTS, SCHEMA
from crmbench.domains.service.tools import TOOLBOXES
from crmbench.domains.service.world import LATENTS, ServiceWorld, generate, world_from_name
from crmbench.errors import ToolError
from crmbench.salesforce.ids import is_id

if TYPE_CHECKING:
    from crmbench.salesforce.sobjects.store import Store

KINDS: Mapping[str, tuple[type, ...]] = {
    "String": (str,),
    "Boolean": (bool,),
    "Integer": (int,),
    "Float": (int, float),
}
"""For each type of column the Python types that it takes."""


class ServiceDomain(OrgDomain):
    """Implements `Domain`."""

    name = "service"
    schema = SCHEMA
    toolboxes = TOOLBOXES
    package = "crmbench.domains.service"
    default_world = generate().name
    latents: tuple[str, ...] = LATENTS
    worlds = ("org-42",)
    task_sets = (
        TaskSet("crmbench.domains.service.generate:generate", ("test",)),
        TaskSet("crmbench.domains.service.hard.generate:generate", ("hard",)),
        TaskSet("crmbench.domains.service.rungs:generate", RUNGS, "ladder"),
    )
    pool_generator = "crmbench.domains.service.generate:generate_pool"

    def handle(self, database: Database) -> ServiceOrg:
        """The database with the query languages that the tools use."""
        return open_org(database)

    def world(self, name: str) -> WorldSource:
        """The world of that name.

        Raises:
            InputError: There is none.
        """
        own = stored_world(name, self.name, ServiceWorld().after_load)
        return own or world_from_name(name)

    def sobject_store(self, database: Database) -> Store:
        """The org's records as sObjects, for Salesforce's APIs."""
        from crmbench.domains.service.sobjects import open_store

        return open_store(database)

    def seed(self, database: Database, data: SeedData) -> None:
        """Insert records in the order of their references.

        Raises:
            InputError: A record breaks a rule; names object, id and field.
        """
        load_seed_data(database, data, partial(_seed_row, database, data))


def _seed_row(
    database: Database, data: SeedData, name: str, key: str, fields: Mapping[str, Any]
) -> Row:
    """A record as it is stored.

    Raises:
        ToolError: A field is unknown, missing or of the wrong type, or refers to no record.
    """
    info = SCHEMA[name]
    if not is_id(key, name) or len(key) != 18:
        raise ToolError(f"'{key}' is no id of the object {name}.")
    row: Row = {**fields, info.key: key}
    unknown = sorted(set(row) - set(info.columns))
    if unknown:
        raise ToolError(f"{name} has no field '{unknown[0]}'.")
    _complete(database, row, info.columns)
    for column in info.table.c:
        value = row.get(column.name)
        if value is None:
            if not column.nullable:
                raise ToolError(f"{name} needs {column.name}.")
        elif type(value) not in KINDS[type(column.type).__name__]:
            raise ToolError(f"{column.name} cannot be {value!r}.")
        elif (name, column.name) in PICKLISTS and value not in PICKLISTS[name, column.name]:
            options = ", ".join(PICKLISTS[name, column.name])
            raise ToolError(f"{column.name} must be one of: {options}.")
    for column_name, target in info.references.items():
        value = row.get(column_name)
        if value is not None and value not in data.get(target, {}):
            must_exist(open_org(database), target, value)
    return row


def _complete(database: Database, row: Row, columns: tuple[str, ...]) -> None:
    """Fill in what an org fills in by itself."""
    if "FirstName" in columns and row.get("Name") is None:
        names = (row.get("FirstName"), row.get("LastName"))
        row["Name"] = " ".join(str(name) for name in names if name)
    if "CreatedDate" in columns and row.get("CreatedDate") is None:
        row["CreatedDate"] = open_org(database).stamp()
    if "IsActive" in columns:
        row.setdefault("IsActive", True)


SERVICE = ServiceDomain()
