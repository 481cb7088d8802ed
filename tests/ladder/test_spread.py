"""A ladder shared out among processes is the ladder of one, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmbench.errors import InputError
from crmbench.ladder.climb import Stop
from crmbench.ladder.pool import load_tasks
from crmbench.ladder.run import Ladder, run_ladder
from crmbench.ladder.spread import load_shared
from crmbench.runner.options import RunOptions

LEVELS = (1, 2)
STOP = Stop(8, 1.2)
FILES = ("tasks.jsonl", "episodes.jsonl", "traces.jsonl.zst")


def climbed(out: Path, resume: bool = False, stop: Stop = STOP, **chosen: object) -> Ladder:
    tasks = load_tasks([], ["sales"], ["worklist", "merge"], 2, 42, LEVELS)
    options = RunOptions(file="sales", agent="slip:0.1", **chosen)  # type: ignore[arg-type]
    return run_ladder(tasks, options, stop, out, resume=resume)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def test_levels_made_by_processes_are_those_of_one() -> None:
    made = load_shared([], ["sales"], ["merge"], 2, 42, LEVELS, workers=2)
    assert made == load_tasks([], ["sales"], ["merge"], 2, 42, LEVELS)


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


def test_several_processes_are_refused_what_only_one_can_keep_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="limit of cost"):
        climbed(tmp_path / "dear", workers=2, max_cost=1.0)
