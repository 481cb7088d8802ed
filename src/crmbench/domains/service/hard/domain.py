"""The hard service org as a domain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from sqlalchemy.engine import Dialect

from crmbench.authoring.domain import TaskSet
from crmbench.authoring.sheet import SheetOf
from crmbench.core.database import Database
from crmbench.core.domain import SeedData
from crmbench.core.stored_world import stored_world
from crmbench.core.task import Task
from crmbench.core.world import WorldSource
from crmbench.domains.service.hard.schema import SCHEMA, catalog
from crmbench.domains.service.hard.tools import TOOLBOXES
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.org_domain import OrgDomain
from crmbench.errors import InputError
from crmbench.grading.evidence import RuleTexts
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.sosl.engine import Sosl

if TYPE_CHECKING:
    from crmbench.salesforce.sobjects.store import Store


class HardServiceDomain(OrgDomain):
    """Implements `Domain`."""

    name = "service_hard"
    schema = SCHEMA
    toolboxes = TOOLBOXES
    package = "crmbench.domains.service.hard"
    latents: tuple[str, ...] = ()
    default_world = "hard-42"
    worlds: tuple[str, ...] = ()
    task_sets: tuple[TaskSet, ...] = ()
    """Its tasks are published as ``service/hard``."""
    rule_texts = RuleTexts("read_article", "Title", re.compile(r"Memo \d+"))
    """Of the memos, which begin with their numbers."""

    @cached_property
    def sheets(self) -> Mapping[str, SheetOf]:
        """Mechanism to what makes a task's sheet."""
        from crmbench.domains.service.hard.desk.sheets import SHEETS

        return SHEETS

    def handle(self, database: Database) -> ServiceOrg:
        soql, sosl = _languages(database.connection.dialect)
        return ServiceOrg(database, soql, sosl)

    def world(self, name: str) -> WorldSource:
        # The module loads numpy and the grammar, which who asks for the policy alone can spare.
        from crmbench.domains.service.hard.world import index_statements, world_from_name

        own = stored_world(name, self.name, index_statements)
        return own or world_from_name(name)

    def sobject_store(self, database: Database) -> Store:
        """The org's records as sObjects, for Salesforce's APIs."""
        from crmbench.domains.service.sobjects_hard import open_store

        return open_store(database)

    def problems(self, task: Task) -> Mapping[str, Sequence[str]]:
        """For each check of hard tasks what it finds wrong with one: for `crmbench audit`."""
        from crmbench.domains.service.hard.checks import problems

        return problems(task)

    def seed(self, database: Database, data: SeedData) -> None:
        """The hard org's tasks bring no records of their own.

        Raises:
            InputError: They do.
        """
        del database
        if data:
            raise InputError("the hard service org takes no seed data", field="seed_data")


@cache
def _languages(dialect: Dialect) -> tuple[Soql, Sosl]:
    return Soql(catalog(), dialect), Sosl(catalog(), dialect)


SERVICE_HARD = HardServiceDomain()
