"""The gate on answers: its variants are right or wrong as they claim, and a lax scorer fails it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from crmbench.core.answer import Answer
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.grading import answer as scoring
from crmbench.grading.answer import AnswerVerdict, judge
from crmbench.language.finding import Said
from crmbench.validity import answers
from crmbench.validity.answers import (
    answer_gates,
    answers_tried,
    right_answers,
    wrong_answers,
)

AGENT = "005Hs0000m0000IIAQ"
ANSWERS = [
    Answer("id", (AGENT,), "005"),
    Answer("id", (AGENT, "005Hs0000m0000VIAQ"), "005"),
    Answer("id", (), "005"),
    Answer("month", ("May",)),
    Answer("month", ("December",)),
    Answer("state", ("WA",)),
    Answer("text", ("At most once in 60 days.", "60 days"), threshold=0.3, facts=("60 days",)),
    Answer("text", ("Three.", "three", "3"), threshold=0.3, facts=("three",)),
    Answer("text", ("Fuel and food.", "fuel, food"), threshold=0.3, facts=("fuel", "food")),
    Answer("text", ("On form S-12.", "S-12"), threshold=0.3, facts=("S-12",)),
]


def task_with(*asked: Answer | None) -> Task:
    turns = tuple(Turn(number, "Which?") for number, _ in enumerate(asked, 1))
    gold = Gold(tuple(GoldTurn(answer=answer) for answer in asked))
    return Task("t-1", "service", "org", turns, gold)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: f"{a.kind} {a.said[:20]}")
def test_every_variant_is_judged_as_it_claims(answer: Answer) -> None:
    right = right_answers(answer, random.Random(1))
    wrong = wrong_answers(answer, random.Random(1))
    assert len(right) >= 6
    assert len(wrong) >= 5
    assert not {text for _, text in wrong} & set(right)
    for text in right:
        assert judge(answer, text).ok, text
    for what, text in wrong:
        assert not judge(answer, text).ok, (what, text)


def test_what_is_wrong_with_answers() -> None:
    kinds = {what for answer in ANSWERS for what, _ in wrong_answers(answer, random.Random(1))}
    assert kinds >= {
        "None",
        "a value",
        "another",
        "off by a character",
        "one less",
        "one more",
        "the month after",
        "'60 days' changed",
        "'food' left out",
    }


def test_the_gates_count_all_answers_of_all_turns() -> None:
    task = task_with(ANSWERS[0], None, ANSWERS[3])
    right, wrong = answer_gates([task], answers_tried([task]))
    assert right.passed
    assert wrong.passed
    assert right.figure == right.of == 15
    assert wrong.figure == wrong.of


def test_a_scorer_that_takes_anything_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lax(answer: Answer, text: str) -> AnswerVerdict:
        verdict = scoring.judge(answer, text)
        taken = verdict.ok or text.startswith("005")
        return replace(verdict, said=Said.SAID if taken else verdict.said)

    monkeypatch.setattr(answers, "judge", lax)
    task = task_with(ANSWERS[0])
    right, wrong = answer_gates([task], answers_tried([task]))
    assert right.passed
    assert not wrong.passed
    assert {o.reason.split(": ")[1] for o in wrong.offenders} == {
        "another",
        "one more",
        "off by a character",
    }


def test_a_scorer_that_knows_one_wording_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(answer: Answer, text: str) -> AnswerVerdict:
        said = Said.SAID if text == answer.said else Said.NOT_SAID
        return AnswerVerdict(said, 0.0, "is not it")

    monkeypatch.setattr(answers, "judge", strict)
    task = task_with(ANSWERS[5])
    right, _ = answer_gates([task], answers_tried([task]))
    assert not right.passed
    assert "'Washington' is not it" in right.offenders[1].reason + right.offenders[0].reason


def test_a_set_without_answers_has_no_such_gates() -> None:
    task = task_with(None)
    assert answer_gates([task], answers_tried([task])) == []
