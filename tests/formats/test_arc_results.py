"""Arc result records of real runs, and what they say where Arc's format has no word for ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AgentFactory, Session, SimpleFactory
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.core.trace import Judgement
from crmbench.formats.arc_results import agent_of, result_record, verification, write_results
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.evaluate import Evaluator, Job, grader_on, jobs_for
from crmbench.runner.run import RunOptions, RunOutcome, execute
from crmbench.runner.task_sets import load_named

RECORD = {
    "conversation_id", "overall_success", "turns_executed", "failed_at_turn", "per_turn_results",
    "reward_signal", "error_message", "metadata", "per_segment_results", "chain_success",
}  # fmt: skip
TURN = {
    "turn_id", "user_utterance", "tool_name", "arguments", "expected_tool", "expected_arguments",
    "expect_success", "matches_expected_tool", "matches_expected_arguments",
    "argument_mismatch_reason", "verification", "tool_success", "response_success", "success",
    "judge_used", "judge_pass", "judge_score", "judge_rationale", "response_judge_used",
    "response_judge_pass", "response_judge_score", "response_judge_rationale", "token_usage",
}  # fmt: skip
METADATA = {
    "verification_mode", "success_path_turns", "task_success_rate", "tool_success_rate",
    "response_success_rate", "exact_match_count", "judge_evaluated_count", "judge_approved_count",
    "agent",
}  # fmt: skip


def records(path: Path, outcome: RunOutcome) -> list[dict[str, Any]]:
    """What is written of a run."""
    assert write_results(path, outcome.tasks, outcome.episodes) == len(outcome.episodes)
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def oracle() -> RunOutcome:
    return execute(RunOptions(file="demo", agent="oracle"))


def agent(act: Callable[[Session], Any]) -> AgentFactory:
    """An agent that does the same in every turn."""

    class Acting:
        async def turn(self, session: Session, utterance: str) -> str:
            del utterance
            return str(await act(session))

    return SimpleFactory("acting", lambda _view, _seed: Acting())


def arc_task(*turns: GoldTurn, segments: tuple[int, ...] = ()) -> Task:
    """A conversation graded by tools, in an empty org."""
    said = tuple(Turn(number, f"Request {number}") for number in range(1, len(turns) + 1))
    gold = Gold(turns, grading="tool_match", criteria="all_turns")
    return Task("arc-1", "sales", "empty", said, gold, segments=segments)


async def played(task: Task, act: Callable[[Session], Any]) -> EpisodeRecord:
    evaluator = Evaluator(agent(act), grader_on("sqlite"))
    try:
        return await evaluator.play(jobs_for([task], 1)[0])
    finally:
        evaluator.grader.close()


def record_of(task: Task, act: Callable[[Session], Any]) -> dict[str, Any]:
    finished = asyncio.run(played(task, act))
    return result_record(task, finished.trace, finished.verdict)


PREFIXES = GoldTurn((GoldCall("quote_prefixes", {}),))
MUST_FAIL = GoldTurn(
    (GoldCall("delete_quote", {"quote_id": "none"}),),
    expect_success=False,
    error_substring="not found",
)


async def asks_prefixes(session: Session) -> str:
    await session.call("quote_prefixes")
    return "There they are."


async def deletes_nothing(session: Session) -> str:
    result = await session.call("delete_quote", {"quote_id": "none"})
    return f"That failed: {result.value}"


async def says_done(session: Session) -> str:
    del session
    return "Done."


def test_every_field_of_the_format_is_there(tmp_path: Path, oracle: RunOutcome) -> None:
    found = records(tmp_path / "r.jsonl", oracle)
    assert len(found) == len(oracle.tasks)
    for record in found:
        assert set(record) == RECORD
        assert set(record["metadata"]) >= METADATA
        for turn in record["per_turn_results"]:
            assert set(turn) - {"result", "error"} == TURN
            assert ("result" in turn) != ("error" in turn)


def test_the_oracle_succeeds_in_every_record(tmp_path: Path, oracle: RunOutcome) -> None:
    for record in records(tmp_path / "r.jsonl", oracle):
        assert record["overall_success"]
        assert record["reward_signal"] == 1
        assert record["failed_at_turn"] is None
        assert record["error_message"] is None
        assert record["metadata"]["task_success_rate"] == 1


def test_doing_nothing_fails_with_a_reason(tmp_path: Path) -> None:
    for record in records(tmp_path / "r.jsonl", execute(RunOptions(file="demo", agent="noop"))):
        assert not record["overall_success"]
        assert record["reward_signal"] < 1
        assert record["failed_at_turn"] >= 1
        assert record["error_message"]
        assert all(turn["tool_name"] is None for turn in record["per_turn_results"])


def test_the_same_run_gives_the_same_bytes_and_no_timings(tmp_path: Path) -> None:
    for name in ("one", "two"):
        outcome = execute(RunOptions(file="demo", agent="random", trials=2, seed=5))
        write_results(tmp_path / name, outcome.tasks, outcome.episodes)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert b"seconds" not in (tmp_path / "one").read_bytes()


def test_the_agent_is_named_as_arc_names_it() -> None:
    assert agent_of({"model": "openai/gpt-4.1"}) == {"provider": "openai", "model": "gpt-4.1"}
    local = "http://127.0.0.1:8000/v1#mine"
    assert agent_of({"model": local}) == {"provider": None, "model": local}
    assert agent_of({"agent": "noop", "model": None}) == {"provider": None, "model": "noop"}


def test_the_expected_call_is_an_exact_match() -> None:
    (turn,) = record_of(arc_task(PREFIXES), asks_prefixes)["per_turn_results"]
    assert turn["verification"] == "exact_match"
    assert turn["tool_success"] is turn["success"] is True
    assert turn["response_success"] is None, "nothing says what a right reply would be"


def test_a_failure_that_was_expected_counts_as_passed() -> None:
    record = record_of(arc_task(MUST_FAIL), deletes_nothing)
    (turn,) = record["per_turn_results"]
    assert turn["verification"] == "expected_failure_diagnostic"
    assert turn["success"]
    assert "not found" in turn["error"]
    assert record["overall_success"]
    assert record["metadata"]["success_path_turns"] == 0


def test_an_expected_failure_that_goes_through_is_named() -> None:
    must_fail = replace(PREFIXES, expect_success=False)
    (turn,) = record_of(arc_task(must_fail), asks_prefixes)["per_turn_results"]
    assert turn["verification"] == "unexpected_success"
    assert not turn["success"]


def test_a_tool_that_does_not_exist_is_named() -> None:
    async def invents(session: Session) -> str:
        await session.call("launch_rocket")
        return "Launched."

    (turn,) = record_of(arc_task(PREFIXES), invents)["per_turn_results"]
    assert turn["verification"] == "tool_not_found"
    assert turn["tool_name"] == "launch_rocket"


def test_an_agent_that_raises_keeps_the_turns_before() -> None:
    calls = []

    async def breaks_later(session: Session) -> str:
        calls.append(1)
        if len(calls) > 1:
            raise ValueError("lost the thread")
        return await asks_prefixes(session)

    record = record_of(arc_task(PREFIXES, PREFIXES), breaks_later)
    assert [turn["verification"] for turn in record["per_turn_results"]] == [
        "exact_match",
        "agent_error",
    ]
    assert record["failed_at_turn"] == 2
    assert record["reward_signal"] == 0.5
    assert record["metadata"]["outcome"] == "agent_error"
    assert "lost the thread" in record["error_message"]


def test_segments_of_a_chain_are_counted_apart() -> None:
    calls = []

    async def first_turn_only(session: Session) -> str:
        calls.append(1)
        return await (asks_prefixes if len(calls) == 1 else says_done)(session)

    record = record_of(arc_task(PREFIXES, PREFIXES, PREFIXES, segments=(1, 3)), first_turn_only)
    one, two = record["per_segment_results"]
    assert one["success"]
    assert (two["start_turn"], two["end_turn"]) == (2, 3)
    assert (two["turns_executed"], two["turns_succeeded"], two["failed_at_turn"]) == (2, 0, 2)
    assert record["chain_success"] is False


def test_a_single_conversation_is_no_chain() -> None:
    record = record_of(arc_task(PREFIXES), asks_prefixes)
    assert record["per_segment_results"] == []
    assert record["chain_success"] is None


def test_a_judge_that_approves_is_recorded() -> None:
    async def other_arguments(session: Session) -> str:
        await session.call("list_clients", {})
        return "None."

    gold = GoldTurn((GoldCall("list_clients", {"limit": 3}), GoldCall("summarize_counts", {})))
    task = arc_task(gold)
    finished = asyncio.run(played(task, other_arguments))
    judged = replace(
        finished.trace.turns[0], judgement=Judgement("a-judge", True, 0.9, "as good as the other")
    )
    trace = replace(finished.trace, turns=(judged,))
    evaluator = Evaluator(agent(says_done), grader_on("sqlite"))
    verdict = evaluator.grader.grade(task, trace)
    evaluator.grader.close()
    (turn,) = result_record(task, trace, verdict)["per_turn_results"]
    assert verification(task.gold.turns[0], judged, verdict.turns[0]) == "llm_judge"
    assert (turn["judge_used"], turn["judge_pass"], turn["judge_score"]) == (True, True, 0.9)
    assert turn["tool_success"]


def test_the_chains_of_our_set_are_scored_by_segment() -> None:
    """Two families' hearts in one conversation: a first segment that fails does not hide a
    second that is right.
    """
    chains = [task for task in load_named("sales").tasks() if task.chain_id]
    assert len(chains) >= 100
    for task in chains:
        assert task.segments[-1] == len(task.turns)
        summaries = task.carried["cumulative_context"]["segment_summaries"]
        spans = [each["turn_range"] for each in summaries]
        assert [span["end"] for span in spans] == list(task.segments)
        assert [span["start"] for span in spans] == [1, task.segments[0] + 1]
    with closing(grader_on("sqlite")) as grader:
        task = chains[0]
        whole = asyncio.run(Evaluator(OracleFactory(), grader).play(Job(task, 0)))
        record = result_record(task, whole.trace, whole.verdict)
        assert record["chain_success"] is True
        assert [each["success"] for each in record["per_segment_results"]] == [True, True]
        turns = list(whole.verdict.turns)
        turns[0] = replace(turns[0], success=False)
        spoilt = replace(whole.verdict, turns=tuple(turns))
        record = result_record(task, whole.trace, spoilt)
        assert record["chain_success"] is False
        assert [each["success"] for each in record["per_segment_results"]] == [False, True]
