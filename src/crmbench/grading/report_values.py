"""Values and deeds in a report that nothing of what was written, asked or looked up bears out.

All of these leave a report undecided: a figure, a date, a status or a further deed may come from
where the reader cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.answer import STATES
from crmbench.grading.deeds import Deeds
from crmbench.grading.facts.context import Context
from crmbench.language.capitals import is_title, runs
from crmbench.language.claims import is_unreal
from crmbench.language.numbers import Amount
from crmbench.language.patterns import fold
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
    figures = read(deeds.directory.masked(reading.text))
    yield from _amounts(figures, deeds, context)
    yield from _dates(reading, deeds, context)
    yield from _states(reading, deeds, context)
    yield from _old_for_new(figures, deeds, context)
    yield from _also(reading, deeds, context)
    yield from _swapped(reading, deeds)
    yield from _files(reading, deeds, context)
    yield from _spans(reading, deeds, context)
    yield from _titles(reading, deeds, context)
    yield from _number_of_records(reading, deeds)
    yield from _other_deal(reading, deeds)
    yield from _other_kind(reading, deeds, context)
    yield from _other_state(reading, deeds, context)


def _known(deeds: Deeds, context: Context) -> Reading:
    facts = "\n".join(str(fact.value) for fact in context.facts)
    parts = (deeds.texts, deeds.old_texts, context.said, facts)
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
        value = amount.value
        if value in known or _is_in_records(amount, context):
            continue
        if not any(round(abs(a - b), 2) == value for a in known for b in known):
            yield f"{reading.text[amount.start : amount.end]!r} is not what was written"
            return


def _dates(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    told = [date for date in reading.dates if date.day is not None and date.year is not None]
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
    told = f"{deeds.texts}\n{context.said.replace(' ', '-')}\n{context.said}"
    for match in _STATUS.finditer(reading.low):
        state = match["state"].replace(" ", "-").replace("cancelled", "canceled")
        if re.search(rf"\b{state}", told):
            continue
        if state in deeds.old_texts:
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


def _old_for_new(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    """A figure that was replaced is given, and the one that replaced it is not.

    What the reply has to tell may happen to be such a figure, a count of records above all.
    """
    fresh = deeds.new_figures - deeds.old_figures
    if not fresh or not reading.numbers or fresh & {amount.value for amount in reading.numbers}:
        return
    replaced = deeds.old_figures - context.figures
    for amount in reading.numbers:
        if amount.value not in replaced or _is_what_was(reading, amount.start):
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
    for match in _AND_ALSO.finditer(reading.low):
        mailed = "mailed" in match["verb"] and not _MAIL_IT.search(context.said)
        if (mailed or match["verb"][:4] not in known) and not is_unreal(
            reading.low, match.start("verb")
        ):
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


_FROM_TO = re.compile(
    r"\bfrom (?P<old>[^.;!\n]{1,60}?) (?:up |down |over )?to (?P<new>[^.;!\n]{1,60})"
)
_AND_ALSO = re.compile(
    r"(?:\band|,|;)(?: then)?(?: i(?:'ve| have)?)?(?: it is| is)?(?: also| even)? (?P<verb>sent|"
    r"e?-?mailed|closed|deleted|informed|notified|marked|made (?:him|her|them)|lowered|moved|"
    r"changed|approved|signed|published|extended|invoiced|reassigned|assigned|escalated|told|"
    r"reserved|booked)\b"
)


def _swapped(reading: Reading, deeds: Deeds) -> Iterator[str]:
    """What was set is called the old value: "from 20 percent to 5 percent"."""
    for match in _FROM_TO.finditer(reading.low):
        one, other = _values(match["old"]), _values(match["new"])
        new, old = _values(deeds.texts), _values(deeds.old_texts)
        if (one & (new - old)) and (other & (old - new)):
            yield f"{match[0]!r} is the wrong way round"
            return
    for text in deeds.old:
        if " " in text or text.isalpha():
            back = re.search(rf"\bfrom (?P<new>[^.;!\n]+?) to {re.escape(text)}\b", reading.low)
            if back and any(back["new"].strip().endswith(value) for value in deeds.new if value):
                yield f"{back[0]!r} is the wrong way round"
                return


def _values(text: str) -> set[float]:
    found = read(text)
    return {amount.value for amount in (*found.numbers, *found.number_words)}


_FILE = re.compile(r"[\w()-]+\.(?:pdf|docx?|xlsx?|csv|pptx?|txt|png|jpe?g|zip)\b")


def _files(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    for match in _FILE.finditer(reading.low):
        if match[0] not in f"{deeds.texts}\n{context.said}\n{context.record_text}":
            yield f"{match[0]!r} is not what was written"
            return


_SPAN = re.compile(
    r"\b(?:(?P<n>\d+|an?|one|two|three|four|five|six|seven|ten|twelve) )(?:\w+ )?"
    r"(?P<unit>hours?|days?|weeks?|months?|years?)\b"
)


def _spans(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    """A period in another unit than the one that was written."""
    written = {match["unit"].rstrip("s") for match in _SPAN.finditer(deeds.texts)}
    known = f"{deeds.texts}\n{context.said}"
    for match in _SPAN.finditer(reading.low) if written else ():
        if match["unit"].rstrip("s") not in known:
            yield f"{match[0]!r} is not what was written"
            return


def _titles(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    known = f"{deeds.texts}\n{chr(10).join(deeds.old)}\n{context.said}\n{context.record_text}"
    for run in runs(reading.text):
        title = run.text.lower().partition(" of ")[0]
        if not is_title(run.text):
            continue
        if title not in known:
            yield f"{run.text!r} is not what was written"
            return
        if title in deeds.old and title not in deeds.new and not _is_what_was(reading, run.start):
            yield f"{run.text!r} is what was before"
            return


_SEVERAL = re.compile(r"\b(?:both|all (?:of them|\w+ (?:deals|quotes|cases)))\b")


def _number_of_records(reading: Reading, deeds: Deeds) -> Iterator[str]:
    match = _SEVERAL.search(reading.low)
    if match and len(deeds.effect) == 1:
        yield f"{match[0]!r}: one record was written"


_MAIL_IT = re.compile(r"\b(?:e-?mail|send|mail) (?:it|him|her|them|a|the|this)\b")
_A_DEAL = re.compile(r"^(?:\s+\w+){0,2}?\s+(?:deal|opportunity)\b")


def _other_deal(reading: Reading, deeds: Deeds) -> Iterator[str]:
    """A deal by name that is none of those that were written or are referred to."""
    names = deeds.directory.names
    written = "\n".join(sorted(fold(names[key]) for key in deeds.keys if key in names))
    if " - " not in written:
        return
    for run in runs(reading.text):
        name = fold(run.text)
        called = " - " in name or _A_DEAL.match(reading.low[run.end : run.end + 40])
        parts = [part for part in name.split(" - ") if part]
        if called and any(part not in written for part in parts):
            yield f"{run.text!r} was not written"
            return


_KINDS = {"opportunity": "deal", "client": "client", "contact": "contact", "quote": "quote"}
_ON = re.compile(
    r"\b(?:attached|uploaded|added|on|with|to|in) (?:the )?"
    r"(?P<kind>client|contact|quote|contract|deal)\b"
)


def _other_kind(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    """A note or file on a record of another kind: "attached to the contract"."""
    own = {_KINDS.get(value, value) for value in deeds.new if value in {*_KINDS, "contract"}}
    for match in _ON.finditer(reading.low) if len(own) == 1 else ():
        if match["kind"] not in own and match["kind"] not in context.question.lower():
            yield f"{match[0]!r} is not what was written"
            return


def _other_state(reading: Reading, deeds: Deeds, context: Context) -> Iterator[str]:
    """A state that neither the words nor what was looked up names."""
    for name, code in STATES.items():
        low = name.lower()
        if low not in reading.low or low in context.said or low in deeds.texts:
            continue
        found = re.search(rf"\b{low}\b", reading.low)
        if found and not re.search(rf"\b(?:{code.lower()}|{low})\b", context.record_text):
            yield f"{name!r} is not known"
            return
