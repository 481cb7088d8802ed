"""What is wrong with a turn is said of records by name, and once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import NORTHGATE

from crmbench.core.journal import Change
from crmbench.core.trace import CallRecord, EpisodeTrace, Message, TurnTrace
from crmbench.formats.arc import load
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict
from crmbench.report.played import problems_of, render_played
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
