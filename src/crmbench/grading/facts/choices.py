"""Does a reply name the right one of an enumeration's values, and no other?"""

from __future__ import annotations

import re

from crmbench.core.fact import Fact
from crmbench.language import patterns
from crmbench.language.finding import SAID, Finding, not_said
from crmbench.language.reading import Reading
from crmbench.language.stance import Stance, stance
from crmbench.language.subjects import subject_clauses

_OLD_WANTED = re.compile(r"\b(?:old|previous|former|original|prior|earlier|before|past|initial)\b")
_OTHER = re.compile(
    r"\b(?:other|another|others|earlier|previous|second|rest|remaining|both|unlike|compared|"
    r"second|third|v\d+|version)\b"
)
_COPULA = re.compile(
    r"(?:\b(?:is|are|it's|as|to|now|currently|still|stays?|remains?|became|becomes|marked|set|reads|"
    r"shows|in|at|be)|[:=])\s*(?:the |a |an )?[\"'(]?$"
)
_ALTERNATIVE = re.compile(r"[\s\"')]*(?:/|\bor\b|\band\b|,|&)[\s\"'(]*(?:\bor\b|\band\b)?[\s\"'(]*")
_CAPITAL_AFTER = re.compile(
    r" (?!Stage|Status|Amount|Type|On|In|As|Since|With|And|But|The)[A-Z][a-z]"
)


_IN_OTHER_WORDS = {
    "Closed-Won": ("won and closed", "closed and won", "closed as won"),
    "Closed-Lost": ("lost and closed", "closed and lost", "closed as lost"),
}
_MOST = 250
"""A reply that names an enumeration's values more often recites and tells nothing."""


def conveys_choice(reading: Reading, fact: Fact) -> Finding:
    """Judged by every option that the reply names.

    An option that is not the value is a contradiction where it is asserted of the same thing:
    joined to the value ("Draft or Sent"), after the label or "is", or alone in its line. Words
    that merely happen to be an option ("I sent it") are not.
    """
    others = tuple(
        option for option in (*fact.options, *map(str, fact.rivals)) if option != fact.value
    )
    own_forms = (str(fact.value), *fact.aliases, *_IN_OTHER_WORDS.get(str(fact.value), ()))
    pattern = patterns.choice_pattern((*own_forms, *others))
    own: list[tuple[int, int]] = []
    rivals: list[tuple[int, int]] = []
    refused: Stance = ""
    for number, match in enumerate(pattern.finditer(reading.low)):
        if number == _MOST:
            return not_said(f"such values are named more than {_MOST} times")
        is_own = int((match.lastgroup or "o0")[1:]) < len(own_forms)
        how = stance(reading, *match.span())
        if how == "old" and (
            _OLD_WANTED.search(fact.label.lower()) or _became(reading, *match.span())
        ):
            how = ""
        if how:
            refused = how if is_own else refused
        elif not is_own:
            rivals.append(match.span())
        elif not _in_a_name(reading, *match.span()):
            own.append(match.span())
    if not own:
        return not_said(f"it is {refused}" if refused else "not said")
    return _contradiction(reading, fact, own, rivals) or SAID


_PARTICIPLE = re.compile(r"(?:canceled|cancelled|approved|sent|rejected|signed|closed)[\w-]*")
_BECAME = re.compile(r"\b(?:was|were|has been|got)(?: then| also| since)?\s$")
_WAS_IN = re.compile(r"\b(?:was|were|had been|used to be)(?: still| only)? (?:in|at|on)\W*$")
_NO_LONGER = re.compile(r"[\s,]*(?:before|until|earlier|previously|at first|but|once)\b")


def _became(reading: Reading, start: int, end: int) -> bool:
    """Whether "was" tells what became of a thing: "the quote was canceled with the deal"."""
    return (
        _PARTICIPLE.fullmatch(reading.low, start, end) is not None
        and _BECAME.search(reading.low, max(0, start - 20), start) is not None
        and _NO_LONGER.match(reading.low, end) is None
    )


def _in_a_name(reading: Reading, start: int, end: int) -> bool:
    """Whether the option is part of a longer name, such as "Active Systems Ltd"."""
    text = reading.text
    if not text[start].isupper() or not _CAPITAL_AFTER.match(text, end):
        return False
    return _COPULA.search(reading.low, max(0, start - 16), start) is None


def _contradiction(
    reading: Reading, fact: Fact, own: list[tuple[int, int]], rivals: list[tuple[int, int]]
) -> Finding | None:
    """The verdict on the first rival that is asserted of the same thing, if any."""
    if fact.subject:
        clauses = subject_clauses(reading, fact.subject)
        within = [span for span in own if any(a <= span[0] < b for a, b in clauses)]
        beside = [span for span in rivals if any(a <= span[0] < b for a, b in clauses)]
        if within or beside:
            own, rivals = within, beside
        if not own:
            return not_said(f"{_said(reading, rivals[0])!r} is said of {fact.subject}")
    for rival in rivals:
        if _is_joined(reading, own, rival) or _is_asserted_alike(reading, fact, own, rival):
            return not_said(f"{_said(reading, rival)!r} is said as well")
    return None


def _said(reading: Reading, span: tuple[int, int]) -> str:
    return reading.text[span[0] : span[1]]


def _is_joined(reading: Reading, own: list[tuple[int, int]], rival: tuple[int, int]) -> bool:
    for span in own:
        first, second = min(span, rival), max(span, rival)
        if _ALTERNATIVE.fullmatch(reading.low, first[1], second[0]):
            return True
    return False


def _is_asserted_alike(
    reading: Reading, fact: Fact, own: list[tuple[int, int]], rival: tuple[int, int]
) -> bool:
    start, end = rival
    if _WAS_IN.search(reading.low, max(0, start - 24), start):
        return False
    first, last = reading.sentence(start)
    before, after = reading.low[first:start], reading.low[end:last]
    clause = before[before.rfind(";") + 1 :]
    if _OTHER.search(clause) or _in_a_name(reading, start, end):
        return False
    same_row = any(reading.line(start) == reading.line(span[0]) for span in own)
    in_table = "|" in reading.low[slice(*reading.line(start))]
    if in_table and not same_row:
        # Another row is about another thing.
        return False
    if not clause.strip(" \n\t-\"'(|:") and not after.strip(" \n\t.!|\"')"):
        return True
    if any(word in clause for word in re.findall(r"[a-z]{4,}", fact.label.lower())):
        return True
    return reading.text[start].isupper() and _COPULA.search(clause) is not None
