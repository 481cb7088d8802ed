"""Files that appear whole or not at all, and the one JSON file that says what a directory holds."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import orjson

from crmbench.errors import InputError

T = TypeVar("T")


def replace_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all; what stood there stays until all is written.

    Raises:
        OSError: It cannot be written. Nothing is left of what was begun.
    """
    # Beside the file and not in /tmp: a rename is at once only within one file system.
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as file:
            file.writelines(chunks)
        temporary.replace(path)
    except BaseException:
        # What is half-written keeps a full disk full, and nobody would look for it.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_record(path: Path, data: dict[str, Any]) -> None:
    """Write the record of a directory, as JSON for people to read.

    Raises:
        InputError: The file cannot be written.
    """
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    try:
        replace_file(path, [orjson.dumps(data, option=options), b"\n"])
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error


def read_record(path: Path, kind: type[T], what: str, made_by: str) -> T:
    """The record of a directory.

    Args:
        kind: What it is read as.
        what: What the directory should hold, such as "study".
        made_by: The command that makes such directories.

    Raises:
        InputError: There is none, or it is none of that kind.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(
            f"holds no {what}: {error}",
            file=str(path),
            expected=f"a directory that `{made_by}` made",
        ) from error
