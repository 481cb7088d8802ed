"""Tasks as Arc conversations.

What Arc has a field for is written there; what it has none for goes into the objects under
``crmbench``, so that an Arc reader can still run our files and we lose nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

from crmbench.core.task import GoldTurn, Task, Turn
from crmbench.grading.gold import REFERENCE

CARRIED: dict[str, Any] = {
    "verification_mode": "database",
    "segment_number": None,
    "cumulative_context": {},
}
"""Arc's fields that are kept as they are, and what is written where a task has none."""


def task_to_data(task: Task) -> dict[str, Any]:
    """A task as the JSON object of an Arc conversation."""
    failing = [i for i, gold in enumerate(task.gold.turns, start=1) if not gold.expect_success]
    return {
        "conversation_id": task.task_id,
        "workflow_category": task.category,
        "complexity_level": task.complexity,
        "turns": [
            _turn_data(turn, gold) for turn, gold in zip(task.turns, task.gold.turns, strict=True)
        ],
        "initial_entities": {"seed_data": task.seed_data or task.shown_slice},
        "final_expected_state": task.final_state,
        "success_criteria": task.gold.criteria,
        "contains_failure": bool(failing),
        "failure_turn": failing[0] if failing else None,
        "verification_mode": _carried_of(task, "verification_mode"),
        "chain_id": task.chain_id,
        "segment_number": _carried_of(task, "segment_number"),
        "segment_boundaries": list(task.segments) or None,
        "expected_outcome": task.success_note,
        "cumulative_context": _carried_of(task, "cumulative_context"),
        "crmbench": {
            "domain": task.domain,
            "world": task.world,
            "family": task.family,
            "persona": task.persona,
            "tags": list(task.tags),
            "grading": task.gold.grading,
            "canary": task.gold.canary,
            "paths": _plain(task.gold.paths) if task.gold.paths else [],
            **_rarely(task),
        },
    }


def _carried_of(task: Task, name: str) -> Any:
    return task.carried.get(name, CARRIED[name])


def _plain(value: object) -> Any:
    """As it is read back from JSON: lists where there were tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _rarely(task: Task) -> dict[str, Any]:
    """What few tasks have; absent from the others, whose stored form stays as it was."""
    items = [
        {name: value for name, value in _plain(item).items() if value not in ([], None)}
        for item in task.gold.items
    ]
    parts = {
        "items": items,
        "call_limit": task.call_limit,
        "budget": task.budget,
        "breaks": list(task.breaks),
        "notebook": task.notebook,
    }
    return {name: value for name, value in parts.items() if value}


def _turn_data(turn: Turn, gold: GoldTurn) -> dict[str, Any]:
    last = gold.calls[-1] if gold.calls else None
    calls = msgspec.json.encode(gold.calls)
    ours: dict[str, Any] = {"calls": msgspec.json.decode(calls)}
    for name in ("facts", "note_facts", "forbidden"):
        ours[name] = [fact.to_json() for fact in getattr(gold, name)]
    ours["refusal_reasons"] = list(gold.refusal_reasons)
    ours["rules"] = list(gold.rules)
    ours["derivations"] = dict(gold.derivations)
    if gold.answer:
        ours["answer"] = gold.answer.to_json()
    if turn.clarification:
        ours["clarification"] = _plain(turn.clarification)
    return {
        "turn_id": turn.turn_id,
        "user_utterance": turn.utterance,
        "expected_tool": last.tool if last else None,
        "expected_args": dict(last.arguments) if last else {},
        "references_previous_turns": _turns_named(calls),
        "expect_success": gold.expect_success,
        "expected_error_substring": gold.error_substring,
        "failure_category": gold.failure_category,
        "expected_response": dict(gold.response) if gold.response else None,
        "crmbench": ours,
    }


def _turns_named(calls: bytes) -> list[int]:
    """The turns that references in some calls, as JSON, point to."""
    if b"{{" not in calls:
        return []
    return sorted({int(match[1]) for match in REFERENCE.finditer(calls.decode())})
