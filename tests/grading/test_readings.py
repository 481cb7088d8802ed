"""Readings of replies and answers, case by case, and what never changes one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.grading.answer import judge, read_reply
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.read import read_fact
from crmbench.language.finding import Said


def cases(name: str) -> list[dict[str, Any]]:
    text = (Path(__file__).parent / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def check(found: Said, case: dict[str, Any]) -> None:
    if "not" in case:
        assert found.value != case["not"], case["why"]
    else:
        assert found.value == case["said"], case["why"]


@pytest.mark.parametrize("case", cases("replies.jsonl"), ids=lambda case: case["reply"][:50])
def test_a_fact_is_read_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    fact = Fact.from_json(case["fact"])
    context = Context(case.get("question", ""), asker=case.get("asker", ""), facts=(fact,))
    names = case.get("names", ())
    context = replace(
        context,
        directory=Directory(
            {str(n): name for n, name in enumerate(names)},
            {name.lower(): frozenset({"Quote"}) for name in names},
        ),
    )
    check(read_fact(case["reply"], fact, context).said, case)


@pytest.mark.parametrize("case", cases("answers.jsonl"), ids=lambda case: case["text"][:50])
def test_an_answer_is_read_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    answer, text = Answer.from_json(case["answer"]), case["text"] * case.get("times", 1)
    check(judge(answer, text).said, case)
    if "times" in case:
        # As a reply alone it is no better an answer.
        check(read_reply(answer, text).said, case)


THEO, CORA = "005Hs0000m0000TIAQ", "005Hs0000m0000CIAQ"
NAMES = Directory(
    {THEO: "Theo Voss", CORA: "Cora Warner", "005Hs0000m0000MIAQ": "Maria Malone"},
    {
        "theo voss": frozenset({"User"}),
        "cora warner": frozenset({"User"}),
        "maria malone": frozenset({"User"}),
    },
)
BEST = Answer("id", (THEO,), prefix="005")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (f"The best agent is {THEO}.", Said.SAID),
        ("It is Theo Voss.", Said.SAID),
        ("Theo Voss leads, and Cora Warner comes second.", Said.SAID),
        ("It is Maria Malone.", Said.NOT_SAID),
        ("I could not find an answer. None.", Said.NOT_SAID),
        ("Anybody but Theo Voss.", Said.NOT_SAID),
        ("", Said.NOT_SAID),
        ("I have submitted it.", Said.UNSURE),
    ],
)
def test_the_reply_is_read_as_the_answer(reply: str, said: Said) -> None:
    assert read_reply(BEST, reply, NAMES).said is said


CERTAIN = (
    (Fact("money", 125000, "amount"), "The amount is $125,000."),
    (Fact("date", "2026-05-03", "close date"), "It closes on May 3, 2026."),
    (Fact("name", "Maja Holm", "owner"), "The owner is Maja Holm."),
    (Fact("count", 4, "contracts"), "There are 4 contracts."),
)
GREETINGS = ("", "Hi Mei, ", "Hello! ", "Sure. ", "Good morning, Mei. ")
ENDINGS = ("", " Anything else?", " I made no changes.", " Have a good day!", "\n\nBest regards")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(CERTAIN),
    st.sampled_from(GREETINGS),
    st.sampled_from(ENDINGS),
    st.booleans(),
    st.booleans(),
)
def test_a_neutral_rewriting_never_flips_said_to_not_said(
    certain: tuple[Fact, str], greeting: str, ending: str, bullet: bool, bold: bool
) -> None:
    fact, reply = certain
    context = Context("What does it say?", asker="Mei Tang", facts=(fact,))
    assert read_fact(reply, fact, context).ok
    told = f"**{reply}**" if bold else reply
    told = f"\n- {told}\n" if bullet else told
    assert read_fact(f"{greeting}{told}{ending}", fact, context).said is not Said.NOT_SAID
