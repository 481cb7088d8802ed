"""Whether a reply conveys a fact: said, not said, or unsure.

The matchers are strict: what they accept stands there in a usual form and is asserted. On top of
them stand the doubts (a reader could take it otherwise) and the near forms (a value that they did
not find may be there in others).
"""

from __future__ import annotations

import re
from dataclasses import replace

from crmbench.core.fact import Fact
from crmbench.grading.facts.context import FIGURES, NOTHING_KNOWN, Context
from crmbench.grading.facts.day_words import tells_day
from crmbench.grading.facts.doubts import doubts
from crmbench.grading.facts.matchers import conveys
from crmbench.grading.facts.near import may_be_said
from crmbench.language.finding import SAID, Finding, Said, not_said, unsure
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance


def read_fact(reply: str, fact: Fact, context: Context = NOTHING_KNOWN) -> Finding:
    """Whether a reply tells its reader the fact.

    Args:
        context: What the reader knows besides the reply. The less, the less certain the reading.
    """
    if fact.kind in FIGURES:
        reply = context.directory.masked(reply)
    strict = conveys(reply, fact)
    if not strict.ok:
        return _not_found(reply, fact, context, strict)
    found = sorted(doubts(read(reply), fact, context), key=_certain_first)
    return found[0] if found else SAID


def _certain_first(finding: Finding) -> bool:
    return finding.said is Said.UNSURE


def _not_found(reply: str, fact: Fact, context: Context, strict: Finding) -> Finding:
    if _is_the_asker(reply, fact, context) or _in_short(reply, fact, context):
        return SAID
    if _in_parts(reply, fact) or _in_plain_words(read(reply), fact, context):
        return SAID
    if fact.kind == "list":
        return _read_list(reply, fact, context, strict)
    reading = read(reply)
    if strict.why == "not said":
        near = may_be_said(reading, fact, context)
        return unsure("it may be said in other words") if near else strict
    return strict if strict.why in _CERTAIN else unsure(strict.why)


_CERTAIN = frozenset(
    (
        "it is only asked about",
        "it is only guessed",
        "it is only supposed",
    )
)


def _read_list(reply: str, fact: Fact, context: Context, strict: Finding) -> Finding:
    """A list is said when each item is; what is wrong with one is wrong with the list."""
    findings = [read_fact(reply, item, context) for item in fact.items()]
    if findings and all(finding.ok for finding in findings):
        reading = read(reply)
        return next(iter(sorted(doubts(reading, fact, context), key=_certain_first)), SAID)
    for item, finding in zip(fact.items(), findings, strict=True):
        if finding.said is Said.NOT_SAID:
            return not_said(f"{item.value!r}: {finding.why}")
    if not findings and strict.why:
        return unsure(strict.why)
    return strict if "is listed too" in strict.why else unsure(strict.why)


def _in_short(reply: str, fact: Fact, context: Context) -> bool:
    """Whether a deal is named without its client, where the user named the client."""
    client, dash, product = str(fact.value).partition(" - ")
    if fact.kind != "name" or not dash or fold(client) not in context.said:
        return False
    return conveys(reply, replace(fact, value=product, aliases=())).ok


def _in_parts(reply: str, fact: Fact) -> bool:
    """Whether an address is told with "in" or a line's end for its comma."""
    street, comma, town = str(fact.value).partition(", ")
    if fact.kind != "text" or not comma or not any(char.isdigit() for char in street):
        return False
    if _TOWN_FIRST.search(read(reply).low) and all(
        conveys(reply, replace(fact, value=part, aliases=())).ok for part in (street, town)
    ):
        return True
    return any(
        conveys(reply, replace(fact, value=f"{street}{between}{town}", aliases=())).ok
        for between in (" in ", " at ")
    )


_TOWN_FIRST = re.compile(r"\bin [a-z' .-]{3,24}, (?:at |on |namely )?[a-z]*[\w' .-]*\d")
"""An address with its town first. Example: "in Biloxi, at Warehouse Way 53"."""
_SINGLE = re.compile(r"\b(?:a|the|just one|only one|just a|only a) single (?!one of|other|most)\w")
_PAIR = re.compile(r"\ba pair of \w")


def _in_plain_words(reading: Reading, fact: Fact, context: Context) -> bool:
    """Whether a count of one or two, or a day of the calendar, is told in words."""
    if fact.kind == "count" and fact.value in {1, 2} and len(context.facts) < _MANY:
        found = (_SINGLE if fact.value == 1 else _PAIR).search(reading.low)
        return found is not None and not stance(reading, *found.span())
    return fact.kind == "date" and tells_day(reading, str(fact.value), context.today)


_MANY = 4
_YOU = re.compile(
    r"\byou (?:own|are|wrote|do|have|did|created|made|look|yourself|opened|signed|handle|"
    r"hold|led)\b|"
    r"\b(?:it|that|this|they|he|she)(?:'s| is| are|'re)? (?:all )?yours\b|"
    r"\bis yours\b|\bby you(?:rself)?\b|\byou're (?:the|its|their)\b|\byou(?:rself)?[.!,;]|"
    r"\b(?:to|with) you\b|\byour own\b"
)


def _is_the_asker(reply: str, fact: Fact, context: Context) -> bool:
    """Whether the person who asks is the answer, and is told so: "it's yours"."""
    if fact.kind != "name" or not context.asker:
        return False
    if fold(context.asker) != fold(str(fact.value)):
        return False
    low = read(reply).low
    return _YOU.search(low) is not None and not re.search(
        r"\b(?:not|n't)\b[^.]{0,12}\byours?\b", low
    )
