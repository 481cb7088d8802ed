"""The conversations that a run is asked to play: a file's, or the ones that come along."""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc import Loaded, load

BUNDLED = {"demo": "demo.jsonl"}
"""Names that stand for files inside the package."""


def path_of(name: str) -> Path:
    """The file that a name or path stands for."""
    if name in BUNDLED:
        return Path(str(resources.files("crmbench") / "data" / BUNDLED[name]))
    return Path(name)


def load_named(name: str, *, skip_invalid: bool = False) -> Loaded:
    """Read the conversations of a file, of a directory that `crmbench generate` made, or of a
    bundled set.

    Raises:
        InputError: See `crmbench.formats.arc.load`; or the directory holds no JSONL file.
    """
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


def choose(
    tasks: Sequence[Task], *, filters: Sequence[str] = (), sample: int | None = None, seed: int = 0
) -> list[Task]:
    """The tasks that fit every filter, or a random sample of them, in their order.

    Args:
        filters: ``tag=…``, ``category=…``, ``complexity=…``, ``family=…`` or ``id=…``.

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
        "persona": (task.persona,),
        "id": (task.task_id,),
    }
    if not equals or name not in fields:
        raise InputError(f"'{text}' is no filter", expected=f"one of {', '.join(fields)}, =, value")
    return value in fields[name]
