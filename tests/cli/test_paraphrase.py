"""``crmbench paraphrase`` as people use it: ended midway, run again, played."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crmbench.models.testing.server import spawned

SERVER = """
import asyncio, json, sys
from crmbench.models.testing.server import FakeServer
from crmbench.models.testing.wire import FakeAnswer

def answer(asked):
    users = [text for role, text in asked.texts if role == "user"]
    said = json.loads(users[0])["message"]
    start = ("Something for you here:", "And this is what has come up by now:")[len(users) - 1]
    return FakeAnswer(f"{start} {said[0].lower()}{said[1:]}")

async def main():
    async with FakeServer(answer, latency=0.02) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """A model that says everything with another opening."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"{process.stdout.readline().strip()}/v1#fake"
    process.terminate()
    process.wait()
    process.stdout.close()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "crmbench", *arguments]


def crmbench(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def end_when(
    path: Path, number: int, arguments: list[str], cwd: Path, how: signal.Signals
) -> subprocess.CompletedProcess[bytes]:
    """Start, and end once so many rewrites are on disk."""
    process = subprocess.Popen(
        arguments, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    while len(lines(path)) < number:
        assert process.poll() is None, "it ended before it could be ended"
        time.sleep(0.005)
    process.send_signal(how)
    _, complaint = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, b"", complaint)


def test_ended_twice_run_again_and_played(model: str, tmp_path: Path) -> None:
    arguments = [
        *("paraphrase", "demo", "--model", model, "--sample", "5", "--concurrency", "2"),
        *("--quiet", "--out", "new.jsonl"),
    ]
    cache = tmp_path / "paraphrases" / "replies.jsonl"
    end_when(cache, 3, command(*arguments), tmp_path, signal.SIGKILL)
    killed = lines(cache)
    assert len(killed) >= 3
    interrupted = end_when(cache, len(killed) + 3, command(*arguments), tmp_path, signal.SIGINT)
    assert interrupted.returncode == 130
    assert b"the same command goes on" in interrupted.stderr
    assert b"Traceback" not in interrupted.stderr
    kept = lines(cache)
    assert kept[: len(killed)] == killed
    assert not (tmp_path / "new.jsonl").exists()

    done = crmbench(*arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["model_calls"] == len(lines(cache)) - len(kept)
    assert figures["rewritten"] >= 0.9 * figures["messages"]
    written = (tmp_path / "new.jsonl").read_bytes()

    again = crmbench(*arguments[:-1], "again.jsonl", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["model_calls"] == 0
    assert (tmp_path / "again.jsonl").read_bytes() == written

    played = crmbench("run", "new.jsonl", "--agent", "oracle", "--json", cwd=tmp_path)
    assert json.loads(played.stdout)["success_rate"] == 1.0


def test_a_model_that_writes_something_else_changes_nothing(tmp_path: Path) -> None:
    with spawned() as url:
        done = crmbench(
            *("paraphrase", "demo", "--sample", "2", "--model", f"{url}/v1#fake"),
            *("--out", "new.jsonl", "--cache", "kept"),
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 of ")
    assert "kept: " in done.stderr
    assert (tmp_path / "kept" / "replies.jsonl").exists()
    shown = crmbench("show", "demo", "--sample", "2", cwd=tmp_path).stdout
    assert crmbench("show", "new.jsonl", cwd=tmp_path).stdout == shown


def test_a_model_that_cannot_be_reached(tmp_path: Path) -> None:
    with spawned() as url:
        done = crmbench(
            *("paraphrase", "demo", "--sample", "1", "--model", f"{url}/v1#fake+unauthorized"),
            *("--out", "new.jsonl"),
            cwd=tmp_path,
        )
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new.jsonl").exists()
