"""A sandbox org on disk: a log of what was written, replayed when the server starts again.

The first line says what the org is; each further line is one request's writes. A line is written
before the request is answered, so a server that is killed has lost nothing that it said it did.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import orjson

from crmbench.core.database import Database, Written
from crmbench.errors import InputError


@dataclass(frozen=True)
class OrgOrigin:
    """What an org was before anything was written in it."""

    domain: str
    world: str
    seed: str


class KeptOrg:
    """The file of one org.

    Args:
        path: Of the file; made if it is not there.
        origin: What the org is.

    Raises:
        InputError: The file is another org's, cannot be read, or cannot be written.
    """

    def __init__(self, path: Path, origin: OrgOrigin) -> None:
        self._path = path
        self._origin = origin
        self._statements = self._changes = 0
        """How many of the database's statements and changes are in the file."""
        try:
            self._lines = _whole_lines(path)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
        try:
            if self._lines:
                self._check_origin(self._lines[0])
            else:
                self._begin()
        except BaseException:
            self._file.close()
            raise

    def restore(self, database: Database) -> None:
        """Write again all that the file holds.

        Raises:
            InputError: A line is not of the form that `keep` writes, or does not fit the schema.
        """
        for number, line in enumerate(self._lines[1:], start=2):
            try:
                database.write_again(msgspec.json.decode(line, type=Written))
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise InputError(
                    f"is no line of a kept org: {error}", file=str(self._path), line=number
                ) from error
        self._lines = []
        self._count(database)

    def keep(self, database: Database) -> None:
        """Append what was written since the last time, if anything was."""
        if database.statements_written > self._statements:
            written = database.written_since(self._statements, self._changes)
            _write(self._file, orjson.dumps(written) + b"\n")
            self._count(database)

    def _count(self, database: Database) -> None:
        self._statements, self._changes = database.statements_written, len(database.journal)

    def clear(self) -> None:
        """Forget all that was written; the org has been reset."""
        self._file.truncate(0)
        self._statements = self._changes = 0
        self._begin()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _begin(self) -> None:
        _write(self._file, orjson.dumps(asdict(self._origin)) + b"\n")

    def _check_origin(self, line: bytes) -> None:
        try:
            kept = msgspec.json.decode(line, type=OrgOrigin)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise InputError(
                f"holds no org: {error}",
                file=str(self._path),
                line=1,
                expected="a new file, or one that `crmbench serve --keep` made",
            ) from error
        if kept != self._origin:
            raise InputError(
                f"keeps {kept.domain}/{kept.world}",
                file=str(self._path),
                expected=f"{self._origin.domain}/{self._origin.world}, or another file",
            )


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a file; what a kill left half-written at its end is cut off."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
    return data[:whole].splitlines()


def _write(file: IO[bytes], line: bytes) -> None:
    rest: Any = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]
