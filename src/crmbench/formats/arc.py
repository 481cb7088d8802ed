"""Arc conversations: read with every complaint in its place, turned into tasks, written back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc_model import ArcConversation
from crmbench.formats.arc_tasks import checked_task, task_to_data
from crmbench.formats.complaints import validated
from crmbench.formats.jsonl import read_objects, write_lines
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
    for number, data in read_objects(path):
        try:
            if isinstance(data, InputError):
                raise data
            conversation = parse_conversation(data)
            _check_unique(conversation, number, seen)
            task = checked_task(conversation)
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
