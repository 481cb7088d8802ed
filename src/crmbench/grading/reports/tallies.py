"""How many of the records that were written a report says to hold which value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from crmbench.grading.reports.sources import Sources
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

_LEAST = 3
"""Records from which on a report counts them instead of naming each."""


def wrong_tallies(reading: Reading, sources: Sources) -> Iterator[tuple[str, bool]]:
    """A count that is wrong in a tally of all that was written: "24 Correct, 15 Underpaid, 16
    Overpaid" where 14 are Underpaid and 17 Overpaid. Certain, since a tally whose counts come to
    the number of the records speaks of all of them.
    """
    for held in _held(sources):
        values = "|".join(map(re.escape, sorted(held)))
        counted = re.compile(rf"(?<![\w.,$-])(?P<count>\d{{1,4}}) (?P<value>{values})\b")
        tallies: dict[tuple[int, int], Counter[str]] = {}
        for match in counted.finditer(reading.low):
            tally = tallies.setdefault(reading.sentence(match.start()), Counter())
            tally[match["value"]] += int(match["count"])
        for told in tallies.values():
            if len(told) < 2 or told.total() != held.total():
                continue
            for value, count in told.items():
                if count != held[value]:
                    yield f"{count} {value!r} are told, and {held[value]} were written", True
                    return


def _held(sources: Sources) -> Iterator[Counter[str]]:
    """For each column of text that was set in several records how many hold which value."""
    columns: dict[tuple[str, str], Counter[str]] = {}
    for change in sources.deeds.effect:
        before, after = change.before or {}, change.after or {}
        for column, value in after.items():
            if isinstance(value, str) and before.get(column) != value:
                columns.setdefault((change.table, column), Counter())[fold(value)] += 1
    for held in columns.values():
        # A column of names or ids holds another value in each.
        if held.total() >= _LEAST and 2 <= len(held) <= held.total() // 2 + 1:
            yield held
