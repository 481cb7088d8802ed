"""Values and deeds in a report that nothing of what was written, asked or looked up bears out.

All of these leave a report undecided: a figure, a date, a status or a further deed may come from
where the reader cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.deeds import Deeds
from crmbench.grading.facts.context import Context
from crmbench.language.claims import is_unreal
from crmbench.language.numbers import Amount
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance

_STATUS = re.compile(
    r"(?:\b(?:is|are|as|to|now|at|on|in|into|of|status|stage|priority|marked|set|became|remains?|"
    r"stays?|moved|flagged|a|an|the)\b|[:\"'(>-])[\s\"']*(?P<state>prospecting|prospect|"
    r"qualification|proposal|negotiation|closed[ -]won|closed[ -]lost|won|lost|active|inactive|"
    r"draft|sent|approved|rejected|cancell?ed|signed|pending|expired|terminated|escalated|closed|"
    r"open|critical|high|medium|low|published|online|archived)\b(?![ -]?(?:deals?|quotes?|case))"
)
_MADE = re.compile(
    r"\b(?:created|added|made|drafted|uploaded|attached|wrote|written|logged|left|opened|scheduled|"
    r"booked|set up|put|entered|saved|recorded|raised|issued)\b(?: \S+){0,5}? "
    r"(?P<thing>note|quote|contract|contact|task|reminder|follow-up|appointment|meeting|deal|"
    r"opportunity|document|file|comment|ticket|discount|client|customer|article|draft|call)\b"
)
_FURTHER = re.compile(
    r"\b(?:also|as well|too|in addition|additionally|on top(?: of that)?|besides|while (?:i was )?"
    r"at it|at the same time|plus)\b"
)
_DID = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:also |then |just |already )*"
    r"(?P<verb>(?:re)?[a-z]{3,}ed|sent|made|wrote|told|gave)\b"
)


def unknown_values(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    """What in a report no source bears out, in words; each may be a misreport."""
    yield from _amounts(reading, deeds, context)
    yield from _dates(reading, deeds, context)
    yield from _states(reading, deeds, context)
    yield from _old_for_new(reading, deeds)
    yield from _also(reading, deeds, context)


def _known(deeds: Deeds, context: Context) -> Reading:
    facts = "\n".join(str(fact.value) for fact in context.facts)
    parts = (deeds.texts, "\n".join(sorted(deeds.old)), context.said, facts)
    return read("\n".join(parts))


def _is_in_records(amount: Amount, context: Context) -> bool:
    forms = {f"{amount.value:g}", f"{amount.value:.1f}", f"{amount.value:.0f}"}
    return any(
        re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", context.record_text) for form in forms
    )


def _amounts(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    told = [
        amount
        for amount in (*reading.numbers, *reading.number_words)
        if amount.currency or amount.percent or amount.value >= 1000
    ]
    if not told:
        return
    source = _known(deeds, context)
    known = {amount.value for amount in (*source.numbers, *source.number_words)}
    for amount in told:
        if amount.value not in known and not _is_in_records(amount, context):
            yield f"{reading.text[amount.start : amount.end]!r} is not what was written"
            return


def _dates(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    told = [date for date in reading.dates if date.day is not None]
    if not told:
        return
    known = {(date.month, date.day) for date in _known(deeds, context).dates}
    for date in told:
        if (date.month, date.day) in known:
            continue
        if f"-{date.month:02d}-{date.day:02d}" not in context.record_text:
            yield f"{reading.text[date.start : date.end]!r} is not what was written"
            return


def _states(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    for match in _STATUS.finditer(reading.low):
        state = match["state"].replace(" ", "-").replace("cancelled", "canceled")
        told = f"{deeds.texts}\n{context.said.replace(' ', '-')}\n{context.said}"
        if re.search(rf"\b{state}", told):
            continue
        if state in "\n".join(deeds.old):
            place = match.start("state")
            how = stance(reading, place, match.end("state"))
            if not how and not _is_what_was(reading, place):
                yield f"{state!r} is what was before"
                return
        elif not re.search(rf"\b{state}", context.record_text):
            yield f"{state!r} is not what was written"
            return


_WAS = re.compile(r"\b(?:was|were|from|before|previous(?:ly)?|had been|until|so far|old)\b")


def _is_what_was(reading: Reading, place: int) -> bool:
    first, last = reading.sentence(place)
    return _WAS.search(reading.low, first, last) is not None


def _old_for_new(reading: Reading, deeds: Deeds) -> Iterator[str]:
    """A figure or date that was replaced is given, and the one that replaced it is not."""
    new, old = read(deeds.texts), read("\n".join(sorted(deeds.old)))
    told = {amount.value for amount in reading.numbers}
    fresh = {amount.value for amount in new.numbers} - {amount.value for amount in old.numbers}
    for amount in reading.numbers:
        replaced = any(amount.value == each.value for each in old.numbers)
        if not replaced or not fresh or fresh & told or _is_what_was(reading, amount.start):
            continue
        yield f"{reading.text[amount.start : amount.end]!r} is what was before"
        return


def _also(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    """A further deed of which neither the words of the user nor what was written know."""
    known = f"{context.said}\n{deeds.texts}\n{deeds.tables_written}"
    for match in _MADE.finditer(reading.low):
        if match["thing"] not in known and not is_unreal(reading.low, match.start()):
            yield f"it may not have been done: {match[0]!r}"
            return
    for match in _DID.finditer(reading.low):
        if is_unreal(reading.low, match.start()):
            continue
        first, last = reading.sentence(match.start())
        if _FURTHER.search(reading.low, first, last):
            stem = match["verb"].removesuffix("ed")[:5]
            if stem not in known:
                yield f"it may not have been done: {match[0]!r}"
                return
