"""Grading again: the same verdicts from the same traces, and another one where a trace differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from tests.conftest import NORTHGATE, PartlyFactory

from crmbench.agents.protocol import Session
from crmbench.api import run as play_run
from crmbench.errors import InputError
from crmbench.formats.arc import save_tasks
from crmbench.models import Message, ScriptedModel, ToolSpec
from crmbench.report.role_figures import judge_figures
from crmbench.roles.judge import Judge
from crmbench.roles.role_model import RoleModel
from crmbench.runner.executors.grading import Changed
from crmbench.runner.regrade import regrade
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import TRACES, RunDir
from crmbench.runner.task_sets import load_named


@pytest.fixture
def run(tmp_path: Path) -> Path:
    options = RunOptions(NORTHGATE, agent="partly", trials=2)
    execute(options, tmp_path / "run", factory=PartlyFactory())
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
    trace = won["trace"]
    assert graded.changed == (Changed(trace["task_id"], trace["trial"], False, True),)
    assert RunDir(run).episodes()[0].trace is not None


def test_a_task_that_is_gone_is_named(run: Path) -> None:
    tasks = (run / "tasks.jsonl").read_bytes().splitlines(keepends=True)
    (run / "tasks.jsonl").write_bytes(b"".join(tasks[1:]))
    with pytest.raises(InputError, match="lacks the task northgate-01"):
        regrade(run)


class Elsewhere:
    """Finds things with other arguments than the ground truth does."""

    async def turn(self, session: Session, utterance: str) -> str:
        await session.call("opportunity_search", {"name": "Northwind"})
        return "Here they are."


@pytest.fixture
def arc_run(tmp_path: Path) -> Path:
    """A run of one task of a single search, graded by tool match: no check can decide it."""
    task = load_named(NORTHGATE).tasks()[0]
    gold = replace(task.gold, turns=task.gold.turns[:1], grading="tool_match", criteria="all_turns")
    save_tasks(tmp_path / "arc.jsonl", [replace(task, turns=task.turns[:1], gold=gold)])
    play_run(tmp_path / "arc.jsonl", Elsewhere, out=tmp_path / "arc", trials=3)
    return tmp_path / "arc"


def saying(goal: float) -> Judge:
    answer = orjson.dumps({"goal": goal, "process": 1, "rationale": "so"}).decode()

    def script(_messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        return answer

    return Judge(RoleModel(ScriptedModel(script, f"scripted-{goal}")))


def test_an_old_run_is_graded_with_a_judge_then_another_then_none(
    arc_run: Path, tmp_path: Path
) -> None:
    assert not any(e.verdict.success for e in RunDir(arc_run).episodes())
    kind = regrade(arc_run, tmp_path / "kind", saying(1.0))
    assert [(c.trial, c.success) for c in kind.changed] == [(0, True), (1, True), (2, True)]
    assert RunDir(tmp_path / "kind").config()["judge"] == "scripted-1.0"
    figures = judge_figures(RunDir(tmp_path / "kind").episodes())
    assert figures is not None
    assert (figures.open_calls, figures.open_calls_passed) == (3, 3)

    # What the judge said is in the run: no model is needed to come to the same verdicts.
    again = regrade(tmp_path / "kind", tmp_path / "again")
    assert again.changed == ()
    for name in ("episodes.jsonl", "timings.jsonl"):
        one, two = (tmp_path / run / name for run in ("kind", "again"))
        assert one.read_bytes() == two.read_bytes()

    strict = regrade(tmp_path / "kind", tmp_path / "strict", saying(0.5), concurrency=2)
    assert [c.success for c in strict.changed] == [False] * 3
    without = regrade(tmp_path / "kind", judge="none")
    assert [c.success for c in without.changed] == [False] * 3
    assert all(e.participants is None for e in without.episodes)


def test_a_judge_that_fails_leaves_episodes_uncounted_until_another_is_asked(
    arc_run: Path, tmp_path: Path
) -> None:
    mute = Judge(RoleModel(ScriptedModel(lambda _m, _t: "")))
    graded = regrade(arc_run, tmp_path / "mute", mute)
    assert [(c.success, c.counted) for c in graded.changed] == [(False, False)] * 3
    assert regrade(tmp_path / "mute").changed == ()
    mended = regrade(tmp_path / "mute", judge=saying(1.0))
    assert [(c.success, c.counted) for c in mended.changed] == [(True, True)] * 3


def test_nothing_is_asked_where_the_new_run_cannot_be_kept(arc_run: Path) -> None:
    asked: list[str] = []

    def script(_messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        asked.append("once")
        return ""

    with pytest.raises(InputError, match="already holds a run"):
        regrade(arc_run, arc_run, Judge(RoleModel(ScriptedModel(script))))
    assert asked == []


def test_any_number_of_workers_grades_to_the_same_bytes(run: Path, tmp_path: Path) -> None:
    found = [regrade(run, tmp_path / str(n), workers=n, executor="processes") for n in (1, 2)]
    assert found[0] == found[1]
    assert len(found[0].episodes) == 24
    for name in ("episodes.jsonl", TRACES, "timings.jsonl"):
        for number in ("1", "2"):
            assert (tmp_path / number / name).read_bytes() == (run / name).read_bytes()
