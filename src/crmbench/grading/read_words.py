"""Which words of a reply were read as what, for people who ask why it was judged as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    chosen: list[ReadWords] = []
    for each in sorted(_found(reading, gold), key=lambda w: (RANK[w.kind], w.start, -w.end)):
        if each.start < each.end and not any(
            each.start < other.end and other.start < each.end for other in chosen
        ):
            chosen.append(each)
    placed = (_in_reply(reply, reading.text, each) for each in chosen)
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


def _in_reply(reply: str, text: str, words: ReadWords) -> ReadWords | None:
    """The same words in the reply as it was given; None where its markup tears them apart."""
    if text == reply:
        return words
    wanted = text[words.start : words.end]
    number = text.count(wanted, 0, words.start)
    place = _nth(reply, wanted, number)
    if place is None:
        return None
    return ReadWords(place, place + len(wanted), words.kind, words.meaning)


def _nth(reply: str, wanted: str, number: int) -> int | None:
    place = -1
    for _ in range(number + 1):
        place = reply.find(wanted, place + 1)
        if place < 0:
            return None
    return place


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
