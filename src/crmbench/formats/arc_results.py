"""Arc result records: what came of each episode, one JSON object a line, under Arc's names.

Nothing in a record depends on how long anything took, so two runs that did the same give the same
bytes. Where Arc's format has no word for something of ours, this module settles it so:

* ``verification`` has one more value, ``state``: the turn is right by its effect and its facts
  though the calls differ from the gold ones.
* ``response_success`` is null where nothing checks the reply.
* ``token_usage`` of a turn is empty where the agent said nothing of tokens.
* ``metadata`` also holds the trial, the outcome and whether the episode counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import CallRecord, EpisodeTrace, TurnTrace, usage_data
from crmbench.formats.jsonl import write_lines
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict

Verification = Literal[
    "exact_match",
    "llm_judge",
    "state",
    "failed",
    "tool_not_found",
    "expected_failure_diagnostic",
    "unexpected_success",
    "agent_error",
]


@dataclass(frozen=True)
class ResultLines:
    """Makes the lines of ``results.jsonl`` one by one, where an episode is at hand."""

    tasks: Mapping[str, Task]
    """By their ids."""
    agent: Mapping[str, str | None]
    """What `agent_of` gives."""

    def line(self, record: EpisodeRecord) -> bytes:
        """The line of an episode, with its line end: the bytes that `write_results` writes.

        Raises:
            KeyError: It belongs to none of the tasks.
        """
        task = self.tasks[record.task_id]
        return orjson.dumps(result_record(task, record.trace, record.verdict, self.agent)) + b"\n"


def write_results(
    path: Path,
    tasks: Iterable[Task],
    episodes: Iterable[EpisodeRecord],
    config: Mapping[str, Any] | None = None,
) -> int:
    """Write one record an episode, in the order given; returns how many.

    Args:
        config: The run's configuration, which names the agent.

    Raises:
        KeyError: An episode belongs to none of the tasks.
    """
    return write_lines(path, result_records(tasks, episodes, config or {}))


def result_records(
    tasks: Iterable[Task], episodes: Iterable[EpisodeRecord], config: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """One record an episode, in the order given.

    Raises:
        KeyError: An episode belongs to none of the tasks.
    """
    by_id = {task.task_id: task for task in tasks}
    agent = agent_of(config)
    for episode in episodes:
        yield result_record(by_id[episode.trace.task_id], episode.trace, episode.verdict, agent)


def agent_of(config: Mapping[str, Any]) -> dict[str, str | None]:
    """Provider and model as Arc names them; an agent without a model is its own."""
    model, agent = config.get("model"), config.get("agent")
    if isinstance(model, str):
        provider, slash, name = model.partition("/")
        if slash and "://" not in model:
            return {"provider": provider, "model": name}
        return {"provider": None, "model": model}
    return {"provider": None, "model": agent}


def result_record(
    task: Task,
    trace: EpisodeTrace,
    verdict: EpisodeVerdict,
    agent: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """The record of one episode.

    ``reward_signal`` and the rates are shares of all turns of the task, so that a turn that was
    never reached counts as failed; the rate of responses is over those that were checked.
    """
    turns = [
        _turn_record(gold, turn, found)
        for gold, turn, found in zip(task.gold.turns, trace.turns, verdict.turns, strict=False)
    ]
    segments = list(segment_results(task, verdict))
    return {
        "conversation_id": task.task_id,
        "overall_success": verdict.success,
        "turns_executed": len(trace.turns),
        "failed_at_turn": verdict.failed_at_turn,
        "per_turn_results": turns,
        "reward_signal": _share(turns, "success", len(task.turns)),
        "error_message": verdict.reason,
        "metadata": _metadata(task, trace, verdict, turns, agent or {}),
        "per_segment_results": segments,
        "chain_success": all(s["success"] for s in segments) if segments else None,
    }


def verification(gold: GoldTurn, turn: TurnTrace, verdict: TurnVerdict) -> Verification:
    """How a turn was decided, in Arc's words."""
    call = verdict.tool.call
    if turn.error is not None:
        return "agent_error"
    if not gold.expect_success:
        if verdict.success:
            return "expected_failure_diagnostic"
        went_through = call is not None and call.ok and (verdict.tool.tool or bool(call.changes))
        return "unexpected_success" if went_through else "failed"
    if verdict.success:
        if verdict.expected_tool is not None and verdict.tool.matches:
            return "exact_match"
        return "state" if verdict.state is not None else "llm_judge"
    if call is not None and call.error_kind == "unknown_tool":
        return "tool_not_found"
    return "failed"


def tool_success(verdict: TurnVerdict) -> bool:
    """Whether the turn's call is the expected one, or a judge took it for as good."""
    return verdict.tool.matches or (verdict.state is None and verdict.success)


