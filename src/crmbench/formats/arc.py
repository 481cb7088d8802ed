"""Arc conversations: read with every complaint in its place, turned into tasks, written back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crmbench.core.task import GoldCall, Task
from crmbench.errors import InputError
from crmbench.formats.arc_model import ArcConversation
from crmbench.formats.arc_tasks import domain_of, task_from, task_to_data
from crmbench.formats.complaints import did_you_mean, validated
from crmbench.formats.jsonl import parse_object, read_lines, write_lines
from crmbench.grading.gold import REFERENCE


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
    """Read a file of conversations.

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
    for number, line in read_lines(path):
        try:
            if isinstance(line, InputError):
                raise line
            conversation = parse_conversation(parse_object(line, str(path), number))
            _check_unique(conversation, number, seen)
            task = task_from(conversation)
            _check_tools(task)
        except InputError as error:
            placed = InputError(
                error.message,
                file=str(path),
                line=number,
                field=error.field,
                expected=error.expected,
            )
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


def parse_conversation(data: Mapping[str, Any]) -> ArcConversation:
    """A conversation from its JSON object.

    Raises:
        InputError: A field is missing, unknown, of the wrong type, or refers to a later turn.
    """
    conversation = validated(ArcConversation, data)
    _check_turns(conversation)
    return conversation


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


def _check_tools(task: Task) -> None:
    """Whether the gold calls tools that there are.

    A file of Arc's may name others: that is a fault of its ground truth, which a run reports.
    """
    if task.gold.grading != "state":
        return
    known = domain_of(task.domain).toolbox.by_name
    for index, gold in enumerate(task.gold.turns):
        _check_calls(gold.calls, known, f"turns[{index}].crmbench.calls")
    for number, path in enumerate(task.gold.paths):
        for index, calls in enumerate(path.turns):
            _check_calls(calls, known, f"crmbench.paths[{number}].turns[{index}]")


def _check_calls(calls: Sequence[GoldCall], known: Mapping[str, object], place: str) -> None:
    for number, call in enumerate(calls):
        if call.tool not in known:
            raise InputError(
                f"there is no tool '{call.tool}'" + did_you_mean(call.tool, known),
                field=f"{place}[{number}].tool",
                expected="a tool of the domain",
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
