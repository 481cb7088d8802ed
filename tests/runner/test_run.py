"""A whole run from Python: in and out of event loops, locked, interrupted, with broken tasks."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, fields, replace
from pathlib import Path

import orjson
import pytest
from tests.conftest import NORTHGATE

import crmbench
from crmbench.agents.protocol import Agent, Session, SimpleFactory
from crmbench.core.task import Gold, GoldTurn, Task, TaskView, Turn
from crmbench.errors import InfrastructureError, InputError
from crmbench.formats.arc import save_tasks
from crmbench.runner.options import RunOptions, RunSettings
from crmbench.runner.run import execute
from crmbench.runner.run_dir import RunDir
from crmbench.runner.waiting import wait_for

FILES = {"config.json", "episodes.jsonl", "report.html", "results.jsonl", "summary.json"}


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return crmbench.load("demo")[:3]


def orphan() -> Task:
    """A task with a deal that belongs to no client."""
    seed = {"Opportunity": {"o-1": {"name": "Deal"}}}
    return Task(
        "orphan", "sales", "empty", (Turn(1, "Hello"),), Gold((GoldTurn(),)), seed_data=seed
    )


def test_arun_and_run_do_the_same_in_and_out_of_an_event_loop(
    tmp_path: Path, tasks: list[Task]
) -> None:
    async def both() -> tuple[crmbench.RunResult, crmbench.RunResult]:
        awaited = await crmbench.arun(tasks, "oracle", out=tmp_path / "a", trials=2)
        return awaited, crmbench.run(tasks, "oracle", out=tmp_path / "b", trials=2)

    one, two = asyncio.run(both())
    three = crmbench.run(tasks, "oracle", out=tmp_path / "c", trials=2)
    assert one.success == two.success == three.success == 1.0
    for name in sorted(FILES - {"report.html"}):
        texts = {(tmp_path / run / name).read_bytes() for run in "abc"}
        assert len(texts) == 1, name
    assert {path.name for path in (tmp_path / "a").iterdir()} >= FILES


def test_tasks_from_code_are_those_of_the_file_that_they_would_make(
    tmp_path: Path, tasks: list[Task]
) -> None:
    save_tasks(tmp_path / "tasks.jsonl", tasks)
    crmbench.run(tmp_path / "tasks.jsonl", "noop", out=tmp_path / "file")
    crmbench.run(tasks, "noop", out=tmp_path / "code")
    assert RunDir(tmp_path / "file").config() == RunDir(tmp_path / "code").config()


def test_it_is_quiet_and_leaves_nothing_open() -> None:
    code = "import asyncio, crmbench; asyncio.run(crmbench.arun('demo', 'noop', sample=2))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_every_option_can_be_given_from_python() -> None:
    """All fields but those that `run` has arguments for."""
    names = {field.name for field in fields(RunOptions)} - {"file", "agent"}
    assert set(RunSettings.__annotations__) == names


def test_what_awaited_work_raises_is_raised() -> None:
    async def work() -> int:
        raise InputError("no")

    async def inside() -> None:
        wait_for(work())

    with pytest.raises(InputError, match="no"):
        wait_for(work())
    with pytest.raises(InputError, match="no"):
        asyncio.run(inside())


@pytest.mark.parametrize("agent", ["oracle", "noop"])
def test_a_task_that_cannot_be_set_up_is_named_and_the_others_are_played(
    agent: str, tmp_path: Path, tasks: list[Task]
) -> None:
    result = crmbench.run([tasks[0], orphan(), tasks[1]], agent, out=tmp_path / "run")
    assert [e.task_id for e in result] == [tasks[0].task_id, tasks[1].task_id]
    assert [f.conversation_id for f in result.outcome.broken] == ["orphan"]
    assert result.outcome.faults == result.outcome.broken
    assert "cannot be set up: seed_data.Opportunity.o-1" in result.outcome.broken[0].reason
    assert result.summary.missing == 0


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crmbench", *arguments], capture_output=True, text=True, check=False
    )


def test_a_replay_names_the_task_that_cannot_be_set_up(tmp_path: Path, tasks: list[Task]) -> None:
    file = tmp_path / "tasks.jsonl"
    save_tasks(file, [tasks[0], orphan(), tasks[1]])
    done = command("replay", str(file), "--json")
    assert done.returncode == 4, done.stderr
    found = orjson.loads(done.stdout)
    assert found["succeeded"] == 2
    assert [f["conversation_id"] for f in found["ground_truth_faults"]] == ["orphan"]
    assert done.stderr == "1 task could not be played; see the ground truth.\n"


def test_a_model_beside_an_agent_that_runs_none_is_refused() -> None:
    for agent in ("oracle", "heuristic", "noop"):
        with pytest.raises(InputError, match=f"the agent '{agent}' runs no model"):
            crmbench.run(NORTHGATE, agent, model="openai/gpt-4.1")
    done = command("run", NORTHGATE, "--agent", "oracle", "--model", "openai/x", "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the agent 'oracle' runs no model" in done.stderr


@pytest.mark.parametrize("options", [{"agent": "nobody"}, {"agent": "noop", "judge": "nobody"}])
def test_a_start_that_fails_leaves_nothing_behind(options: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        execute(RunOptions(NORTHGATE, **options), tmp_path / "run")  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


class Holding:
    """Waits in its first turn until it is let go."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def turn(self, session: Session, utterance: str) -> str:
        self.begun.set()
        await self.go_on.wait()
        return "Done."

    def start(self, view: TaskView, seed: int) -> Agent:
        return self


