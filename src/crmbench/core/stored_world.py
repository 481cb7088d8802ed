"""A world that stands in a file: somebody's own org, on their own machine.

One JSON object a line, compressed: a head with the domain, the clock and what agents are told, then
table and row, each row after those that it refers to. Tasks name it ``file:PATH``.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from crmbench.core.schema import Row, Schema
from crmbench.errors import InputError

PREFIX = "file:"
KIND = "crmbench world"


@dataclass(frozen=True)
class StoredWorld:
    """Implements `WorldSource`.

    Attributes:
        path: Of the file.
        domain: Whose tables it fills.
        finish: The domain's statements for indexes, by the database's dialect.
    """

    path: Path
    domain: str
    finish: Callable[[str], Sequence[str]]

    @property
    def name(self) -> str:
        """How tasks name it."""
        return f"{PREFIX}{self.path}"

    @property
    def now(self) -> datetime:
        """The moment at which every episode begins, UTC."""
        return datetime.fromisoformat(self._head["now"])

    @property
    def about(self) -> str:
        """What agents are told of this org beside the house rules."""
        return str(self._head["about"])

    def stream(self) -> Iterator[tuple[str, list[Row]]]:
        """Tables and their rows, each row after those that it refers to."""
        for line in self._lines()[1:]:
            data = orjson.loads(line)
            yield data["table"], data["rows"]

    def after_load(self, dialect: str) -> Sequence[str]:
        """Statements to run once the rows are there."""
        return self.finish(dialect)

    @cached_property
    def _head(self) -> Mapping[str, Any]:
        lines = self._lines()
        head = orjson.loads(lines[0]) if lines else {}
        if not isinstance(head, dict) or head.get("kind") != KIND:
            raise self._fault("is no world's file")
        if head["domain"] != self.domain:
            raise self._fault(f"is a world of the domain {head['domain']}, not {self.domain}")
        return head

    def _lines(self) -> list[bytes]:
        try:
            return gzip.decompress(self.path.read_bytes()).splitlines()
        except (OSError, EOFError) as error:
            raise self._fault(f"cannot be read: {error}") from error

    def _fault(self, problem: str) -> InputError:
        return InputError(problem, file=str(self.path), expected="what crmbench import-org wrote")


def stored_world(
    name: str, domain: str, finish: Callable[[str], Sequence[str]]
) -> StoredWorld | None:
    """The world that a name such as ``file:mine.world`` means; None for other names.

    Raises:
        InputError: There is no such file, or it holds no world of the domain.
    """
    if not name.startswith(PREFIX):
        return None
    world = StoredWorld(Path(name.removeprefix(PREFIX)), domain, finish)
    world._head  # noqa: B018 - a wrong file is said where it is named
    return world


def save_world(
    path: Path,
    schema: Schema,
    domain: str,
    now: datetime,
    rows: Mapping[str, Sequence[Row]],
    about: str,
) -> None:
    """Write a world's file; the same rows give the same bytes.

    Args:
        schema: The domain's tables, in whose order rows are written.
        rows: Table to complete rows.

    Raises:
        InputError: The file cannot be written.
    """
    head = {"kind": KIND, "domain": domain, "now": now.isoformat(), "about": about}
    lines = [orjson.dumps(head)]
    lines += [
        orjson.dumps({"table": name, "rows": list(rows[name])})
        for name in schema.tables
        if rows.get(name)
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(b"\n".join(lines) + b"\n", mtime=0))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
