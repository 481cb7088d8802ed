"""The conversations that a run is asked to play: a file's, or the ones that come along."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from importlib import resources
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import orjson

from crmbench.authoring.dataset import Dataset
from crmbench.authoring.domain import TaskSet
from crmbench.core.persona import role_of
from crmbench.core.task import Task
from crmbench.domains.registry import domain_names, load_domain
from crmbench.errors import InputError
from crmbench.formats.arc import Loaded, each_task, load, parse_conversation, task_from
from crmbench.formats.arc_model import ArcConversation
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.complaints import did_you_mean
from crmbench.formats.jsonl import digest_of
from crmbench.formats.published import (
    Lazy,
    PublishedSet,
    Split,
    digest_of_tasks,
    read_published,
)
from crmbench.formats.remote import here
from crmbench.formats.shards import ShardedSet
from crmbench.runner.options import RunOptions

T = TypeVar("T")
_log = logging.getLogger("crmbench.data")
"""Says when something long is made; nothing is heard of it with --quiet or --json."""

BUNDLED = {"demo": "demo.jsonl"}
"""Names that stand for files inside the package."""


def path_of(name: str) -> Path:
    """The file that a name, a path or an address stands for.

    Raises:
        InputError: There is nothing at the address.
        InfrastructureError: It cannot be reached.
    """
    if name in BUNDLED:
        return Path(str(resources.files("crmbench") / "data" / BUNDLED[name]))
    return here(name)


def load_named(name: str, *, skip_invalid: bool = False) -> Loaded:
    """Read the conversations of a file, of a directory that `crmbench generate` made, of a
    bundled set, or of a domain's published set: "sales", "service", or one of its splits, as in
    "sales/test".

    Raises:
        InputError: See `crmbench.formats.arc.load`; or the directory holds no JSONL file.
    """
    published = _published(name)
    if published is not None:
        return published.loaded
    path = path_of(name)
    _check_there(path, name)
    if not path.is_dir():
        return load(path, skip_invalid=skip_invalid)
    sharded = ShardedSet(path)
    files = sharded.files() if sharded.exists else _files_in(path)
    parts = [load(file, skip_invalid=skip_invalid) for file in files]
    # Splits may share conversations; each is taken once, in the order of its id.
    known = {
        task.task_id: (conversation, task)
        for part in parts
        for conversation, task in zip(part.conversations, part.lazy_tasks, strict=True)
    }
    skipped = tuple(error for part in parts for error in part.skipped)
    ordered = [known[key] for key in sorted(known)]
    return Loaded(tuple(c for c, _ in ordered), skipped, tuple(task for _, task in ordered))


def each_named(name: str) -> Iterator[Task]:
    """The tasks that `load_named` reads, one by one: of a set in shards, no more than some are
    held at once, in the order of the shards.

    Raises:
        InputError: See `load_named`; a faulty line is met when it is reached.
    """
    path = path_of(name)
    sharded = ShardedSet(path)
    if sharded.exists or (path.is_file() and _published(name) is None):
        for file in sharded.files() if sharded.exists else (path,):
            yield from each_task(file)
    else:
        # Splits of a directory may share conversations, so all their ids have to be known.
        yield from load_named(name).lazy_tasks


def parts_named(name: str) -> Iterator[list[Task]] | None:
    """The tasks of a set in shards, shard by shard; None for what is read in one piece.

    Raises:
        InputError: While it is read: see `load_named`.
    """
    sharded = ShardedSet(path_of(name))
    if not sharded.exists:
        return None
    return (
        [task for file in files for task in each_task(file)] for files in sharded.files_by_shard()
    )


def _check_there(path: Path, name: str) -> None:
    if not path.exists():
        close = did_you_mean(name, (*BUNDLED, *domain_names()))
        raise InputError(
            f"cannot be read: No such file or directory{close}",
            file=str(path),
            expected="a JSONL file, or one of " + ", ".join((*BUNDLED, *domain_names())),
        )


def _files_in(folder: Path) -> list[Path]:
    """The files of conversations in a directory that `crmbench generate` made: beside each
    ``NAME.jsonl`` stands ``data/NAME.parquet``.

    Raises:
        InputError: The directory holds no JSONL file, or one that generate did not put there.
    """
    files = sorted(folder.glob("*.jsonl"))
    expected = "a directory that 'crmbench generate --out' made, or a JSONL file"
    if not files:
        raise InputError(
            "the directory holds no conversations", file=str(folder), expected=expected
        )
    for file in files:
        if not (folder / "data" / f"{file.stem}.parquet").exists():
            raise InputError(
                f"{file.name} is no part of a set that 'crmbench generate' made",
                file=str(folder),
                expected=f"{expected}, such as {file}",
            )
    return files


def digest_of_named(name: str) -> str:
    """The digest of what `load_named` reads.

    Raises:
        InputError: There is no such file.
    """
    path = path_of(name)
    if path.is_file():
        return digest_of(path)
    published = _published(name)
    if published is not None:
        return published.digest
    if not path.is_dir():
        raise InputError("there is no such file", file=name)
    sharded = ShardedSet(path)
    hasher = blake2b(digest_size=16)
    if sharded.exists:
        for part in sharded.splits().values():
            hasher.update(part.sha256.encode())
        return hasher.hexdigest()
    for file in sorted(path.glob("*.jsonl")):
        hasher.update(digest_of(file).encode())
    return hasher.hexdigest()


@dataclass(frozen=True)
class _Published:
    loaded: Loaded
    digest: str


def _published(name: str) -> _Published | None:
    """A domain's published set, or a split of it; None for any other name."""
    domain, _, split = name.partition("/")
    if domain not in domain_names() or Path(name).exists():
        return None
    return _set_of(domain, split)


