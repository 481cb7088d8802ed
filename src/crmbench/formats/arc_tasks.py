"""From Arc conversations to tasks and back.

What Arc has a field for is written there; what it has none for goes into the objects under
``crmbench``, so that an Arc reader can still run our files and we lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from crmbench.core.answer import Answer
from crmbench.core.domain import Domain
from crmbench.core.fact import Fact
from crmbench.core.task import Clarification, Gold, GoldCall, GoldItem, GoldTurn, Path, Task, Turn
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.formats.arc_model import ArcConversation, ArcTurn
from crmbench.formats.blocks import (
    ClarificationBlock,
    ConversationBlock,
    FactBlock,
    GoldCallBlock,
    TurnBlock,
)
from crmbench.formats.complaints import did_you_mean, validated
from crmbench.grading.expected_state import expected_state_fault
from crmbench.grading.gold import REFERENCE

# What stands under ``crmbench`` where nothing does, as in every file that is not ours.
_PLAIN, _PLAIN_TURN = ConversationBlock(), TurnBlock()


def task_from(conversation: ArcConversation) -> Task:
    """The task that a conversation is.

    Raises:
        InputError: What stands under ``crmbench`` is not of its form; names the field.
    """
    ours = conversation.crmbench or {}
    block = validated(ConversationBlock, ours, "crmbench") if ours else _PLAIN
    seed = _seed_data(conversation, block.domain) if block.world == "empty" else {}
    return Task(
        task_id=conversation.conversation_id,
        domain=block.domain,
        world=block.world,
        turns=tuple(_turn(turn) for turn in conversation.turns),
        gold=_gold(conversation, block, ours),
        # In a populated world the slice is there already; it is written for readers of Arc files.
        seed_data=seed,
        family=block.family,
        category=conversation.workflow_category,
        complexity=conversation.complexity_level,
        persona=block.persona,
        tags=tuple(block.tags),
        segments=tuple(conversation.segment_boundaries or ()),
        chain_id=conversation.chain_id,
        success_note=conversation.expected_outcome,
        shown_slice=_shown(conversation) if block.world != "empty" else {},
        final_state=_final_state(conversation, block),
        carried=_carried(conversation),
        call_limit=block.call_limit,
        budget=block.budget,
        breaks=tuple(block.breaks),
    )


def checked_task(conversation: ArcConversation) -> Task:
    """The task that a conversation is, whose gold calls only tools that there are.

    A file of Arc's may name others: that is a fault of its ground truth, which a run reports.

    Raises:
        InputError: What stands under ``crmbench`` is not of its form, or there is no such tool.
    """
    task = task_from(conversation)
    if task.gold.grading == "state":
        _check_tools(task)
    return task


def _check_tools(task: Task) -> None:
    known = domain_of(task.domain).toolbox.by_name
    for place, calls in _gold_calls(task.gold):
        for number, call in enumerate(calls):
            if call.tool not in known:
                raise InputError(
                    f"there is no tool '{call.tool}'" + did_you_mean(call.tool, known),
                    field=f"{place}[{number}].tool",
                    expected="a tool of the domain",
                )


def _gold_calls(gold: Gold) -> Iterator[tuple[str, Sequence[GoldCall]]]:
    """The calls of every turn, those of the other paths too, and the field where they stand."""
    for index, turn in enumerate(gold.turns):
        yield f"turns[{index}].crmbench.calls", turn.calls
    for number, path in enumerate(gold.paths):
        for index, calls in enumerate(path.turns):
            yield f"crmbench.paths[{number}].turns[{index}]", calls


CARRIED: dict[str, Any] = {
    "verification_mode": "database",
    "segment_number": None,
    "cumulative_context": {},
}
"""Arc's fields that are kept as they are, and what is written where a task has none."""


def _carried(conversation: ArcConversation) -> dict[str, Any]:
    given = {name: getattr(conversation, name) for name in CARRIED}
    return {name: value for name, value in given.items() if value and value != CARRIED[name]}


def _final_state(conversation: ArcConversation, block: ConversationBlock) -> Mapping[str, Any]:
    state = conversation.final_expected_state or {}
    if state and block.grading == "tool_match":
        fault = expected_state_fault(domain_of(block.domain).schema, state)
        if fault is not None:
            place, expected = fault
            raise InputError(
                "is not a state that can be compared",
                field=f"final_expected_state.{place}",
                expected=expected,
            )
    return state


def _shown(conversation: ArcConversation) -> Mapping[str, Any]:
    shown: Mapping[str, Any] = conversation.initial_entities.get("seed_data") or {}
    return shown


def _turn(turn: ArcTurn) -> Turn:
    asked = (turn.crmbench or {}).get("clarification")
    if asked:
        block = validated(ClarificationBlock, asked, f"{_place(turn)}.clarification")
        return Turn(
            turn.turn_id, turn.user_utterance, Clarification(block.answer, tuple(block.about))
        )
    return Turn(turn.turn_id, turn.user_utterance)


def _place(turn: ArcTurn) -> str:
    return f"turns[{turn.turn_id - 1}].crmbench"


def _gold(conversation: ArcConversation, block: ConversationBlock, ours: Mapping[str, Any]) -> Gold:
    return Gold(
        turns=tuple(map(_gold_turn, conversation.turns)),
        grading=block.grading,
        criteria=conversation.success_criteria,
        paths=tuple(
            Path(
                tuple(tuple(map(_call, calls)) for calls in path.turns),
                path.note,
                path.same_effect,
            )
            for path in block.paths
        ),
        canary=block.canary,
        items=msgspec.convert(ours.get("items", ()), tuple[GoldItem, ...]),
    )


