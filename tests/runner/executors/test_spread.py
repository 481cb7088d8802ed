"""The same job on many items, in this process or in several, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crmbench.errors import HarnessError, InputError
from crmbench.runner.executors.spread import (
    AHEAD,
    Executor,
    InlineExecutor,
    ProcessExecutor,
    open_executor,
)

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


def large(number: int) -> bytes:
    """More than a pipe holds, so that sending it takes as long as its reader lets it."""
    return bytes([number]) * 20_000_000


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


def test_an_error_ends_workers_that_are_sending_a_result(tmp_path: Path) -> None:
    def leave() -> None:
        with ProcessExecutor(2, begin, (tmp_path,), end) as executor:
            assert next(executor.stream(large, range(6)))[0] == 0
            raise KeyError

    for _ in range(10):
        with pytest.raises(KeyError):
            leave()
    assert len(list(tmp_path.glob("ended-*"))) == 20


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


PARENT = """
import os, signal, sys
from pathlib import Path
from tests.runner.executors import test_spread
from crmbench.runner.executors.spread import ProcessExecutor

folder = Path(sys.argv[1])
executor = ProcessExecutor(3, test_spread.begin, (folder,), test_spread.end)
results = executor.map(test_spread.square, range(3))
for _, pid in results:
    print(pid, flush=True)
if sys.argv[2] == "at work":
    executor.map(test_spread.hang, range(2))
    while len(list(folder.glob("hanging-*"))) < 2:
        pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("state", ["waiting", "at work"])
def test_workers_end_with_the_process_that_they_work_for(state: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path), state]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        # Workers have this pipe too: it ends when the last of them has.
        told, _ = parent.communicate(timeout=120)
    assert parent.returncode == -signal.SIGKILL
    workers = {int(line) for line in told.split()}
    assert len(workers) == 3
    assert {path.name for path in tmp_path.glob("ended-*")} == {f"ended-{n}" for n in workers}


def die_once(number: int) -> int:
    """The number; the first worker that is given 5 is killed over it."""
    seen = _state["folder"] / "died"
    if number == 5 and not seen.exists():
        seen.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("make", [inline, processes])
def test_a_stream_begins_little_before_its_results_are_taken(
    make: Callable[[Path], Executor], tmp_path: Path
) -> None:
    begun: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(40):
            begun.append(number)
            yield number

    with make(tmp_path) as executor:
        results = executor.stream(square, numbers())
        assert next(results)[0] == 0
        assert len(begun) <= AHEAD * executor.workers + 1
        assert [result for result, _ in results] == [n * n for n in range(1, 40)]


def test_what_a_killed_worker_had_is_done_again(tmp_path: Path) -> None:
    with processes(tmp_path) as executor:
        assert list(executor.stream(die_once, range(20))) == list(range(20))
    assert (tmp_path / "died").exists()


def test_work_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="3 worker processes died"), processes(tmp_path) as made:
        list(made.stream(die, range(3)))


def test_executors_have_names(tmp_path: Path) -> None:
    for name, workers, kind in (
        ("", 1, InlineExecutor),
        ("inline", 2, InlineExecutor),
        ("", 2, ProcessExecutor),
        ("processes", 1, ProcessExecutor),
    ):
        with open_executor(name, workers, begin, (tmp_path,), end) as executor:
            assert isinstance(executor, kind)
    with pytest.raises(InputError, match="there is no executor 'rays'"):
        open_executor("rays", 1, begin, (tmp_path,), end)
