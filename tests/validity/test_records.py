"""The gate that no fact of a task contradicts the records as the gold leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.conftest import NORTHGATE

from crmbench.core.fact import Fact
from crmbench.core.task import Task
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import grader_on
from crmbench.runner.task_sets import load_named
from crmbench.validity.records import columns_of, facts_compared, record_gate


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    grader = grader_on("sqlite")
    yield grader
    grader.close()


def test_no_fact_of_the_demo_contradicts_the_records(grader: Grader) -> None:
    tasks = load_named("demo").tasks()
    gate = record_gate(tasks, facts_compared(tasks, grader))
    assert gate.passed, gate.offenders
    assert gate.of == sum(len(g.facts) for t in tasks for g in t.gold.turns)
    for route in ("by column", "by formula", "by selection"):
        assert route in gate.question


def test_facts_of_a_set_with_records_of_its_own_are_compared_too(grader: Grader) -> None:
    tasks = load_named(NORTHGATE).tasks()
    gate = record_gate(tasks, facts_compared(tasks, grader))
    assert gate.passed, gate.offenders
    assert "4 not compared" in gate.question  # such as the "two-site quote", which only it has


def wrong(fact: Fact) -> Fact:
    """The fact as somebody might have changed it by hand."""
    if fact.kind in {"money", "number", "percent", "count"}:
        return replace(fact, value=fact.value + 1)
    if fact.kind == "date":
        return replace(fact, value=f"{fact.value[:8]}{'14' if fact.value[8:] != '14' else '15'}")
    if fact.kind == "list":
        return replace(fact, value=(*fact.value, "Mr Nobody"))
    return replace(fact, value=f"{fact.value}x", options=())


def changed(task: Task, number: int, place: int) -> Task:
    """The task with one fact of a turn changed."""
    gold = task.gold.turns[number]
    facts = [*gold.facts[:place], wrong(gold.facts[place]), *gold.facts[place + 1 :]]
    turns = list(task.gold.turns)
    turns[number] = replace(gold, facts=tuple(facts))
    name = f"{task.task_id}-{number}-{place}"
    return replace(task, task_id=name, gold=replace(task.gold, turns=tuple(turns)))


def test_a_fact_that_was_changed_by_hand_is_named(grader: Grader) -> None:
    places = [
        (task, number, place)
        for task in load_named("demo").tasks()
        for number, gold in enumerate(task.gold.turns)
        for place in range(len(gold.facts))
    ]
    spoilt = [changed(*place) for place in places]
    found = facts_compared(spoilt, grader)
    missed = [
        (task.task_id, task.gold.turns[number].facts[place])
        for (task, number, place), result in zip(places, found, strict=True)
        if not any(f"turn {number + 1}:" in text for text in result.lost)
    ]
    assert len(places) > 60
    # A count that is one off may be the count of some other selection.
    assert len(missed) <= 0.05 * len(places), missed
    assert all(fact.kind in {"count", "list"} for _, fact in missed)
    gate = record_gate(spoilt, found)
    assert not gate.passed


@pytest.mark.parametrize(
    ("label", "column"),
    [
        ("close date", "close_date"),
        ("e-mail", "email"),
        ("new end", "end_date"),
        ("amount of the latest quote", "amount"),
        ("highest quote", "amount"),
        ("previous amount", "amount"),
        ("author of the first", "created_by"),
    ],
)
def test_a_label_names_a_column(label: str, column: str) -> None:
    assert column in columns_of(label)
