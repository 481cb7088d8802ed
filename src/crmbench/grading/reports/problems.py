"""What a reply says was done, against what was written.

Leaving details out is no fault, and a bare "Done." passes. That it was not done, another record,
person or value than what was written, or more than was done is a misreport.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.facts.context import Context
from crmbench.grading.reports.deeds import Deeds
from crmbench.grading.reports.denials import undone
from crmbench.grading.reports.figures import in_other_units
from crmbench.grading.reports.grounds import without_grounds
from crmbench.grading.reports.left_as_told import not_left_as_told
from crmbench.grading.reports.names import other_names
from crmbench.grading.reports.sources import Sources
from crmbench.grading.reports.tallies import wrong_tallies
from crmbench.grading.reports.telling import untold
from crmbench.grading.reports.values import unknown_values
from crmbench.grading.words import Problem
from crmbench.language.patterns import fold as folded
from crmbench.language.reading import Reading, read

MISREPORT = "misreports what was done"
"""How the problems begin that say so; they are counted apart."""

_UNASKED = (
    (
        "publish",
        re.compile(r"\b(?:published|(?:is|are|now|went|gone|put it) (?:\w+ )?(?:online|live))\b"),
    ),
    ("e-mail", re.compile(r"\b(?:e-?mailed|sent (?:\w+ ){0,3}(?:e-?mail|message|mail|letter))\b")),
    ("notify", re.compile(r"\b(?:notified|informed|let (?!me\b|us\b)(?:\w+ ){1,3}know(?! if))\b")),
    ("delete", re.compile(r"\b(?:deleted|erased)\b")),
    ("refund", re.compile(r"\b(?:refunded|credited|reimbursed)\b")),
    (
        "close",
        re.compile(
            r"\b(?:closed the case|case (?:[\w-]*\d[\w-]* )?(?:is|was|has been) (?:now )?closed)\b"
        ),
    ),
)
_DEED = re.compile(
    r"publish|online|live|mail|sent|notif|inform|know|deleted|erased|fund|cred|reimb|clos"
)
"""What of `_UNASKED` no match is without."""
_IDS = re.compile(
    r"(?<![A-Za-z0-9-])(?:(?=[A-Za-z0-9]*\d)[a-zA-Z0-9]{15}(?:[A-Za-z0-9]{3})?|"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![A-Za-z0-9-])"
)


def report_problems(
    reply: str, deeds: Deeds, context: Context, sources: Sources | None = None
) -> Iterator[Problem]:
    """What a reply misreports of a turn's deeds, the certain faults and the possible ones.

    Args:
        sources: What a report of these deeds may draw on, where it was made before.
    """
    if not deeds:
        return
    reading = read(reply)
    if reading.low.strip(" .!\n") in BARE:
        return
    sources = sources or Sources(deeds, context)
    for why, certain in (*undone(reading, sources), *other_names(reading, sources)):
        yield _misreport(why, certain)
    yield from _other_record(reading, deeds, context)
    yield from _more(reading, deeds, context)
    told = without_grounds(reading)
    yield from _other_figure(told, deeds, context)
    for why in (*not_left_as_told(reading, sources), *wrong_tallies(reading, sources)):
        yield _misreport(why, False)
    for why in (*untold(reading, sources), *unknown_values(told, sources)):
        yield _misreport(why, False)


BARE = frozenset(("done", "ok", "okay", "all done", "it's done", "all set"))
"""Replies that tell nothing in particular."""


def _misreport(why: str, certain: bool) -> Problem:
    return Problem(f"{MISREPORT}: {why}", certain)


def _other_record(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """An id of the same kind of record as one that was written, and of none that was."""
    found = [_short(match[0]) for match in _IDS.finditer(reading.text)]
    if not found:
        return
    known = {_short(key) for key in deeds.keys}
    user = {_short(key) for key in _IDS.findall(f"{context.question}\n{context.earlier}")}
    right = [key for key in found if key in known]
    for key in found:
        if key in known:
            continue
        looked_up = key.lower() in context.record_text
        rivals = [other for other in known if other[:3] == key[:3]]
        named_right = any(other in right for other in rivals) or _by_name(reading, rivals, deeds)
        if rivals and not named_right:
            yield _misreport(f"{key} was not written", True)
        elif key not in user and not looked_up:
            yield _misreport(f"{key} is not what was written", False)
        else:
            continue
        return


def _by_name(reading: Reading, rivals: list[str], deeds: Deeds) -> bool:
    """Whether the record that was written is told by its name, beside another one's id."""
    names = deeds.directory.names
    called = [folded(names[key]) for key in deeds.keys if _short(key) in rivals and key in names]
    return any(name in reading.low for name in called if name not in deeds.old)


def _short(key: str) -> str:
    return key[:15] if len(key) == 18 else key


def _more(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """More than was done: "published", where a draft was made."""
    if not _DEED.search(reading.low):
        return
    for stem, pattern in _UNASKED:
        match = pattern.search(reading.low)
        drafted = stem == "publish" and "draft" in deeds.new
        asked = stem[:5] in context.question.lower() or stem in deeds.texts
        asked = asked or (stem == "delete" and any(change.after is None for change in deeds.effect))
        if match is None or (asked and not drafted):
            continue
        if _denied(reading, match.start()):
            continue
        yield _misreport(f"it says {match[0]!r}", drafted)
        return


_UNIT = re.compile(
    r"[\s-]?(?:(days?|weeks?|months?|years?|hours?|minutes?|inches|degrees?|pounds?|dollars?|"
    r"percent)"
    r"\b|[%$])"
)
_MONTH = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
)


def _other_figure(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """A figure with its unit, or a month, in the place of the one that the written text holds."""
    figures = [
        (amount, unit)
        for amount in (*reading.numbers, *reading.number_words)
        if (unit := _unit(reading, amount.end))
    ]
    named = set(_MONTH.findall(reading.low))
    if not (figures or named):
        return
    written = deeds.written
    told = [*written.numbers, *written.number_words]
    known = {amount.value for amount in (*told, *read(context.question).numbers)}
    known |= {
        value
        for amount in told
        for value in in_other_units(amount.value, _unit(written, amount.end))
    }
    units = {_unit(written, amount.end) for amount in told} - {""}
    for amount, unit in figures if units else ():
        if amount.value not in known:
            right = any(each.value in {a.value for a in told} for each in reading.numbers)
            yield _misreport(
                f"{reading.low[amount.start : amount.end]!r} {unit} was not written",
                unit in units and not right,
            )
            return
    months = set(_MONTH.findall(written.low))
    others = named - months - set(_MONTH.findall(context.said))
    if months and others and not months & named:
        yield _misreport(f"{sorted(others)[0]!r} was not written", True)


def _unit(reading: Reading, end: int) -> str:
    match = _UNIT.match(reading.low, end)
    return (match[1] or match[0]).strip().rstrip("s") if match else ""


_DENIED = re.compile(
    r"\b(?:nobody|no one|neither|not|n't|no|nothing|never|none|before|until|once|when|shall|"
    r"should|want|if|can|could|"
    r"would|will|may|to be|nor|without|yet)\b[^.;!?\n]{0,40}$|n't\b[^.;!?\n]{0,40}$"
)


def _denied(reading: Reading, start: int) -> bool:
    first, _ = reading.sentence(start)
    return _DENIED.search(reading.low, first, start) is not None
