"""Rates that processes share: no more than the rate over all of them, whoever dies."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from crmbench.models import Limits
from crmbench.models.limits import OwnRate
from crmbench.models.shared_rates import FileRate, FileRates


class Stopped:
    """A clock that stands, so that what is waited for follows from what was taken alone."""

    def __init__(self, moment: float = 1000.0) -> None:
        self.moment = moment

    def now(self) -> float:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody sleeps here")


def taken(folder: Path, count: int, name: str = "agent requests") -> list[float]:
    """What a process has to wait for each of its requests, at one a second."""

    async def take() -> list[float]:
        rate = FileRates(folder, Stopped()).rate(name, 60.0)
        return [await rate.take(1.0) for _ in range(count)]

    return asyncio.run(take())


def test_two_processes_wait_as_one_would(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        parts = [pool.submit(taken, tmp_path, 40) for _ in range(2)]
        waits = sorted(wait for part in parts for wait in part.result())
    # The first second's worth is free, then one a second, whichever process it is.
    assert waits == [0.0, *map(float, range(79))]


def test_rates_of_different_names_do_not_wait_for_each_other(tmp_path: Path) -> None:
    assert taken(tmp_path, 3) == [0.0, 0.0, 1.0]
    assert taken(tmp_path, 3, "judge requests") == [0.0, 0.0, 1.0]


def test_time_and_corrections_count(tmp_path: Path) -> None:
    async def scene() -> list[float]:
        clock = Stopped()
        one, two = (FileRates(tmp_path, clock).rate("tokens", 60.0) for _ in range(2))
        waits = [await one.take(10.0), await two.take(1.0)]
        await one.correct(-5.0)
        waits.append(await two.take(1.0))
        clock.moment += 3.0
        waits.append(await one.take(1.0))
        return waits

    assert asyncio.run(scene()) == [0.0, 9.0, 5.0, 3.0]


def test_a_process_killed_with_the_lock_holds_up_no_other(tmp_path: Path) -> None:
    taken(tmp_path, 2)
    child = os.fork()
    if child == 0:
        rate = FileRates(tmp_path, Stopped()).rate("agent requests", 60.0)
        assert isinstance(rate, FileRate)
        with rate._bucket():
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert taken(tmp_path, 1) == [1.0]


@pytest.mark.parametrize("shared", [False, True])
def test_limits_say_where_a_rate_is(shared: bool, tmp_path: Path) -> None:
    clock = Stopped()
    rates = FileRates(tmp_path, clock) if shared else None
    limits = Limits(requests_per_minute=60.0, rates=rates, rate_name="agent")
    assert limits.rate("tokens", limits.tokens_per_minute, clock) is None
    rate = limits.rate("requests", limits.requests_per_minute, clock)
    assert isinstance(rate, FileRate if shared else OwnRate)
    assert asyncio.run(rate.take(30.0)) == 0.0
    assert bool(list(tmp_path.iterdir())) == shared
