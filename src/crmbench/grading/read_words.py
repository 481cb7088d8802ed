"""Which words of a reply were read as what, for people who ask why it was judged as it was."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn
from crmbench.grading.facts.matchers import places
from crmbench.language.claims import claims
from crmbench.language.reading import Reading, read
from crmbench.language.refusals import refusal_cues

Kind = Literal["forbidden", "fact", "refusal", "claim", "value"]
RANK: dict[Kind, int] = {"forbidden": 0, "fact": 1, "refusal": 2, "claim": 3, "value": 4}
"""Where readings overlap, the first of these is shown."""


@dataclass(frozen=True, slots=True)
class ReadWords:
    """Some words of a reply, and what they were read as."""

    start: int
    end: int
    kind: Kind
    meaning: str


def read_words(reply: str, gold: GoldTurn) -> tuple[ReadWords, ...]:
    """The words of a reply that readers took for something, in order; none overlap.

    Args:
        reply: As it was given, markup included; places are in it.
        gold: What the turn wants told, and what it must not tell.
    """
    reading = read(reply)
    apart: list[ReadWords] = []
    for each in sorted(_found(reading, gold), key=lambda w: (RANK[w.kind], w.start, -w.end)):
        place = bisect_left(apart, each.start, key=lambda words: words.start)
        # Those before and after it are apart from each other, so that no third can meet it.
        if each.start < each.end and all(
            each.end <= other.start or other.end <= each.start
            for other in apart[max(0, place - 1) : place + 1]
        ):
            apart.insert(place, each)
    places_of = _Places(reply, reading.text)
    placed = (places_of.in_reply(each) for each in apart)
    return tuple(sorted((each for each in placed if each), key=lambda each: each.start))


def _found(reading: Reading, gold: GoldTurn) -> Iterator[ReadWords]:
    for kind, facts in (("forbidden", gold.forbidden), ("fact", gold.facts)):
        for fact in facts:
            for hit in places(reading, fact):
                yield ReadWords(hit.start, hit.end, kind, _named(fact))  # type: ignore[arg-type]
    for cue in refusal_cues(reading):
        for start, end in _all(reading.low, cue):
            yield ReadWords(start, end, "refusal", "that it was not done")
    for claim in claims(reading):
        meaning = {
            "certain": "a claim that it was done",
            "possible": "a possible claim that it was done",
            "state": "how the record stands",
        }[claim.weight]
        yield ReadWords(claim.start, claim.start + len(claim.words), "claim", meaning)
    for amount in reading.numbers:
        unit = "%" if amount.percent else f" {amount.currency}" if amount.currency else ""
        yield ReadWords(amount.start, amount.end, "value", f"the number {amount.value:,.10g}{unit}")
    for date in reading.dates:
        parts = (
            date.year or "any year",
            f"{date.month:02d}",
            f"{date.day:02d}" if date.day else "",
        )
        told = "-".join(str(part) for part in parts if part)
        yield ReadWords(date.start, date.end, "value", f"the date {told}")


def _named(fact: Fact) -> str:
    return fact.label or fact.kind


def _all(text: str, words: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(re.escape(words), text):
        yield match.span()


class _Places:
    """Where words of what was read stand in the reply as it was given, markup included."""

    def __init__(self, reply: str, text: str) -> None:
        self._reply = reply
        self._text = text
        # A reply may hold thousands of figures: each text is searched for once, not once a figure.
        self._before: dict[str, list[int]] = {}
        self._in_reply: dict[str, list[int]] = {}

    def in_reply(self, words: ReadWords) -> ReadWords | None:
        """The same words there; None where markup tears them apart."""
        if self._text == self._reply:
            return words
        wanted = self._text[words.start : words.end]
        if wanted not in self._before:
            self._before[wanted] = _starts(self._text, wanted, len(wanted))
            self._in_reply[wanted] = _starts(self._reply, wanted, 1)
        number = bisect_right(self._before[wanted], words.start - len(wanted))
        there = self._in_reply[wanted]
        if number >= len(there):
            return None
        return replace(words, start=there[number], end=there[number] + len(wanted))


def _starts(text: str, wanted: str, step: int) -> list[int]:
    """Where `wanted` begins, the next looked for `step` characters on."""
    found = []
    place = text.find(wanted)
    while place >= 0:
        found.append(place)
        place = text.find(wanted, place + step)
    return found


def segments(reply: str, found: Sequence[ReadWords]) -> Iterator[tuple[str, ReadWords | None]]:
    """The reply in pieces, each with what it was read as, or None."""
    end = 0
    for words in found:
        if words.start < end:
            continue  # moved into one another when they were placed in the reply
        if words.start > end:
            yield reply[end : words.start], None
        yield reply[words.start : words.end], words
        end = words.end
    if end < len(reply):
        yield reply[end:], None
