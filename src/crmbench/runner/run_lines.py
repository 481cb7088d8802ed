"""The files of a run's episodes as bytes: which one is where, and what a kill left half-written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from crmbench.errors import InputError

if TYPE_CHECKING:
    from crmbench.formats.episode_store import Key


class _Place(msgspec.Struct):
    task_id: str
    trial: int


class _Counted(msgspec.Struct):
    counted: bool


class _Head(msgspec.Struct):
    """What is needed of a line to know which episode it is; the rest is passed over unread."""

    trace: _Place
    verdict: _Counted


class Entry(NamedTuple):
    """A line of the episodes' file."""

    key: Key
    counted: bool
    number: int
    start: int
    length: int


_read_head = msgspec.json.Decoder(_Head).decode


def entries(path: Path) -> Iterator[Entry]:
    """Which episode is where in the file.

    Raises:
        InputError: A line is no stored episode.
    """
    if not path.exists():
        return
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                head = _read_head(line)
            except msgspec.DecodeError as error:
                if not line.endswith(b"\n"):
                    return  # a kill left it half-written; the episode was not kept
                raise not_stored(path, number, error) from error
            key = (head.trace.task_id, head.trace.trial)
            yield Entry(key, head.verdict.counted, number, start, len(line))
            start += len(line)


def read_lines(path: Path, found: Iterable[Entry]) -> Iterator[bytes]:
    """The lines of some entries, each with its line end."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for entry in found:
            file.seek(entry.start)
            yield file.read(entry.length).rstrip(b"\n") + b"\n"


@contextmanager
def reader(path: Path) -> Iterator[IO[bytes] | None]:
    """The file, opened to be read; None where there is none."""
    if not path.exists():
        yield None
        return
    with path.open("rb") as file:
        yield file


def line_places(path: Path) -> list[tuple[int, int]]:
    """Start and length of every whole line of a file; none where there is no file."""
    places: list[tuple[int, int]] = []
    if not path.exists():
        return places
    start = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):  # else a kill left it half-written
                places.append((start, len(line)))
            start += len(line)
    return places


def read_places(path: Path, places: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """Parts of a file, by start and length."""
    with path.open("rb") as file:
        for start, length in places:
            file.seek(start)
            yield file.read(length)


def is_whole(path: Path, parts: Iterable[tuple[int, int]]) -> bool:
    """Whether parts of a file, by start and length, follow one another and are all of it."""
    end = 0
    for start, length in parts:
        if start != end:
            return False
        end += length
    return end == (path.stat().st_size if path.exists() else 0)


def cut_torn_line(path: Path) -> None:
    """Cut off what stands behind the last line end of a file."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = start = file.seek(0, os.SEEK_END)
        whole = -1
        while start and whole < 0:
            # From behind: a run's file may be larger than memory.
            start = max(0, start - 2**20)
            file.seek(start)
            whole = file.read(min(2**20, end - start)).rfind(b"\n")
        if start + whole + 1 != end:
            file.truncate(start + whole + 1)


def not_stored(path: Path, line: int, error: Exception) -> InputError:
    """What is said of a line that is no stored episode."""
    return InputError(f"not a stored episode: {error}", file=str(path), line=line)


def write_all(file: IO[bytes], line: bytes) -> None:
    """Write a whole line; a raw file may take less at once."""
    rest = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]


def lock(descriptor: int, path: Path, *, wait: bool) -> None:
    """Take the lock of a directory.

    Raises:
        InputError: Another process has it, and it is not waited for.
    """
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError as error:
        raise InputError(
            "another process is playing this run",
            file=str(path),
            expected="to wait until it has ended, or another --out",
        ) from error
