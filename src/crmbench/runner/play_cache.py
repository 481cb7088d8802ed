"""What a played conversation needs again at every command, kept so that it need not be made anew.

Making a published set takes seconds and building a large world half of one; a play runs a process a
command. So the task without its gold and the world's image are kept in the user's cache directory,
under a stamp of the source files: a changed generator makes a new entry. Everything here can be
deleted at any time.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import msgspec
import orjson

import crmbench
from crmbench.core.conditions.asked import AskedFor
from crmbench.core.domain import Domain
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.stored_world import cache_folder
from crmbench.core.task import Gold, Task, Turn
from crmbench.core.world import EmptyWorld, WorldSource

KEPT = 6
"""Versions of the sources of which something is kept; those used longest ago are dropped."""


@dataclass(frozen=True)
class PublicTask:
    """What playing a task takes: everything but its gold, and what only readers of files need."""

    task_id: str
    domain: str
    world: str
    turns: tuple[Turn, ...]
    seed_data: Mapping[str, Mapping[str, Mapping[str, Any]]]
    persona: str
    call_limit: int | None
    budget: int | None
    breaks: tuple[int, ...]
    notebook: int | None
    asked: AskedFor
    """For conditions that keep clear of it."""

    @staticmethod
    def of(task: Task) -> PublicTask:
        return PublicTask(
            task.task_id,
            task.domain,
            task.world,
            task.turns,
            task.seed_data,
            task.persona,
            task.call_limit,
            task.budget,
            task.breaks,
            task.notebook,
            AskedFor.of(task),
        )

    def task(self) -> Task:
        """The task with an empty gold."""
        return Task(
            self.task_id,
            self.domain,
            self.world,
            self.turns,
            Gold(()),
            self.seed_data,
            persona=self.persona,
            call_limit=self.call_limit,
            budget=self.budget,
            breaks=self.breaks,
            notebook=self.notebook,
        )


class PlayCache:
    """The cache of one version of the sources.

    Args:
        root: Its directory; one of `cache_folder` if left out.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root or cache_folder("play")
        self.folder = self._root / source_stamp()

    def put_task(self, digest: str, task: PublicTask) -> None:
        """Keep a task under the digest of its file's line."""
        # Compressed, so that a search through files does not happen upon later turns.
        self._write(f"task-{digest}", zlib.compress(msgspec.json.encode(task)))

    def task(self, digest: str) -> PublicTask | None:
        """The task of that digest, if it is kept."""
        data = self._read(f"task-{digest}")
        return msgspec.json.decode(zlib.decompress(data), type=PublicTask) if data else None

    def backend(self, domain: Domain, world_name: str) -> tuple[SqliteBackend, WorldSource]:
        """A backend that has the world, and the world: from the cache, else built and kept."""
        backend = SqliteBackend(domain.schema)
        name = (
            "world-" + blake2b(f"{domain.name}/{world_name}".encode(), digest_size=12).hexdigest()
        )
        image, about = self._read(f"{name}.sqlite"), self._read(f"{name}.json")
        if image and about:
            kept = orjson.loads(about)
            world: WorldSource = EmptyWorld(
                datetime.fromisoformat(kept["now"]), kept["name"], kept["about"]
            )
            backend.adopt(world, image, kept["orders"])
            return backend, world
        world = domain.world(world_name)
        made = backend.image(world)
        if made is not None:
            image, orders = made
            self._write(f"{name}.sqlite", image)
            kept = {
                "name": world.name,
                "now": world.now.isoformat(),
                "about": world.about,
                "orders": orders,
            }
            self._write(f"{name}.json", orjson.dumps(kept))
        return backend, world

    def _read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def _write(self, name: str, data: bytes) -> None:
        if not self.folder.exists():
            self._drop_old()
        self.folder.mkdir(parents=True, exist_ok=True)
        # Renamed when whole, since another play may read at the same time.
        with NamedTemporaryFile(dir=self.folder, delete=False) as file:
            file.write(data)
        Path(file.name).replace(self.folder / name)

    def _drop_old(self) -> None:
        if not self._root.exists():
            return
        folders = sorted(self._root.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for folder in folders[: -KEPT + 1]:
            shutil.rmtree(folder, ignore_errors=True)


def source_stamp() -> str:
    """A digest of where this package's files are, how long, and when they were changed."""
    hasher = blake2b(digest_size=12)
    root = Path(crmbench.__file__).parent
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            about = os.stat(os.path.join(folder, name))
            hasher.update(f"{folder}/{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return hasher.hexdigest()
