"""The hard sets of the sales CRM as a domain of their own: other tables, tools and rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from functools import cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from crmbench.authoring.domain import TaskSet
from crmbench.authoring.sheet import SheetOf
from crmbench.core.database import Database
from crmbench.core.domain import SeedData
from crmbench.core.schema import Row
from crmbench.core.task import Task
from crmbench.core.world import EmptyWorld, PackedRows, WorldSource
from crmbench.domains.sales.domain import EMPTY_NOW, SALES
from crmbench.domains.sales.hard.schema import SCHEMA
from crmbench.domains.sales.hard.tools import TOOLBOX
from crmbench.errors import HarnessError, InputError
from crmbench.grading.evidence import RuleTexts

if TYPE_CHECKING:
    from crmbench.salesforce.sobjects.store import Store

_WORLD = re.compile(
    r"(?P<mechanism>worklist|shift|review|merge)-L(?P<level>[1-5])-(?P<seed>\d+-\d+)"
)
"""A world of a hard set: "worklist-L3-42-07"; not "harbour-01"."""


Drawn = tuple[date, dict[str, list[Row]]]
"""A world's day and its rows."""
KEPT = 512
"""Worlds that a process keeps, packed: four sets as they are published, at 0.1 MB a world."""


class HardWorld:
    """A world of a hard set. Implements `WorldSource`.

    Args:
        make: Gives its day and its rows; asked when one of them is first wanted, for that takes up
            to ten seconds.
    """

    about = ""

    def __init__(self, name: str, make: Callable[[], Drawn]) -> None:
        self.name = name
        self._make = make

    @cached_property
    def _made(self) -> tuple[date, PackedRows]:
        today, tables = self._make()
        return today, PackedRows(tables)

    @property
    def now(self) -> datetime:
        return datetime.combine(self._made[0], time(9), UTC)

    @property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of each table, anew each time."""
        return self._made[1].tables()

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        yield from self.tables.items()

    def after_load(self, dialect: str) -> Sequence[str]:
        del dialect
        return ()


class HardSalesDomain:
    """Implements `Domain`."""

    name = "sales_hard"
    default_world = "empty"
    schema = SCHEMA
    toolbox = TOOLBOX
    tool_sets: tuple[str, ...] = ()
    latents: tuple[str, ...] = ()
    worlds: tuple[str, ...] = ()
    task_sets: tuple[TaskSet, ...] = ()
    """Its tasks are published as ``sales/hard``."""
    rule_texts = RuleTexts("handbook_open", "number", re.compile(r"HB-\d+"))
    """Of the handbook's articles, by their numbers."""

    @cached_property
    def sheets(self) -> Mapping[str, SheetOf]:
        """Mechanism to what makes a task's sheet."""
        from crmbench.domains.sales.hard.sheets import SHEETS

        return SHEETS

    @cached_property
    def policy(self) -> str:
        return (resources.files("crmbench.domains.sales.hard") / "policy.md").read_text("utf-8")

    def handle(self, database: Database) -> Database:
        return database

    def world(self, name: str) -> WorldSource:
        if name == "empty":
            return EmptyWorld(EMPTY_NOW)
        return hard_world(name)

    def with_tools(self, tool_set: str) -> HardSalesDomain:
        """Agents always have all tools.

        Raises:
            InputError: Always.
        """
        raise InputError(
            f"the hard sales domain has no tool set '{tool_set}'",
            expected="no --tools: it has one set",
        )

    def problems(self, task: Task) -> Mapping[str, Sequence[str]]:
        """For each check of hard tasks what it finds wrong with one: for `crmbench audit`."""
        from crmbench.domains.sales.hard.checks import problems

        world = hard_world(task.world)
        return problems(task, world.tables, world.now.date())

    def sobject_store(self, database: Database) -> Store:
        """The CRM's records as sObjects, for Salesforce's APIs."""
        from crmbench.domains.sales.sobjects.store import open_store

        return open_store(database)

    def seed(self, database: Database, data: SeedData) -> None:
        """Put records of the eight tables of sales into a database."""
        SALES.seed(database, data)


@lru_cache(maxsize=KEPT)
def hard_world(name: str) -> HardWorld:
    """A world of a hard set, the same one each time.

    Raises:
        InputError: There is none of that name.
    """
    match = _WORLD.fullmatch(name)
    if match is None:
        raise InputError(
            f"the hard sales domain has no world named '{name}'",
            expected="such as worklist-L3-42-01",
        )
    draw = _WORLDS[match["mechanism"]]
    seed, level = match["seed"], int(match["level"])

    def make() -> Drawn:
        today, tables = draw(seed, level)
        if len({row["email"].lower() for row in tables["Client"]}) < len(tables["Client"]):
            raise HarnessError(f"in the world {name} two clients have one e-mail address")
        return today, tables

    return HardWorld(name, make)


def _lists(seed: str, level: int) -> Drawn:
    from crmbench.domains.sales.hard.worklist import worklist

    made = worklist(seed, level)
    return made.org.today, {**made.org.rows, "Article": [dict(row) for row in made.articles]}


def _shifts(seed: str, level: int) -> Drawn:
    from crmbench.domains.sales.hard.shift import shift_world

    made = shift_world(seed, level)
    return made.org.today, made.tables()


def _reviews(seed: str, level: int) -> Drawn:
    from crmbench.domains.sales.hard.review import review

    made = review(seed, level)
    articles = [dict(row) for row in made.made.articles]
    return made.made.org.today, {**made.tables(), "Article": articles}


def _clients(seed: str, level: int) -> Drawn:
    from crmbench.domains.sales.hard.merge import clients

    made = clients(seed, level)
    return made.org.today, made.tables()


_WORLDS = {"merge": _clients, "worklist": _lists, "review": _reviews, "shift": _shifts}


SALES_HARD = HardSalesDomain()
