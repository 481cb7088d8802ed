"""What hostile clients get, crowds and kills: in small what `make test-serve` does at length."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.conftest import NORTHGATE
from tests.serve.checks import besieged, change_nothing_on_error, lose_no_verdict
from tests.serve.crowd import as_if_alone, play_all, run_of
from tests.serve.hostile import RESET, Attacker
from tests.serve.process import ServerProcess

from crmbench.runner.task_sets import load_named


def test_attacks_are_the_same_from_the_same_seed() -> None:
    one, two = (Attacker(3, ("a-token",), "x") for _ in range(2))
    made = [one.attack() for _ in range(200)]
    assert made == [two.attack() for _ in range(200)]
    assert len({each.head + each.body for each in made}) > 190


def test_no_answer_to_an_attack_is_a_failure_or_a_leak(tmp_path: Path) -> None:
    found = besieged(tmp_path / "runs", 1_600)
    assert found.failures == []
    assert found.leaks == []
    assert found.requests == 1_600
    assert found.statuses[RESET] < 32
    assert {200, 400, 401, 403, 404, 405} <= set(found.statuses)


def test_what_is_refused_changes_nothing() -> None:
    failed, changed = change_nothing_on_error(200)
    assert changed == []
    assert failed > 100


def test_what_was_done_is_answered_though_a_body_came_that_nobody_wanted() -> None:
    with ServerProcess("--org", "first=sales/empty") as server:
        token = server.admin.get("/v1/orgs").json()["orgs"][0]["token"]
        head = (
            f"POST /v1/orgs/first/reset HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\n"
            f"Authorization: Bearer {token}\r\nContent-Length: {2**22}\r\n\r\n"
        )

        async def ask() -> bytes:
            reader, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(head.encode() + bytes(2**22))
            await writer.drain()
            answer = await reader.read()
            writer.close()
            return answer

        for _ in range(5):
            answer = asyncio.run(ask())
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert answer.endswith(b'{"name":"first","reset":true}')


def test_sessions_at_once_stay_apart(tmp_path: Path) -> None:
    tasks = load_named(NORTHGATE).tasks()
    runs = tmp_path / "runs"
    with ServerProcess("--out", str(runs)) as server:
        twice = [(number, task) for number, task in enumerate(tasks, start=1) for _ in range(2)]
        asyncio.run(play_all(server, NORTHGATE, twice))
    assert len(run_of(runs).episodes()) == 2 * len(tasks)
    assert as_if_alone(runs, tasks)


# The client's library does not close every socket that a kill has cut off.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_kill_loses_no_verdict(tmp_path: Path) -> None:
    assert lose_no_verdict(tmp_path / "runs", NORTHGATE, rounds=2, at_once=8) >= 2
