"""Episodes played by several processes: the same bytes as by one, and what cannot be so played."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.runner.test_run import orphan

import crmbench
from crmbench.agents.oracle import OracleFactory
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import grader_on, jobs_for
from crmbench.runner.executors import shards
from crmbench.runner.options import RunOptions
from crmbench.runner.run import execute
from crmbench.runner.run_dir import TRACES, RunDir
from crmbench.runner.task_sets import load_named

FILES = ("config.json", "tasks.jsonl", "episodes.jsonl", TRACES)
AGENT = """
class Mine:
    async def turn(self, session, utterance):
        found = await session.call("client_search", {"name": utterance[:5]})
        return str(found.value)[:200]
"""


@pytest.mark.parametrize("agent", ["oracle", "random", "file"])
def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path, agent: str) -> None:
    if agent == "file":
        (tmp_path / "mine.py").write_text(AGENT, encoding="utf-8")
        agent = f"{tmp_path / 'mine.py'}:Mine"
    outcomes = []
    for workers in (1, 2, 3):
        options = RunOptions("demo", agent=agent, trials=4, workers=workers)
        outcomes.append(execute(options, tmp_path / str(workers)))
        assert outcomes[-1].turns_played == outcomes[0].turns_played
        assert outcomes[-1].faults == outcomes[0].faults
        for name in FILES:
            one, more = (tmp_path / which / name for which in ("1", str(workers)))
            assert one.read_bytes() == more.read_bytes(), name
    assert [e.trace for e in outcomes[0].episodes] == [e.trace for e in outcomes[2].episodes]


def test_without_a_directory_the_episodes_come_back_whole() -> None:
    tasks = crmbench.load("demo")[:4]
    one, two = (
        list(crmbench.run(tasks, "oracle", trials=3, workers=workers)) for workers in (1, 2)
    )
    assert [e.trace for e in one] == [e.trace for e in two]
    assert [e.verdict for e in one] == [e.verdict for e in two]


def test_workers_name_broken_tasks_and_play_the_others(tmp_path: Path) -> None:
    tasks = [
        replace(orphan(), task_id="a"),
        *crmbench.load("demo")[:5],
        replace(orphan(), task_id="z"),
    ]
    one, two = (
        crmbench.run(tasks, "oracle", out=tmp_path / str(workers), workers=workers).outcome
        for workers in (1, 2)
    )
    assert [fault.conversation_id for fault in two.broken] == ["a", "z"]
    assert (one.broken, one.faults) == (two.broken, two.faults)
    assert len(RunDir(tmp_path / "2").outlines()) == 5


def test_a_run_goes_on_with_another_number_of_workers(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise Stopped

    execute(RunOptions("demo", trials=4, workers=1), tmp_path / "whole")
    with pytest.raises(Stopped):
        execute(RunOptions("demo", trials=4, workers=2), tmp_path / "cut", stop)
    execute(RunOptions("demo", trials=4, workers=3, resume=True), tmp_path / "cut")
    for name in FILES:
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_what_cannot_be_played_by_others_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="objects of this process"):
        execute(RunOptions("demo", workers=2), factory=OracleFactory())
    with pytest.raises(InputError, match="there is no executor 'cloud'"):
        execute(RunOptions("demo", executor="cloud"))
    with pytest.raises(InputError, match="workers keep to no limit"):
        execute(RunOptions("demo", executor="processes", max_cost=1.0), tmp_path)
    assert not any(tmp_path.glob("config.json"))


def test_processes_are_begun_by_themselves_only_for_agents_that_keep_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shards, "cores", lambda: 4)
    jobs = jobs_for(load_named("demo").tasks(), 100)
    chosen = partial(shards.workers_for, from_code=False)
    assert chosen(RunOptions("demo", agent="heuristic"), jobs) == 4
    assert chosen(RunOptions("demo", agent="slip:0.1"), jobs) == 4
    assert chosen(RunOptions("demo", agent="heuristic"), jobs[:5]) == 0
    assert chosen(RunOptions("demo", agent="mine.py:Mine"), jobs) == 0
    assert chosen(RunOptions("demo", model="openai/gpt-4.1"), jobs) == 0
    assert chosen(RunOptions("demo", agent="oracle", backend="postgres"), jobs) == 0


def by_tools(task: Task) -> Task:
    return replace(task, gold=replace(task.gold, grading="tool_match", criteria="all_turns"))


def test_faults_read_off_an_episode_are_those_of_the_executed_gold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of tasks that are graded by tools, whose gold no verdict executes."""
    tasks = [by_tools(task) for task in crmbench.load("demo")]
    # One expects a refusal of a call that goes through.
    first, *others = tasks[0].gold.turns
    wrong = replace(first, expect_success=False, error_substring="no such thing")
    tasks[0] = replace(tasks[0], gold=replace(tasks[0].gold, turns=(wrong, *others)))
    executed = grader_on("sqlite")
    expected = [executed.fault_of(task) for task in tasks]
    executed.close()
    assert any(expected)
    calls: list[str] = []

    def noted(self: Grader, task: Task) -> None:
        calls.append(task.task_id)
        raise AssertionError(f"the gold of {task.task_id} is executed")

    monkeypatch.setattr(Grader, "_execute", noted)
    outcome = crmbench.run(tasks, "oracle").outcome
    assert list(outcome.faults) == [fault for fault in expected if fault]
    assert not calls


def test_first_and_last_shards_are_small() -> None:
    tasks = load_named("demo").tasks()
    jobs = jobs_for(tasks, 100)
    turns = [len(task.turns) for task in tasks]
    cut = list(shards.shards_of(jobs, tasks, 480))
    places = [place for shard in cut for place in shard.places]
    assert places == [(tasks.index(job.task), job.trial) for job in jobs]
    sizes = [sum(turns[number] for number, _ in shard.places) for shard in cut]
    assert all(60 <= size <= 70 for size in (*sizes[:2], sizes[-2]))
    assert sizes[-1] <= 70
    assert 480 <= max(sizes) < 490
    even = [sum(turns[n] for n, _ in s.places) for s in shards.shards_of(jobs, tasks, 60)]
    assert all(60 <= size <= 70 for size in even[:-1])


def test_shards_grow_with_a_run_only_where_nobody_waits_for_a_model() -> None:
    jobs = jobs_for(load_named("demo").tasks(), 100)
    turns = sum(len(job.task.turns) for job in jobs)
    assert turns == 9600
    assert shards.shard_turns(RunOptions("demo", agent="oracle"), jobs, 2) == turns // 32
    assert shards.shard_turns(RunOptions("demo", agent="oracle"), jobs, 1) == 480
    assert shards.shard_turns(RunOptions("demo", agent="oracle"), jobs[:9], 2) == 60
    assert shards.shard_turns(RunOptions("demo", agent="mine.py:Mine"), jobs, 2) == 60
    assert shards.shard_turns(RunOptions("demo", model="openai/gpt-4.1"), jobs, 2) == 60
