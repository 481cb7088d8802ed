"""Deeds that a report tells of records of other kinds than were written, or of more of them.

"I've set that contract to Active as well" beside an upload, "with every open deal" where one got
the file: each of these leaves a report open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.claimed_deeds import DESCRIBED
from crmbench.grading.reports.other_matters import KINDS
from crmbench.grading.reports.sources import Sources
from crmbench.language.claims import claims, is_unreal
from crmbench.language.reading import Reading
from crmbench.language.verbs import EARLIER

_KIND = "|".join(f"(?P<k{number}>{words})" for number, words in enumerate(KINDS))
_VERBS = (
    "set|moved|raised|lowered|changed|updated|extended|renewed|prolonged|closed|marked|renamed|"
    "corrected|switched|activated|reactivated|deactivated|cancell?ed|deleted|removed|reassigned|"
    "increased|reduced|reopened|adjusted|edited|approved|signed|merged|escalated|transferred"
)
_OBJECT = (
    r"(?:(?!(?:on|to|in|with|for|under|of|at|from|by|as|onto|into|and|that|which|because|since|"
    r"nothing|no)\b)[\w$'\".,-]+ ){0,6}?"
)
_ACTIVE = re.compile(
    rf"\b(?P<verb>{_VERBS}) (?:up )?{_OBJECT}(?:{_KIND})\b(?!'s|-| (?:owner|name|status|stage|"
    rf"amount|"
    r"manager|date|value|number|title|side|v\d|[a-z]+ (?:notes?|quotes?|files?|contracts?)))"
)
"""Example: "I have also extended the contract". Not: "updated the note on the contract"."""
_PASSIVE = re.compile(
    rf"\b(?:{_KIND})(?: v\d+| itself| too| as well)*(?: record)?,? (?:(?:has|have|was|were|is|are|"
    r"got)(?: (?:been|also|now|just|then|both|too|already|automatically))*) "
    rf"(?P<verb>{_VERBS})\b"
)
"""Example: "and quote v4 has been raised". Not: "the quote is to be raised"."""
_AS_A = re.compile(
    r"\b(?P<verb>registered|entered|created|added|set up|recorded|put in|saved) "
    rf"(?:[\w'&.-]+ ){{1,7}}?as an? (?:new |second )?(?:{_KIND})\b"
)
"""Example: "I registered Harebell Dairy LLC as a client". Not: "entered as agreed"."""
_AS_WELL = re.compile(
    r"\b(?P<verb>and|plus)(?: of| on| for| to)? (?:the|its|that|their|his|her) (?:[\w'-]+ ){0,3}?"
    rf"(?:{_KIND})(?: record)?\b(?!')[^.;,!?\n]{{0,40}}\b(?:as well|too)\b"
)
"""Example: "of the deal and of the client record as well". Not: "and the deal's too"."""
_PURPOSE = re.compile(
    r"\b(?:can|could|may|must|should|would|will|to|shall|not|never|only|if|once|when|that|which|"
    r"who|whose|cannot|before|after|until|nothing|no|a|an|the|as|were|was|been|had|since|has|have|"
    r"is|are|already|still)\W*$"
)
"""Before a participle that tells no deed of this turn: "the canceled quote", "was closed"."""


def deeds_on_other_kinds(reading: Reading, sources: Sources) -> Iterator[str]:
    """A deed is told of a kind of record of which none was written; at most one."""
    written = {change.table for change in sources.deeds.effect}
    made = {change.table for change in sources.deeds.effect if change.before is None}
    for pattern in (_ACTIVE, _PASSIVE, _AS_A, _AS_WELL):
        for match in pattern.finditer(reading.low):
            tables = _tables(match)
            if tables & (made if pattern is _AS_A else written) or _is_no_deed(reading, match):
                continue
            if pattern is _ACTIVE and _PURPOSE.search(reading.low, 0, match.start()):
                continue
            if _ATTRIBUTE.match(reading.low, match.end()):
                continue
            if match["verb"] == "updated" and _has_got_it(match, reading, sources):
                continue
            if match[0] in sources.deeds.texts or match[0] in sources.context.record_text:
                continue
            yield f"it may not have been done: {match[0]!r}"
            return


_ATTRIBUTE = re.compile(rf",? (?:{DESCRIBED}|(?:was|is|has)\b)")
"""Behind records that a participle only describes: "merged cases were counted"."""
_ATTACHED = frozenset({"Note", "Document", "CaseComment"})


def _has_got_it(match: re.Match[str], reading: Reading, sources: Sources) -> bool:
    """Whether a record of the kind was updated with what was attached to it."""
    written = {change.table for change in sources.deeds.effect}
    parents = {str((c.after or {}).get("entity_type")) for c in sources.deeds.effect}
    parents |= {"Case"} if "CaseComment" in written else set()
    first, last = reading.sentence(match.start())
    also = _ALSO.search(reading.low, first, last) is not None
    return written <= _ATTACHED and bool(parents & _tables(match)) and not also


_ALSO = re.compile(r"\b(?:also|too|as well)\b")


def _tables(match: re.Match[str]) -> frozenset[str]:
    for number, tables in enumerate(KINDS.values()):
        if match[f"k{number}"]:
            return tables
    return frozenset()


def _is_no_deed(reading: Reading, match: re.Match[str]) -> bool:
    place = match.start("verb")
    if is_unreal(reading.low, match.start()) or is_unreal(reading.low, place):
        return True
    return reading.is_asked(place) or EARLIER.match(reading.low, match.end()) is not None


_STATE = (
    "prospecting|qualification|proposal|negotiation|closed-won|closed-lost|active|inactive|draft|"
    "sent|approved|rejected|canceled|escalated|closed|pending|signed"
)
_MOVED_TO = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: (?:also|then|just|even|now))* (?:moved|set|switched|changed|put|"
    rf"marked|bumped) (?:(?!from\b)[\w'-]+ ){{1,6}}?(?:to|as|in) (?P<state>{_STATE})\b"
)


def moved_to(reading: Reading, sources: Sources) -> Iterator[str]:
    """A state is told as set that was not: what the record is in, it was in before."""
    new = {value for cell in sources.cells for value in cell.new}
    for match in _MOVED_TO.finditer(reading.low):
        if reading.is_asked(match.start()) or is_unreal(reading.low, match.start()):
            continue
        if match["state"] in new:
            continue
        if EARLIER.match(reading.low, match.end()) or match["state"] in sources.deeds.texts:
            continue
        yield f"it may not have been done: {match[0]!r}"
        return


_EVERY = re.compile(
    r"\b(?:every(?: one)?|each(?: one)?|all)(?: (?:of|other|single|open|the|their|his|her|its|"
    r"your|these|those|two|three|four|five|six|seven|eight|\d+))* (?:open |other )?"
    rf"(?:{_KIND})\b(?!')"
)
"""Example: "every other open case of hers". Not: "all the best"."""
_ALL_OF = re.compile(
    r"\ball (?P<n>two|three|four|five|six|seven|eight|nine|ten)\b(?! (?:days|weeks|months|years))"
)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DID = re.compile(
    r"\bnow (?:owns|has|belongs)|\b(?:i|we)(?:'ve| have)?(?: \w+ly| also| just)* (?!need|notic|"
    r"want|ask)"
    r"(?:\w+ed|did|left|put|wrote|made|gave)\b"
)
_TOLD = re.compile(
    r"\b(?:i|we)(?:'ve| have)?\b|\bnow\b|\b(?:is|are|was|were|been|has|have)\b|"
    r"(?:^|[.!\n]\s*)(?:done|stored|added|left|put|moved|assigned|set)\b"
)
_LOOKED = re.compile(
    r"\b(?:checked|looked|went through|compared|counted|read|weighed|reviewed|searched|among|of|"
    r"out of|over|across|found|considered|from|than|in|about)\W+$|\b(?:not|n't|no|nothing)\b[^.;]*$"
)


def more_records(reading: Reading, sources: Sources) -> Iterator[str]:
    """It is said to be done to every record of a kind, where one was written."""
    asked = sources.context.question.lower()
    for match in _EVERY.finditer(reading.low):
        first, last = reading.sentence(match.start())
        if not _TOLD.search(reading.low, first, last) or match[0] in asked:
            continue
        if _LOOKED.search(reading.low, first, match.start()) or _number(match, sources) > 1:
            continue
        if any(first <= claim.start < last for claim in claims(reading)) or _DID.search(
            reading.low, first, match.start()
        ):
            yield f"one record was written: {match[0]!r}"
            return


def _number(match: re.Match[str], sources: Sources) -> int:
    """How many records of the kind that is named were written, or got what was written."""
    tables, found = _tables(match), set()
    for change in sources.deeds.effect:
        row = change.after or {}
        if change.table in tables:
            found.add(change.key)
        found.update(str(row[column]) for column in ("entity_id", "ParentId") if row.get(column))
    return len(found)


def more_than_were(reading: Reading, changed: int) -> Iterator[str]:
    """More records are told as written in earlier turns than were."""
    for match in _ALL_OF.finditer(reading.low):
        first, last = reading.sentence(match.start())
        told = any(
            claim.words.startswith(("i ", "i'", "we ", "we'")) and first <= claim.start < last
            for claim in claims(reading)
        )
        if told and _NUMBERS.index(match["n"]) > changed:
            yield f"so many were not written: {match[0]!r}"
            return
