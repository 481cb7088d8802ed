"""Does a reply say yes or no to an assertion?"""

from __future__ import annotations

import re

from crmbench.core.fact import Fact
from crmbench.language import patterns
from crmbench.language.finding import SAID, Finding, not_said
from crmbench.language.reading import Reading
from crmbench.language.stance import stance

_YES = (
    "yes|yep|yeah|yup|correct|indeed|that's right|true|affirmative|certainly|absolutely|it does|"
    "it is"
)
_NO = r"no|nope|not|false|negative|it isn't|it is not|it does not|it doesn't"
_ANSWER = re.compile(
    rf"(?:^|[.!?:|\n]\s*|^[\s-]+)(?P<word>(?P<yes>{_YES})|(?P<no>{_NO}))\b(?=\s*(?:$|[.,!:;|\n-]))"
)
_CELL = re.compile(
    rf"[\s\"']*(?:[?:=|-]|\bis\b|->)+[\s\"']*(?:\w+:\s*)?(?P<word>(?P<yes>{_YES})|(?P<no>{_NO}))\b"
)


def conveys_boolean(reading: Reading, fact: Fact) -> Finding:
    """By what is said of the assertion itself, else by a plain yes or no.

    "It isn't overdue", "Overdue: no" and "No." all answer False to `overdue`. Where the
    assertion is stated both ways the reply contradicts itself and conveys neither.
    """
    said = _stated(reading, fact)
    if len(said) == 2:
        return not_said("it is both asserted and denied")
    answers = _answers(reading)
    if not said:
        said = answers
    if not said:
        return not_said("neither asserted nor denied")
    if said != {fact.value}:
        return not_said("the opposite is said" if len(said) == 1 else "yes and no are said")
    return SAID


def _stated(reading: Reading, fact: Fact) -> set[bool]:
    """The truth values that the reply gives to the assertion."""
    said: set[bool] = set()
    taken: list[tuple[int, int]] = []
    opposites = tuple(map(str, fact.rivals))
    for phrases, truth in ((opposites, False), ((fact.label, *fact.aliases), True)):
        wanted = tuple(phrase for phrase in phrases if phrase)
        if not wanted:
            continue
        for start, end in patterns.text_pattern(wanted).spans(reading.low):
            if any(first <= start < last for first, last in taken):
                continue
            taken.append((start, end))
            said |= _truth_at(reading, start, end, truth)
    return said


def _truth_at(reading: Reading, start: int, end: int, truth: bool) -> set[bool]:
    answer = _CELL.match(reading.low, end)
    if answer:
        return {truth if answer["yes"] else not truth}
    how = stance(reading, start, end)
    if how == "negated" or how == "old":
        return {not truth}
    return {truth} if not how else set()


def _answers(reading: Reading) -> set[bool]:
    return {bool(match["yes"]) for match in _ANSWER.finditer(reading.low)}
