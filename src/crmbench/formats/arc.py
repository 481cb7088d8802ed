"""Files of Arc conversations: read into tasks, with every complaint in its place, and written.

What Arc has no field for stands in the objects under ``crmbench``; arc_tasks.py writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from crmbench.core.answer import Answer
from crmbench.core.domain import Domain
from crmbench.core.fact import Fact
from crmbench.core.task import Clarification, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.core.task import Path as GoldPath
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.formats.arc_model import ArcConversation, ArcTurn
from crmbench.formats.arc_tasks import CARRIED, task_to_data
from crmbench.formats.blocks import (
    ClarificationBlock,
    ConversationBlock,
    FactBlock,
    GoldCallBlock,
    TurnBlock,
)
from crmbench.formats.complaints import did_you_mean, validated
from crmbench.formats.jsonl import read_objects, write_lines
from crmbench.formats.parquet import read_rows
from crmbench.grading.expected_state import expected_state_fault
from crmbench.grading.gold import REFERENCE

# What stands under ``crmbench`` where nothing does, as in every file that is not ours.
_PLAIN, _PLAIN_TURN = ConversationBlock(), TurnBlock()


@dataclass(frozen=True)
class Loaded:
    """What a file held."""

    conversations: Sequence[ArcConversation]
    skipped: tuple[InputError, ...]
    """What was wrong with the lines that were left out."""
    lazy_tasks: Sequence[Task]
    """The conversations as tasks; those of a published set are made one by one, when they are
    asked for."""

    def tasks(self) -> list[Task]:
        """The conversations as tasks."""
        return list(self.lazy_tasks)


def load(path: Path, *, skip_invalid: bool = False) -> Loaded:
    """Read a file of conversations: JSON Lines, or Parquet as generate writes it.

    Args:
        skip_invalid: Leave out what is wrong, and say so in `skipped`, instead of stopping.

    Raises:
        InputError: The file cannot be read, holds nothing, or, unless told to skip, a line of it
            is wrong; names file, line and field.
    """
    kept: list[ArcConversation] = []
    tasks: list[Task] = []
    skipped: list[InputError] = []
    seen: dict[str, int] = {}
    # Checked line by line, gold and all, before anything is played: a fault at the end of a file
    # must not cost the episodes before it.
    for number, data in _objects(path):
        try:
            if isinstance(data, InputError):
                raise data
            conversation = parse_conversation(data)
            _check_unique(conversation, number, seen)
            task = checked_task(conversation)
        except InputError as error:
            placed = _placed(error, path, number)
            if not skip_invalid:
                raise placed from error
            skipped.append(placed)
        else:
            kept.append(conversation)
            tasks.append(task)
    if not kept and not skipped:
        raise InputError(
            "the file holds no conversation", file=str(path), expected="one JSON object a line"
        )
    return Loaded(tuple(kept), tuple(skipped), tuple(tasks))


def each_task(path: Path) -> Iterator[Task]:
    """The tasks of a file one by one, of which no more than a batch is held.

    Raises:
        InputError: See `load`; here it is raised when the faulty line is reached, and an id that
            comes twice is not noticed.
    """
    for number, data in _objects(path):
        try:
            if isinstance(data, InputError):
                raise data
            task = checked_task(parse_conversation(data))
        except InputError as error:
            raise _placed(error, path, number) from error
        yield task


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    return read_rows(path) if path.suffix == ".parquet" else read_objects(path)


def _placed(error: InputError, path: Path, number: int) -> InputError:
    return InputError(
        error.message, file=str(path), line=number, field=error.field, expected=error.expected
    )


def parse_conversation(data: Mapping[str, Any]) -> ArcConversation:
    """A conversation from its JSON object.

    Raises:
        InputError: A field is missing, unknown, of the wrong type, or refers to a later turn.
    """
    conversation = validated(ArcConversation, data)
    _check_turns(conversation)
    return conversation


def task_from(conversation: ArcConversation) -> Task:
    """The task that a conversation is.

    Raises:
        InputError: What stands under ``crmbench`` is not of its form; names the field.
    """
    ours = conversation.crmbench or {}
    block = validated(ConversationBlock, ours, "crmbench") if ours else _PLAIN
    # Its own records make up the whole org in Arc's conversations.
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
        notebook=block.notebook,
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


def save_tasks(path: Path, tasks: Iterable[Task]) -> int:
    """Write tasks in the Arc format, ours included; returns how many."""

    def rows() -> Iterator[dict[str, Any]]:
        for task in tasks:
            yield task_to_data(task)

    return write_lines(path, rows())


def save(path: Path, conversations: Iterable[ArcConversation]) -> int:
    """Write conversations as they were read; returns how many."""
    return write_lines(path, (conversation.to_data() for conversation in conversations))


def _check_unique(conversation: ArcConversation, number: int, seen: dict[str, int]) -> None:
    earlier = seen.setdefault(conversation.conversation_id, number)
    if earlier != number:
        raise InputError(
            f"'{conversation.conversation_id}' is the id of line {earlier} too",
            field="conversation_id",
            expected="an id that no other conversation of the file has",
        )


def _check_turns(conversation: ArcConversation) -> None:
    for index, turn in enumerate(conversation.turns):
        place = f"turns[{index}]"
        if turn.turn_id != index + 1:
            raise InputError(
                f"is {turn.turn_id} in the turn at place {index + 1}",
                field=f"{place}.turn_id",
                expected="turns numbered 1, 2, 3, …",
            )
        # One of our turns may make several calls, and refer to an earlier one of its own.
        allowed = turn.turn_id if "calls" in (turn.crmbench or {}) else turn.turn_id - 1
        for reference in _references(turn.expected_args):
            if reference > allowed:
                raise InputError(
                    f"refers to turn {reference}, which has no result before turn {turn.turn_id}",
                    field=f"{place}.expected_args",
                    expected="references to earlier turns only",
                )


def _references(value: Any) -> Iterator[int]:
    if isinstance(value, str):
        # Most texts refer to nothing, which is seen sooner than searched for.
        if "{{" in value:
            for match in REFERENCE.finditer(value):
                yield int(match[1])
    elif isinstance(value, dict):
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


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
            GoldPath(
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
    # Arc has one call a turn; ours may have several, and stand in our own field.
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
