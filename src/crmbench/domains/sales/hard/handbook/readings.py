"""Nearby ways to read the house rules, and the words that say that each of them is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from importlib import resources
from typing import Any

from crmbench.authoring.handbook import Facts
from crmbench.domains.sales.hard.handbook.consolidated import Consolidated
from crmbench.domains.sales.hard.merge_reader import MergeReader
from crmbench.domains.sales.hard.reader import ListReader
from crmbench.errors import HarnessError

RULED_OUT: Mapping[str, str] = {
    "the day that counts": "The day that counts for every provision on a renewal is the day on "
    "which the old contract ends.",
    "the first day is not yet one": "A provision is in force from the day that its article gives",
    "what is widened keeps its conditions": "What widens an article has it go also for all of "
    "which the new condition is true, whatever its own conditions are.",
    "the first mark": "Of several tax numbers, or entries, on one client only the one of the "
    "latest day counts.",
    "they are always two": 'On all other questions "they" are all clients of the firm.',
}
"""For each other way to read an item the words that say that it is wrong."""


class _DayBefore:
    """A handbook as it stood on the day before; implements `Answers`."""

    def __init__(self, rules: Consolidated) -> None:
        self._rules = rules

    def answer(self, subject: str, facts: Facts, day: date) -> Any:
        return self._rules.answer(subject, facts, day - timedelta(days=1))


def _day_before(reader: ListReader) -> None:
    book = reader.handbook.book
    reader.rules = _DayBefore(Consolidated(book.provisions, book.amendments))


def _own_conditions(reader: ListReader) -> None:
    book = reader.handbook.book
    own = {provision.article for provision in book.provisions}
    kept = [a for a in book.amendments if a.change != "extend" or a.target not in own]
    reader.rules = Consolidated(book.provisions, kept)


def _first_mark(reader: ListReader) -> None:
    if isinstance(reader, MergeReader):
        reader.counted = min


def _pairs(reader: ListReader) -> None:
    if isinstance(reader, MergeReader):
        reader.asked_about = 2


HANDBOOK: Mapping[str, Callable[[ListReader], None]] = {
    "the first day is not yet one": _day_before,
    "what is widened keeps its conditions": _own_conditions,
}
"""Ways to read any handbook, to what makes a reader read so."""
MERGE: Mapping[str, Callable[[ListReader], None]] = {
    **HANDBOOK,
    "the first mark": _first_mark,
    "they are always two": _pairs,
}
"""The same for duplicates."""


@cache
def house_rules() -> str:
    """The house rules in one line."""
    text = (resources.files("crmbench.domains.sales.hard") / "policy.md").read_text("utf-8")
    return " ".join(text.split())


def open_ways(
    ways: Mapping[str, Callable[[ListReader], None]],
    reader: Callable[[], ListReader],
    found: Callable[[Any], object],
    rules: str,
) -> list[str]:
    """The ways to read that lead elsewhere and that no words of the house rules rule out.

    Args:
        ways: To what makes a reader read so.
        reader: A reader of the stored rows.
        found: What a reader comes to.
        rules: The house rules in one line.
    """
    left = [way for way in sorted(ways) if RULED_OUT[way] not in rules]
    right = found(reader()) if left else None
    return [
        f"'{way}' leads elsewhere and is ruled out by no house rule"
        for way in left
        if _read_so(ways[way], reader(), found) not in (None, right)
    ]


def _read_so(
    way: Callable[[ListReader], None], reader: ListReader, found: Callable[[Any], object]
) -> object:
    """What a reader of that kind comes to; nothing where the rules then answer nothing."""
    way(reader)
    try:
        return found(reader)
    except HarnessError:
        return None
