"""What is wrong with a turn is said of records by name, and once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NORTHGATE

from crmbench.core.journal import Change
from crmbench.core.trace import CallRecord, EpisodeTrace, Message, TurnTrace
from crmbench.formats.arc import load
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict
from crmbench.report.played import VARYING, commonest_faults, problems_of, render_played
from crmbench.runner.run import RunOptions, execute

CLIENT, CONTRACT = "c3fe3ede-fda6-46d7-8c0c-293300ef9361", "c94013af-0000-4000-8000-000000000000"
FOUND = CallRecord(
    "client_search",
    {},
    True,
    {"total_count": 1, "records": [{"client_id": CLIENT, "name": "Marlpit Stone Corp"}]},
)


def record(*wrong: tuple[str, ...], call: CallRecord = FOUND) -> EpisodeRecord:
    """An episode of one call, with mismatches in each of its turns."""
    says = (Message("user", "Please."), Message("assistant", "Done."))
    turns = tuple(TurnTrace(n, says, (call,)) for n in range(1, len(wrong) + 1))
    asked = {"client_id": CLIENT, "value": 60456.0, "start_date": "2025-06-01"}
    verdicts = tuple(
        TurnVerdict(
            n,
            not each,
            not each,
            True,
            ToolMatch(None, True, True, True, None),
            "create_contract",
            asked if n == 1 else {},
            each,
            (),
        )
        for n, each in enumerate(wrong, start=1)
    )
    verdict = EpisodeVerdict("t", 0, False, verdicts, 1, False, True, 1, 0, "wrong")
    return EpisodeRecord(EpisodeTrace("t", 0, turns), verdict, 0.0)


def test_a_missing_record_is_named_by_what_was_expected_of_it() -> None:
    missing = f"Contract {CONTRACT} was not written"
    assert problems_of(record((missing,))) == [
        ["Contract (Marlpit Stone Corp, 60,456.0, 2025-06-01) was not written"]
    ]


def test_a_record_is_told_once_and_a_new_one_beside_it() -> None:
    missing, field = f"Contract {CONTRACT} was not written", f"Client {CLIENT}.phone: expected 1"
    first, second, third = problems_of(record((missing,), (missing,), (missing, field)))
    assert len(first) == 1
    assert second == ["still wrong since turn 1"]
    assert third == [
        "Client “Marlpit Stone Corp”.phone: expected 1",
        "still wrong since turn 1",
    ]


@pytest.mark.parametrize(
    ("after", "name"),
    [
        ({"name": "Acme"}, "“Acme”"),
        ({"first_name": "Noor", "last_name": "Petrov", "title": "Buyer"}, "“Noor Petrov”"),
        ({"content": "no name at all"}, CONTRACT),
    ],
)
def test_a_record_that_was_written_has_its_own_name(after: dict[str, str], name: str) -> None:
    wrote = replace(FOUND, changes=(Change("Contact", CONTRACT, None, after),))
    extra = f"Contact {CONTRACT} should not have been written"
    assert problems_of(record((extra,), call=wrote)) == [
        [f"Contact {name} should not have been written"]
    ]


def test_a_played_conversation_is_shown_with_them(tmp_path: Path) -> None:
    outcome = execute(RunOptions(NORTHGATE, "noop"))
    tasks = {task.task_id: task for task in load(Path(NORTHGATE)).tasks()}
    shown = [render_played(tasks[e.task_id], e) for e in outcome.episodes]
    wrong = [problem for each in outcome.episodes for turn in problems_of(each) for problem in turn]
    assert any("was not written" in problem for problem in wrong)
    assert all(f"- wrong: {problem}" in "".join(shown) for problem in wrong)


FAULTS = [
    json.loads(line)
    for line in (Path(__file__).parent / "faults.jsonl").read_text("utf-8").splitlines()
]
"""Two faults, and whether they are of one kind."""


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case["one"][:40])
def test_faults_are_of_one_kind_whatever_record_and_value(case: dict[str, Any]) -> None:
    kinds = {VARYING.sub("", case["one"]), VARYING.sub("", case["other"])}
    assert (len(kinds) == 1) is case["same"]
    assert all(kinds)


def test_the_commonest_fault_comes_first_with_an_example_and_without_ids() -> None:
    phones = [record((f"Client {CLIENT}.phone: expected '{n}', got None",)) for n in range(3)]
    late = record((), (f"Quote {CONTRACT}.amount: expected 5, got 6",))
    assert commonest_faults([late, *phones]) == [
        (3, "t, turn 1: Client “Marlpit Stone Corp”.phone: expected '0', got None"),
        (1, "t, turn 2: Quote.amount: expected 5, got 6"),
    ]
    assert commonest_faults([record(())]) == [(1, "t: wrong")]
    assert commonest_faults([]) == []
