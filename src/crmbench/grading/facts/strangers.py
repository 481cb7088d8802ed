"""Who or what a reply names that the question did not ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.fact import Fact
from crmbench.grading.facts.context import Context
from crmbench.language.capitals import Run, is_title, runs, words_of
from crmbench.language.patterns import fold, name_pattern
from crmbench.language.reading import Reading
from crmbench.language.stance import is_excluded, stance

_FILE = re.compile(
    r"[\w()-]+(?:[. ][\w()-]+)*?\.(?:pdf|docx?|xlsx?|csv|pptx?|txt|png|jpe?g|zip)\b", re.I
)


def rival_people(reading: Reading, fact: Fact, context: Context) -> Iterator[str]:
    """People that the reply names beside the right one, the person who asks aside."""
    own = fold(str(fact.value))
    others = {fold(str(other.value)) for other in context.facts if other.kind == "name"}
    seen = {own, fold(context.asker), *others}
    for person in sorted(context.people):
        if fold(person) in seen or fold(person) in context.said:
            continue
        if any(True for _ in name_pattern((person,)).spans(reading.low)):
            seen.add(fold(person))
            yield person
    for run in _unknown(reading, context):
        if fold(run.text) not in seen and not _is_part(run.text, (own, *others)):
            yield run.text


def _unknown(reading: Reading, context: Context) -> Iterator[Run]:
    """Capitalised runs of two words or more that neither the user nor the records know."""
    known = context.known_words | context.record_words
    for run in runs(reading.text):
        words = {word for word in words_of(run.text) if len(word) > 1}
        if len(run.text.split()) < 2 or is_title(run.text) or words <= known:
            continue
        if words - known and " - " not in run.text and not _A_RECORD.match(reading.low, run.end):
            yield run


_A_RECORD = re.compile(r"'?s?\s+(?:deal|opportunit|quote|client|compan|contract|account|site)")


def _is_part(name: str, values: tuple[str, ...]) -> bool:
    return any(fold(name) in value or value in fold(name) for value in values)


def listed_strangers(reading: Reading, fact: Fact, context: Context) -> Iterator[tuple[str, bool]]:
    """What a reply names beside the items of a list, and whether in one enumeration with them."""
    items = [str(item.value) for item in fact.items()]
    taken = [span for item in items for span in name_pattern((item,)).spans(reading.low)]
    for name, start, end in _candidates(reading, fact, context, items, taken):
        if any(a < end and start < b for a, b in taken):
            continue
        if stance(reading, start, end) or is_excluded(reading, start, end):
            continue
        if _left_out(reading, start):
            continue
        enumerated = _enumerated(reading, taken, start, end)
        if enumerated or fold(name) not in context.said:
            yield name, enumerated


def _candidates(
    reading: Reading, fact: Fact, context: Context, items: list[str], taken: list[tuple[int, int]]
) -> Iterator[tuple[str, int, int]]:
    if any(_FILE.fullmatch(item) for item in items):
        for match in _FILE.finditer(reading.text):
            yield match[0], *match.span()
        return
    people = {fold(person) for person in context.people}
    if any(context.directory.tables.get(fold(item), _STAFF) & _PEOPLE for item in items):
        yield from _staff_listed(reading, context, items)
    if any(fold(item) in people for item in items):
        for person in sorted(context.people):
            if person not in items and fold(person) != fold(context.asker):
                for span in name_pattern((person,)).spans(reading.low):
                    yield person, *span
    wanted = {word for item in items for word in words_of(fold(item))}
    for run in runs(reading.text):
        if fold(run.text) in fold(context.question):
            continue
        if is_title(run.text) and f"- {fold(run.text)}" not in context.record_text:
            continue
        if words_of(run.text) <= wanted or fold(run.text) == fold(context.asker):
            continue
        if _is_of_another_kind(run, items, context) and not (
            context.directory.tables.get(fold(run.text), _STAFF) <= _STAFF
            and any(fold(item) in people for item in items)
            and _enumerated(reading, taken, run.start, run.end)
        ):
            continue
        if len(run.text.split()) > 1 and not _others_value(run, fact, context):
            yield run.text, run.start, run.end


def _staff_listed(
    reading: Reading, context: Context, items: list[str]
) -> Iterator[tuple[str, int, int]]:
    """People of the house, in a list of others: whoever asks and whoever owns something aside."""
    tables = context.directory.tables
    for name, start, end in context.directory.mentions(reading.low):
        if not tables[name] <= _STAFF or " " not in name or name == fold(context.asker):
            continue
        if name in map(fold, items) or _OWNING.search(reading.low, max(0, start - 40), start):
            continue
        if not _OWNS.match(reading.low, end):
            yield name, start, end


_OWNING = re.compile(
    r"\b(?:owner|owned by|belongs? to|looked after by|by|with|hi|hello|dear|thanks|thank you|sure|"
    r"account manager|hey|to|of|from|for)\b[^.;\n\w]*$"
)
_OWNS = re.compile(r"'s?\b|,? (?:owns|looks after|is (?:the|its|their) (?:owner|account))")
_PEOPLE = frozenset({"Contact"})
_STAFF = frozenset({"", "User"})
"""People of the house, who may be named beside anything, and in a list of people are strangers."""


def _is_of_another_kind(run: Run, items: list[str], context: Context) -> bool:
    """Whether a run is no candidate: the company of the people listed, or an address in one of
    their records.
    """
    tables, name = context.directory.tables, fold(run.text)
    kinds = frozenset().union(*(tables.get(fold(item), frozenset()) for item in items))
    if name in tables:
        return bool(kinds) and not kinds & tables[name]
    if not kinds or " - " in run.text or name not in context.record_text:
        return False
    return any(c.isdigit() for c in run.text) or "Opportunity" not in kinds


def _others_value(run: Run, fact: Fact, context: Context) -> bool:
    others = tuple(fold(str(other.value)) for other in context.facts if other is not fact)
    return _is_part(run.text, others)


_LEFT_OUT = re.compile(
    r"\b(?:left out|leaving out|leave out|excluding|except|apart from|besides|not counting|only|"
    r"other than|without|unlike|rather than|instead of)\b[^.;!?\n]*$"
)


def _left_out(reading: Reading, start: int) -> bool:
    first, _ = reading.sentence(start)
    return _LEFT_OUT.search(reading.low, first, start) is not None


_JOINT = re.compile(
    r"[\s\"')]*(?:,|;|&|\band\b|\bplus\b|\n\s*(?:-|\d+[.)])?|\(?(?:as well as|also|together with|"
    r"along with|besides))[\s\"'(]*(?:and )?(?:also |as well as )?(?:a )?"
)


def _enumerated(reading: Reading, taken: list[tuple[int, int]], start: int, end: int) -> bool:
    for first, last in taken:
        between = reading.low[last:start] if last <= start else reading.low[end:first]
        if _JOINT.fullmatch(between):
            return True
    return False
