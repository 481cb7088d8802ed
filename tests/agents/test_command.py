"""Agents that are programs: real processes, over the real interfaces."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
from pathlib import Path

import pytest
from tests.conftest import NORTHGATE

from crmbench import RunResult, run
from crmbench.agents.command import read_usage
from crmbench.agents.command_process import parse_command
from crmbench.agents.command_seat import CommandSeat
from crmbench.agents.resolve import open_agent
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.seats.errors import Conflict

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def this_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def script(folder: Path, text: str) -> str:
    path = folder / "agent.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return f"{sys.executable} {path}"


def printed(out: Path, number: int = 1) -> tuple[str, str]:
    folder = out / "agents" / f"{number:05}"
    return (folder / "stdout.txt").read_text(), (folder / "stderr.txt").read_text()


def replies(result: RunResult) -> list[str]:
    (episode,) = result
    return [turn.reply for turn in episode.trace.turns]


def test_what_a_command_prints_is_its_reply_and_all_of_it_is_kept(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        """
        import os, sys
        prompt = sys.stdin.read()
        assert prompt == open("TASK.md").read()
        print("I have read", prompt.count("User: "), "of your messages.")
        print("a complaint", file=sys.stderr)
        """,
    )
    out = tmp_path / "run"
    result = run(NORTHGATE, f"mcp:{agent}", filters=("id=northgate-01",), out=out)
    turns = len(replies(result))
    assert replies(result) == [f"I have read {n} of your messages." for n in range(1, turns + 1)]
    spoken, complained = printed(out)
    assert spoken.splitlines() == replies(result)
    assert complained == "a complaint\n" * turns
    about = json.loads((out / "agents" / "00001" / "about.json").read_text())
    assert about == {"task_id": "northgate-01", "trial": 0, "calls": 0, "exit_code": 0}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import sys; print('half a reply'); sys.exit(3)", "exit code 3"),
        ("pass", "without a word"),
    ],
)
def test_a_command_that_ends_without_an_answer_has_failed(
    tmp_path: Path, body: str, words: str
) -> None:
    agent = script(tmp_path, body)
    (episode,) = run(NORTHGATE, f"cli:{agent}", filters=("id=northgate-01",))
    assert episode.trace.outcome == "agent_error"
    assert words in (episode.trace.error or "")


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        f"""
        import os, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
        print("waiting", flush=True)
        time.sleep(600)
        """,
    )
    out = tmp_path / "run"
    chosen = {"filters": ("id=northgate-01",), "time_limit": 4.0, "out": out}
    (episode,) = run(NORTHGATE, f"mcp:{agent}", **chosen)  # type: ignore[arg-type]
    assert episode.trace.outcome == "timeout"
    assert printed(out) == ("waiting\n", "")
    for pid in (tmp_path / "pids").read_text().split():
        assert not is_running(int(pid))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_what_a_command_says_that_it_spent_is_counted(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        """
        import json, os, pathlib
        path = pathlib.Path(os.environ["CRMBENCH_USAGE"])
        times = json.loads(path.read_text())["completion_tokens"] + 1 if path.exists() else 1
        path.write_text(json.dumps({"completion_tokens": times, "cost": 0.25 * times}))
        print("Done.")
        """,
    )
    chosen = {"filters": ("id=northgate-01",), "trials": 3, "concurrency": 1, "max_cost": 0.3}
    result = run(NORTHGATE, f"mcp:{agent}", **chosen)  # type: ignore[arg-type]
    episode = next(iter(result))
    turns = len(episode.trace.turns)
    assert episode.trace.usage == TokenUsage(completion_tokens=turns, cost=0.25 * turns)
    assert len(result) == 1
    assert "of $0.30 allowed" in (result.outcome.stopped or "")


def test_a_session_that_breaks_is_gone_on_with_by_another_process(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        """
        import sys
        print(sys.stdin.read().count("User: "))
        """,
    )
    result = run(NORTHGATE, f"mcp:{agent}", filters=("id=northgate-01",), condition="break")
    assert "1" in replies(result)[1:]


def test_a_command_plays_with_the_commands_of_play(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        """
        import subprocess, sys

        def play(*words):
            command = [sys.executable, "-m", "crmbench", "play", *words]
            done = subprocess.run(command, capture_output=True, text=True)
            print(done.stdout, done.stderr)
            return done.stdout

        play("tools", "client_search")
        play("call", "client_search", '{"limit": 1}', "no_such")
        while "over" not in play("reply", "Done."):
            pass
        play("status")
        """,
    )
    out = tmp_path / "run"
    result = run(NORTHGATE, f"cli:{agent}", filters=("id=northgate-01",), out=out)
    (episode,) = result
    assert [call.tool for call in episode.trace.turns[0].calls] == ["client_search", "no_such"]
    assert set(replies(result)) == {"Done."}
    spoken, _ = printed(out)
    assert '[1] client_search: {"' in spoken
    assert "[2] no_such was refused: There is no tool" in spoken
    assert "user: " in spoken
    assert "The conversation is over." in spoken


def test_a_client_of_mcp_plays_to_the_end(tmp_path: Path) -> None:
    out = tmp_path / "run"
    agent = f"mcp:{sys.executable} {ROOT / 'examples' / 'mcp_agent.py'}"
    result = run("demo", agent, filters=("id=demo-01",), out=out)
    (episode,) = result
    assert episode.trace.outcome == "finished"
    first = episode.trace.turns[0]
    assert [call.tool for call in first.calls] == ["client_search", "contact_search"]
    assert episode.verdict.turns[0].success, episode.verdict.reason
    assert printed(out) == ("", "")


@pytest.mark.parametrize("spec", ["mcp:", "cli:no-such-program-here", "mcp:'unclosed"])
def test_commands_that_cannot_be_run(spec: str) -> None:
    with pytest.raises(InputError):
        open_agent(spec)


def test_files_of_a_command_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")
    words = parse_command("python mine.py --file mine.py other.py")
    assert os.path.isabs(words[0])
    assert words[1:] == [str(tmp_path / "mine.py"), "--file", str(tmp_path / "mine.py"), "other.py"]


def test_usage_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    for text in ("", "[]", '{"cost": "much", "prompt_tokens": -1}'):
        (tmp_path / "usage.json").write_text(text)
        assert read_usage(tmp_path / "usage.json") == TokenUsage()


def test_between_turns_the_seat_takes_no_calls() -> None:
    async def go() -> None:
        seat = CommandSeat(TaskView("sales", "2026-01-01", "", ()))
        with pytest.raises(Conflict):
            await seat.call("client_search", {})
        with pytest.raises(Conflict):
            await seat.reply("too early")
        seat.end()
        assert (await seat.next_message()).over

    asyncio.run(go())
