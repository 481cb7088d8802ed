"""A tool's arguments as a form, and what was filled in as the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

Shape = Literal["text", "long", "integer", "number", "yes_no", "choice", "lines", "json"]
LONG = ("note", "notes", "description", "content", "text", "body", "comment", "reply", "answer")
"""Names of arguments whose texts are often longer than a line."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One argument of a tool as a form shows it."""

    name: str
    shape: Shape
    required: bool
    hint: str
    options: tuple[str, ...] = ()
    value: str = ""
    """What was filled in before."""
    problem: str = ""
    """Why that could not be used."""


def form_of(
    schema: Mapping[str, Any],
    filled: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
) -> tuple[FormField, ...]:
    """The form of a tool.

    Args:
        schema: Of its arguments, as model APIs take it.
        filled: What was filled in before, by name.
        problems: What was wrong with that, by name.
    """
    required = schema.get("required", ())
    return tuple(
        FormField(
            name,
            shape_of(name, each),
            name in required,
            str(each.get("description", "")),
            tuple(map(str, each.get("enum", ()))),
            (filled or {}).get(name, ""),
            (problems or {}).get(name, ""),
        )
        for name, each in schema.get("properties", {}).items()
    )


def shape_of(name: str, schema: Mapping[str, Any]) -> Shape:
    """How an argument is asked for."""
    kind = schema.get("type")
    if "enum" in schema:
        return "choice"
    if kind == "array":
        items = schema.get("items", {})
        return "lines" if items.get("type") == "string" else "json"
    shapes: dict[Any, Shape] = {
        "integer": "integer",
        "number": "number",
        "boolean": "yes_no",
        "object": "json",
        "string": "long" if name.lower() in LONG else "text",
    }
    return shapes.get(kind, "json")


class FormProblem(ValueError):
    """What was filled in is no value of its argument.

    Args:
        problems: What is wrong, by the argument's name.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = dict(problems)


def arguments_of(schema: Mapping[str, Any], filled: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a call from what was filled in; what was left empty is left out.

    Raises:
        FormProblem: A number is none, or JSON cannot be read.
    """
    arguments: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for field in form_of(schema, filled):
        text = field.value.strip() if field.shape not in ("text", "long") else field.value
        if not text.strip():
            continue
        try:
            arguments[field.name] = _value(field.shape, text)
        except ValueError as error:
            problems[field.name] = str(error)
    if problems:
        raise FormProblem(problems)
    return arguments


def _value(shape: Shape, text: str) -> Any:
    """A value from its text.

    Raises:
        ValueError: The text is none of the shape.
    """
    if shape == "integer":
        return _number(text, int, "a whole number")
    if shape == "number":
        return _number(text, float, "a number")
    if shape == "yes_no":
        return text == "yes"
    if shape == "lines":
        return list(_lines(text))
    if shape == "json":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ValueError(f"this is not JSON: {error}") from error
    return text.replace("\r\n", "\n")


def _number(text: str, kind: type[int] | type[float], what: str) -> float:
    """A number from its text; commas between thousands are passed over.

    Raises:
        ValueError: It is none.
    """
    try:
        value = kind(text.replace(",", ""))
    except ValueError:
        raise ValueError(f"this is not {what}") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"this is not {what}")
    return value


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip():
            yield line.strip()
