"""What an episode costs besides its calls: putting the org back, and memory."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from crmbench.bench.tools import tool_calls
from crmbench.bench.world import BenchDomain, BenchWorld, task_in, timing
from crmbench.core.backends import backend_maker
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.task import Task
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.runner.task_sets import load_named

DEALS = 20
WARM_UP = 10
STATUS = Path("/proc/self/statm")
PAGE = 4096


@dataclass(frozen=True, slots=True)
class Reset:
    """How long it takes from the end of one episode to the start of the next."""

    backend: str
    clients: int
    reset_ms: float
    worst_ms: float
    new_copy_ms: float
    """What making another copy of the world takes instead."""
    ratio: float
    """A new copy to a reset: how much is saved."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What an open episode holds."""

    backend: str
    episodes: int
    """How many were open at once."""
    kb: float
    """Kilobytes an episode in this process: database, journal, trace."""
    raw_kb: float
    """Of a bare driver connection to the same copy, without anything of ours."""
    server_kb: float | None
    """In the server, private to an episode's connection; null without one, or if not told."""
    ratio: float
    """`kb` to `raw_kb`."""


def measure_reset(
    domain: Domain, backend: Backend, sizes: Iterable[int], rounds: int
) -> list[Reset]:
    """Time resets after an episode that wrote, in orgs of several sizes."""
    return [_reset(domain, backend, BenchWorld(size, DEALS), rounds) for size in sizes]


def _reset(domain: Domain, backend: Backend, world: BenchWorld, rounds: int) -> Reset:
    bench, task = BenchDomain(domain, [world]), task_in(world)
    writes = [made[0] for name, made in tool_calls(1).items() if domain.toolbox.get(name).writes]
    seconds = []
    episode = Episode(bench, task, backend)
    for number in range(rounds + WARM_UP):
        for name, arguments in writes:
            episode.execute(name, arguments)
        started = perf_counter()
        episode.finish()
        episode = Episode(bench, task, backend)
        if number >= WARM_UP:
            seconds.append(perf_counter() - started)
    # The free copy is in use, so every further one has to be made.
    copies, copied = [], []
    for _ in range(3):
        started = perf_counter()
        copies.append(backend.acquire(world))
        copied.append(perf_counter() - started)
    for database in copies:
        backend.release(world, database)
    episode.finish()
    reset, copy = timing(seconds), timing(copied)
    return Reset(
        backend.name,
        world.clients,
        reset.middle * 1e3,
        reset.high * 1e3,
        copy.middle * 1e3,
        copy.middle / reset.middle,
    )


def measure_memory(backend: str, episodes: int) -> Memory | None:
    """Measure in a process of its own, where nothing else has left free memory behind.

    Returns:
        None where the system does not tell how much memory a process holds.
    """
    if not STATUS.exists():
        return None
    kb, server_kb = _in_new_process(_episode_memory, backend, episodes)
    raw_kb, _ = _in_new_process(_raw_memory, backend, episodes)
    return Memory(backend, episodes, kb, raw_kb, server_kb, kb / raw_kb)


def _in_new_process(
    measure: Callable[[str, int], tuple[float, float | None]], backend: str, count: int
) -> tuple[float, float | None]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, backend, count).result()


def _episode_memory(backend_name: str, count: int) -> tuple[float, float | None]:
    domain, tasks = load_domain("sales"), load_named("demo").tasks()
    backend = backend_maker(backend_name)(domain)
    try:
        # Once through before counting: modules, statements and caches are nobody's episode.
        for task in tasks:
            _play(domain, task, backend).finish()
        kb, opened = _growth(
            lambda: [_play(domain, tasks[n % len(tasks)], backend) for n in range(count)], count
        )
        server_kb = _server_kb(opened)
        for episode in opened:
            episode.finish()
    finally:
        backend.close()
    return kb, server_kb


def _raw_memory(backend_name: str, count: int) -> tuple[float, float | None]:
    domain, task = load_domain("sales"), load_named("demo").tasks()[0]
    backend = backend_maker(backend_name)(domain)
    try:
        _play(domain, task, backend).finish()
        kb, opened = _growth(lambda: _raw_connections(domain, task, backend, count), count)
        for connection in opened:
            connection.close()
    finally:
        backend.close()
    return kb, None


def _growth(make: Callable[[], list[Any]], count: int) -> tuple[float, list[Any]]:
    """Kilobytes by which this process grows for each of `count` things that `make` makes."""
    gc.collect()
    before = _resident()
    made = make()
    gc.collect()
    return max(_resident() - before, PAGE) / count / 1024, made


def _resident() -> int:
    return int(STATUS.read_text(encoding="ascii").split()[1]) * PAGE


def _play(domain: Domain, task: Task, backend: Backend) -> Episode:
    """An episode whose gold calls were all made, still open."""
    episode = Episode(domain, task, backend)
    for turn in task.gold.turns:
        episode.say()
        for call in turn.calls:
            episode.call(call.tool, dict(call.arguments))
        episode.reply("Done.")
    return episode


def _raw_connections(domain: Domain, task: Task, backend: Backend, count: int) -> list[Any]:
    from crmbench.core.postgres import PostgresBackend

    if isinstance(backend, PostgresBackend):
        import psycopg

        return [psycopg.connect(backend.url, autocommit=True) for _ in range(count)]
    image = _image(domain, task, backend)
    made = []
    for _ in range(count):
        connection = sqlite3.connect(":memory:")
        connection.deserialize(image)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        made.append(connection)
    return made


def _image(domain: Domain, task: Task, backend: Backend) -> bytes:
    from crmbench.core.sqlite import SqliteConnection

    world = domain.world(task.world)
    database = backend.acquire(world)
    connection = database.connection
    image = connection.raw.serialize() if isinstance(connection, SqliteConnection) else b""
    backend.release(world, database)
    return image


def _server_kb(episodes: Sequence[Episode]) -> float | None:
    """The mean private memory of the server's processes behind the episodes' connections."""
    sizes = []
    for episode in episodes:
        if episode.database.dialect != "postgresql":
            return None
        (row,) = episode.database.connection.execute("SELECT pg_backend_pid()", ())
        try:
            text = Path(f"/proc/{row[0]}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            return None
        lines = (line.split() for line in text.splitlines())
        sizes.append(sum(int(line[1]) for line in lines if line[0].startswith("Private_")))
    return sum(sizes) / len(sizes) if sizes else None
