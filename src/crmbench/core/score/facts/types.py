"""A fact: one thing that a reply must, or must not, tell the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal[
    "money", "number", "percent", "date", "name", "id", "choice", "count", "boolean", "list", "text"
]
KINDS: tuple[str, ...] = get_args(Kind)


class Verdict(NamedTuple):
    """Whether something holds of a reply, and why not."""

    ok: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to tell."""

    kind: Kind
    value: Any
    """A number for money, number, percent and count; ISO text for date; true or false for
    boolean; a tuple of names for list; else text."""
    label: str = ""
    """What it is, as in "amount"; for the oracle's words and for messages."""
    aliases: tuple[str, ...] = ()
    """Other texts that name the same thing."""
    options: tuple[str, ...] = ()
    """For a choice: what else it could have been; asserting another one contradicts."""
    rivals: tuple[Any, ...] = ()
    """Values of the same kind that must not be asserted as well."""
    only: bool = False
    """For a list: nothing of `options` that is not in the list may be named."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no kind of fact '{self.kind}'")
        for name in ("aliases", "options", "rivals"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.kind == "list":
            object.__setattr__(self, "value", tuple(self.value))

    def to_json(self) -> dict[str, Any]:
        """A JSON object; what is empty is left out."""
        data: dict[str, Any] = {"kind": self.kind, "value": self.value}
        if self.kind == "list":
            data["value"] = list(self.value)
        for field in fields(self):
            held = getattr(self, field.name)
            if field.name not in data and held not in ((), "", False):
                data[field.name] = list(held) if isinstance(held, tuple) else held
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fact:
        """Read what `to_json` wrote.

        Raises:
            ValueError: It is of no known kind.
            TypeError: It has unknown fields, or lacks kind or value.
        """
        return cls(**data)