@lru_cache(maxsize=8)
def _set_of(domain: str, split: str) -> _Published:
    sets = load_domain(domain).task_sets
    by_part = {name: each for each in sets for name in (*each.splits, each.name) if name}
    task_set = _split(by_part, domain, split) if split or not sets else sets[0]
    part = "" if split == task_set.name else split
    shipped = _file_of(domain, task_set)
    if shipped is None:
        return _made(domain, part, task_set)
    return _read(shipped, shipped.whole if not part else _split(shipped.splits, domain, part))


def shipped_split(domain: str, split: str) -> Sequence[Task]:
    """The tasks of a split that comes along; none if it does not."""
    for each in load_domain(domain).task_sets:
        if split in each.splits and (shipped := _file_of(domain, each)) is not None:
            return _read(shipped, shipped.splits[split]).loaded.lazy_tasks
    return ()


def _file_of(domain: str, task_set: TaskSet) -> PublishedSet | None:
    first = task_set is load_domain(domain).task_sets[0]
    return read_published(domain if first else f"{domain}/{task_set.name or task_set.splits[0]}")


def _read(shipped: PublishedSet, part: Split) -> _Published:
    def conversation(place: int) -> ArcConversation:
        return parse_conversation(orjson.loads(shipped.lines[part.places[place]]))

    conversations = Lazy(len(part.places), conversation)
    tasks = Lazy(len(part.places), lambda place: task_from(conversations[place]))
    return _Published(Loaded(conversations, (), tasks), part.digest)


def _made(domain: str, split: str, task_set: TaskSet) -> _Published:
    """A set that does not come ready-made, made now."""
    dataset = _generated(domain, task_set)
    tasks = dataset.tasks if not split else _split(dataset.splits, domain, split)
    return _as_read(tasks)


def _as_read(tasks: Sequence[Task]) -> _Published:
    made = tuple(parse_conversation(task_to_data(task)) for task in tasks)
    return _Published(Loaded(made, (), tuple(map(task_from, made))), digest_of_tasks(tasks))


def _split(splits: Mapping[str, T], domain: str, split: str) -> T:
    if split not in splits:
        known = [f"{domain}/{name}" for name in splits]
        raise InputError(
            f"there is no split '{split}' of {domain}" + did_you_mean(f"{domain}/{split}", known),
            expected=", ".join(known),
        )
    return splits[split]


@lru_cache(maxsize=2)
def _generated(domain: str, task_set: TaskSet) -> Dataset:
    name = f"{domain}/{task_set.splits[0]}" if len(task_set.splits) == 1 else domain
    _log.warning("Making %s, which does not come ready-made …", name)
    started = perf_counter()
    made = task_set.load()()
    _log.warning("… %s conversations in %.0f s", len(made.tasks), perf_counter() - started)
    return made


