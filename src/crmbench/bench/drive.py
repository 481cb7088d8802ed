"""One measurement of driving models, in a process of its own; and the server it asks.

python -m crmbench.bench.drive harness|client|litellm URL COUNT AT_ONCE
python -m crmbench.bench.drive server
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import orjson

from crmbench.core.trace import TokenUsage
from crmbench.domains.registry import load_domain
from crmbench.runner.task_sets import load_named

TOOL_CALLS = 3
"""Tool calls of the fake model in every turn, each with an answer of its own."""
STATUS = Path("/proc/self/status")
WAYS = {
    "harness": "whole episodes: databases, tools, grading, traces on disk",
    "client": "our client alone, a request a call",
    "litellm": "litellm.acompletion, the same requests as the client",
}


@dataclass(frozen=True, slots=True)
class Drive:
    """What one process measured."""

    calls: int
    seconds: float
    """From the first call to the last result; the harness's world is built before."""
    cpu_seconds: float
    """Of the process; for the harness with everything from set-up to the last figure on disk."""
    peak_mb: float
    """The most memory that the process ever held, the interpreter included."""
    answered: int
    """Calls that had an answer."""


def drive(way: str, url: str, count: int, at_once: int) -> Drive:
    """Measure one way in this process.

    Args:
        way: One of `WAYS`.
        url: Of the fake server.
        count: Episodes of the harness, else calls.
        at_once: Episodes or calls that are open at the same time.
    """
    if way == "harness":
        return _drive_harness(url, count, at_once)
    return asyncio.run(_drive_calls(way, url, count, at_once))


def _drive_harness(url: str, episodes: int, at_once: int) -> Drive:
    from crmbench.runner.run import RunOptions, execute

    tasks = len(load_named("demo").tasks())
    options = RunOptions(
        "demo",
        agent="function_calling",
        model=f"{url}/v1#fake",
        trials=-(-episodes // tasks),
        concurrency=at_once,
    )
    with TemporaryDirectory() as folder:
        cpu = process_time()
        outcome = execute(options, Path(folder) / "run")
        cpu = process_time() - cpu
    calls = sum((episode.trace.usage for episode in outcome.outlines), TokenUsage()).model_calls
    lost = sum(episode.trace.outcome != "finished" for episode in outcome.outlines)
    return Drive(calls, outcome.seconds, cpu, _peak_mb(), calls - lost)


async def _drive_calls(way: str, url: str, count: int, at_once: int) -> Drive:
    call, close = await _client(url, at_once) if way == "client" else await _litellm(url)
    await call(0)  # Connections, imports and caches are no call's cost.
    answered = 0
    places = iter(range(count))

    async def work() -> None:
        nonlocal answered
        for place in places:
            # Not in one step: `+=` would read the count before it waits.
            done = await call(place)
            answered += done

    started, cpu = perf_counter(), process_time()
    await asyncio.gather(*(work() for _ in range(min(at_once, count))))
    seconds, cpu = perf_counter() - started, process_time() - cpu
    await close()
    return Drive(count, seconds, cpu, _peak_mb(), answered)


Call = Callable[[int], Awaitable[bool]]
Close = Callable[[], Awaitable[None]]


def _conversations() -> list[tuple[str, str]]:
    """Policy and words of every turn of the bundled conversations."""
    policy = load_domain("sales").policy
    return [(policy, turn.utterance) for task in load_named("demo").tasks() for turn in task.turns]


async def _client(url: str, at_once: int) -> tuple[Call, Close]:
    from crmbench.models import Limits, Message, ToolSpec, open_model

    model = open_model(f"{url}/v1#fake", limits=Limits(concurrency=at_once))
    tools = [ToolSpec(**schema) for schema in load_domain("sales").toolbox.schemas]
    words = _conversations()

    async def call(place: int) -> bool:
        policy, utterance = words[place % len(words)]
        messages = [Message("system", policy), Message("user", utterance)]
        reply = await model.complete(messages, tools)
        return bool(reply.tool_calls)

    return call, model.close


async def _litellm(url: str) -> tuple[Call, Close]:
    # Or its import asks the network for a table of prices.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    completion: Any = import_module("litellm").acompletion
    tools = [
        {"type": "function", "function": schema} for schema in load_domain("sales").toolbox.schemas
    ]
    words = _conversations()

    async def call(place: int) -> bool:
        policy, utterance = words[place % len(words)]
        answer = await completion(
            model="openai/fake",
            api_base=f"{url}/v1",
            api_key="none",
            num_retries=0,
            messages=[
                {"role": "system", "content": policy},
                {"role": "user", "content": utterance},
            ],
            tools=tools,
        )
        return bool(answer.choices[0].message.tool_calls)

    async def close() -> None:
        return None

    return call, close


def _peak_mb() -> float:
    """The peak of this program's resident memory.

    ``ru_maxrss`` is not asked where the system tells more: it counts the parent's memory too, as
    a new process starts as a copy of it.
    """
    if STATUS.exists():
        for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return getrusage(RUSAGE_SELF).ru_maxrss / unit


def serve(latency: float) -> None:
    """Run the fake server until the process is ended; it prints its address.

    Garbage collection is off: with hundreds of requests waiting, each of them an object tree, it
    would take half of the server's time, and the server is not what is measured.
    """
    from crmbench.models.testing import server as fake_server

    gc.disable()
    fake_server.main(["--latency", str(latency), "--tool-calls", str(TOOL_CALLS)])


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print one line of JSON, or serve."""
    parser = argparse.ArgumentParser(prog="python -m crmbench.bench.drive")
    parser.add_argument("way", choices=[*WAYS, "server"])
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("count", nargs="?", type=int, default=1)
    parser.add_argument("at_once", nargs="?", type=int, default=1)
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args(given)
    if options.way == "server":
        serve(options.latency)
        return
    measured = drive(options.way, options.url, options.count, options.at_once)
    sys.stdout.write(orjson.dumps(measured).decode() + "\n")


if __name__ == "__main__":
    main()
