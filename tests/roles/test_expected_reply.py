"""An Arc file with a judge: each turn counts 70 % its calls and 30 % its reply, and 0.8 passes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.roles.test_judge import EXACT, OTHER, arc_task, doing, judging, play, search

from crmbench.agents.protocol import AnyFactory
from crmbench.api import arun
from crmbench.core.task import Task
from crmbench.formats.arc_results import result_record
from crmbench.grading.record import EpisodeRecord
from crmbench.models import Message, ScriptedModel, ToolSpec
from crmbench.models.testing.server import FakeServer
from crmbench.models.testing.wire import FakeAnswer, FakeRequest
from crmbench.roles.judge import Judge, JudgeRules
from crmbench.roles.role_model import RoleModel
from crmbench.runner.evaluate import Evaluator, Job, grader_on

REPLY = "Acme is an active client."


def task_with_reply(**response: Any) -> Task:
    return arc_task(search("acme", response={"text": REPLY, **response}))


def scores(tool: float, response: float) -> str:
    return orjson.dumps({"rationale": "so", "tool": tool, "response": response}).decode()


def record_of(finished: EpisodeRecord, task: Task) -> dict[str, Any]:
    return result_record(task, finished.trace, finished.verdict)


# The score by hand: 0.7 x calls + 0.3 x reply. The judge's score of the calls counts only where
# the checks leave them open.
@pytest.mark.parametrize(
    ("calls", "tool", "response", "score", "passes"),
    [
        (EXACT, 0.0, 1.0, 1.0, True),
        (EXACT, 0.0, 0.34, 0.802, True),
        (EXACT, 1.0, 0.33, 0.799, False),
        (EXACT, 1.0, 0.0, 0.7, False),
        (OTHER, 0.9, 0.6, 0.81, True),
        (OTHER, 0.7, 1.0, 0.79, False),
        ([], 1.0, 1.0, 0.3, False),
        ([("client_search", {"colour": "red"})], 1.0, 1.0, 0.3, False),
        ([("no_such_tool", {})], 1.0, 1.0, 0.3, False),
    ],
)
def test_calls_and_reply_are_weighted(
    calls: list[tuple[str, dict[str, Any]]],
    tool: float,
    response: float,
    score: float,
    passes: bool,
) -> None:
    task = task_with_reply()
    finished = play(task, doing(calls), ScriptedModel([scores(tool, response)]))
    (said,) = judging(finished).turns
    assert (said.why, said.passed) == ("response", passes)
    assert said.score == pytest.approx(score)
    assert finished.verdict.success is passes
    record = record_of(finished, task)
    (turn,) = record["per_turn_results"]
    assert turn["response_judge_score"] == response
    assert turn["response_success"] is (response >= 0.8)
    assert turn["tool_success"] is (calls == EXACT or (calls == OTHER and passes))
    assert record["metadata"]["response_success_rate"] == float(response >= 0.8)


def test_without_a_judge_the_replys_success_is_left_out() -> None:
    task = task_with_reply()
    evaluator = Evaluator(doing(EXACT, words=""), grader_on("sqlite"))
    finished = asyncio.run(evaluator.play(Job(task, 0)))
    evaluator.grader.close()
    record = record_of(finished, task)
    assert finished.verdict.success
    assert record["per_turn_results"][0]["response_success"] is None
    assert record["metadata"]["response_success_rate"] is None


def test_the_judge_is_shown_the_expected_reply_the_criteria_and_the_calls() -> None:
    asked: list[dict[str, Any]] = []

    def script(messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        asked.append(orjson.loads(messages[1].text))
        return scores(1.0, 1.0)

    task = replace(
        task_with_reply(evaluation="names the status", answers=[REPLY, "Active."]),
        success_note="Acme is found.",
    )
    play(task, doing(EXACT), ScriptedModel(script))
    (material,) = asked
    assert material["expected"] == {
        "reply": REPLY,
        "other_replies": ["Active."],
        "criteria": {"evaluation": "names the status"},
        "call": {"tool": "client_search", "arguments": {"name": "acme"}},
        "to_succeed": True,
        "conversation": "Acme is found.",
    }
    assert material["turn"]["calls"][0]["tool"] == "client_search"
    assert material["turn"]["calls"][0]["result"]["records"][0]["client_id"] == "c1"


def judged_with(rules: JudgeRules, agent: AnyFactory, answer: str) -> EpisodeRecord:
    judge = Judge(RoleModel(ScriptedModel([answer])), rules=rules)
    evaluator = Evaluator(agent, grader_on("sqlite"), judge=judge)
    try:
        return asyncio.run(evaluator.play(Job(task_with_reply(), 0)))
    finally:
        evaluator.grader.close()


def test_weight_and_mark_can_be_chosen() -> None:
    strict = judged_with(JudgeRules(0.5, 0.9), doing(EXACT), scores(1.0, 0.7))
    assert not strict.verdict.success
    assert judging(strict).turns[0].score == pytest.approx(0.85)
    mild = judged_with(JudgeRules(0.9, 0.5), doing(EXACT), scores(1.0, 0.0))
    assert mild.verdict.success


def test_a_turn_without_a_usable_answer_does_not_count() -> None:
    finished = play(task_with_reply(), doing(EXACT), ScriptedModel(["no idea", "none"]))
    assert not finished.verdict.counted
    assert finished.verdict.reason == "the judge gave no usable answer"


def arc_lines() -> list[dict[str, Any]]:
    """Two conversations as Arc's files have them."""

    def turn(number: int, name: str) -> dict[str, Any]:
        return {
            "turn_id": number,
            "user_utterance": f"Find {name}.",
            "expected_tool": "client_search",
            "expected_args": {"name": name},
            "expected_response": {"text": f"Found {name}.", "evaluation": "structured"},
        }

    clients = {"c1": {"name": "Acme", "email": "a@acme.example", "status": "Active"}}
    return [
        {
            "conversation_id": f"arc-{number}",
            "turns": [turn(place, name) for place, name in enumerate(names, start=1)],
            "initial_entities": {"seed_data": {"Client": clients}},
        }
        for number, names in enumerate((("Acme", "Birch"), ("Cedar", "Acme", "Acme")), start=1)
    ]