def _gold_turn(turn: ArcTurn) -> GoldTurn:
    ours: Mapping[str, Any] = turn.crmbench or {}
    place = _place(turn)
    block = validated(TurnBlock, ours, place) if ours else _PLAIN_TURN
    calls: tuple[GoldCall, ...] = ()
    if "calls" in ours:
        calls = tuple(map(_call, block.calls))
    elif turn.expected_tool is not None:
        calls = (GoldCall(turn.expected_tool, turn.expected_args),)
    return GoldTurn(
        calls=calls,
        expect_success=turn.expect_success,
        error_substring=turn.expected_error_substring,
        failure_category=turn.failure_category,
        facts=_facts(ours, place, "facts"),
        note_facts=_facts(ours, place, "note_facts"),
        forbidden=_facts(ours, place, "forbidden"),
        refusal_reasons=tuple(block.refusal_reasons),
        response=turn.expected_response,
        rules=tuple(block.rules),
        derivations=dict(block.derivations),
        answer=_answer(ours.get("answer"), f"{place}.answer"),
    )


def _call(block: GoldCallBlock) -> GoldCall:
    return GoldCall(block.tool, block.arguments)


def _facts(ours: Mapping[str, Any], place: str, name: str) -> tuple[Fact, ...]:
    given = ours.get(name)
    if not given:
        return ()
    return tuple(_fact(fact, f"{place}.{name}[{index}]") for index, fact in enumerate(given))


def _fact(data: Mapping[str, Any], place: str) -> Fact:
    """A fact whose own fields were checked; those of the facts in a list are checked here."""
    value = data["value"]
    if data["kind"] == "list" and isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, Mapping):
                inner = f"{place}.value[{index}]"
                validated(FactBlock, item, inner)
                _fact(item, inner)
    try:
        return Fact.from_json(data)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"not a fact: {error}", field=place, expected="a value that suits its kind"
        ) from error


def _answer(data: Mapping[str, Any] | None, place: str) -> Answer | None:
    if not data:
        return None
    try:
        return Answer.from_json(data)
    except ValueError as error:
        raise InputError(
            f"not an answer: {error}", field=place, expected="values that suit its kind"
        ) from error


def domain_of(name: str) -> Domain:
    """The domain that a conversation names.

    Raises:
        InputError: There is none.
    """
    try:
        return load_domain(name)
    except InputError as error:
        known = (error.expected or "").replace(",", " ").split()
        raise InputError(
            error.message + did_you_mean(name, known),
            field="crmbench.domain",
            expected=error.expected,
        ) from error


def _seed_data(
    conversation: ArcConversation, domain_name: str
) -> dict[str, dict[str, dict[str, Any]]]:
    """The records to begin with. A reference to a record that is missing goes to the first one
    of its kind: published files name clients that they do not hold.
    """
    schema = domain_of(domain_name).schema
    given = conversation.initial_entities.get("seed_data") or {}
    seed: dict[str, dict[str, dict[str, Any]]] = {}
    for entity, records in given.items():
        if entity not in schema.tables or not isinstance(records, Mapping):
            raise InputError(
                "is not an entity with records by id",
                field=f"initial_entities.seed_data.{entity}",
                expected="one of " + ", ".join(schema.tables),
            )
        seed[entity] = {str(key): dict(fields) for key, fields in records.items()}
    for entity, by_key in seed.items():
        for column, target in schema[entity].references.items():
            present = seed.get(target, {})
            for fields in by_key.values():
                if fields.get(column) is not None and fields[column] not in present and present:
                    fields[column] = next(iter(present))
    return seed


# --- writing --------------------------------------------------------------------------------------


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
            "paths": _plain(task.gold.paths),
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
    }
    return {name: value for name, value in parts.items() if value}


def _turn_data(turn: Turn, gold: GoldTurn) -> dict[str, Any]:
    last = gold.calls[-1] if gold.calls else None
    ours: dict[str, Any] = {"calls": _plain(gold.calls)}
    for name in ("facts", "note_facts", "forbidden"):
        ours[name] = [fact.to_json() for fact in getattr(gold, name)]
    ours["refusal_reasons"] = list(gold.refusal_reasons)
    ours["rules"] = list(gold.rules)
    ours["derivations"] = dict(gold.derivations)
    if gold.answer:
        ours["answer"] = gold.answer.to_json()
    if turn.clarification:
        ours["clarification"] = _plain(turn.clarification)
    references = sorted({int(m) for call in gold.calls for m in _turns_named(call.arguments)})
    return {
        "turn_id": turn.turn_id,
        "user_utterance": turn.utterance,
        "expected_tool": last.tool if last else None,
        "expected_args": dict(last.arguments) if last else {},
        "references_previous_turns": references,
        "expect_success": gold.expect_success,
        "expected_error_substring": gold.error_substring,
        "failure_category": gold.failure_category,
        "expected_response": dict(gold.response) if gold.response else None,
        "crmbench": ours,
    }


def _turns_named(arguments: Mapping[str, Any]) -> list[str]:
    return [m[1] for m in REFERENCE.finditer(msgspec.json.encode(arguments).decode())]
