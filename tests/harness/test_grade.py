"""Grading again: the same verdicts from the same traces, and another one where a trace differs."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from crmbench.errors import InputError
from crmbench.harness.grade import regrade
from crmbench.harness.run import RunOptions, execute
from crmbench.harness.run_dir import RunDir


@pytest.fixture
def run(tmp_path: Path) -> Path:
    execute(RunOptions("demo", agent="heuristic", trials=2), tmp_path / "run")
    return tmp_path / "run"


def test_grading_again_changes_nothing_and_copies_the_run(run: Path, tmp_path: Path) -> None:
    graded = regrade(run, tmp_path / "again")
    assert len(graded.episodes) == 24
    assert graded.changed == ()
    for name in ("episodes.jsonl", "tasks.jsonl", "timings.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (run / name).read_bytes()
    with pytest.raises(InputError, match="already holds a run"):
        regrade(run, tmp_path / "again")


def test_a_trace_that_says_something_else_is_judged_otherwise(run: Path) -> None:
    path = run / "episodes.jsonl"
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    won = next(row for row in rows if row["verdict"]["success"])
    for turn in won["trace"]["turns"]:
        turn["messages"][-1]["text"] = "Done."
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    graded = regrade(run)
    assert graded.changed == ((won["trace"]["task_id"], won["trace"]["trial"], False),)
    assert RunDir(run).episodes()[0].trace is not None


def test_a_task_that_is_gone_is_named(run: Path) -> None:
    tasks = (run / "tasks.jsonl").read_bytes().splitlines(keepends=True)
    (run / "tasks.jsonl").write_bytes(b"".join(tasks[1:]))
    with pytest.raises(InputError, match="lacks the task demo-01"):
        regrade(run)
