"""Answers that a constant could hit, and failures, are asked of the sets that have them."""

from __future__ import annotations

from crmbench.core.answer import Answer
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.validity import contents


def asking(state: str | None, category: str = "Best Region") -> Task:
    """A question with one state as its answer, or none."""
    answer = Answer("state", (state,) if state else ())
    return Task(
        "t",
        "service",
        "w",
        (Turn(1, "Which?"),),
        Gold((GoldTurn(answer=answer),)),
        category=category,
    )


def acting(*, fails: bool) -> Task:
    """A task without an answer."""
    gold = Gold((GoldTurn(expect_success=not fails),))
    return Task("t", "sales", "w", (Turn(1, "Do it."),), gold)


def test_each_category_has_its_own_figure() -> None:
    even = [asking(state) for state in ("CA", "OR", "WA", "NY", "TX") for _ in range(5)]
    uneven = [asking("CA", "Other") for _ in range(10)]
    uneven += [asking(state, "Other") for state in ("OR", "WA", None) for _ in range(5)]
    best, other, overall = contents.constant_answers([*even, *uneven])
    assert (best.gate, best.figure, best.passed) == ("constant answer, Best Region", 0.2, True)
    assert (other.figure, other.passed) == (0.4, False)
    assert other.offenders[0].reason == "'CA' is right 10 times of 25"
    assert (overall.figure, overall.passed) == (0.3, False)
    assert overall.required == "≤ 12%"


def test_saying_none_is_a_constant_too() -> None:
    gate, _ = contents.constant_answers([asking(None)] * 10 + [asking("CA")] * 15)
    assert "'CA'" in gate.question
    gate, _ = contents.constant_answers([asking(None)] * 15 + [asking("CA")] * 10)
    assert "'None'" in gate.question


def test_a_few_answers_say_nothing() -> None:
    gate, overall = contents.constant_answers([asking("CA")] * 5)
    assert gate.passed
    assert not gate.applies
    assert not overall.applies


def test_sets_that_ask_for_no_answer_have_no_such_gate() -> None:
    assert contents.constant_answers([acting(fails=False)] * 30) == []


def test_failures_are_asked_of_sets_that_act() -> None:
    enough = [acting(fails=True)] * 2 + [acting(fails=False)] * 8
    assert contents.failures_present(enough).passed
    none = contents.failures_present([acting(fails=False)] * 10)
    assert none.applies
    assert not none.passed


def test_failures_are_not_asked_of_sets_of_questions() -> None:
    gate = contents.failures_present([asking("CA")] * 8 + [acting(fails=False)] * 2)
    assert gate.passed
    assert not gate.applies
