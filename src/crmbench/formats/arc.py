"""Arc conversations: read with every complaint in its place, turned into tasks, written back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc_model import ArcConversation
from crmbench.formats.arc_tasks import task_from, task_to_data
from crmbench.formats.jsonl import parse_object, read_lines, write_lines
from crmbench.grading.gold import REFERENCE

_EXPECTED = {
    "missing": "the field, which every conversation needs",
    "extra_forbidden": "only the fields of the format",
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "list_type": "a list",
    "model_type": "an object",
    "too_short": "at least one item",
    "string_too_short": "text that is not empty",
    "greater_than_equal": "a number from 1 up",
}


@dataclass(frozen=True)
class Loaded:
    """What a file held."""

    conversations: tuple[ArcConversation, ...]
    skipped: tuple[InputError, ...]
    """What was wrong with the lines that were left out."""

    def tasks(self) -> list[Task]:
        """The conversations as tasks."""
        return [task_from(conversation) for conversation in self.conversations]


def load(path: Path, *, skip_invalid: bool = False) -> Loaded:
    """Read a file of conversations.

    Args:
        skip_invalid: Leave out what is wrong, and say so in `skipped`, instead of stopping.

    Raises:
        InputError: The file cannot be read, holds nothing, or, unless told to skip, a line of it
            is wrong; names file, line and field.
    """
    kept: list[ArcConversation] = []
    skipped: list[InputError] = []
    seen: dict[str, int] = {}
    for number, line in read_lines(path):
        try:
            if isinstance(line, InputError):
                raise line
            conversation = parse_conversation(parse_object(line, str(path), number))
            _check_unique(conversation, number, seen)
            task_from(conversation)
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
    if not kept and not skipped:
        raise InputError(
            "the file holds no conversation", file=str(path), expected="one JSON object a line"
        )
    return Loaded(tuple(kept), tuple(skipped))


def parse_conversation(data: Mapping[str, Any]) -> ArcConversation:
    """A conversation from its JSON object.

    Raises:
        InputError: A field is missing, unknown, of the wrong type, or refers to a later turn.
    """
    try:
        conversation = ArcConversation.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        kind = str(first["type"])
        place = _path(first["loc"])
        got = "" if kind in ("missing", "extra_forbidden") else f", got {_shown(first['input'])}"
        words = {"missing": "is missing", "extra_forbidden": "is not a field of the format"}
        more = len(error.errors()) - 1
        raise InputError(
            words.get(kind, str(first["msg"])) + got + (f" (and {more} more)" if more else ""),
            field=place,
            expected=_EXPECTED.get(kind) or dict(first.get("ctx", {})).get("expected"),
        ) from error
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
        for match in REFERENCE.finditer(value):
            yield int(match[1])
    elif isinstance(value, dict):
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
