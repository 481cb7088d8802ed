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
from crmbench.core.journal import Change
from crmbench.grading.answer import judge, read_reply
from crmbench.grading.deeds import Deeds
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.read import read_fact
from crmbench.grading.reports import report_problems
from crmbench.grading.words import Outcome, outcome_of
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


@pytest.mark.parametrize("case", cases("reports.jsonl"), ids=lambda case: case["reply"][:50])
def test_a_report_is_read_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    facts = tuple(map(Fact.from_json, case["facts"]))
    context = Context(case["question"], facts=facts, writes=True)
    tables: dict[str, frozenset[str]] = {}
    for name in case.get("names", {}).values():
        tables[name.lower()] = frozenset({"Opportunity"})
    deeds = Deeds(
        tuple(Change(*change) for change in case["changes"]),
        Directory(case.get("names", {}), tables),
    )
    problems = list(report_problems(case["reply"], deeds, context))
    assert outcome_of(problems).value == case["outcome"], (case["why"], problems)


THEO, CORA, CASE = "005Hs0000m0000TIAQ", "005Hs0000m0000CIAQ", "500Hs0000t00058IAA"
OTHER_CASE = "500Hs0000t00059IAA"
NAMES = Directory(
    {THEO: "Theo Voss", CORA: "Cora Warner", "005Hs0000m0000MIAQ": "Maria Malone"},
    {
        "theo voss": frozenset({"User"}),
        "cora warner": frozenset({"User"}),
        "maria malone": frozenset({"User"}),
    },
)
MOVED = Deeds((Change("Case", CASE, {"OwnerId": CORA}, {"OwnerId": THEO}),), NAMES)
ASKED = Context(f"Move case {CASE} by the rules.", writes=True)


@pytest.mark.parametrize(
    "reply",
    [
        "Done.",
        "Assigned to Theo Voss.",
        "The owner before was Cora Warner; Theo Voss has it now.",
        f"{CASE} went from Cora Warner to Theo Voss. Nothing else was changed.",
        "It isn't Cora Warner's any longer: it has passed to Theo Voss.",
    ],
)
def test_a_right_report_passes(reply: str) -> None:
    assert not list(report_problems(reply, MOVED, ASKED))


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I could not do it; the case stays with Cora Warner.", Outcome.FAILS),
        ("It did not go through, the case is still Cora Warner's.", Outcome.FAILS),
        ("Assigned to Maria Malone.", Outcome.FAILS),
        ("The case has been assigned to Cora Warner.", Outcome.FAILS),
        (f"I moved {OTHER_CASE} to Theo Voss.", Outcome.FAILS),
        ("Could not move it.", Outcome.FAILS),
        ("If you agree I'll move it to Theo Voss.", Outcome.UNDECIDED),
    ],
)
def test_a_misreport_does_not_pass(reply: str, outcome: Outcome) -> None:
    assert outcome_of(list(report_problems(reply, MOVED, ASKED))) is outcome


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
