"""A run's files: what is kept where, what a kill leaves, and directories of before."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import orjson
import pytest

import crmbench
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.episode_store import frames
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.run_dir import TRACES, RunDir

FILES = ("episodes.jsonl", TRACES)


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return crmbench.load("demo")[:3]


@pytest.fixture(scope="module")
def played(tasks: list[Task]) -> list[EpisodeRecord]:
    return list(crmbench.run(tasks, "heuristic", trials=2))


def kept(path: Path, tasks: list[Task], records: list[EpisodeRecord]) -> RunDir:
    run = RunDir(path)
    run.make()
    for record in records:
        run.append(record)
    run.settle(tasks)
    return run


def test_what_is_read_is_what_was_kept(
    tmp_path: Path, tasks: list[Task], played: list[EpisodeRecord]
) -> None:
    run = kept(tmp_path, tasks, played)
    assert [replace(e, seconds=0.0) for e in run.each()] == [
        replace(e, seconds=0.0) for e in played
    ]
    for outline in run.outlines():
        calls = [call for turn in outline.trace.turns for call in turn.calls]
        assert not any(call.result or call.changes for call in calls)
        assert outline.verdict.outcome == run.episode(*outline.key).verdict.outcome


def test_the_order_in_which_episodes_ended_leaves_no_trace(
    tmp_path: Path, tasks: list[Task], played: list[EpisodeRecord]
) -> None:
    one = kept(tmp_path / "one", tasks, played)
    # Some are played twice, as after a failure of a server; the last one counts.
    two = kept(tmp_path / "two", tasks, [*played[:2], *reversed(played)])
    for name in FILES:
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes()


def test_a_directory_of_before_is_read(
    tmp_path: Path, tasks: list[Task], played: list[EpisodeRecord]
) -> None:
    new = kept(tmp_path / "new", tasks, played)
    old = RunDir(tmp_path / "old")
    old.make()
    lines = [orjson.dumps({"trace": e.trace, "verdict": e.verdict}) + b"\n" for e in played]
    (old.path / "episodes.jsonl").write_bytes(b"".join(lines))
    assert [e.trace for e in old.each()] == [e.trace for e in new.each()]
    assert [e.verdict for e in old.each()] == [e.verdict for e in new.each()]
    assert [e.trace for e in old.outlines()] == [e.trace for e in new.outlines()]
    key = played[-1].key
    assert old.episode(*key).trace == played[-1].trace
    old.append(played[0])
    old.settle(tasks)
    assert [e.trace for e in old.each()] == [e.trace for e in played]


@pytest.mark.parametrize("cut", [1, 20, 500])
def test_what_a_kill_left_half_written_is_cut_off(
    tmp_path: Path, tasks: list[Task], played: list[EpisodeRecord], cut: int
) -> None:
    whole = kept(tmp_path / "whole", tasks, played)
    run = kept(tmp_path / "run", tasks, played[:-1])
    frame = next(f for f in frames(whole.path / TRACES) if f.key == played[-1].key)
    data = (whole.path / TRACES).read_bytes()
    with (run.path / TRACES).open("ab") as file:
        file.write(data[frame.start : frame.start + cut])
    run.drop_torn_lines()
    run.append(played[-1])
    run.settle(tasks)
    for name in FILES:
        assert (run.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_a_damaged_frame_is_named_with_its_episode(
    tmp_path: Path, tasks: list[Task], played: list[EpisodeRecord]
) -> None:
    run = kept(tmp_path, tasks, played)
    path, (first, second, *_) = run.path / TRACES, frames(run.path / TRACES)
    data = path.read_bytes()
    place = second.start + second.head + 40
    path.write_bytes(data[:place] + bytes(20) + data[place + 20 :])
    with pytest.raises(InputError, match=r"episodes.jsonl:2: not a stored episode: the frame is"):
        run.episodes()
    assert run.episode(*first.key) == run.episode(*first.key)
    path.write_bytes(data[: first.end])
    with pytest.raises(InputError, match=rf"episodes.jsonl:2: .*{TRACES} lacks what its tools"):
        run.episodes()
    path.write_bytes(b"x" * 100)
    with pytest.raises(InputError, match=rf"{TRACES}: no frame of an episode at byte 0"):
        run.episodes()
    assert len(run.outlines()) == len(played)


@pytest.mark.skipif(which("zstdcat") is None, reason="needs the zstd command")
def test_the_traces_are_a_plain_zstandard_file(
    tmp_path: Path, tasks: list[Task], played: list[EpisodeRecord]
) -> None:
    run = kept(tmp_path, tasks, played)
    text = subprocess.run(["zstdcat", run.path / TRACES], capture_output=True, check=True).stdout
    rows = [orjson.loads(line) for line in text.splitlines()]
    assert [(row["task_id"], row["trial"]) for row in rows] == [record.key for record in played]


def test_the_outlines_of_a_run_are_those_that_its_directory_gives(
    tmp_path: Path, tasks: list[Task]
) -> None:
    outcome = crmbench.run(tasks, "heuristic", out=tmp_path, trials=2).outcome
    assert list(outcome.outlines) == RunDir(tmp_path).for_figures()
