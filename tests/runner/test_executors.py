"""The same job on many items, in this process or in several, and nothing left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crmbench.runner.executors import Executor, InlineExecutor, ProcessExecutor

_state: dict[str, Path] = {}


def begin(folder: Path) -> None:
    _state["folder"] = folder


def end() -> None:
    (_state["folder"] / f"ended-{os.getpid()}").touch()


def square(number: int) -> tuple[int, int]:
    """The square, and who worked it out."""
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number, os.getpid()


def hang(number: int) -> int:
    (_state["folder"] / f"hanging-{number}").touch()
    while True:
        time.sleep(0.01)


def inline(folder: Path) -> Executor:
    return InlineExecutor(begin, (folder,), end)


def processes(folder: Path) -> Executor:
    return ProcessExecutor(2, begin, (folder,), end)


@pytest.mark.parametrize("make", [inline, processes])
def test_results_come_in_order_and_workers_end(
    make: Callable[[Path], Executor], tmp_path: Path
) -> None:
    with make(tmp_path) as executor:
        found = list(executor.map(square, range(7)))
        workers = executor.workers
    assert [result for result, _ in found] == [n * n for n in range(7)]
    # Item n is worker number n modulo `workers`', so what one keeps serves what follows.
    assert [pid for _, pid in found] == [found[n % workers][1] for n in range(7)]
    assert len(list(tmp_path.glob("ended-*"))) == workers


@pytest.mark.parametrize("make", [inline, processes])
def test_what_a_job_raises_is_raised_and_workers_end(
    make: Callable[[Path], Executor], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="-1 is negative"), make(tmp_path) as executor:
        list(executor.map(square, [3, -1]))
    assert list(tmp_path.glob("ended-*"))


def test_an_interrupt_ends_workers_that_hang_and_they_clean_up(tmp_path: Path) -> None:
    def interrupted() -> None:
        with ProcessExecutor(2, begin, (tmp_path,), end) as executor:
            executor.map(hang, range(2))
            while len(list(tmp_path.glob("hanging-*"))) < 2:
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(list(tmp_path.glob("ended-*"))) == 2
