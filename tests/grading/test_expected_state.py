"""The final state that an imported file expects decides, where its criteria ask for one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from crmbench.agents.oracle import OracleFactory
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.errors import InputError
from crmbench.formats.arc import parse_conversation, task_from
from crmbench.formats.arc_tasks import task_to_data
from crmbench.grading.grader import Grader
from crmbench.runner.evaluate import Evaluator, Job, grader_on

SEED = {
    "Client": {
        "c-1": {"name": "Acme", "email": "a@acme.example", "status": "Prospect"},
        "c-2": {"name": "Birch", "email": "b@birch.example", "status": "Active"},
    }
}


def conversation(state: dict[str, Any], criteria: str = "both") -> dict[str, Any]:
    turns = [
        {
            "turn_id": 1,
            "user_utterance": "Acme is an active client now.",
            "expected_tool": "modify_client",
            "expected_args": {"client_id": "c-1", "updates": {"status": "Active"}},
        },
        {
            "turn_id": 2,
            "user_utterance": "And open a deal with them, 500, prospecting, called Test.",
            "expected_tool": "create_new_opportunity",
            "expected_args": {
                "name": "Test",
                "client_id": "c-1",
                "amount": 500,
                "stage": "Prospecting",
            },
        },
    ]
    return {
        "conversation_id": "a",
        "turns": turns,
        "initial_entities": {"seed_data": SEED},
        "final_expected_state": state,
        "success_criteria": criteria,
    }


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    made = grader_on("sqlite")
    yield made
    made.close()


def played(grader: Grader, task: Task) -> EpisodeTrace:
    return asyncio.run(Evaluator(OracleFactory(), grader).play(Job(task, 0))).trace


def verdict_of(grader: Grader, state: dict[str, Any], criteria: str = "both") -> Any:
    task = task_from(parse_conversation(conversation(state, criteria)))
    return grader.grade(task, played(grader, task))


TRUE_STATES: list[dict[str, Any]] = [
    {"Client": {"c-1": {"status": "Active"}}},
    {"Client": {"c-1": {"status": "Active"}, "c-2": {"name": "Birch"}, "c-3": None}},
    {"Opportunity": {"o-9": {"name": "Test", "amount": 500.0, "client_id": "c-1"}}},
    {
        "created": {"Opportunity": [{"name": "Test"}]},
        "updated": {"Client": {"c-1": {"status": "Active"}}},
        "deleted": {},
    },
]
FALSE_STATES: list[tuple[dict[str, Any], str]] = [
    ({"Client": {"c-1": {"status": "Inactive"}}}, "Client c-1.status"),
    ({"Client": {"c-2": None}}, "Client c-2 should be gone"),
    ({"Opportunity": {"o-9": {"name": "Test", "amount": 501}}}, ".amount: expected 501"),
    ({"created": {"Quote": [{"amount": 5}]}}, "Quote amount=5 was not created"),
    ({"created": {"Opportunity": [{"name": "Test"}, {"name": "Test"}]}}, "was not created"),
    ({"deleted": {"Client": ["c-1"]}}, "Client c-1 should be gone"),
]


@pytest.mark.parametrize("state", TRUE_STATES)
@pytest.mark.parametrize("criteria", ["both", "final_state"])
def test_a_true_final_state_passes(grader: Grader, state: dict[str, Any], criteria: str) -> None:
    verdict = verdict_of(grader, state, criteria)
    assert verdict.success
    assert verdict.final_state is True


@pytest.mark.parametrize(("state", "why"), FALSE_STATES)
@pytest.mark.parametrize("criteria", ["both", "final_state"])
def test_a_false_final_state_fails_and_says_why(
    grader: Grader, state: dict[str, Any], why: str, criteria: str
) -> None:
    verdict = verdict_of(grader, state, criteria)
    assert not verdict.success
    assert verdict.final_state is False
    assert why in verdict.reason


def test_only_all_turns_asks_for_no_final_state(grader: Grader) -> None:
    assert verdict_of(grader, FALSE_STATES[0][0], "all_turns").success


def test_with_final_state_alone_another_way_to_it_is_as_good(grader: Grader) -> None:
    data = conversation({"Client": {"c-1": {"status": "Active"}}}, "final_state")
    task = task_from(parse_conversation(data))
    trace: EpisodeTrace = played(grader, task)
    data["turns"][0]["expected_args"]["updates"] = {"status": "Inactive"}
    assert grader.grade(task_from(parse_conversation(data)), trace).success
    data["success_criteria"] = "both"
    assert not grader.grade(task_from(parse_conversation(data)), trace).success


def test_gold_that_does_not_lead_to_its_own_final_state_is_a_fault(grader: Grader) -> None:
    task = task_from(parse_conversation(conversation(FALSE_STATES[0][0])))
    fault = grader.fault_of(task)
    assert fault is not None
    assert "expected final state: Client c-1.status" in fault.reason
    assert grader.fault_of(task_from(parse_conversation(conversation(TRUE_STATES[0])))) is None


@pytest.mark.parametrize(
    ("state", "field"),
    [
        ({"Klient": {"c-1": {}}}, "Klient"),
        ({"Client": [{"name": "Acme"}]}, "Client"),
        ({"Client": {"c-1": {"colour": "red"}}}, "Client"),
        ({"created": {"Client": {"c-1": {}}}}, "created.Client"),
        ({"created": "all"}, "created"),
    ],
)
def test_a_state_of_no_known_form_is_refused(state: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        task_from(parse_conversation(conversation(state)))
    assert caught.value.field == f"final_expected_state.{field}"


def test_what_arc_says_of_a_chain_goes_in_and_out_again() -> None:
    said = {
        "chain_id": "CHAIN-1",
        "segment_number": 2,
        "segment_boundaries": [1, 2],
        "cumulative_context": {"segment_summaries": [{"segment_number": 1}]},
        "verification_mode": "runtime_response",
    }
    read = parse_conversation({**conversation({}, "all_turns"), **said})
    written = task_to_data(task_from(read))
    assert {name: written[name] for name in said} == said
