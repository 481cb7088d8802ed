"""Words by which a reply takes back what it tells, guesses it, or leaves it open.

Whatever was asked, and whatever was done: a reader who is told "June, or maybe July" or "scratch
that" cannot rely on it. All of it leaves a reply open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.facts.context import Context
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading
from crmbench.language.verbs import NO_PERMISSION

_GUESSED = re.compile(
    r"\b(?:i|we)(?:'d| would)? (?:\w+ly )?(?:think|believe|guess|assume|suppose|reckon|suspect|"
    r"imagine)\b(?! so\b| it (?:is|would be|might be) (?:best|better|worth))|"
    r"\b(?:probably|possibly|perhaps|maybe|presumably|supposedly|apparently|conceivably|"
    r"most likely|allegedly)\b|"
    r"\bas far as i (?:can tell|know|remember|recall)\b|"
    r"\bif i (?:remember|recall|read|understood|understand|am not mistaken|'m not mistaken)\b|"
    r"\bif i'm not mistaken\b|\bif memory serves\b|\bfrom memory\b|"
    r"\b(?:best|wild|educated|my|only a|just a|rough) guess\b|\bguesswork\b|"
    r"\b(?:i|we) (?:may|might|could) (?:well )?(?:be (?:wrong|mistaken|off)|have (?:mixed|"
    r"misread|confused|mis\w+))\b|\b(?:may|might|could) be (?:wrong|off|out of date|outdated)\b|"
    r"\b(?:not|n't)(?: be)? (?:quite |entirely |completely |fully |absolutely |totally |at all |"
    r"a ?hundred percent |100 ?% |too )?(?:sure|certain|positive)\b(?! (?:whether|if) you\b)|"
    r"\b(?:unsure|uncertain|unverified|unconfirmed)\b|"
    r"\bat least i think\b|\bcould(?:n't| ?not) check\b|"
    r"\b(?:could|can)(?:n't|'t| ?not) (?:make (?:it |that |this )?out|find out|tell which|work out|"
    r"figure (?:it )?out|establish|determine)\b|"
    r"\b(?:could|can|did|have)(?:n't| ?not) (?:be able to )?(?:verif\w+|double-?check\w*|"
    r"confirm\w*)\b|"
    r"\b(?:don't|do not|please don't) (?:quote me|take my word|rely on|hold me)\b|"
    r"\b(?:please |you should |better |better to )double-?check\b|\bgrain of salt\b|"
    r"\bno guarantees?\b|\bwithout guarantee\b|\bi can't (?:swear|promise|vouch|guarantee)\b|"
    r"\bcould (?:also |just as well |equally |as well )be (?:something|somebody|someone|another)\b"
)
"""Example: "It is Ida, I think". Not: "I believe so", "I wasn't sure whether you …"."""
_OPEN = re.compile(
    rf"\b{NO_PERMISSION}(?:it|this|that|they|he|she|there|amount|figure|date|name|owner) "
    r"(?:may|might|could) "
    r"(?:also |well |now |just as well |equally )?(?:be|have been|have)\b(?! (?:possible|had|"
    r"(?:a |an |the )?(?:good |nice |right |welcome )?(?:chance|idea|moment|time|opportunity|worth|"
    r"reason|help|useful|helpful|wise))\b)"
)
"""Example: "it may be July as well". Not: "only the manager may have it changed"."""
_TAKEN_BACK = re.compile(
    r"\b(?:scratch|strike|belay) that\b|(?:^|[.!?\n(]\s*)(?:correction|edit|erratum|update)\s*:|"
    r"\bon second thoughts?\b|(?:^|[.!?\n]\s*)(?:oh |no,? |oops,? |ah,? )*(?:wait|hold on|"
    r"hang on)\b|"
    r"\bactually,? (?:no|not|it's not|that's not|it is not|scratch)\b|"
    r"\b(?:forget|ignore|disregard) (?:that\b|the above|what i|my (?:first|last|previous)|"
    r"the (?:first|last|previous))|\bi (?:misread|misspoke|mistyped|mixed up|got (?:it|that|this|"
    r"them) wrong)\b|(?<!not )\bmy (?:mistake|bad)\b|\bi take (?:that|it) back\b|\boops\b|"
    r"\b(?:sorry|no),? (?:i mean|i meant)\b|(?:^|[.!,\n]\s*)(?:or )?rather[,:]? (?=[$\w]+[\w ,.$-]*"
    r"[.!\n]?$)|\bshould (?:have )?read\b|\bi (?:meant|mean)\b(?! (?:it|well)\b)|"
    r"\b(?:that|this|it|the above|which)(?:'s| is| was| were) (?:wrong|not (?:right|correct|true|"
    r"accurate)|incorrect|inaccurate|an error|a mistake)\b"
)
"""Example: "It is May. Wait, June." Not: "I had to wait", "it is no mistake"."""
_OFFER = re.compile(
    r"\?|\bif (?:you|that|this|it|anything|there|so)\b|\b(?:you|they|he|she|your \w+|the client|"
    r"the manager) (?:may|might|could|can|should|probably|think|believe)\b|\blet me know\b|"
    r"\b(?:would|will) (?:probably )?(?:need|want|like)\b"
)
"""What tells of somebody's wishes, or of what could be done."""


