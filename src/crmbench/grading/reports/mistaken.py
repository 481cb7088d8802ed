"""Somebody or something that a report takes for another: whom an earlier turn wrote, the client of
a contact, a product of another size.

All of these leave a report open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from crmbench.grading.reports.sources import Sources
from crmbench.language.capitals import words_of
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading


def changed_before(reading: Reading, sources: Sources) -> Iterator[str]:
    """Somebody whom an earlier turn wrote is named in the place of whom this one did."""
    written = {change.table for change in sources.deeds.effect}
    if written != {"Contact"}:
        return
    own = {name for change in sources.deeds.effect for name in _whole_name(change.after or {})}
    if any(words_of(name) & words_of(reading.low) for name in own):
        return
    asked = fold(sources.context.question)
    for key, row in sources.context.changed.items():
        for name in _whole_name(row) if key not in sources.deeds.keys else ():
            if name in reading.low and name not in asked:
                yield f"{name!r} was not written"
                return


def _whole_name(row: Mapping[str, object]) -> Iterator[str]:
    if isinstance(row.get("first_name"), str):
        yield fold(f"{row['first_name']} {row.get('last_name', '')}")


_VALUE_OF = re.compile(
    r"\b(?:number|e-?mail(?: address)?|address|title)s? (?:of|for) (?:the )?(?=\S)|"
    r"'s (?:main |new |phone |telephone |office )*(?:number|e-?mail(?: address)?|address)\b"
)


def values_of_others(reading: Reading, sources: Sources) -> Iterator[str]:
    """A contact's number is told as the one of their client: "the number of Galehurst Foods"."""
    written = {change.table for change in sources.deeds.effect}
    if written != {"Contact"}:
        return
    own = {name for change in sources.deeds.effect for name in _whole_name(change.after or {})}
    if any(words_of(name) & words_of(reading.low) for name in own):
        return
    directory = sources.deeds.directory
    for match in _VALUE_OF.finditer(reading.low):
        for name, start, end in directory.mentions(reading.low):
            beside = start == match.end() or end == match.start()
            if beside and not directory.tables[name] & {"Contact", "User", ""}:
                yield f"{name!r} was not written"
                return


_SIZE = re.compile(
    r"(?:\b[A-Z]\w+ (?:I{1,3} )?)?\b\d+(?:\.\d+)?(?:-[A-Z]\w+| (?:L|Inch|W|Watt|kg|cm|mm|ml|"
    r"Liter|Litre|Person)\b)"
)
"""A size in the name of a product. Example: "4-Person", "27 Inch". Not: "2-day"."""


def unknown_sizes(reading: Reading, sources: Sources) -> Iterator[str]:
    """A size that no name and no text that is known holds."""
    for match in _SIZE.finditer(reading.text):
        if not sources.knows(fold(match[0])):
            yield f"{match[0]!r} is not known"
            return
