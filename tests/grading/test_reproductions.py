"""What outsiders found within an hour to be misread: every case of it, judged as a careful reader
would.

Refusals that were misread stand beside the reader of refusals; what was wrong with tasks, beside
the tasks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn
from crmbench.grading.answer import judge, read_reply
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.read import read_fact
from crmbench.grading.notes import note_problems
from crmbench.grading.words import Outcome, outcome_of
from crmbench.language.patterns import fold
from crmbench.language.questions import asks
from crmbench.language.refusals import refuses

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "reproductions.jsonl").read_text("utf-8").splitlines()
]
OUTCOMES = {
    Outcome.SUCCEEDS: "said",
    Outcome.FAILS: "not said",
    Outcome.UNDECIDED: "unsure",
}


def directory(case: dict[str, Any]) -> Directory:
    """The records that a case knows."""
    named = case.get("names", {})
    return Directory(
        {key: name for key, (name, _) in named.items()},
        {fold(name): frozenset({table}) for name, table in named.values()},
    )


def reading(case: dict[str, Any]) -> str:
    """What the grader finds of a case's reply."""
    reply = case["reply"]
    match case["kind"]:
        case "fact":
            fact = Fact.from_json(case["fact"])
            context = Context(case.get("question", ""), asker=case.get("asker", ""), facts=(fact,))
            return read_fact(reply, fact, context).said.value
        case "question":
            return "said" if asks(reply, tuple(case["about"])) else "not said"
        case "refusal":
            return refuses(reply, case["reasons"]).said.value
        case "note":
            gold = GoldTurn(note_facts=tuple(map(Fact.from_json, case["facts"])))
            return OUTCOMES[outcome_of(list(note_problems(gold, [reply], directory(case))))]
        case "answer":
            return judge(Answer.from_json(case["answer"]), reply, directory(case)).said.value
        case _:
            return read_reply(Answer.from_json(case["answer"]), reply, directory(case)).said.value


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['reply'][:60]}")
def test_it_is_read_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    found = reading(case)
    if "not" in case:
        assert found != case["not"], case["why"]
    else:
        assert found == case["said"], case["why"]
