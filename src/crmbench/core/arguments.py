"""The values that a tool accepts: from a parameter's annotation to its JSON schema and its check.

The same checks serve the arguments of a call and the fields inside an ``updates`` object, so
that a rule such as "must be numeric" is written once.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from crmbench.errors import HarnessError, ToolError

MAX_TEXT = 32_000
"""Characters; what the largest text field of a common CRM holds."""
MAX_ITEMS = 1_000
MAX_DEPTH = 12
MAX_NUMBER = 1e15
"""Beyond it a double no longer holds cents."""

Check = Callable[[Any, str], Any]
"""Takes a value and the label to name it by; returns the value to use or raises ToolError."""


@dataclass(frozen=True)
class Kind:
    """What one argument may be."""

    schema: dict[str, Any]
    check: Check


def label_of(name: str) -> str:
    """How messages name a field: ``close_date`` is "Close date"."""
    return name.replace("_", " ").capitalize()


def check_text(value: Any, label: str) -> str:
    """Text that can be stored.

    Raises:
        ToolError: It is no text, too long, or holds what no database takes.
    """
    if type(value) is not str:
        raise ToolError(f"{label} must be text.")
    if len(value) > MAX_TEXT:
        raise ToolError(f"{label} must not exceed {MAX_TEXT:,} characters (got {len(value):,}).")
    if "\x00" in value:
        raise ToolError(f"{label} must not contain a NUL character.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ToolError(f"{label} must not contain unpaired surrogates.") from None
    return value


def check_number(value: Any, label: str) -> float:
    """A finite number.

    Raises:
        ToolError: It is no number, or too large to hold cents.
    """
    if type(value) not in (int, float):
        raise ToolError(f"{label} must be numeric.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ToolError(f"{label} must be numeric (got {value}).")
    if abs(value) > MAX_NUMBER:
        raise ToolError(f"{label} must not exceed {MAX_NUMBER:,.0f}.")
    return float(value)


def check_integer(value: Any, label: str) -> int:
    """A whole number, also if written with a point.

    Raises:
        ToolError: It is no whole number.
    """
    number = check_number(value, label)
    if not number.is_integer():
        raise ToolError(f"{label} must be a whole number.")
    return int(number)


def check_boolean(value: Any, label: str) -> bool:
    """True or false.

    Raises:
        ToolError: It is neither.
    """
    if type(value) is not bool:
        raise ToolError(f"{label} must be true or false.")
    return value


def check_json(value: Any, label: str, depth: int = 0) -> Any:
    """Any JSON value of sane size.

    Raises:
        ToolError: It is no JSON value, too deep or too large.
    """
    if depth > MAX_DEPTH:
        raise ToolError(f"{label} must not be nested deeper than {MAX_DEPTH} levels.")
    if value is None or type(value) is bool:
        return value
    if type(value) in (int, float):
        check_number(value, label)
        return value
    if type(value) is str:
        return check_text(value, label)
    if type(value) in (list, dict) and len(value) > MAX_ITEMS:
        raise ToolError(f"{label} must not hold more than {MAX_ITEMS:,} items.")
    if type(value) is list:
        return [check_json(item, label, depth + 1) for item in value]
    if type(value) is dict:
        for name in value:
            check_text(name, f"{label}: a field's name")
        return {name: check_json(item, label, depth + 1) for name, item in value.items()}
    raise ToolError(f"{label} must be a JSON value.")


def check_object(value: Any, label: str) -> dict[str, Any]:
    """An object of JSON values, copied.

    Raises:
        ToolError: It is none, too deep or too large.
    """
    if type(value) is not dict:
        raise ToolError(f"{label} must be an object of field names and values.")
    checked: dict[str, Any] = check_json(value, label)
    return checked


def choice(options: tuple[str, ...]) -> Kind:
    """One of a few texts, matched exactly."""
    listed = ", ".join(options)

    def check(value: Any, label: str) -> str:
        if value not in options or type(value) is not str:
            raise ToolError(f"{label} must be one of: {listed}.")
        return value

    return Kind({"type": "string", "enum": list(options)}, check)


def list_of(item: Kind) -> Kind:
    def check(value: Any, label: str) -> list[Any]:
        if type(value) is not list:
            raise ToolError(f"{label} must be a list.")
        if len(value) > MAX_ITEMS:
            raise ToolError(f"{label} must not hold more than {MAX_ITEMS:,} items.")
        return [item.check(entry, f"{label} item") for entry in value]

    return Kind({"type": "array", "items": item.schema}, check)


def optional(kind: Kind) -> Kind:
    def check(value: Any, label: str) -> Any:
        return None if value is None else kind.check(value, label)

    return Kind(kind.schema, check)


TEXT = Kind({"type": "string"}, check_text)
NUMBER = Kind({"type": "number"}, check_number)
INTEGER = Kind({"type": "integer"}, check_integer)
BOOLEAN = Kind({"type": "boolean"}, check_boolean)
OBJECT = Kind({"type": "object"}, check_object)
ANYTHING = Kind({}, check_json)

_PLAIN: dict[Any, Kind] = {
    str: TEXT,
    float: NUMBER,
    int: INTEGER,
    bool: BOOLEAN,
    dict: OBJECT,
    Any: ANYTHING,
}


def kind_of(annotation: Any) -> Kind:
    """The kind that a parameter's annotation stands for.

    Raises:
        HarnessError: The annotation is none that a tool may use.
    """
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin = get_origin(annotation)
    if origin is Annotated:
        for note in get_args(annotation)[1:]:
            if isinstance(note, Kind):
                return note
        return kind_of(get_args(annotation)[0])
    if origin is Literal:
        return choice(get_args(annotation))
    if origin is list:
        return list_of(kind_of(get_args(annotation)[0]))
    if origin is dict:
        return OBJECT
    if origin in (Union, types.UnionType):
        present = [a for a in get_args(annotation) if a is not type(None)]
        if len(present) == 1:
            return optional(kind_of(present[0]))
    raise HarnessError(f"a tool's parameter cannot be annotated with {annotation!r}")
