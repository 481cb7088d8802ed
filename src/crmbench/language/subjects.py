"""Where a reply speaks of a subject."""

from __future__ import annotations

from crmbench.language import patterns
from crmbench.language.reading import Reading


def subject_clauses(reading: Reading, subject: str) -> list[tuple[int, int]]:
    """The spans about a subject: its table row, or the part of the sentence that names it."""
    spans = []
    for start, end in patterns.text_pattern((subject,)).spans(reading.low):
        first, last = reading.line(start)
        if "|" not in reading.low[first:last]:
            first, last = reading.sentence(start)
            first = reading.low.rfind(";", first, start) + 1 or first
            cut = reading.low.find(";", end, last)
            last = cut if cut >= 0 else last
        spans.append((first, last))
    return spans
