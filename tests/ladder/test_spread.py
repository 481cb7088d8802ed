"""A ladder shared out among processes is the ladder of one, to the byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crmbench.core.task import Task
from crmbench.errors import AgentError, InputError
from crmbench.ladder.climb import Stop
from crmbench.ladder.pool import load_tasks
from crmbench.ladder.run import Ladder, run_ladder
from crmbench.runner.options import RunOptions
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named

LEVELS = (1, 2)
STOP = Stop(8, 1.2)
FILES = ("tasks.jsonl", "episodes.jsonl", "traces.jsonl.zst")


@cache
def tasks() -> tuple[Task, ...]:
    return tuple(load_tasks([], ["sales"], ["worklist", "merge"], 2, 42, LEVELS))


def climbed(
    out: Path,
    resume: bool = False,
    stop: Stop = STOP,
    on_progress: Callable[[int], None] = lambda _: None,
    **chosen: Any,
) -> Ladder:
    options = RunOptions(**{"file": "sales", "agent": "slip:0.1", **chosen})
    return run_ladder(tasks(), options, stop, out, resume=resume, on_progress=on_progress)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def test_levels_made_by_processes_are_those_of_one() -> None:
    made = load_tasks([], ["sales"], ["merge"], 2, 42, LEVELS, workers=2)
    assert made == load_tasks([], ["sales"], ["merge"], 2, 42, LEVELS)


def test_what_comes_along_is_read_and_the_rest_is_made(caplog: pytest.LogCaptureFixture) -> None:
    read = load_tasks([], ["sales"], ["worklist"], 3, 42)
    assert caplog.messages == []
    levels = Counter(task.tag("level") for task in read)
    assert levels == {"L1": 3, "L2": 3, "L3": 3, "L4": 3, "L5": 3}
    known = [*load_named("sales/ladder").tasks(), *load_named("sales/hard").tasks()]
    assert [task.task_id for task in read if task not in known] == []
    other = load_tasks([], ["sales"], ["worklist"], 1, 43, (1,))
    assert len(other) == 1
    assert other[0].turns != read[0].turns
    assert len(load_tasks([], ["sales"], ["worklist"], 13, 42, (1,))) == 13
    both = load_tasks([], ["sales"], ["worklist", "merge"], 12, 42, (1,))
    assert len({task.task_id for task in both}) == len(both) == 24


def test_mechanisms_measured_by_processes_give_the_same_files(tmp_path: Path) -> None:
    here = climbed(tmp_path / "here", executor="inline")
    there = climbed(tmp_path / "there", workers=2)
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    assert {name: each.outcomes for name, each in there.climbs.items()} == {
        name: each.outcomes for name, each in here.climbs.items()
    }
    assert len(there.climbs) == 2
    assert there.stopped is None


def test_a_ladder_of_one_process_is_gone_on_with_by_several(tmp_path: Path) -> None:
    climbed(tmp_path / "whole", executor="inline")
    climbed(tmp_path / "part", executor="inline", stop=Stop(4, 1.2))
    assert bytes_of(tmp_path / "part") != bytes_of(tmp_path / "whole")
    climbed(tmp_path / "part", resume=True, workers=2)
    assert bytes_of(tmp_path / "part") == bytes_of(tmp_path / "whole")


@pytest.mark.parametrize("kept", [2, 5, 7])
def test_a_ladder_that_was_cut_off_within_a_batch_comes_to_the_same_files(
    tmp_path: Path, kept: int
) -> None:
    told: list[int] = []

    def stop_at(done: int) -> None:
        told.append(done)
        if done == kept:
            raise KeyboardInterrupt

    climbed(tmp_path / "whole", executor="inline")
    with pytest.raises(KeyboardInterrupt):
        climbed(tmp_path / "cut", on_progress=stop_at, workers=2)
    assert told == list(range(1, kept + 1))
    assert len(RunDir(tmp_path / "cut").keys()) == kept
    climbed(tmp_path / "cut", resume=True, workers=2)
    assert bytes_of(tmp_path / "cut") == bytes_of(tmp_path / "whole")


def test_what_was_played_is_kept_when_an_agent_breaks(tmp_path: Path) -> None:
    agent = f"{Path(__file__).parent / 'breaking.py'}:Breaking"
    with pytest.raises(AgentError):
        climbed(tmp_path / "broken", agent=agent, workers=2)
    assert RunDir(tmp_path / "broken").keys()


@pytest.mark.parametrize(
    "wrong", [{"max_cost": 1.0}, {"agent": "nobody"}, {"executor": "cloud"}], ids=str
)
def test_a_start_that_is_refused_leaves_nothing_behind(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        climbed(tmp_path / "ladder", **{"workers": 2, **wrong})
    assert not (tmp_path / "ladder").exists()
    climbed(tmp_path / "ladder", stop=Stop(2, 1.2), workers=2)


def test_several_processes_are_refused_what_only_one_can_keep_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="limit of cost"):
        climbed(tmp_path / "dear", workers=2, max_cost=1.0)
