"""What differs between the databases: a connection that speaks to one, and what it refuses with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy.engine import Dialect


class ConstraintViolation(Exception):
    """The database refused a write because of a constraint; `str()` names it."""


class Connection(Protocol):
    """A DBAPI connection with a private copy of a world."""

    dialect: Dialect
    json_as_text: bool
    """Whether JSON and booleans come back as text and integers, as from SQLite."""

    def execute(self, text: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows, or [] for a write.

        Raises:
            ConstraintViolation: A constraint of the schema refuses the write.
        """

    def execute_many(self, text: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run one write once for each sequence of parameters."""

    def begin(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...