def choose(
    tasks: Sequence[Task], *, filters: Sequence[str] = (), sample: int | None = None, seed: int = 0
) -> list[Task]:
    """The tasks that fit every filter, or a random sample of them, in their order.

    Args:
        filters: ``tag=…``, ``category=…``, ``complexity=…``, ``family=…``, ``id=…``, or
            ``persona=…``, which takes a whole persona or its role alone.

    Raises:
        InputError: A filter is not of that form, or nothing fits.
    """
    chosen = fitting(tasks, filters)
    if not chosen:
        raise InputError("no conversation fits the filters", expected=_held(tasks, filters))
    if sample is not None and sample < len(chosen):
        places = sorted(random.Random(seed).sample(range(len(chosen)), sample))
        return [chosen[place] for place in places]
    return list(chosen)


def fitting(tasks: Sequence[Task], filters: Sequence[str]) -> Sequence[Task]:
    """The tasks that fit every filter, in their order.

    Raises:
        InputError: A filter is not of its form.
    """
    if not filters:
        # Nothing is looked at here: a sample of a published set reads no other task.
        return tasks
    return [task for task in tasks if all(_fits(task, text) for text in filters)]


_FIELDS: Mapping[str, Callable[[Task], tuple[str, ...]]] = {
    "tag": lambda task: task.tags,
    "category": lambda task: (task.category,),
    "complexity": lambda task: (task.complexity,),
    "family": lambda task: (task.family,),
    "persona": lambda task: (task.persona, role_of(task.persona)),
    "id": lambda task: (task.task_id,),
}
"""What a filter may name, and the values that a task has of it."""
NAMED_AT_MOST = 20
"""Values that a complaint about a filter lists."""


def _held(tasks: Sequence[Task], filters: Sequence[str]) -> str:
    """What the first filter that no task fits could have said."""
    for text in filters:
        name, _, value = text.partition("=")
        known = sorted({held for task in tasks for held in _FIELDS[name](task) if held})
        if value not in known:
            listed = ", ".join(known[:NAMED_AT_MOST]) or "nothing, for no task has one"
            more = f" and {len(known) - NAMED_AT_MOST} more" if len(known) > NAMED_AT_MOST else ""
            return f"in {name}=: {listed}{more}{did_you_mean(value, known)}"
    return "filters that one task fits together"


def _fits(task: Task, text: str) -> bool:
    name, equals, value = text.partition("=")
    if not equals or name not in _FIELDS:
        raise InputError(
            f"'{text}' is no filter" + did_you_mean(name, _FIELDS),
            expected=f"NAME=VALUE, with a NAME of {', '.join(_FIELDS)}",
        )
    return value in _FIELDS[name](task)


@dataclass(frozen=True)
class RunData:
    """The tasks of a run, and how its record names them."""

    tasks: tuple[Task, ...]
    name: str
    digest: str
    skipped: tuple[str, ...] = ()
    """Why lines of the file were left out."""


def read_data(file: str, options: RunOptions) -> RunData:
    """The tasks of a file or a set, the options' filters and sample applied.

    Args:
        file: What `load_named` takes; `options.file` is not read.

    Raises:
        InputError: The file cannot be read, or no task fits.
    """
    loaded = load_named(file, skip_invalid=options.skip_invalid)
    tasks = _chosen(loaded.lazy_tasks, options)
    digest, name = digest_of_named(file), Path(file).name
    return RunData(tasks, name, digest, tuple(map(str, loaded.skipped)))


def given_data(tasks: Sequence[Task], options: RunOptions) -> RunData:
    """Tasks that come from code; their digest is that of the file that they would make.

    Raises:
        InputError: No task fits the filters.
    """
    digest = sha256()
    for task in tasks:
        digest.update(orjson.dumps(task_to_data(task)) + b"\n")
    return RunData(_chosen(tasks, options), "tasks.jsonl", digest.hexdigest())


def _chosen(tasks: Sequence[Task], options: RunOptions) -> tuple[Task, ...]:
    chosen = choose(tasks, filters=options.filters, sample=options.sample, seed=options.seed)
    return tuple(chosen)
