"""Driving models: calls a second, CPU and memory, against a local server with latency.

The server runs in a process of its own, and so does each measurement, so that none inherits
another's memory. With litellm installed, its ``acompletion`` is sent the same requests, in turn
with ours, and ratios are taken round by round.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from time import perf_counter

import orjson

from crmbench.bench.drive import WAYS, Drive
from crmbench.bench.world import interleaved
from crmbench.domains.registry import load_domain
from crmbench.errors import HarnessError

PROGRAM = "crmbench.bench.drive"


@dataclass(frozen=True, slots=True)
class ModelEffort:
    """How much is measured."""

    at_once: int
    """Episodes, or calls, that are open at the same time."""
    episodes: int
    calls: int
    """Of the client alone."""
    litellm_calls: int
    rounds: int
    starts: int
    """Starts of the command line."""
    latency: float = 0.3
    """Seconds that the server takes to answer."""


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """One way of driving a model."""

    way: str
    """``harness``, ``client`` or ``litellm``; see `crmbench.bench.drive.WAYS`."""
    at_once: int
    tools: int
    latency_ms: float
    calls: int
    """In each round."""
    calls_per_s: float
    low: float
    high: float
    """Median and range over rounds."""
    cpu_ms: float
    """Milliseconds of CPU a call, median over rounds."""
    peak_mb: float
    """The highest of the rounds."""
    ratio: float | None
    """Calls a second as a multiple of litellm's in the same round, median; None without it."""
    cpu_ratio: float | None
    """How many times as much CPU a call takes litellm, likewise."""


@dataclass(frozen=True, slots=True)
class Start:
    """How long ``crmbench --help`` takes, from the start of its process to the end."""

    seconds: float
    low: float
    high: float
    bare_seconds: float
    """Of a Python that does nothing."""


def measure_models(effort: ModelEffort) -> list[ModelSpeed]:
    """Drive the fake model in every way that is installed here.

    Raises:
        HarnessError: A measurement failed, or some of its calls had no answer.
    """
    ways = [way for way in WAYS if way != "litellm" or find_spec("litellm")]
    counts = {"harness": effort.episodes, "client": effort.calls, "litellm": effort.litellm_calls}
    drives: dict[str, list[Drive]] = {way: [] for way in ways}
    with _server(effort.latency) as url:
        for _ in range(effort.rounds):
            for way in ways:
                drives[way].append(_in_process(way, url, counts[way], effort.at_once))
    return [_speed(way, effort, drives) for way in ways]


def _speed(way: str, effort: ModelEffort, drives: dict[str, list[Drive]]) -> ModelSpeed:
    own, base = drives[way], drives.get("litellm", [])
    rates = [_rate(drive) for drive in own]
    pairs = list(zip(own, base, strict=False))
    return ModelSpeed(
        way,
        effort.at_once,
        len(load_domain("sales").toolbox.schemas),
        effort.latency * 1e3,
        own[0].calls,
        median(rates),
        min(rates),
        max(rates),
        median(map(_cpu_ms, own)),
        max(drive.peak_mb for drive in own),
        median(_rate(one) / _rate(other) for one, other in pairs) if pairs else None,
        median(_cpu_ms(other) / _cpu_ms(one) for one, other in pairs) if pairs else None,
    )


def _rate(drive: Drive) -> float:
    return drive.calls / drive.seconds


def _cpu_ms(drive: Drive) -> float:
    return drive.cpu_seconds / drive.calls * 1e3


def measure_start(rounds: int) -> Start:
    """Time the command line, in turn with a Python that does nothing."""

    def seconds(*command: str) -> float:
        started = perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - started

    taken = interleaved(
        {
            "help": lambda: seconds("-m", "crmbench", "--help"),
            "bare": lambda: seconds("-c", "pass"),
        },
        rounds,
    )
    shown = taken["help"]
    return Start(median(shown), min(shown), max(shown), median(taken["bare"]))


@contextmanager
def _server(latency: float) -> Iterator[str]:
    command = [sys.executable, "-m", PROGRAM, "server", "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        if not address:
            raise HarnessError("the server of the benchmark did not start")
        yield address
    finally:
        process.terminate()
        process.communicate()


def _in_process(way: str, url: str, count: int, at_once: int) -> Drive:
    command = [sys.executable, "-m", PROGRAM, way, url, str(count), str(at_once)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HarnessError(f"the measurement '{way}' failed: {done.stderr.strip()[-800:]}")
    drive = Drive(**orjson.loads(done.stdout.splitlines()[-1]))
    if drive.answered != drive.calls:
        raise HarnessError(f"'{way}': {drive.calls - drive.answered} calls had no answer")
    return drive


def describe(speeds: Sequence[ModelSpeed], start: Start) -> list[str]:
    """The figures as lines of text."""
    first = speeds[0]
    lines = [
        (
            f"Model calls, {first.at_once} at once, {first.tools} tools, a server that answers "
            f"after {first.latency_ms:.0f} ms"
        ),
        f"  {'':<9}{'calls/s':>9}{'CPU ms a call':>15}{'peak MB':>9}{'to litellm':>12}{'CPU':>7}",
    ]
    for speed in speeds:
        ratios = (
            f"{speed.ratio:>12.1f}{speed.cpu_ratio:>7.1f}"
            if speed.ratio is not None and speed.cpu_ratio is not None
            else f"{'–':>12}{'–':>7}"
        )
        lines.append(
            f"  {speed.way:<9}{speed.calls_per_s:>9,.0f}{speed.cpu_ms:>15.2f}"
            f"{speed.peak_mb:>9,.0f}{ratios}   {WAYS[speed.way]}"
        )
    lines.append(
        f"  crmbench --help: {start.seconds:.2f} s (a Python that does nothing: "
        f"{start.bare_seconds:.2f} s)"
    )
    return lines
