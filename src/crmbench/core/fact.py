"""A fact: one thing that a reply must, or must not, tell the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

Kind = Literal[
    "money", "number", "percent", "date", "name", "id", "choice", "count", "boolean", "list", "text"
]
KINDS: tuple[str, ...] = get_args(Kind)
_NUMERIC = frozenset({"money", "number", "percent", "count"})


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to tell.

    Raises:
        ValueError: The kind is unknown or the value does not suit it.
    """

    kind: Kind
    value: Any
    """money, number, percent (15 for 15 %): a number; count: a whole number; date: ISO text
    (``2026-05-03``, or ``2026-05`` for a month); boolean: true or false; list: a tuple of facts, or
    of plain values of the kind `item`; the rest: text."""
    label: str = ""
    """What it is, as in "amount"; for the oracle's words and for messages. For a boolean the
    assertion itself, as in "overdue". A label with "old", "previous" or "original" asks for the
    value that was; one with "maximum" or "limit" for a bound. Of a count, the last word is what
    is counted, unless `unit` says so."""
    aliases: tuple[str, ...] = ()
    """Other texts that name the same thing. For a boolean: other words for the assertion."""
    options: tuple[str, ...] = ()
    """For a choice: what else it could have been; asserting another one contradicts. For a list:
    the candidates."""
    rivals: tuple[Any, ...] = ()
    """Values of the same kind that must not be asserted as well. For a boolean: words for the
    opposite of the assertion."""
    only: bool = False
    """For a list: nothing of `options` that is not in the list may be named."""
    subject: str = ""
    """Whom or what it is about. Where the reply gives values of this kind next to the subject,
    the right one must be among them."""
    unit: str = ""
    """money: the ISO code of the currency (empty: dollars). count, number: what is counted."""
    item: Kind = "name"
    """For a list: the kind of its plain values."""
    today: str = ""
    """ISO date of the world: makes dates without a year, and "tomorrow", readable."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no kind of fact '{self.kind}'")
        for name in ("aliases", "options", "rivals"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.kind == "list":
            object.__setattr__(self, "value", tuple(map(_thawed, self.value)))
        elif self.kind == "boolean":
            _require(isinstance(self.value, bool), self, "true or false")
        elif self.kind in _NUMERIC:
            number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
            _require(number, self, "a number")
            _require(self.kind != "count" or self.value == int(self.value), self, "a whole number")
        else:
            _require(isinstance(self.value, str) and bool(self.value.strip()), self, "text")

    def items(self) -> tuple[Fact, ...]:
        """The items of a list as facts."""
        return tuple(
            item
            if isinstance(item, Fact)
            else Fact(self.item, item, unit=self.unit, today=self.today)
            for item in self.value
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object; what is at its default is left out."""
        data: dict[str, Any] = {"kind": self.kind, "value": _plain(self.value)}
        for field in fields(self)[2:]:
            held = getattr(self, field.name)
            if held != field.default:
                data[field.name] = _plain(held)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fact:
        """Read what `to_json` wrote.

        Raises:
            ValueError: It is of no known kind, or its value does not suit the kind.
            TypeError: It has unknown fields, or lacks kind or value.
        """
        return cls(**data)


def _require(condition: bool, fact: Fact, expected: str) -> None:
    if not condition:
        raise ValueError(f"a fact of kind '{fact.kind}' needs {expected}, not {fact.value!r}")


def _thawed(item: Any) -> Any:
    return Fact.from_json(item) if isinstance(item, Mapping) else item


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_json() if isinstance(value, Fact) else value
