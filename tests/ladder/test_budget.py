"""b50: a simulated agent that needs a known number of calls, and what a task says of its calls."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import ceil, exp
from pathlib import Path

import pytest

from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Session
from crmbench.core.conditions.base import Draw
from crmbench.core.task import Task
from crmbench.domains.sales.hard.merge import tasks as merge_tasks
from crmbench.domains.sales.hard.worklist import tasks as worklist_tasks
from crmbench.ladder.budget import SHARES, with_budgets
from crmbench.ladder.climb import Stop
from crmbench.ladder.pool import budget_of, harder, rungs_of
from crmbench.ladder.run import run_ladder
from crmbench.report.html import write_report
from crmbench.report.ladder import ladder_figures, ladder_lines
from crmbench.runner.options import RunOptions
from crmbench.runner.run_dir import RunDir

WORLDS = 10


@cache
def lists() -> tuple[Task, ...]:
    made = []
    for number in range(1, WORLDS + 1):
        place = f"42-{number:02d}"
        (task,) = worklist_tasks(place, 1, f"worklist-L1-{place}", "canary")
        made.append(replace(task, task_id=f"list-{number:02d}"))
    return tuple(made)


class Reading(Oracle):
    """Reads the handbook's list so often that its calls are a known share of what is allowed."""

    def __init__(self, task: Task, share: float) -> None:
        super().__init__(task)
        own = lists()[int(task.task_id.partition("@")[0][-2:]) - 1]
        assert own.budget is not None
        # Around the share, by task; the same at every budget.
        place = Draw(own.task_id, 0, "reading").fraction("share")
        self._calls = ceil(share * exp(0.8 * (place - 0.5)) * own.budget)
        self._gold_calls = len(task.gold.turns[0].calls)

    async def turn(self, session: Session, utterance: str) -> str:
        for _ in range(self._calls - self._gold_calls):
            await session.call("handbook_list", {})
        return await super().turn(session, utterance)


class ReadingFactory:
    def __init__(self, share: float) -> None:
        self.name = f"reading:{share}"
        self._share = share

    def start_with_gold(self, task: Task) -> Reading:
        return Reading(task, self._share)

    async def close(self) -> None:
        return None


def climbed(out: Path, share: float) -> RunDir:
    tasks = with_budgets(lists())
    options = RunOptions(file="sales", agent=f"reading {share}")
    run_ladder(tasks, options, Stop(40, 1.5), out, factory=ReadingFactory(share))
    return RunDir(out)


@pytest.mark.parametrize("share", [0.45, 1.1])
def test_the_known_budget_of_an_agent_is_measured(tmp_path: Path, share: float) -> None:
    run_dir = climbed(tmp_path / "ladder", share)
    [figures] = ladder_figures(list(run_dir.tasks()), run_dir.outlines())
    assert figures.mechanism == "sales_hard/worklist L1"
    assert figures.measure == "b50"
    assert figures.n50.low is not None
    assert figures.n50.high is not None
    assert figures.n50.low <= share <= figures.n50.high
    assert figures.n50.value == pytest.approx(share, rel=0.3)
    assert "b50" in ladder_lines([figures])[0]


def test_who_needs_less_lies_left_in_one_plot(tmp_path: Path) -> None:
    runs = [climbed(tmp_path / f"r{share}", share) for share in (0.45, 1.1)]
    write_report(runs, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    title = page.index("Success by size or budget, sales_hard/worklist L1")
    plot = page[title : page.index("Success by agent", title)]
    halves = [part.split('x="', 1)[1] for part in plot.split("<rect")[1:]]
    places = [float(part[: part.index('"')]) for part in halves]
    assert len(places) == 2
    assert places[0] < places[1]
    assert plot.count("b50") >= 2


def test_a_task_says_and_allows_the_calls_of_its_budget() -> None:
    (own,) = merge_tasks("42-01", 1, "merge-L1-42-01", "canary")
    assert own.call_limit is not None
    made = with_budgets([own], (0.5, 2.0))
    assert [budget_of(task) for task in made] == [0.5, 2.0]
    for task, calls in zip(made, (ceil(own.call_limit / 2), own.call_limit * 2), strict=True):
        assert task.call_limit == calls
        assert f"{calls} tool calls" in task.turns[0].utterance
        assert f" {own.call_limit} " not in task.turns[0].utterance
        assert task.gold == own.gold
    assert harder(made) == "less"
    assert harder([own]) == "more"


def test_a_task_that_allows_any_number_gets_multiples_of_its_gold() -> None:
    own = replace(lists()[0], budget=None)
    [task] = with_budgets([own], (1.5,))
    assert task.budget == ceil(1.5 * len(own.gold.turns[0].calls))
    assert task.turns == own.turns
    [rungs] = rungs_of(with_budgets(lists())).values()
    assert [rung.size for rung in rungs] == list(SHARES)