GIVEN = {"Acme": (1.0, 0.9), "Birch": (1.0, 0.2), "Cedar": (0.0, 0.5)}
"""What the judge gives by the name in the expected reply; calls are right, so theirs counts 1."""


def of_the_judge(request: FakeRequest) -> FakeAnswer:
    name = next(name for name in GIVEN if f'"reply":"Found {name}."' in request.texts[-1][1])
    return FakeAnswer(scores(*GIVEN[name]))


def test_a_judge_over_http_reproduces_scores_computed_by_hand(tmp_path: Path) -> None:
    lines = arc_lines()
    path = tmp_path / "arc.jsonl"
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))

    async def judged() -> None:
        async with FakeServer(of_the_judge) as server:
            judge = f"{server.url}/v1#judge"
            await arun(path, "oracle", out=tmp_path / "run", judge=judge)

    asyncio.run(judged())
    records = [
        orjson.loads(line)
        for line in (tmp_path / "run" / "results.jsonl").read_bytes().splitlines()
    ]
    by_hand = {"Acme": 0.7 + 0.3 * 0.9, "Birch": 0.7 + 0.3 * 0.2, "Cedar": 0.7 + 0.3 * 0.5}
    assert (by_hand["Acme"] >= 0.8, by_hand["Birch"] >= 0.8, by_hand["Cedar"] >= 0.8) == (
        True,
        False,
        True,
    )
    for line, record in zip(lines, records, strict=True):
        names = [turn["expected_args"]["name"] for turn in line["turns"]]
        turns = record["per_turn_results"]
        assert [t["judge_score"] for t in turns] == pytest.approx([by_hand[n] for n in names])
        assert [t["success"] for t in turns] == [by_hand[n] >= 0.8 for n in names]
        assert [t["response_success"] for t in turns] == [GIVEN[n][1] >= 0.8 for n in names]
        assert record["overall_success"] is all(by_hand[n] >= 0.8 for n in names)
        share = sum(by_hand[n] >= 0.8 for n in names) / len(names)
        assert record["metadata"]["task_success_rate"] == pytest.approx(share)
        assert record["metadata"]["judge_evaluated_count"] == len(names)
