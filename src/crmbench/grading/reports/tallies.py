"""How many of the records that were written a report says to hold which value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from crmbench.grading.reports.sources import Sources
from crmbench.language.reading import Reading

_LEAST = 3
"""Records from which on a report counts them instead of naming each."""


def wrong_tallies(reading: Reading, sources: Sources) -> Iterator[str]:
    """A count that is wrong in a tally of all that was written, whose counts come to the number of
    the records ("24 Correct, 15 Underpaid, 16 Overpaid" where 14 are Underpaid and 17 Overpaid), or
    behind the value as a heading ("Overpaid: 27 cases"). It leaves a report open: what is counted
    may be what was before, or some of the records.
    """
    for held in sources.counts:
        # A column of names or ids holds another value in each record.
        if held.total() < _LEAST or not 2 <= len(held) <= held.total() // 2 + 1:
            continue
        values = "|".join(map(re.escape, sorted(held, key=len, reverse=True)))
        counted = re.compile(rf"(?<![\w.,$-])(?P<count>\d{{1,4}}) (?P<value>{values})\b")
        for match in re.finditer(
            rf"\b(?P<value>{values}): (?P<count>\d{{1,4}}) \w*s\b", reading.low
        ):
            if int(match["count"]) != held[match["value"]]:
                yield f"{match[0]!r} is told, and {held[match['value']]} were written"
                return
        tallies: dict[tuple[int, int], Counter[str]] = {}
        for match in counted.finditer(reading.low):
            tally = tallies.setdefault(reading.sentence(match.start()), Counter())
            tally[match["value"]] += int(match["count"])
        for told in tallies.values():
            if len(told) < 2 or told.total() != held.total():
                continue
            for value, count in told.items():
                if count != held[value]:
                    yield f"{count} {value!r} are told, and {held[value]} were written"
                    return
