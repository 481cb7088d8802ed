"""Where the rows come from in which a task plays, and who keeps copies of them."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from crmbench.core.database import Database
from crmbench.core.schema import Row


class WorldSource(Protocol):
    """A world that can be built as often as needed, always with the same rows."""

    @property
    def name(self) -> str:
        """Unique among all worlds of a domain; equal names mean equal rows."""

    @property
    def now(self) -> datetime:
        """The moment at which every episode in it begins; UTC."""

    @property
    def about(self) -> str:
        """What agents are told of this org beside the house rules, such as who is who; or ""."""

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        """Tables and some of their rows, each row after those that it refers to."""

    def after_load(self, dialect: str) -> Sequence[str]:
        """Statements to run once the rows are there, such as full-text indexes."""


class PackedRows:
    """The rows of a world that takes long to draw, in a tenth of what they take as objects.

    Args:
        tables: Tables in an order in which each row comes after those that it refers to.
    """

    def __init__(self, tables: Mapping[str, Sequence[Row]]) -> None:
        self._packed = zlib.compress(pickle.dumps(tables), 1)

    def tables(self) -> dict[str, list[Row]]:
        """The rows of each table, anew each time."""
        tables: dict[str, list[Row]] = pickle.loads(zlib.decompress(self._packed))
        return tables


@dataclass(frozen=True)
class EmptyWorld:
    """An org without a record: what an Arc conversation brings its own seed data to."""

    now: datetime
    name: str = "empty"
    about: str = ""

    def stream(self) -> Iterator[tuple[str, Iterable[Row]]]:
        return iter(())

    def after_load(self, dialect: str) -> Sequence[str]:
        del dialect
        return ()


class Backend(Protocol):
    """Keeps copies of worlds and lends each to one episode at a time."""

    name: str

    def acquire(self, world: WorldSource) -> Database:
        """A copy of `world` that nobody else uses; give it back with `release`."""

    def release(self, world: WorldSource, database: Database) -> None:
        """Take back a copy that was reset."""

    def close(self) -> None: ...