def test_only_one_run_at_a_time_writes_a_directory(tmp_path: Path, tasks: list[Task]) -> None:
    async def two() -> None:
        holding = Holding()
        factory = SimpleFactory("noop", holding.start)
        first = asyncio.create_task(crmbench.arun(tasks, factory, out=tmp_path))
        await holding.begun.wait()
        with pytest.raises(InputError, match="another process is playing this run"):
            await crmbench.arun(tasks, "noop", out=tmp_path, resume=True)
        holding.go_on.set()
        assert len(await first) == 3
        assert len(await crmbench.arun(tasks, "noop", out=tmp_path, resume=True)) == 3

    asyncio.run(two())


def test_a_cancelled_run_keeps_what_was_played(tmp_path: Path, tasks: list[Task]) -> None:
    async def cut_short() -> None:
        holding = Holding()
        made: list[int] = []

        def start(view: TaskView, seed: int) -> Agent:
            made.append(seed)
            if len(made) == 1:
                holding.go_on.set()
            else:
                holding.go_on.clear()
            return holding

        factory = SimpleFactory("noop", start)
        work = crmbench.arun(tasks, factory, out=tmp_path, concurrency=1)
        task = asyncio.create_task(work)
        while len(made) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cut_short())
    assert len(RunDir(tmp_path).episodes()) == 1
    assert len(crmbench.run(tasks, "noop", out=tmp_path, resume=True)) == 3


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path: Path) -> None:
    agent = tmp_path / "slow_agent.py"
    agent.write_text(
        "import asyncio, pathlib\n"
        "class Slow:\n"
        "    async def turn(self, session, utterance):\n"
        f"        pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
        "        await asyncio.sleep(600)\n",
        encoding="utf-8",
    )
    out = tmp_path / "run"
    line = ["run", NORTHGATE, "--agent", f"{agent}:Slow", "--out", str(out), "--sample", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "crmbench", *line], stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert said == (f"interrupted: 0 of 2 episodes played and kept in {out}; go on with --resume\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_in_a_sentence(tmp_path: Path, tasks: list[Task]) -> None:
    crmbench.run(tasks, "noop", out=tmp_path / "run", sample=1)
    (tmp_path / "run" / "episodes.jsonl").unlink()
    (tmp_path / "run" / "episodes.jsonl").symlink_to("/dev/full")
    with closing(RunDir(tmp_path / "run")) as run_dir:
        record = crmbench.run(tasks, "noop").outcome.outlines[0]
        with pytest.raises(InputError, match=r"episodes.jsonl: cannot be written: No space left"):
            run_dir.append(record)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "crmbench", "run", "demo", "--sample", "1", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_what_agents_raise_is_said_with_its_count(tmp_path: Path) -> None:
    agent = tmp_path / "raising_agent.py"
    agent.write_text(
        "class Raising:\n"
        "    async def turn(self, session, utterance):\n"
        "        raise ValueError('no key')\n",
        encoding="utf-8",
    )
    done = command("run", "demo", "--agent", f"{agent}:Raising", "--sample", "2")
    assert done.returncode == 0
    assert "Every episode ended by an error of the agent" in done.stderr
    assert "2 times: ValueError: no key" in done.stderr


def test_a_reply_is_credited_only_where_something_was_asked(tasks: list[Task]) -> None:
    """Doing nothing answers nothing: no share of its replies is right."""
    silent = SimpleFactory("silent", lambda _view, _seed: Silent())
    arc = crmbench.run("demo", silent).summary.arc
    assert arc.response_success == arc.turn_response_accuracy == 0.0
    assert crmbench.run("demo", "oracle").summary.arc.response_success == 1.0
    asked = [replace(t, gold=replace(t.gold, grading="tool_match")) for t in tasks]
    assert crmbench.run(asked, silent).summary.arc.response_success is None


class Silent:
    async def turn(self, session: Session, utterance: str) -> str:
        return ""


def test_a_run_does_not_go_into_a_data_set(tmp_path: Path, tasks: list[Task]) -> None:
    (tmp_path / "set" / "data").mkdir(parents=True)
    (tmp_path / "set" / "data" / "test.parquet").touch()
    with pytest.raises(InputError, match="holds a data set"):
        crmbench.run(tasks, "noop", out=tmp_path / "set", sample=1)
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["data"]


def test_what_is_half_written_goes(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def chunks() -> Iterator[bytes]:
        yield b"first"
        raise Stopped

    with pytest.raises(Stopped):
        RunDir(tmp_path)._replace("episodes.jsonl", chunks())
    assert list(tmp_path.iterdir()) == []


def test_one_episode_is_read_by_its_key(tmp_path: Path, tasks: list[Task]) -> None:
    crmbench.run(tasks, "oracle", out=tmp_path / "run", trials=2)
    run = RunDir(tmp_path / "run")
    assert [run.episode(e.task_id, e.trial) for e in run.outlines()] == run.episodes()
    assert any(
        call.result for turn in run.episode(tasks[0].task_id).trace.turns for call in turn.calls
    )
    with pytest.raises(InputError, match=r"holds no trial 2 of the task"):
        run.episode(tasks[0].task_id, 2)


def test_shares_of_nothing_are_unknown(tasks: list[Task]) -> None:
    """Where a model failed in every episode, none of Arc's figures says 0 %."""

    class Unreachable:
        async def turn(self, session: Session, utterance: str) -> str:
            raise InfrastructureError("no server")

    gone = SimpleFactory("gone", lambda _view, _seed: Unreachable())
    arc = crmbench.run(tasks, gone).summary.arc
    assert set(asdict(arc).values()) == {None}


def test_a_long_result_is_not_written_out_as_text() -> None:
    class Long:
        def __repr__(self) -> str:
            raise AssertionError("nobody asked for it")

    async def work() -> Long:
        return Long()

    assert isinstance(wait_for(work()), Long)


def test_it_is_said_that_many_worlds_are_built_and_only_those_of_what_is_played_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A command that ran in this process before may have silenced it.
    caplog.set_level("WARNING", logger="crmbench")
    many = crmbench.load("sales/hard")[:14]
    worlds = len({task.world for task in many})
    options = RunOptions("sales/hard", "noop", sample=2)
    execute(options, tmp_path / "few")
    assert caplog.messages == []
    crmbench.run(many, "noop")
    assert caplog.messages == [f"Building the {worlds} worlds of these conversations …"]
