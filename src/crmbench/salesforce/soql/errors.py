"""The error of a query, in the form in which Salesforce reports it: a code, a text, a place."""

from __future__ import annotations

from dataclasses import dataclass

from crmbench.errors import ToolError

MALFORMED = "MALFORMED_QUERY"
INVALID_FIELD = "INVALID_FIELD"
INVALID_TYPE = "INVALID_TYPE"
LIMIT_EXCEEDED = "EXCEEDED_ID_LIMIT"
OUT_OF_RANGE = "NUMBER_OUTSIDE_VALID_RANGE"
NOT_EXECUTED = "UNSUPPORTED_QUERY"

EXCERPT_BEFORE = 30
"""How many characters of the query an error shows before the place it is about."""
EXCERPT_AFTER = 35


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a query's text."""

    row: int
    """Counted from 1."""
    column: int
    """Counted from 1."""
    offset: int
    """Characters before it; counted from 0."""


class SoqlError(ToolError):
    """A SOQL or SOSL query that is refused.

    Args:
        code: The error code, such as ``MALFORMED_QUERY``.
        detail: What is wrong, without the place.
        text: The query; with `offset` the message then shows the place in it.
        offset: Where the error is, in characters from the start of `text`.
    """

    def __init__(
        self, code: str, detail: str, *, text: str | None = None, offset: int | None = None
    ) -> None:
        self.code = code
        self.detail = detail
        self.position = locate(text, offset) if text is not None and offset is not None else None
        self.message = detail
        if text is not None and self.position is not None:
            self.message = f"{marked(text, self.position)}\n{detail}"
        super().__init__(self.message, kind=code.lower())

    @property
    def text(self) -> str:
        """What the agent reads: the code and the message."""
        return f"{self.code}: {self.message}"


def locate(text: str, offset: int) -> Position:
    """The row and column of a character of `text`."""
    before = text[:offset]
    row = before.count("\n") + 1
    return Position(row, offset - (before.rfind("\n") + 1) + 1, offset)


def marked(text: str, position: Position) -> str:
    """A piece of the query around a place, a caret under it, and the place in numbers."""
    start = text.rfind("\n", 0, position.offset) + 1
    end = text.find("\n", position.offset)
    row = text[start : end if end >= 0 else len(text)].rstrip("\r")
    column = position.column - 1
    left = max(0, column - EXCERPT_BEFORE)
    while 0 < left < column and row[left - 1] not in " ,(":
        left += 1
    right = min(len(row), column + EXCERPT_AFTER)
    while column < right < len(row) and row[right] not in " ,)":
        right -= 1
    caret = " " * (column - left) + "^"
    place = f"ERROR at Row:{position.row}:Column:{position.column}"
    return f"\n{row[left:right]}\n{caret}\n{place}"
