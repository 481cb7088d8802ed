"""The whole ladder on the hard sales families: a simulated agent's known n50 is measured."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from functools import cache
from math import log
from pathlib import Path

import pytest

from crmbench.agents.slip import Slipping
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.grading.items import judge_items
from crmbench.ladder.climb import Climb, Stop
from crmbench.ladder.fit import half_of
from crmbench.ladder.pool import load_tasks, rungs_of, size_of
from crmbench.ladder.run import Ladder, run_ladder
from crmbench.report.ladder import ladder_charts, ladder_figures, ladder_lines
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.options import RunOptions
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named


@cache
def worklists(per_level: int = 8) -> tuple[Task, ...]:
    return tuple(load_tasks([], ["sales"], ["worklist"], per_level, 42, (1, 2, 3, 4)))


def climbed(out: Path, agent: str, stop: Stop, resume: bool = False) -> Ladder:
    options = RunOptions(file="sales", agent=agent)
    return run_ladder(worklists(), options, stop, out, resume=resume)


def test_the_known_half_of_a_slipping_agent_is_measured(tmp_path: Path) -> None:
    rate = 0.08
    found = climbed(tmp_path / "ladder", f"slip:{rate}", Stop(56, 1.8))
    [climb] = found.climbs.values()
    half = climb.half()
    assert half.value is not None
    assert half.low is not None
    assert half.high is not None
    # It fails exactly where it slips a row: no slip is without effect, nothing else fails.
    tasks = {task.task_id: task for task in worklists()}
    assert {e.task_id: e.verdict.success for e in found.episodes} == {
        e.task_id: _is_flawless(tasks[e.task_id], rate) for e in found.episodes
    }
    # So what is measured is where half of these tasks hold no slip. The ladder plays most of them
    # once and those of the size that tells most again, which come out as before: hence the room.
    here = half_of((size_of(task) or 0, _is_flawless(task, rate)) for task in worklists())
    assert here.value is not None
    assert here.value / 1.5 <= half.value <= here.value * 1.5
    assert found.stopped is None


def _is_flawless(task: Task, rate: float) -> bool:
    agent = Slipping(task, rate)
    return not any(agent._slips(item.key) for item in task.gold.items)


def test_half_of_the_tasks_of_a_known_size_are_slipped() -> None:
    rate = 0.06
    task = next(t for t in load_named("sales/hard").tasks() if t.tag("mechanism") == "shift")
    outcomes: list[tuple[float, bool]] = []
    for size in (4, 7, 12, 24):
        items = task.gold.items[:size]
        for number in range(400):
            agent = Slipping(replace(task, task_id=f"{number} of {size}"), rate)
            outcomes.append((size, not any(agent._slips(item.key) for item in items)))
    half = half_of(outcomes)
    assert half.low is not None
    assert half.high is not None
    # The curve that is fitted is no geometric one: at shares without any chance its half lies a
    # little below where (1 - rate) ** size is a half.
    shares = half_of(
        (size, drawn < 4_000 * (1 - rate) ** size)
        for size in (4, 7, 12, 24)
        for drawn in range(4_000)
    )
    assert shares.value is not None
    assert shares.value == pytest.approx(log(0.5) / log(1 - rate), rel=0.07)
    assert half.low <= shares.value <= half.high
    assert half.value == pytest.approx(shares.value, rel=0.1)


def test_the_oracle_is_above_the_ladder_and_doing_nothing_below(tmp_path: Path) -> None:
    good = climbed(tmp_path / "good", "oracle", Stop(12))
    bad = climbed(tmp_path / "bad", "noop", Stop(12))
    [best], [worst] = good.climbs.values(), bad.climbs.values()
    assert best.half().high is None
    assert worst.half().low is None
    # Where it tells most: a perfect agent is sent up, an idle one down.
    sizes = {task.task_id: size_of(task) or 0 for task in worklists()}
    mean = {
        name: sum(sizes[e.task_id] for e in ladder.episodes) / len(ladder.episodes)
        for name, ladder in (("good", good), ("bad", bad))
    }
    assert mean["good"] > 2 * mean["bad"]


def test_a_ladder_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = climbed(tmp_path / "whole", "slip:0.05", Stop(16, 1.1))
    climbed(tmp_path / "cut", "slip:0.05", Stop(8, 1.1))
    with pytest.raises(InputError, match="already holds"):
        climbed(tmp_path / "cut", "slip:0.05", Stop(16, 1.1))
    with pytest.raises(InputError, match="agent"):
        climbed(tmp_path / "cut", "slip:0.01", Stop(16, 1.1), resume=True)
    rest = climbed(tmp_path / "cut", "slip:0.05", Stop(16, 1.1), resume=True)
    assert [(e.task_id, e.trial, e.verdict.success) for e in rest.episodes] == [
        (e.task_id, e.trial, e.verdict.success) for e in whole.episodes
    ]


def test_what_is_played_next_follows_from_what_came_of_it() -> None:
    rungs = rungs_of(worklists())
    [name] = rungs
    first, second = (Climb(rungs[name], Stop(40)) for _ in range(2))
    batches: dict[bool, list[list[str | None]]] = {True: [], False: []}
    for climb, passes in ((first, True), (second, False)):
        for _ in range(3):
            jobs = climb.next_jobs()
            batches[passes].append([job.task.tag("level") for job in jobs])
            for job in jobs:
                climb.record(job.task.task_id, job.trial, passes)
    # The first batch is spread over all sizes; then most are played at the end that tells most.
    assert batches[True][0] == batches[False][0]
    assert {*batches[True][0]} == {"L1", "L2", "L3", "L4"}
    for batch in batches[True][1:]:
        assert {*batch} <= {"L3", "L4"}
        assert batch.count("L4") >= 3
    assert sorted(map(str, batches[False][1])) == ["L1", "L1", "L1", "L2"]
    assert {*batches[False][2]} <= {"L1", "L2"}
    assert batches[False][2].count("L1") == 3


def test_slipped_items_are_the_wrong_ones_and_are_blamed() -> None:
    task = worklists()[-1]
    grader = grader_on("sqlite")

    class Factory:
        name = "slip"

        def start_with_gold(self, task: Task) -> Slipping:
            return Slipping(task, 0.3)

        async def close(self) -> None:
            return None

    record = asyncio.run(Evaluator(Factory(), grader).play(Job(task, 0)))
    domain = grader.backends.domain(task.domain)
    verdicts = judge_items(domain, task, record.trace, grader.gold_runs(task)[0])
    grader.close()
    wrong = [verdict for verdict in verdicts if not verdict.right]
    assert len(verdicts) == len(task.gold.items)
    assert 1 <= len(wrong) < len(verdicts)
    assert {verdict.blame for verdict in wrong} == {()}
    agent = Slipping(task, 0.3)
    assert {verdict.key for verdict in wrong} == {
        item.key for item in task.gold.items if agent._slips(item.key)
    }


def test_the_figures_are_written_and_plotted(tmp_path: Path) -> None:
    found = climbed(tmp_path / "ladder", "slip:0.05", Stop(16, 1.1))
    tasks = {task.task_id: task for task in found.tasks}
    with closing(grader_on("sqlite")) as grader:
        assert found.items == {
            e.key: grader.items(tasks[e.task_id], e.trace) for e in found.episodes
        }
    [figures] = ladder_figures(found.tasks, found.episodes, lambda _, e: found.items[e.key])
    assert sum(level.played for level in figures.levels) == 16
    assert all(level.items is not None and level.items > 0.8 for level in figures.levels)
    assert figures.blame
    assert "n50" in ladder_lines([figures])[0]
    json.dumps(figures.to_data())
    run_dir = RunDir(tmp_path / "ladder")
    [(title, plot)] = ladder_charts(run_dir.tasks(), run_dir.outlines())
    assert "worklist" in title
    assert plot.startswith("<svg")
    assert plot.count("<circle") == len(figures.levels)


@pytest.mark.parametrize("rate", ["2", "-0.1", "few", "nan"])
def test_a_rate_of_slips_that_is_none_is_said(rate: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rate"):
        climbed(tmp_path / "ladder", f"slip:{rate}", Stop(4))


def test_tasks_without_a_size_are_no_ladder() -> None:
    with pytest.raises(InputError, match="no task of the ladder"):
        load_tasks(["demo"], [], [], 4, 42)
