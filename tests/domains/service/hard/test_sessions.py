"""Tasks in sessions: what comes when, and what each session has to find."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from crmbench.core.task import Task
from crmbench.domains.service.hard import census, checks, merging
from crmbench.domains.service.hard.desk.scout import allowed
from crmbench.domains.service.hard.generate import MECHANISMS
from crmbench.domains.service.hard.world import HardWorld

WORLD = HardWorld(42, 5)
IN_SESSIONS = (census.MECHANISM, merging.MECHANISM)


@cache
def _task(mechanism: str) -> Task:
    return next(MECHANISMS[mechanism](WORLD, "L5", 42, "canary"))


def _sessions(task: Task) -> list[list[str]]:
    return [
        [item.key for item in task.gold.items if item.turn == turn.turn_id] for turn in task.turns
    ]


@pytest.mark.parametrize("mechanism", IN_SESSIONS)
def test_every_session_has_its_own_cases(mechanism: str) -> None:
    task = _task(mechanism)
    sessions = _sessions(task)
    assert task.breaks == tuple(range(1, len(sessions)))
    assert len(sessions) >= 6
    assert min(map(len, sessions)) > 20
    assert len({turn.utterance for turn in task.turns}) == len(sessions)
    for keys, turn in zip(sessions, task.gold.turns, strict=True):
        done = checks.writes_of(turn.calls)
        assert done
        assert done.keys() <= set(keys)


def test_no_group_of_duplicates_reaches_over_two_sessions() -> None:
    task = _task(merging.MECHANISM)
    whole = checks.READERS[merging.MECHANISM](
        WORLD.made.rows, [item.key for item in task.gold.items]
    )
    apart = [checks.writes_of(turn.calls) for turn in task.gold.turns]
    assert whole == {key: value for part in apart for key, value in part.items()}


@pytest.mark.parametrize("mechanism", IN_SESSIONS)
def test_a_careful_reader_gets_through_each_session_anew(mechanism: str) -> None:
    task = _task(mechanism)
    assert task.budget
    assert task.notebook
    assert task.call_limit is None
    assert checks.out_of_reach(task) == []
    less = checks.out_of_reach(replace(task, budget=task.budget * 2 // 3))
    assert [text for text in less if "calls" in text]


def test_what_decides_one_session_does_not_decide_the_next() -> None:
    task = _task(merging.MECHANISM)
    needed = {
        rule
        for item in task.gold.items
        if item.turn > 1
        for rule in item.rules
        if rule.startswith("Memo ")
    }
    decisive = {rule for item in task.gold.items if item.turn == 1 for rule in item.rules}
    assert len(needed - decisive) > 20


def test_the_notebook_holds_no_handbook() -> None:
    """Not even the numbers of the memos that decide, four digits and a space each."""
    for mechanism in IN_SESSIONS:
        task = _task(mechanism)
        rules = {rule for item in task.gold.items for rule in item.rules}
        assert 5 * sum(rule.startswith("Memo ") for rule in rules) > 2 * (task.notebook or 0)


@pytest.mark.parametrize("level", ["L1", "L3"])
def test_below_a_task_is_one_session(level: str) -> None:
    task = next(merging.tasks(HardWorld(42), level, 42, "canary"))
    assert (len(task.turns), task.breaks, task.notebook, task.budget) == (1, (), None, None)
    assert task.call_limit


def test_what_is_left_over_does_not_grow_with_the_task() -> None:
    assert allowed("duplicates", 100) == 130
    assert allowed("duplicates", 1_000) == 1_080
    assert allowed("duplicates", 2_000) == 2_140
