"""The domains' published sets, which come along with the package.

Making one takes seconds to minutes, and what a score is compared with should not depend on the
machine that made it; so they are stored as they were made: a header line, then every task once,
in the form of the JSONL files, compressed. After a change of a generator
``python -m crmbench.formats.published service/hard`` makes that set's file anew, without a name
every file; a test fails while it has not been run.
"""

from __future__ import annotations

import logging
import lzma
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, overload

import msgspec
import orjson

from crmbench.authoring.dataset import Dataset
from crmbench.core.task import Task
from crmbench.domains.registry import load_generator
from crmbench.errors import InputError
from crmbench.formats.arc_tasks import task_to_data

T = TypeVar("T")
_log = logging.getLogger("crmbench.data")

SHIPPED = (
    *("sales", "sales/hard", "sales/ladder"),
    *("service", "service/hard", "service/ladder"),
)
"""The sets that have a file: a domain's first one by its domain, another by its name too."""


@dataclass(frozen=True)
class Split:
    """A part of a published set."""

    digest: str
    """What identifies its tasks; runs store it."""
    places: tuple[int, ...]
    """Which lines of the set it has, from 0."""


@dataclass(frozen=True)
class PublishedSet:
    """A domain's published set; a task's line is parsed when it is asked for."""

    whole: Split
    splits: Mapping[str, Split]
    lines: Sequence[bytes]


class Lazy(Sequence[T]):
    """A sequence whose items are made when they are asked for, each once."""

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._size = size
        self._make = lru_cache(maxsize=None)(make)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self._make(index) for index in range(*place.indices(self._size))]
        return self._make(range(self._size)[place])


def folder() -> Path:
    """Where the files are."""
    return Path(str(resources.files("crmbench") / "data" / "published"))


def file_of(name: str) -> Path:
    """The file of a set, whether it is there or not.

    Args:
        name: A domain, or a domain and a split, as in `SHIPPED`.
    """
    return folder() / f"{name.replace('/', '_')}.jsonl.xz"


def made_from(name: str) -> str:
    """A digest of the code and data that write hard tasks; empty for the other sets.

    The hard sets take minutes to make, so no test makes them whole, and what is stored could
    outlive the code that its gold rests on.
    """
    domain, _, rest = name.partition("/")
    if not rest:
        return ""
    folder = Path(str(resources.files("crmbench") / "domains" / domain / "hard"))
    hasher = blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            hasher.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return hasher.hexdigest()


@lru_cache(maxsize=len(SHIPPED))
def read_published(name: str) -> PublishedSet | None:
    """A published set by its name in `SHIPPED`; None for one that does not come along, or that
    was made by other code than there is now.
    """
    path = file_of(name)
    if name not in SHIPPED or not path.exists():
        return None
    head, *lines = lzma.decompress(path.read_bytes()).splitlines()
    data = orjson.loads(head)
    made = data.get("made_from")
    if made is not None and made != made_from(name):
        _log.warning(
            "What makes %s has changed since its file was made; "
            "`python -m crmbench.formats.published %s` makes the file anew.",
            *(name, name),
        )
        return None
    parts = {
        name: Split(part["digest"], tuple(part["places"])) for name, part in data["splits"].items()
    }
    return PublishedSet(Split(data["digest"], tuple(range(len(lines)))), parts, lines)


def content(dataset: Dataset, name: str = "") -> bytes:
    """The text of a published set's file.

    Args:
        name: The set's, for the digest of what made it.
    """
    tasks = dataset.tasks
    places = {task.task_id: place for place, task in enumerate(tasks)}
    head: dict[str, Any] = {
        "domain": dataset.domain,
        "seed": dataset.seed,
        "digest": digest_of_tasks(tasks),
        "splits": {
            name: {
                "digest": digest_of_tasks(part),
                "places": [places[task.task_id] for task in part],
            }
            for name, part in dataset.splits.items()
        },
    }
    if made := made_from(name):
        head["made_from"] = made
    return b"\n".join(_lines(head, tasks)) + b"\n"


def _lines(head: Mapping[str, Any], tasks: Sequence[Task]) -> Iterator[bytes]:
    yield orjson.dumps(head)
    for task in tasks:
        yield orjson.dumps(task_to_data(task))


def digest_of_tasks(tasks: Sequence[Task]) -> str:
    """What identifies a set of tasks, in hexadecimal."""
    hasher = blake2b(digest_size=16)
    for task in tasks:
        hasher.update(msgspec.json.encode(task_to_data(task)))
    return hasher.hexdigest()


def main(names: Sequence[str] = ()) -> None:
    """Make the files of shipped sets anew.

    Args:
        names: As in `SHIPPED`; all of them if empty.

    Raises:
        InputError: A name is none of these.
    """
    for name in names:
        if name not in SHIPPED:
            raise InputError(f"'{name}' is no shipped set", expected=", ".join(SHIPPED))
    folder().mkdir(exist_ok=True)
    for name in names or SHIPPED:
        domain, _, part = name.partition("/")
        sys.stderr.write(f"Making {name} …\n")
        made = content(load_generator(domain, part)(), name)
        path = file_of(name)
        path.write_bytes(lzma.compress(made, preset=9))
        sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
