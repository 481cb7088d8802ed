"""A domain with its task sets: what the registry finds, and an easy way to make one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

from sqlalchemy import MetaData

from crmbench.authoring.dataset import Dataset
from crmbench.core.database import Database
from crmbench.core.domain import Domain, SeedData, load_seed_data
from crmbench.core.schema import Row, Schema
from crmbench.core.tool import Tool, Toolbox
from crmbench.core.world import WorldSource
from crmbench.errors import HarnessError, InputError, ToolError

Generate = Callable[..., Dataset]
"""Makes a data set: ``generate(seed=42, size=None)``; the same seed gives the same bytes."""


@dataclass(frozen=True)
class TaskSet:
    """A published set of tasks."""

    generator: str | Generate
    """What makes it, or where that is, as ``package.module:function``: loaded when asked for."""
    splits: tuple[str, ...]
    """Names of its splits, as `Dataset.splits` has them; no other set of the domain has them."""
    name: str = ""
    """What stands for all its splits, where that is not the domain's name alone."""

    def load(self) -> Generate:
        """The function that makes the set.

        Raises:
            HarnessError: The place that is named holds none.
        """
        if not isinstance(self.generator, str):
            return self.generator
        module, _, name = self.generator.partition(":")
        found = getattr(import_module(module), name, None)
        if not callable(found):
            raise HarnessError(f"'{self.generator}' is no function that makes a data set")
        return cast(Generate, found)


@runtime_checkable
class AuthoredDomain(Domain, Protocol):
    """A domain that brings its tasks: what an entry point of ``crmbench.domains`` names."""

    @property
    def worlds(self) -> tuple[str, ...]:
        """Names of the worlds that its published tasks play in."""

    @property
    def task_sets(self) -> tuple[TaskSet, ...]:
        """Its published sets; the first is the one that ``crmbench generate NAME`` writes."""


@dataclass(frozen=True)
class TableWorld:
    """A world whose rows are few enough to be listed.

    Args:
        name: Unique in its domain.
        now: When its episodes begin; UTC.
        rows: Table to rows, each table after those that it refers to.
        about: What agents are told of this world beside the policy.
    """

    name: str
    now: datetime
    rows: Mapping[str, Sequence[Row]]
    about: str = ""

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        """Tables and copies of their rows."""
        for table, rows in self.rows.items():
            yield table, [dict(row) for row in rows]

    def after_load(self, dialect: str) -> Sequence[str]:
        """Nothing is to be run once the rows are there."""
        del dialect
        return ()


class TableDomain:
    """A domain of some tables, tools that take the database, and worlds by name.

    Implements `AuthoredDomain`; a domain with more to it implements that itself.

    Args:
        name: As in ``crmbench run NAME``.
        metadata: Its tables, with the notes that `crmbench.core.schema` describes.
        tools: Functions made tools with `crmbench.core.tool.tool`; their first parameter is the
            `Database`.
        policy: What every agent is told of the house rules.
        worlds: Makes the world of a name; raises KeyError for any other name.
        world_names: Those that the published tasks play in; the first is the usual one.
        task_sets: Its published sets.

    Raises:
        HarnessError: A table, tool or world is missing, or two tools have one name.
    """

    tool_sets: tuple[str, ...] = ()
    latents: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        name: str,
        metadata: MetaData,
        tools: Iterable[Tool],
        policy: str,
        worlds: Callable[[str], WorldSource],
        world_names: Sequence[str],
        task_sets: Sequence[TaskSet],
    ) -> None:
        self.name = name
        self.schema = Schema(metadata)
        self.toolbox = Toolbox(tools)
        self._policy = policy
        self._make_world = worlds
        self.worlds = tuple(world_names)
        self.task_sets = tuple(task_sets)
        if not (self.schema.tables and self.toolbox.by_name and self.worlds):
            raise HarnessError(f"the domain '{name}' needs a table, a tool and a world")
        self.default_world = self.worlds[0]

    @property
    def policy(self) -> str:
        """The house rules."""
        return self._policy

    def handle(self, database: Database) -> Any:
        """Tools take the database itself."""
        return database

    def world(self, name: str) -> WorldSource:
        """The world of that name.

        Raises:
            InputError: There is none.
        """
        try:
            return self._make_world(name)
        except KeyError:
            raise InputError(
                f"the {self.name} domain has no world named '{name}'",
                expected=", ".join(self.worlds),
            ) from None

    def with_tools(self, tool_set: str) -> TableDomain:
        """Agents always have all tools.

        Raises:
            InputError: Always.
        """
        raise InputError(
            f"the {self.name} domain has no tool set '{tool_set}'",
            expected="no --tools: it has one set",
        )

    def seed(self, database: Database, data: SeedData) -> None:
        """Insert records in the order of their references.

        Raises:
            InputError: A table or field is unknown, or the database refuses a record.
        """
        load_seed_data(database, data, self._seed_row)

    def _seed_row(self, table: str, key: str, fields: Mapping[str, Any]) -> Row:
        info = self.schema[table]
        unknown = sorted(set(fields) - set(info.columns))
        if unknown:
            raise ToolError(f"{table} has no field '{unknown[0]}'")
        return {**dict.fromkeys(info.visible), **fields, info.key: key}
