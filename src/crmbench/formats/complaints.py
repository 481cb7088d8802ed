"""What is wrong with an object, as one sentence: the field, the fault, what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from crmbench.errors import InputError

M = TypeVar("M", bound=BaseModel)

_EXPECTED = {
    "missing": "the field, which is required",
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "list_type": "a list",
    "model_type": "an object",
    "string_too_short": "text that is not empty",
    "greater_than_equal": "a number from 1 up",
}
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of the format",
    "model_type": "is no object",
}


def validated(model: type[M], data: object, place: str = "") -> M:
    """The object as its model.

    Args:
        place: The path of the field that holds it, for the complaint.

    Raises:
        InputError: A field is missing, unknown or of the wrong type; names it.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise complaint(model, error, place) from error


def complaint(model: type[BaseModel], error: ValidationError, place: str = "") -> InputError:
    """The first thing that is wrong, and how many more there are."""
    errors = error.errors(include_url=False)
    first = errors[0]
    kind = str(first["type"])
    got = "" if kind in ("missing", "extra_forbidden") else f", got {_shown(first['input'])}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    context: Mapping[str, Any] = first.get("ctx", {})
    expected = _EXPECTED.get(kind) or context.get("expected")
    close = ""
    if kind == "extra_forbidden":
        known = tuple(_fields_at(model, first["loc"][:-1]))
        close = did_you_mean(str(first["loc"][-1]), known)
        expected = f"one of {', '.join(known)}"
    elif kind == "literal_error":
        close = did_you_mean(str(first["input"]), re.findall(r"'([^']*)'", str(expected)))
    elif kind == "too_short":
        least = context.get("min_length", 1)
        expected = "at least one item" if least == 1 else f"{least} items"
    return InputError(
        _WORDS.get(kind, str(first["msg"])) + got + close + more,
        field=path_of_field(first["loc"], place),
        expected=expected,
    )


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """A question that names the nearest known word; empty if none is near."""
    # Cut, for the search takes time with the square of the length, and anybody's file may hold
    # anything.
    near = get_close_matches(given[:80], list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def path_of_field(location: Iterable[int | str], place: str = "") -> str:
    """A field's path as people write it, such as ``turns[2].crmbench.facts[0].label``."""
    path = place
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _fields_at(model: type[BaseModel], location: Iterable[int | str]) -> Iterator[str]:
    """The fields of the model that a location leads to."""
    for step in location:
        if isinstance(step, str) and step in model.model_fields:
            model = next(_models_in(model.model_fields[step].annotation), model)
    yield from model.model_fields


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
