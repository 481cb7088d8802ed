"""Readings of reports of what was done, case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crmbench.core.fact import Fact
from crmbench.core.journal import Change
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.reports.deeds import Deeds
from crmbench.grading.reports.problems import report_problems
from crmbench.grading.words import Outcome, outcome_of

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "reports.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:50])
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
