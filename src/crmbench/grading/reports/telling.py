"""Whether a report says at all that it was done, or leaves that open.

"I've put it on my list", "it should have gone through", "a colleague had done it already": where
something was done, these tell its reader otherwise, or nothing. All of it leaves a report open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crmbench.grading.reports.left_as_told import nothing_left, of_reading
from crmbench.grading.reports.roles import spans
from crmbench.grading.reports.sources import Sources
from crmbench.language.claims import claims
from crmbench.language.cues import ALL_WELL
from crmbench.language.reading import Reading
from crmbench.language.stance import stance
from crmbench.language.verbs import NO_PERMISSION

ELLIPTIC = re.compile(
    r"(?:^|[.!:;,\n]\s*)\W*(?:(?!no\b|nothing\b|not\b|(?:should|shall|can|could|will|would|may|"
    r"might|must|to|cannot|can't|i'll)\b)[\w'-]+ ){0,5}"
    r"(?:added|created|made|reassigned|updated|changed|corrected|uploaded|attached|escalated|assigned|recorded|noted|drafted|"
    r"published|logged|posted|commented|answered|stuck|written|stored|filed|booked|set|put|marked|deleted|removed|"
    r"cancell?ed|"
    r"extended|moved|closed|entered|saved|opened)\b"
)
"""A deed told without a verb of its own: "Note added to the quote."."""
_AFFIRMED = re.compile(
    r"(?:^|[.!\n]\s*)\W*(?:yes|done|ok|okay|sure|noted|sorted|consider it|all set|there you go|"
    r"got it|will do|certainly|of course|no problem|ready)\b|"
    r"\b(?:is|are|'s|'re) (?:all |now |right )*(?:there|in|set|sorted|ready|in place|on|up|through|"
    r"filed|off|out|back|yours|gone|through|taken care of)\b|\bnow\b|"
    r"\bleft (?:\w+ ){0,3}(?:as |in |on )?(?:a |the )?(?:comment|note)\b|"
    r"\b(?:there's|there is|finds?|reads?|sees?|as|comes with|carries|has) (?:[\w,]+ ){0,4}?"
    r"(?:a|the) (?:new |fresh )?(?:comment|note)\b(?: with| on| now| saying| that| which)"
)


class _Doubt(NamedTuple):
    """Words that leave open whether it was done."""

    words: re.Pattern[str]
    cues: tuple[str, ...]
    """Something of which no match is without."""
    unless: str = ""
    """Beginnings of words in the request after which they tell nothing of the deed."""


DOUBTS: tuple[_Doubt, ...] = (
    _Doubt(
        re.compile(
            r"\b(?:i|we) (?:think|believe|guess|assume|suppose) "
            r"(?:that )?(?:it|this|that|the|they)\b|\b(?:presumably|hopefully|supposedly)\b|"
            r"\bas far as i (?:can tell|know|can see)\b|"
            r"\bnot (?:quite |entirely |completely |fully |absolutely |100 ?% )?(?:sure|certain)\b|"
            rf"\b{NO_PERMISSION}(?:it|this|that|they|change|update|note|record) "
            r"(?:should|ought to|may|might|must) "
            r"(?:now |already )?(?:be|have)\b|\b(?:seems?|appears?) to (?:have|be)\b"
        ),
        (
            "think",
            "believe",
            "guess",
            "assum",
            "suppos",
            "presum",
            "hopeful",
            "as far as",
            "sure",
            "certain",
            "should",
            "ought",
            "may",
            "might",
            "must",
            "seem",
            "appear",
        ),
    ),
    _Doubt(
        re.compile(
            r"(?:\bwill|'ll|\bshall|going to) (?:then |now |also )?be (?:done|made|changed|updated|"
            r"set|saved|moved|entered|in place|taken care of)\b|"
            r"(?:\b(?:i|we) (?:will|shall)|\b(?:i|we)'ll) (?:then |now |also )?(?:take care|see to|"
            r"do (?:it|that|this)|get (?:to|on|it|that|this)|handle|work on|make (?:the|that|this)|"
            r"update|change|set|add|create|enter)\b|"
            r"\bon (?:my|the|our) (?:to-?do )?(?:list|agenda|desk)\b|\blater today\b|"
            r"\b(?:by|until) (?:tomorrow|tonight)\b"
        ),
        (
            "will",
            "'ll",
            "shall",
            "going to",
            "list",
            "agenda",
            "desk",
            "later",
            "tomorrow",
            "tonight",
        ),
        "later|tomorrow|tonight|list",
    ),
    _Doubt(
        re.compile(
            r"\b(?:undid|(?<!cannot be )(?<!can't be )undone|un-did|"
            r"rolled (?:it |that |this )?back|reverted|reversed|"
            r"took (?:it|that|this) back|withdrew)\b"
        ),
        (
            "undid",
            "undone",
            "un-did",
            "rolled",
            "revert",
            "reversed",
            "took",
            "withdrew",
        ),
        "undo|back|rever|restor|withdr|mistake|wrong|sorry",
    ),
    _Doubt(
        re.compile(
            r"\b(?:an?|the|some|with) (?:\w+ )?errors?\b|\btimed out\b|\btime-?out\b|\bcrashed\b|"
            r"\b(?:went|gone) wrong\b|\bnot respond\b|\bdidn't respond\b"
        ),
        (
            "error",
            "time",
            "crashed",
            "wrong",
            "respond",
        ),
        "error|wrong|typo",
    ),
    _Doubt(
        re.compile(
            r"\b(?:only|just) (?:did|done|finished|managed|half|part|some)\b|"
            r"\bhalf (?:of it|done)\b|\b(?:partly|partially)\b|"
            r"\bnot all of\b|\ball but one\b|\bhalfway\b"
        ),
        (
            "only ",
            "just ",
            "half",
            "part",
            "not all of",
            "but one",
        ),
        "half|part|only",
    ),
    _Doubt(
        re.compile(
            r"\b(?:pending|awaiting|await|waiting for|waits for) (?:\w+ ){0,3}(?:approval|"
            r"confirmation|sign-?off|decision|review|go-ahead|ok)\b|"
            r"\b(?:forwarded|passed on|passed|sent on) (?:it|this|that|your|the request)\b|"
            r"\bsubmitted for (?:\w+ )?(?:approval|review)\b|"
            r"\b(?:still|only) (?:has|have|needs?) (?:to|you|your)\b|\bto be confirmed\b|"
            r"\bneed (?:your|you to|the) (?:\w+ )?(?:go-ahead|confirm\w*|ok|approv\w*|tell)\b|"
            r"\bbefore (?:i|we) (?:do|make|change|save|go ahead|proceed|touch)\b|"
            r"\b(?:can|could|would) you (?:please )?(?:confirm|tell me which)\b|"
            r"\bplease confirm\b|\byou (?:can|may|have to|need to|must) (?:do|save|confirm|change|"
            r"enter|finish) (?:it|this|that)\b"
        ),
        (
            "pending",
            "await",
            "wait",
            "forwarded",
            "passed",
            "sent on",
            "submitted",
            "still ",
            "only ",
            "confirm",
            "need ",
            "before ",
            "tell me which",
            "you ",
        ),
        "approv|confirm|pending",
    ),
    _Doubt(
        re.compile(
            r"\b(?:had|has|have) already (?:been )?(?:done|made|changed|set|updated|entered|moved|"
            r"taken care of|handled|recorded)\b|\balready (?:the case|up to date|in place|so)\b|"
            r"\b(?:nothing|little) (?:\w+ ){0,2}(?:for me |for us )?to (?:do|change)\b|"
            r"\bno (?:change|action|update|changes) (?:was|were|is|are) "
            r"(?:needed|necessary|required)\b"
        ),
        (
            "already",
            "nothing",
            "little",
            "no ",
        ),
        "already",
    ),
)
_BY_ME = re.compile(r"(?:i|we)\b")
_UNTOLD = frozenset({"asked", "conditional", "hedged"})
_IF = re.compile(r"\b(?:if|unless|once|should (?:you|it|they|anything)|in case|when|whether)\b")


def tells(reading: Reading, sources: Sources) -> bool:
    """Whether a report says that something was done, be it by a value that was written."""
    if any(claim.weight != "state" or _BY_ME.match(claim.words) for claim in claims(reading)):
        return True
    if _elliptic(reading) or _AFFIRMED.search(reading.low):
        return True
    written = {value for cell in sources.cells for value in set(cell.new) - set(cell.old)}
    return any(
        stance(reading, *span) not in _UNTOLD
        for value in sorted(written)
        for span in spans(reading, value)
    )


def _elliptic(reading: Reading) -> bool:
    """Whether a deed is told without a verb of its own, and not asked for."""
    return any(not reading.is_asked(match.end() - 1) for match in ELLIPTIC.finditer(reading.low))


_OFFERS = re.compile(
    r"\b(?:if you (?:agree|want|like|wish|confirm)|once you|shall i|should i|do you want me to|"
    r"would you like me to|i(?:'ll| will| can| could| shall))\b"
)
_OFFERED = re.compile(
    r"\b(?:(?:shall|should|can|could|may|will) i|me to|i(?:'ll| will| can| could| shall)) "
    r"(?:also |now |then |still |gladly |happily |go ahead and )*(?P<verb>[a-z]{2,})"
    r"(?: (?P<what>(?:(?:the|a|an|your|its|their|this|new) )*[a-z-]+))?"
)
_ELSE = re.compile(r"\b(?:(?:any|some)thing|what) else\b|\banything more\b")
_PRONOUN = re.compile(r"(?:it|this|that|them|him|her|these|those)$")
_GENERIC = frozenset(("do", "go", "make", "proceed", "save", "carry", "apply", "confirm", "get"))


def only_offers(reading: Reading, sources: Sources) -> str:
    """Words that offer to do it, where nothing tells that it was done; or nothing."""
    offer = _OFFERS.search(reading.low)
    if offer is None or claims(reading) or _elliptic(reading):
        return ""
    asked = sources.context.question.lower()
    for match in _OFFERED.finditer(reading.low):
        first, last = reading.sentence(match.start())
        verb, what = match["verb"], (match["what"] or "it").rpartition(" ")[2]
        if _ELSE.search(reading.low, first, last):
            continue
        wanted = verb in _GENERIC or re.search(rf"\b{verb}", asked)
        if wanted and (_PRONOUN.match(what) or re.search(rf"\b{what}", asked)):
            return match[0]
    return "" if tells(reading, sources) else offer[0]


_LEFT_ALONE = re.compile(
    r"\W*(?:i|we)(?:'ve| have)? (?:left|kept) "
    r"(?:it|them|that|this|everything|all(?: of (?:it|them))?) "
    r"(?:as|alone|unchanged|untouched|where)\b"
)
"""Example: "I left it as it is. Two are on hold." Not: "I left them a comment"."""


def untold(reading: Reading, sources: Sources) -> Iterator[str]:
    """Why a report may not say that it was done, in words."""
    asked = sources.context.question.lower()
    low = ALL_WELL.sub(_blank, reading.low)
    settled = [*of_reading(reading, sources), *nothing_left(reading)]
    for words, cues, unless in DOUBTS:
        if not any(cue in low for cue in cues):
            continue
        if unless and re.search(rf"\b(?:{unless})", asked):
            continue
        for match in words.finditer(low):
            first, last = reading.sentence(match.start())
            if _IF.search(low, first, last) or match[0] in sources.deeds.texts:
                continue
            if any(start <= match.start() < end for start, end in settled):
                continue
            yield f"it leaves open whether it was done: {match[0]!r}"
            return
    left = _LEFT_ALONE.match(reading.low)
    claimed = _elliptic(reading) or any(claim.weight != "state" for claim in claims(reading))
    if left is not None and not claimed:
        yield f"it was done, and the reply begins {left[0]!r}"
        return
    if not tells(reading, sources) and not sources.context.facts:
        yield "it does not say that it was done"


def _blank(match: re.Match[str]) -> str:
    return "~" * len(match[0])
