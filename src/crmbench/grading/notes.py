"""What is right and wrong with the free text that a turn wrote: its facts, and who is who in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn
from crmbench.grading.directory import NO_DIRECTORY, Directory
from crmbench.grading.facts import conveys, mentions
from crmbench.grading.facts.read import read_fact
from crmbench.grading.reports.roles import role
from crmbench.grading.words import Problem, against, describe
from crmbench.language.patterns import fold, name_pattern
from crmbench.language.reading import Reading, read

_NEW, _BEFORE, _BROKEN = "new owner", "owner before", "broken article"
"""What the facts of notes are labelled by that have a part in what the note tells."""


def note_problems(
    gold: GoldTurn, written: Sequence[str], directory: Directory = NO_DIRECTORY
) -> Iterator[Problem]:
    """What is, or may be, wrong with the free text that a turn wrote.

    Args:
        written: Texts each of which must convey the facts of the notes.
        directory: The names of the world's records, for those that do not belong in a note.
    """
    people = {fact.label: fact for fact in gold.note_facts if fact.label in {_NEW, _BEFORE}}
    for fact in gold.note_facts:
        for text in written:
            if fact.label == _BROKEN:
                yield from _breach_problems(text, fact)
            elif fact.label in people and mentions(text, fact).ok:
                continue
            elif not conveys(text, fact).ok:
                finding = read_fact(text, fact)
                yield from against(finding, f"the note does not convey {describe(fact)}")
    if len(people) == len({_NEW, _BEFORE}):
        for text in written:
            if all(mentions(text, fact).ok for fact in people.values()):
                yield from _owner_problems(text, people[_NEW], people[_BEFORE], directory)


_TO = re.compile(
    r"(?:\b(?:assigned|reassigned|re-assigned|handed(?: over)?|transferred|given|moved|passed|"
    r"routed|goes|went|gone) (?:on )?(?:\w+ ){0,3}?to|\bnew (?:case )?owner(?: is)?:?|"
    r"\bowner(?: is)? now:?|\bnow (?:with|owned by|assigned to)|\bto:|->)\W*$"
)
_FROM = re.compile(
    r"(?:\b(?:from|previous(?:ly)?(?: case)?(?: owner)?(?: was| is)?:?|former(?:ly)?(?: owner)?"
    r"(?: was)?:?|old owner(?: was)?:?|owner before(?: was)?:?|before(?: it was)?:?(?: with)?|"
    r"(?:handed over|passed on|given up) by|taken (?:over )?from|instead of|replac\w+|had been|"
    r"was with))\W*$"
)
_FROM_AFTER = re.compile(
    r"[\s\"')]*(?:was (?:the |its )?(?:previous|former|owner)|had (?:it|the case)|"
    r"before\b(?=\W*(?:$|[.;)]))|previously|->)"
)
_STILL = re.compile(
    r"\b(?:could not|couldn't|cannot|can't|did not|didn't|declined|refused|keeps?|stays?|remains?|"
    r"still)\b"
)


def _owner_problems(text: str, new: Fact, before: Fact, directory: Directory) -> Iterator[Problem]:
    """Who has the case now and who had it: the other way round, kept, or somebody else besides."""
    reading = read(text)
    parts = {_part(reading, new), _part(reading, before) and _turned(_part(reading, before))}
    if parts == {"old"}:
        yield Problem("the note tells the new owner as the one before", True)
    elif "old" in parts:
        yield Problem("the note may tell the new owner as the one before", False)
    elif _STILL.search(reading.low):
        yield Problem("the note may say that it was not handed over", False)
    others = [
        name
        for name, _, _ in directory.mentions(reading.low)
        if directory.tables[name] & {"User"} and name not in {fold(new.value), fold(before.value)}
    ]
    if others:
        yield Problem(f"the note names {others[0]!r} as well", False)


def _part(reading: Reading, fact: Fact) -> str:
    """As what a person is told: "new", "old", or "" where it is not clear or both."""
    found = set()
    for start, end in name_pattern((str(fact.value), *fact.aliases)).spans(reading.low):
        first, last = reading.sentence(start)
        head = reading.low[max(first, start - 48) : start]
        tail = reading.low[end:last]
        if _FROM.search(head) or _FROM_AFTER.match(tail):
            found.add("old")
        elif _TO.search(head):
            found.add("new")
        elif not found:
            found.add(role(reading, start, end))
    return found.pop() if len(found) == 1 else ""


def _turned(part: str) -> str:
    return {"old": "new", "new": "old"}.get(part, "")


_BROKE = re.compile(
    r"\b(?:br(?:oke|oken|eaks?|each\w*)|violat\w*|against|odds|contradict\w*|contrary|ignor\w*|"
    r"disregard\w*|conflict\w*|deviat\w*|miss(?:ed|es)|fail\w*|not|n't|never|without|infring\w*|"
    r"wrong\w*|incorrect\w*)\b|n't\b"
)
_KEPT = re.compile(
    r"\b(?:kept|keeps|followed|follows|respected|observed|complie[sd]|adhered|in line|in order|"
    r"no breach|not broken|nothing (?:was )?broken|all (?:was )?well|correctly applied)\b"
)
_NOT_BROKEN = re.compile(
    r"\b(?:no (?:breach|violation)|(?:not|n't|never) (?:broken?|break|violate\w*|breach\w*|"
    r"against|contradict\w*)|nothing (?:was |is )?(?:broken|wrong))\b"
)


def _breach_problems(text: str, fact: Fact) -> Iterator[Problem]:
    """The article that was broken is named, and as one that was: "the conversation is at odds with"
    it names one, "I found that it was kept" does not.
    """
    if not mentions(text, fact).ok:
        yield Problem(f"the note does not convey {describe(fact)}: not said", True)
        return
    low = read(text).low.replace(fold(str(fact.value)), " ")
    broke, kept = _BROKE.search(low), _KEPT.search(low)
    denied = _NOT_BROKEN.search(low)
    if denied or (kept and not broke):
        yield Problem(f"the note says that {describe(fact)} was kept", True)
