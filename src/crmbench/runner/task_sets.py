"""The conversations that a run is asked to play: a file's, or the ones that come along."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path

import msgspec

from crmbench.authoring.dataset import Dataset
from crmbench.core.persona import role_of
from crmbench.core.task import Task
from crmbench.domains.registry import GENERATORS, HARD, load_generator, load_hard_generator
from crmbench.errors import InputError
from crmbench.formats.arc import Loaded, load, parse_conversation
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.jsonl import digest_of

BUNDLED = {"demo": "demo.jsonl"}
"""Names that stand for files inside the package."""


def path_of(name: str) -> Path:
    """The file that a name or path stands for."""
    if name in BUNDLED:
        return Path(str(resources.files("crmbench") / "data" / BUNDLED[name]))
    return Path(name)


def load_named(name: str, *, skip_invalid: bool = False) -> Loaded:
    """Read the conversations of a file, of a directory that `crmbench generate` made, of a
    bundled set, or of a domain's published set: "sales", "service", or one of its splits, as in
    "sales/test".

    Raises:
        InputError: See `crmbench.formats.arc.load`; or the directory holds no JSONL file.
    """
    published = _published(name)
    if published is not None:
        made = (parse_conversation(task_to_data(task)) for task in published)
        return Loaded(tuple(made), ())
    path = path_of(name)
    if not path.is_dir():
        return load(path, skip_invalid=skip_invalid)
    files = sorted(path.glob("*.jsonl"))
    if not files:
        raise InputError(
            "the directory holds no conversations",
            file=str(path),
            expected="a directory that 'crmbench generate --out' made, or a JSONL file",
        )
    parts = [load(file, skip_invalid=skip_invalid) for file in files]
    # Splits may share conversations; each is taken once, in the order of its id.
    known = {c.conversation_id: c for part in parts for c in part.conversations}
    skipped = tuple(error for part in parts for error in part.skipped)
    return Loaded(tuple(known[key] for key in sorted(known)), skipped)


def digest_of_named(name: str) -> str:
    """The digest of what `load_named` reads.

    Raises:
        InputError: There is no such file.
    """
    path = path_of(name)
    if path.is_file():
        return digest_of(path)
    hasher = blake2b(digest_size=16)
    published = _published(name)
    if published is not None:
        for task in published:
            hasher.update(msgspec.json.encode(task_to_data(task)))
        return hasher.hexdigest()
    if not path.is_dir():
        raise InputError("there is no such file", file=name)
    for file in sorted(path.glob("*.jsonl")):
        hasher.update(digest_of(file).encode())
    return hasher.hexdigest()


def _published(name: str) -> tuple[Task, ...] | None:
    """The tasks of a domain's published set, or of a split of it; None for any other name."""
    domain, _, split = name.partition("/")
    if domain not in GENERATORS or Path(name).exists():
        return None
    if split == "hard" and domain in HARD:
        return _hard(domain).tasks
    dataset = _generated(domain)
    if not split:
        return dataset.tasks
    if split not in dataset.splits:
        known = ", ".join(f"{domain}/{known}" for known in dataset.splits)
        raise InputError(f"there is no split '{split}' of {domain}", expected=known)
    return dataset.splits[split]


@lru_cache(maxsize=2)
def _generated(domain: str) -> Dataset:
    made: Dataset = load_generator(domain)()
    return made


@lru_cache(maxsize=2)
def _hard(domain: str) -> Dataset:
    made: Dataset = load_hard_generator(domain)()
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
    chosen = [task for task in tasks if all(_fits(task, text) for text in filters)]
    if not chosen:
        raise InputError("no conversation fits the filters", expected="filters that some task has")
    if sample is not None and sample < len(chosen):
        places = sorted(random.Random(seed).sample(range(len(chosen)), sample))
        chosen = [chosen[place] for place in places]
    return chosen


def _fits(task: Task, text: str) -> bool:
    name, equals, value = text.partition("=")
    fields = {
        "tag": task.tags,
        "category": (task.category,),
        "complexity": (task.complexity,),
        "family": (task.family,),
        "persona": (task.persona, role_of(task.persona)),
        "id": (task.task_id,),
    }
    if not equals or name not in fields:
        raise InputError(f"'{text}' is no filter", expected=f"one of {', '.join(fields)}, =, value")
    return value in fields[name]
