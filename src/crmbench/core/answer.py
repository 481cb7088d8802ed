"""The one right answer to a question, as data; what reads and judges answers is in grading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

Kind = Literal["id", "month", "state", "text"]
KINDS: tuple[str, ...] = get_args(Kind)

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
STATES: Mapping[str, str] = {
    "Alabama": "AL", "Alaska": "AK", "Arizona": "AZ", "Arkansas": "AR", "California": "CA",
    "Colorado": "CO", "Connecticut": "CT", "Delaware": "DE", "District of Columbia": "DC",
    "Florida": "FL", "Georgia": "GA", "Hawaii": "HI", "Idaho": "ID", "Illinois": "IL",
    "Indiana": "IN", "Iowa": "IA", "Kansas": "KS", "Kentucky": "KY", "Louisiana": "LA",
    "Maine": "ME", "Maryland": "MD", "Massachusetts": "MA", "Michigan": "MI", "Minnesota": "MN",
    "Mississippi": "MS", "Missouri": "MO", "Montana": "MT", "Nebraska": "NE", "Nevada": "NV",
    "New Hampshire": "NH", "New Jersey": "NJ", "New Mexico": "NM", "New York": "NY",
    "North Carolina": "NC", "North Dakota": "ND", "Ohio": "OH", "Oklahoma": "OK", "Oregon": "OR",
    "Pennsylvania": "PA", "Rhode Island": "RI", "South Carolina": "SC", "South Dakota": "SD",
    "Tennessee": "TN", "Texas": "TX", "Utah": "UT", "Vermont": "VT", "Virginia": "VA",
    "Washington": "WA", "West Virginia": "WV", "Wisconsin": "WI", "Wyoming": "WY",
}  # fmt: skip

DEFAULT_THRESHOLD = 0.5
"""The token F1 from which on a text counts as right."""

ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?")
"""An id in its short or its long form; one has a digit at least, as no word has."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What would be the right answer.

    Raises:
        ValueError: The kind is unknown, or a value is none of its kind.
    """

    kind: Kind
    values: tuple[str, ...] = ()
    """id: 18-character ids; month: English names; state: two-letter codes; all of them are asked
    for. text: accepted wordings, of which the nearest counts. Empty: nothing fits, and the right
    answer is "None"."""
    prefix: str = ""
    """id: ids that begin otherwise are not read as answers, so that an agent may name a case
    beside the agent that it was asked for. Empty: all ids are."""
    threshold: float = DEFAULT_THRESHOLD
    """text: the F1 from which on it is right."""
    facts: tuple[str, ...] = ()
    """text: words that a right answer holds, numbers in figures or written out. "Up to five" shares
    most of its words with "Up to four" and is wrong all the same."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no kind of answer '{self.kind}'")
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "facts", tuple(self.facts))
        for value in self.values:
            if not self._may_be(value):
                raise ValueError(f"an answer of kind '{self.kind}' cannot be {value!r}")

    def _may_be(self, value: str) -> bool:
        if self.kind == "month":
            return value in MONTHS
        if self.kind == "state":
            return value in STATES.values()
        if self.kind == "id":
            is_id = ID.fullmatch(value) is not None and any(c.isdigit() for c in value)
            return is_id and value.startswith(self.prefix)
        return True

    @property
    def said(self) -> str:
        """The right answer in words, as the oracle gives it."""
        if self.kind == "text":
            return self.values[0] if self.values else "None"
        return ", ".join(self.values) or "None"

    def to_json(self) -> dict[str, Any]:
        """A JSON object; what is at its default is left out."""
        data: dict[str, Any] = {"kind": self.kind, "values": list(self.values)}
        for field in fields(self)[2:]:
            held = getattr(self, field.name)
            if held != field.default:
                data[field.name] = list(held) if isinstance(held, tuple) else held
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Answer:
        """Read what `to_json` wrote.

        Raises:
            ValueError: It is of no known kind, or its values do not suit the kind.
            TypeError: It has unknown fields, or lacks the kind.
        """
        return cls(**data)
