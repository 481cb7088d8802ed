"""Texts of the records that a report recites: what they say is not said of what was done.

A case is often named by its subject, and many a subject denies something: "The chair has not
arrived", "Sign-in does not work".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.sources import Sources
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read

QUOTED = re.compile(r"\"([^\"\n]{8,300})\"|(?<![\w'])'([^\"\n]{8,300}?)'(?!\w)")
"""Example: 'the case "Lamp has not arrived" is moved'. Not: "Ida's case isn't moved"."""
_TITLES = ("Subject", "Title", "Name", "name", "title", "file_name")
_LEFT_OUT = re.compile(r"\s*(?:\.\.\.|\[\.\.\.\])\s*")
DENIES = re.compile(
    r"\b(?:not|no|never|nothing|cannot|fail\w*|refus\w*|reject\w*|declin\w*|denied|unable|still|"
    r"stay\w*|remain\w*|unchanged|untouched)\b|n't\b"
)
"""Example: "sign-in does not work". Not: "a knot in the rope"."""
_FEWEST_WORDS = 3
"""Words from which on a text is told from what an agent would say by itself."""


def without_recited(reading: Reading, sources: Sources) -> Reading:
    """A reading with blanks, place for place, for the record texts in it that deny something:
    those in quotation marks, and the titles of the records that were written.
    """
    if not reading.may_deny:
        return reading
    text = reading.text
    for start, end in (*_quotations(reading, sources), *_titles(reading, sources)):
        if DENIES.search(reading.low, start, end) is None:
            continue
        text = text[:start] + " " * (end - start) + text[end:]
    return reading if text == reading.text else read(text)


def _quotations(reading: Reading, sources: Sources) -> Iterator[tuple[int, int]]:
    for match in QUOTED.finditer(reading.low):
        group = 1 if match[1] else 2
        parts = [part.strip(" .,;!?") for part in _LEFT_OUT.split(match[group])]
        if len(match[group].split()) >= _FEWEST_WORDS and all(map(sources.knows, parts)):
            yield match.span(group)


def _titles(reading: Reading, sources: Sources) -> Iterator[tuple[int, int]]:
    titles = {
        fold(value)
        for row in sources.rows
        for column, value in row.items()
        if column in _TITLES and isinstance(value, str) and value.count(" ") >= _FEWEST_WORDS
    }
    for title in sorted(titles):
        at = reading.low.find(title)
        if at >= 0:
            yield at, at + len(title)