_IF = re.compile(r"\b(?:if|whether|unless|in case|nothing|nobody)\b")
"""Before what may be wrong: "let me know if that is wrong"."""
_GUESSES = (
    *("think", "believe", "guess", "assume", "suppos", "reckon", "suspect", "imagine", "probably"),
    *(
        "possibly",
        "perhaps",
        "maybe",
        "presum",
        "apparent",
        "conceiv",
        "likely",
        "alleged",
        "as far",
    ),
    *("if i", "memory", "wrong", "mistaken", "could", "sure", "certain", "positive", "verif"),
    *("make", "find out", "work out", "figure", "establish", "determine", "tell which"),
    *("confirm", "quote me", "my word", "rely on", "hold me", "double", "grain", "guarantee"),
    *(
        "swear",
        "promise",
        "vouch",
        "outdated",
        "out of date",
        "might",
        "may be",
        "may have",
        "check",
    ),
)
_WITHDRAWALS = (
    *("that", "correction", "edit", "erratum", "update", "thought", "wait", "hold on", "hang on"),
    *("actually", "forget", "ignore", "disregard", "misread", "misspoke", "mistype", "mixed up"),
    *("wrong", "mistake", "my bad", "back", "oops", "mean", "rather", "should", "not ", "n't"),
    *("accurate", "correct", "error"),
)
_PATTERNS = (
    (_GUESSED, _GUESSES, "it guesses"),
    (_OPEN, ("may", "might", "could"), "it guesses"),
    (_TAKEN_BACK, _WITHDRAWALS, "it may take it back"),
)
"""What is looked for, something of which no match is without, and what it tells."""


def wavering(reading: Reading, context: Context) -> Iterator[str]:
    """Why a reply may not stand by what it tells, in words; at most one reason."""
    known = ""
    for pattern, cues, what in _PATTERNS:
        if not any(cue in reading.low for cue in cues):
            continue
        for match in pattern.finditer(reading.low):
            first, last = reading.sentence(match.end() - 1)
            aside = _IF if pattern is _TAKEN_BACK else _OFFER
            if aside.search(reading.low, first, match.start() if aside is _IF else last):
                continue
            known = known or f"{context.record_text}\n{context.said}"
            words = match[0].strip(" .!,:\n(")
            if words in known or _begins_a_name(reading, match, context):
                continue
            yield f"{what}: {words!r}"
            return
    yield from _either(reading, context)


def _begins_a_name(reading: Reading, match: re.Match[str], context: Context) -> bool:
    """Whether the last word belongs to a name: "it is Wrong Item Received"."""
    return any(
        match.start() < start < match.end() < end
        for _, start, end in context.directory.mentions(reading.low)
    )


_FIGURE = r"[$€£]?\d[\d,]*(?:\.\d+)?(?:k|m)?(?: ?%| percent| dollars| days| weeks| months| cases)?"
_NAMED = r"(?=\w*\d)[0-9A-Za-z]{15}(?:[A-Za-z0-9]{3})?\b|[A-Z][\w'-]+(?:[ -](?:[A-Z][\w'-]*|\d+))*"
_EITHER = re.compile(
    rf"(?<![\w$.,-])(?P<one>{_NAMED}|{_FIGURE})[*\"'`)]*"
    r"(?P<or>,? ?[(\[]?(?:\b(?:and/)?or|\bpossibly|\bperhaps|\bmaybe)\b|/)"
    r"(?: (?:maybe|perhaps|possibly|even|else|rather|at least))? ?[(*\"'`]*"
    rf"(?P<other>{_NAMED}|{_FIGURE})"
)
"""Example: "June (or July)". Not: "June, or so"."""
_ASIDE = re.compile(
    r"\b(?:not|nor|neither|no|never|none|whether|left out|leaving out|without|unless|than|only|any|"
    r"every|each|all|both|still in|in either)\b|n't\b"
)
"""What stands in a sentence that does not tell which of two it is."""
_TITLES = frozenset(("mr", "ms", "mrs", "dr"))


def _either(reading: Reading, context: Context) -> Iterator[str]:
    """Two values of one kind, of which the reply does not say which it is."""
    low = reading.low
    for match in _EITHER.finditer(reading.text) if _OR.search(low) else ():
        one, other = fold(match["one"]), fold(match["other"])
        first, last = reading.sentence(match.start("one"))
        if one == other or one in _TITLES or bool(_DIGIT.match(one)) != bool(_DIGIT.match(other)):
            continue
        if match["or"] == "/" and not _are_alike(one, other, context):
            continue
        if _OFFER.search(low, first, last) or _ASIDE.search(low, first, match.start()):
            continue
        if not _is_known(match[0], context) and not (one in context.said and other in context.said):
            yield f"it leaves open which: {match[0]!r}"
            return


_OR = re.compile(r"\bor\b|/|\bpossibly\b|\bperhaps\b|\bmaybe\b")
_DIGIT = re.compile(r"[\d$€£]")


def _are_alike(one: str, other: str, context: Context) -> bool:
    """Whether two names are of records of one kind, so that a slash sets them side by side as
    alternatives rather than as two columns.
    """
    tables = context.directory.tables
    return bool(tables.get(one, frozenset()) & tables.get(other, frozenset()))


def _is_known(words: str, context: Context) -> bool:
    """Whether the words with their "or" stand in a record: a title "Changing or Canceling"."""
    folded = fold(words)
    return folded in context.record_text or any(
        folded in name for name, _, _ in context.directory.mentions(folded)
    )
