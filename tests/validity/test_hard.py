"""Gates on tasks of many decisions pass the published ones and catch broken ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crmbench.core.task import Alternative, GoldCall, Task
from crmbench.domains.sales.hard.generate import MECHANISMS, generate
from crmbench.validity.hard import hard_gates, hard_problems


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    """One task of each mechanism."""
    return {str(t.tag("mechanism")): t for t in generate(5, 4, 2, MECHANISMS).tasks}


def failing(task: Task) -> list[str]:
    gates = hard_gates([task], hard_problems([task]))
    assert len(gates) == 7
    return [gate.gate for gate in gates if not gate.passed]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_published_passes(tasks: dict[str, Task], mechanism: str) -> None:
    assert failing(tasks[mechanism]) == []


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_gold_with_a_call_too_few_is_caught(tasks: dict[str, Task], mechanism: str) -> None:
    task = tasks[mechanism]
    place = next(i for i, turn in enumerate(task.gold.turns) if turn.calls)
    turns = list(task.gold.turns)
    turns[place] = replace(turns[place], calls=turns[place].calls[1:])
    assert failing(replace(task, gold=replace(task.gold, turns=tuple(turns)))) == [
        "two truths",
        "budget",
    ]


def test_a_gold_with_another_value_is_caught(tasks: dict[str, Task]) -> None:
    task = tasks["worklist"]
    turn, *rest = task.gold.turns
    call = turn.calls[0]
    other = GoldCall(call.tool, {**call.arguments, "probability": 7})
    wrong = replace(turn, calls=(other, *turn.calls[1:]))
    assert failing(replace(task, gold=replace(task.gold, turns=(wrong, *rest)))) == [
        "two truths",
        "budget",
    ]


def test_a_tight_limit_and_a_shared_record_are_caught(tasks: dict[str, Task]) -> None:
    task = tasks["worklist"]
    assert failing(replace(task, budget=30)) == ["budget"]
    assert failing(replace(task, notebook=30)) == ["budget"]
    twice = replace(task.gold, items=(*task.gold.items, task.gold.items[0]))
    assert "items apart" in failing(replace(task, gold=twice))


def test_an_article_that_decides_nothing_is_caught(tasks: dict[str, Task]) -> None:
    for mechanism in ("worklist", "shift", "merge"):
        task = tasks[mechanism]
        first, *rest = task.gold.items
        outcome = {f"Opportunity/{first.key}": {"probability": 99}}
        idle = replace(first, alternatives=(Alternative(("HB-000",), outcome),))
        items = (idle, *(replace(item, alternatives=()) for item in rest))
        assert failing(replace(task, gold=replace(task.gold, items=items))) == ["necessity"]


def test_a_prepared_figure_from_nowhere_is_caught(tasks: dict[str, Task]) -> None:
    task = tasks["review"]
    wrong = {call.arguments["opportunity_id"] for call in task.gold.turns[0].calls}
    place = next(i for i, item in enumerate(task.gold.items) if item.key in wrong)
    items = list(task.gold.items)
    others = tuple(other for other in items[place].alternatives if other.outcome)
    items[place] = replace(items[place], alternatives=others)
    assert failing(replace(task, gold=replace(task.gold, items=tuple(items)))) == ["prepared"]
    # Nor will any article do: that somebody missed it has to give what stands there.
    missed = Alternative(("HB-000",), {})
    items[place] = replace(items[place], alternatives=(missed, *others))
    told = failing(replace(task, gold=replace(task.gold, items=tuple(items))))
    assert "prepared" in told
