"""`make test-serve`: what takes minutes. Not collected by the usual run; name this file to run it.

    python -m pytest tests/serve/soak_serve.py

CRMBENCH_SOAK_REQUESTS and CRMBENCH_SOAK_SECONDS say how many requests and how long.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from time import monotonic

import pytest
from tests.serve.checks import besieged, change_nothing_on_error, lose_no_verdict
from tests.serve.crowd import as_if_alone, play_all, run_of
from tests.serve.hostile import RESET
from tests.serve.process import ServerProcess

from crmbench.runner.task_sets import load_named

REQUESTS = int(os.environ.get("CRMBENCH_SOAK_REQUESTS", "100000"))
SECONDS = float(os.environ.get("CRMBENCH_SOAK_SECONDS", "120"))
MEGABYTE = 2**20


def test_a_hundred_thousand_hostile_requests(tmp_path: Path) -> None:
    found = besieged(tmp_path / "runs", REQUESTS)
    assert found.failures == []
    assert found.leaks == []
    assert found.requests == REQUESTS // 8 * 8
    assert found.statuses[RESET] < REQUESTS / 50


def test_two_thousand_refusals_change_nothing() -> None:
    failed, changed = change_nothing_on_error(2_000)
    assert changed == []
    assert failed > 1_000


def test_a_hundred_sessions_at_once_stay_apart(tmp_path: Path) -> None:
    tasks = list(load_named("service").lazy_tasks[:50]) + list(load_named("sales").lazy_tasks[:50])
    runs = tmp_path / "runs"
    with ServerProcess("--out", str(runs)) as server:

        async def go() -> None:
            async with asyncio.TaskGroup() as group:
                for place, name in enumerate(("service", "sales")):
                    half = tasks[50 * place : 50 * place + 50]
                    group.create_task(play_all(server, name, list(enumerate(half, start=1))))

        asyncio.run(go())
    for folder in runs.iterdir():
        alone = tmp_path / folder.name
        alone.mkdir()
        folder.rename(alone / folder.name)
        assert len(run_of(alone).outlines()) == 50
        assert as_if_alone(alone, tasks)


def test_two_minutes_of_conversations(tmp_path: Path) -> None:
    tasks = list(load_named("sales").lazy_tasks[:40])
    runs = tmp_path / "runs"
    rounds, memory = 0, 0
    with ServerProcess("--out", str(runs), "--max-sessions", "60") as server:
        until = monotonic() + SECONDS
        while monotonic() < until or rounds < 3:
            asyncio.run(play_all(server, "sales", list(enumerate(tasks, start=1))))
            rounds += 1
            if rounds == 2:
                memory = server.memory()
        grown = server.memory() - memory
    assert grown < 100 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB more after {rounds} rounds"
    assert len(run_of(runs).outlines()) == rounds * len(tasks)
    assert as_if_alone(runs, tasks)


# The client's library does not close every socket that a kill has cut off.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_ten_kills_lose_no_verdict(tmp_path: Path) -> None:
    assert lose_no_verdict(tmp_path / "runs", "sales", rounds=10, at_once=30) >= 10


def test_a_thousand_sessions_fit(tmp_path: Path) -> None:
    with ServerProcess("--out", str(tmp_path / "runs"), "--org", "service") as server:
        for number in range(1_000):
            server.open_session("service", 1 + number % 200, "many")
        assert server.memory() < 2_000 * MEGABYTE
