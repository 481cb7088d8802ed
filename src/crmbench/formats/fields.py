"""Frozen records by their fields: what `dataclasses` does, for where it is done at every turn.

The functions made here are written out for their kind, as `dataclasses` writes constructors: one
that loops over the fields takes three times as long, and `dataclasses.replace` eight times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

Record = TypeVar("Record")


def reader_of(kind: type[Any], *changed: str) -> Callable[..., dict[str, Any]]:
    """A function that gives the fields of a record by name, one level deep.

    Args:
        changed: Fields whose values are not the record's: the function takes them after it.
    """
    items = (f"{name!r}: {value}" for name, value in _values(kind, changed))
    return _function(changed, f"{{{', '.join(items)}}}", {})


def replacer_of(kind: type[Record], *changed: str) -> Callable[..., Record]:
    """A function that takes a record and new values for its fields `changed`, in their order, and
    gives what `dataclasses.replace` gives. Every field has to be an argument of the constructor.
    """
    arguments = (f"{name}={value}" for name, value in _values(kind, changed))
    return _function(changed, f"kind({', '.join(arguments)})", {"kind": kind})


def _values(kind: type[Any], changed: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each field of a kind, and the expression for its value."""
    names = [field.name for field in fields(kind)]
    unknown = set(changed) - set(names)
    if unknown:
        raise TypeError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    return [(name, name if name in changed else f"record.{name}") for name in names]


def _function(changed: tuple[str, ...], body: str, known: dict[str, Any]) -> Callable[..., Any]:
    made: Callable[..., Any] = eval(f"lambda {', '.join(('record', *changed))}: {body}", known)
    return made