def response_success(gold: GoldTurn, turn: TurnTrace, verdict: TurnVerdict) -> bool | None:
    """Whether the reply was right, by its facts or else by a judge; None where nothing says so.

    A turn that asks for nothing to be said credits no reply, least of all an empty one.
    """
    asks = bool(gold.facts) or gold.answer is not None or not gold.expect_success
    if verdict.facts is not None and (asks or not verdict.facts):
        return verdict.facts
    if turn.judgement is None:
        return None
    if turn.judgement.response_passed is not None:
        return turn.judgement.response_passed
    return turn.judgement.passed


def _turn_record(gold: GoldTurn, turn: TurnTrace, verdict: TurnVerdict) -> dict[str, Any]:
    call = verdict.tool.call or (turn.calls[-1] if turn.calls else None)
    judged = turn.judgement
    return {
        "turn_id": turn.turn_id,
        "user_utterance": turn.utterance,
        "tool_name": call.tool if call else None,
        "arguments": call.arguments if call else {},
        "expected_tool": verdict.expected_tool,
        "expected_arguments": verdict.expected_arguments,
        "expect_success": gold.expect_success,
        "matches_expected_tool": verdict.tool.tool,
        "matches_expected_arguments": verdict.tool.arguments,
        "argument_mismatch_reason": verdict.tool.reason,
        **_outcome(turn, call),
        "verification": verification(gold, turn, verdict),
        "tool_success": tool_success(verdict),
        "response_success": response_success(gold, turn, verdict),
        "success": verdict.success,
        "judge_used": judged is not None,
        "judge_pass": judged.passed if judged else None,
        "judge_score": judged.score if judged else None,
        "judge_rationale": judged.rationale if judged else None,
        **_response_judge(turn),
        "token_usage": usage_data(turn.usage) if turn.usage else {},
    }


def _response_judge(turn: TurnTrace) -> dict[str, Any]:
    """What the judge said of the reply alone, where the file expects one."""
    judged = turn.judgement if turn.judgement and turn.judgement.response is not None else None
    return {
        "response_judge_used": judged is not None,
        "response_judge_pass": judged.response_passed if judged else None,
        "response_judge_score": judged.response if judged else None,
        "response_judge_rationale": judged.rationale if judged else None,
    }


def _outcome(turn: TurnTrace, call: CallRecord | None) -> dict[str, Any]:
    """``result`` of a call that worked, else ``error``: Arc's records hold the one or the other."""
    if turn.error is not None:
        return {"error": turn.error}
    if call is None:
        return {"error": "no tool was called"}
    return {"result": call.result} if call.ok else {"error": call.error}


def _metadata(
    task: Task,
    trace: EpisodeTrace,
    verdict: EpisodeVerdict,
    turns: list[dict[str, Any]],
    agent: Mapping[str, str | None],
) -> dict[str, Any]:
    checked = [turn for turn in turns if turn["response_success"] is not None]
    return {
        "verification_mode": task.carried.get("verification_mode", "database"),
        "success_path_turns": sum(gold.expect_success for gold in task.gold.turns),
        "task_success_rate": _share(turns, "success", len(task.turns)),
        "tool_success_rate": _share(turns, "tool_success", len(task.turns)),
        "response_success_rate": (
            _share(checked, "response_success", len(checked)) if checked else None
        ),
        "exact_match_count": sum(turn["verification"] == "exact_match" for turn in turns),
        "judge_evaluated_count": sum(turn["judge_used"] for turn in turns),
        "judge_approved_count": sum(turn["judge_pass"] is True for turn in turns),
        "agent": {
            "provider": agent.get("provider"),
            "model": agent.get("model"),
            "token_usage": usage_data(trace.usage),
        },
        "trial": trace.trial,
        "outcome": trace.outcome,
        "counted": verdict.counted,
    }


def _share(turns: Iterable[Mapping[str, Any]], name: str, of: int) -> float:
    return sum(bool(turn[name]) for turn in turns) / of


def segment_results(task: Task, verdict: EpisodeVerdict) -> Iterator[dict[str, Any]]:
    """What became of each segment of a chain; one that was not reached has failed."""
    succeeded = {turn.turn_id for turn in verdict.turns if turn.success}
    played = {turn.turn_id for turn in verdict.turns}
    start = 1
    for number, end in enumerate(task.segments, start=1):
        turns = range(start, end + 1)
        failed = [turn for turn in turns if turn not in succeeded]
        yield {
            "segment_number": number,
            "start_turn": start,
            "end_turn": end,
            "turns_executed": sum(turn in played for turn in turns),
            "turns_succeeded": len(turns) - len(failed),
            "success": not failed,
            "failed_at_turn": failed[0] if failed else None,
        }
        start = end + 1
