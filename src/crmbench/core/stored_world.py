"""Worlds in files: somebody's own org, and large worlds that were built once.

One JSON object a line, compressed: a head with the domain, the clock and what agents are told, then
table and row, each row after those that it refers to. Tasks name it ``file:PATH``.

A large world is kept as SQLite's file under the digest of all that it follows from. Every process
opens that one file, whose pages the operating system holds once.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from hashlib import blake2b
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


@dataclass(frozen=True)
class WorldFile:
    """A large world as SQLite keeps it. Nobody commits to it, so nobody need lock it."""

    path: Path
    orders: dict[str, int]
    """The order counters of its tables."""


def find_world(name: str, statements: Sequence[str]) -> WorldFile | None:
    """A world that `keep_world` kept; None if it did not, or if its sources have changed since.

    Args:
        statements: That make its tables.
    """
    folder = cache_folder("worlds")
    # Only those who ever had a large world pay for the digest of the sources.
    if not folder.is_dir():
        return None
    path = folder / f"{_digest(name, tuple(statements))}.sqlite"
    try:
        orders = orjson.loads(path.with_suffix(".json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return WorldFile(path, orders) if path.exists() else None


def keep_world(
    name: str, statements: Sequence[str], built: sqlite3.Connection, orders: Mapping[str, int]
) -> bool:
    """Keep a world that was built, for every process that needs it; whether that went well."""
    folder = cache_folder("worlds")
    path = folder / f"{_digest(name, tuple(statements))}.sqlite"
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(part)) as file:
            file.execute("PRAGMA synchronous = OFF")
            built.backup(file)
        # Whole files only, whoever else keeps the same one at this moment.
        part.replace(path)
        orders_part = part.with_suffix(".orders")
        orders_part.write_bytes(orjson.dumps(dict(orders)))
        orders_part.replace(path.with_suffix(".json"))
    except (OSError, sqlite3.Error):
        with suppress(OSError):
            part.unlink(missing_ok=True)
        return False
    return True


def cache_folder(room: str) -> Path:
    """A directory for what can be made again; it may be deleted at any time, and need not exist.

    Args:
        room: What is kept there, such as "worlds": a directory within ``CRMBENCH_CACHE``, or within
            crmbench's own of the user's cache directory.
    """
    named = os.environ.get("CRMBENCH_CACHE")
    if named:
        return Path(named) / room
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "crmbench" / room


@lru_cache(maxsize=64)
def _digest(name: str, statements: tuple[str, ...]) -> str:
    """Of all that a world's rows follow from: its name, the tables, and the program's sources."""
    hasher = blake2b(_sources().encode(), digest_size=16)
    hasher.update(orjson.dumps([name, statements, sqlite3.sqlite_version]))
    if name.startswith(PREFIX):
        hasher.update(Path(name.removeprefix(PREFIX)).read_bytes())
    return hasher.hexdigest()


@lru_cache(maxsize=1)
def _sources() -> str:
    package = Path(__file__).parents[1]
    hasher = blake2b(digest_size=16)
    for room in ("core", "language", "domains", "salesforce"):
        for path in sorted((package / room).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                hasher.update(path.relative_to(package).as_posix().encode() + b"\0")
                hasher.update(path.read_bytes())
    return hasher.hexdigest()
