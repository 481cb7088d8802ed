"""A run that is killed goes on where it was: nothing lost, nothing played twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import NORTHGATE

SLOW_AGENT = '''
import asyncio
from pathlib import Path

class Slow:
    """Takes its time, and writes down each conversation that it begins."""

    def __init__(self):
        with Path("begun.txt").open("a") as file:
            file.write("x")

    async def turn(self, session, utterance):
        await asyncio.sleep(0.05)
        found = await session.call("list_clients")
        return f"There are {found.value['total_count']} clients."
'''


def command(*more: str) -> list[str]:
    return [
        sys.executable, "-m", "crmbench", "run", NORTHGATE, "--agent", "slow.py:Slow",
        "--trials", "4", "--concurrency", "4", "--out", "run", "--json", *more,
    ]  # fmt: skip


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def wait_for_episodes(path: Path, number: int, process: subprocess.Popen[bytes]) -> None:
    """Until so many episodes are on disk, however long that takes."""
    while len(lines(path)) < number:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)


def test_kill_and_resume(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_AGENT, encoding="utf-8")
    episodes = tmp_path / "run" / "episodes.jsonl"
    process = subprocess.Popen(command(), cwd=tmp_path, stdout=subprocess.DEVNULL)
    wait_for_episodes(episodes, 7, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = lines(episodes)
    assert 7 <= len(kept) < 48
    with episodes.open("ab") as file:
        # As a kill in the middle of a write leaves it.
        file.write(b'{"trace": {"task_id": "northgate-0')

    begun = len((tmp_path / "begun.txt").read_text(encoding="utf-8"))
    done = subprocess.run(command("--resume"), cwd=tmp_path, capture_output=True, check=True)
    figures = json.loads(done.stdout)
    assert figures["conversations"] == 12
    finished = [json.loads(line)["trace"] for line in lines(episodes)]
    places = [(trace["task_id"], trace["trial"]) for trace in finished]
    assert places == sorted(set(places))
    assert len(places) == 48
    again = len((tmp_path / "begun.txt").read_text(encoding="utf-8")) - begun
    assert again == 48 - len([line for line in kept if line.endswith(b"}")])

    whole = tmp_path / "whole"
    subprocess.run(
        [*command()[:-2], str(whole), "--json"], cwd=tmp_path, capture_output=True, check=True
    )
    assert (whole / "episodes.jsonl").read_bytes() == episodes.read_bytes()


def test_an_interrupt_ends_cleanly_and_keeps_what_was_done(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_AGENT, encoding="utf-8")
    episodes = tmp_path / "run" / "episodes.jsonl"
    process = subprocess.Popen(
        command(), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    wait_for_episodes(episodes, 3, process)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in complaint
    assert len(lines(episodes)) >= 3
    for line in lines(episodes):
        json.loads(line)
