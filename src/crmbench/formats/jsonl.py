"""JSON Lines, read one line at a time, with the line's number in every complaint."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from crmbench.errors import InputError
from crmbench.formats.whole_file import replace_file

MAX_LINE = 32 * 1024 * 1024
"""Bytes. The longest published conversation has 60 kB; a longer line is no conversation."""


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    """The number and object of every line that is not blank; an error for one that holds none.

    A file whose name ends in ``.xz`` is unpacked as it is read.

    Raises:
        InputError: The file cannot be opened.
    """
    for number, line in _lines(path):
        if isinstance(line, InputError):
            yield number, line
            continue
        try:
            found = _object(line, str(path), number)
        except InputError as error:
            yield number, error
        else:
            yield number, found


def _lines(path: Path) -> Iterator[tuple[int, bytes | InputError]]:
    """The number and text of every line that is not blank; an error for one that is too long."""
    try:
        packed = path.suffix == ".xz"
        file = lzma.open(path) if packed else path.open("rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    with file:
        number = 0
        try:
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE and not line.endswith(b"\n"):
                    # Read on in pieces: the line is refused, and the file's next one is read as
                    # usual.
                    while rest := file.readline(MAX_LINE):
                        if rest.endswith(b"\n"):
                            break
                    yield (
                        number,
                        InputError(
                            f"the line is longer than {MAX_LINE // 2**20} MiB",
                            file=str(path),
                            line=number,
                            expected="one JSON object a line",
                        ),
                    )
                elif line.strip():
                    yield number, line
        except (OSError, lzma.LZMAError, EOFError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be read: {why}", file=str(path)) from error


def _object(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        _check_text(line, path, number)
        raise InputError(
            f"not valid JSON: {error.msg} at column {error.colno}",
            file=path,
            line=number,
            expected="one JSON object a line",
        ) from error
    if not isinstance(data, dict):
        raise InputError(
            f"a JSON {type(data).__name__} where an object should be",
            file=path,
            line=number,
            expected="one JSON object a line",
        )
    return data


def _check_text(line: bytes, path: str, number: int) -> None:
    """Say where a line stops being UTF-8, if it does."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8: byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line",
            file=path,
            line=number,
            expected="text in UTF-8",
        ) from error


def write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    """Write one object a line; returns how many. The file appears whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for row in rows:
            count += 1
            yield orjson.dumps(row) + b"\n"

    try:
        replace_file(path, lines())
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
    return count


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return sha256(path.read_bytes()).hexdigest()
