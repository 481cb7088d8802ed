"""Does a refusal give a reason of those that are right?

The reasons of a task are words and beginnings of words; each stands for a kind of reason that
people put in many ways, so that "it isn't yours" is read as "own".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from crmbench.language.patterns import fold
from crmbench.language.reading import Reading
from crmbench.language.word_sets import word_set


class _Kind(NamedTuple):
    """A kind of reason: how tasks list it, and the words of which a reply gives one."""

    listed: str
    words: str


_KINDS: dict[str, _Kind] = {
    "manager": _Kind(
        r"manager|authori|permi|sign-?off",
        r"manager|(?:the|your) boss|head of sales|supervisor|whoever runs|runs sales|"
        r"(?:not|n't) (?:\w+ ){0,3}(?:allowed|permitted|authori[sz]ed)|permission|authority|"
        r"needs? (?:\w+ ){0,3}(?:approval|sign-?off)|above (?:your|a rep)|"
        r"(?:reserved|only) for|for the \w+ only|go-ahead|clearance|"
        r"\bok(?:ay)? (?:from|of|by)|(?:who|can|could|to|has to) ok(?:ay)? ",
    ),
    "owner": _Kind(
        r"own|belong|DEAL-8",
        r"belongs? to|(?:not|n't) (?:your(?:s| deal| own)|yours)|isn't yours|someone else|"
        r"somebody (?:else|other)|another (?:rep|colleague|person|owner)|a colleague|"
        r"(?:its|present|current) owner\b|(?:their|your|his|her) own\b|deals? (?:they|you|"
        r"he|she) owns?|"
        r"what is theirs|owned by|not (?:the|its) owner|(?:of|are|is) (?:your|their) own",
    ),
    "closed": _Kind(
        r"closed|lost|won\b|DEAL-9|DEAL-2|DEAL-3",
        r"\bclosed\b|closed-(?:won|lost)|already (?:been )?(?:won|lost)|is (?:won|lost)\b|"
        r"no longer open|not open any|only open deals",
    ),
    "not won": _Kind(
        r"not won|been won|CONTRACT-1|stage",
        r"(?:not|n't)(?: been| yet| closed[ -])*(?: |-)?(?:closed[ -])?won|only (?:\w+ )?won deals|"
        r"still open|is still in|until it(?: is|'s) won|once (?:\w+ ){1,4}(?:closed[ -])?won|"
        r"before (?:\w+ ){1,4}(?:closed[ -])?won|(?:still|only) (?:in )?(?:proposal|negotiation|"
        r"qualification|prospecting)",
    ),
    "open": _Kind(
        r"open|active deal|CLIENT-5",
        r"open (?:deal|opportunit|business)|(?:deal|opportunit)\w*[^.!?\n]{0,60}\b(?:open|running|"
        r"live|pending|in progress|unfinished)|(?:still|live|running|active|unfinished|pending) "
        r"(?:a |an |the |one )?(?:\w+ )?(?:deal|opportunit)\w*|has(?:n't| not) been closed|"
        r"deals? (?:is|are) not (?:yet )?closed",
    ),
    "inactive": _Kind(
        r"inactive|not active|reactivat", r"inactive|not active|isn't active|dormant"
    ),
    "active": _Kind(
        r"active\b|locked|fixed|CONTRACT-3",
        r"\bactive\b|in force|already (?:running|begun|started|under ?way)|locked|fixed|frozen|"
        r"can no longer be changed|keeps? its (?:value|start|amount)",
    ),
    "approved": _Kind(r"approved?|QUOTE-3|DEAL-3", r"\b(?:un)?approved\b|approval"),
    "past": _Kind(
        r"past|future|passed|gone|earlier than|before today",
        r"\bpast\b|behind us|(?:has|is|already|has already) (?:gone|passed)|today or later|"
        r"(?:be|lie|is) in the future|before today|earlier than today|today at the earliest|"
        r"later than today|future date|not before today|gone by",
    ),
    "domain": _Kind(
        r"domain|company address|own address|CONTACT-2",
        r"\bdomain\b|(?:company|business|work|corporate|firm's|employer's) (?:e-?mail )?(?:address|"
        r"mail)|(?:private|personal|free) (?:e-?mail|mail|address|account|mailbox|inbox)|"
        r"has to be (?:at|@)|must be (?:at|@)|only addresses (?:at|of)",
    ),
    "private": _Kind(
        r"health|family|religio|personal|private|medical|sensitive",
        r"health|famil|religio|faith|church|personal|private|medical|sensitive|pregnan|illness|"
        r"belief|(?:do(?:es)?n't|not|never) belong|isn't something we|NOTE-2",
    ),
    "share": _Kind(
        r"share|confidential|disclos|pass on|another client|CONTACT-1|CONTACT-4|privacy",
        r"do not share|confidential|disclos|privacy|private|pass(?:ed)? (?:it |them |that )?(?:on|"
        r"along)|(?:another|other|different|one) (?:client|customer|compan)|hand (?:it |them )?out|"
        r"give (?:it |them |that )?out|none of (?:their|his|her) business|to anyone|shared?",
    ),
    "limit": _Kind(
        r"limit|maximum|exceed|10,000,000|10 million|10 percent|DISC-1",
        r"limit|maximum|\bmax\b|at most|ceiling|\bcap(?:ped)?\b|no more than|exceed|"
        r"(?:above|over|beyond|more than|deeper than|higher than) (?:the |what |\$?\d|your |ten|we|"
        r"i|you|our|any|may|is |are )|up to|the most (?:it|the|we|you|i|that|any)|"
        r"(?:bigger|deeper|larger|higher|steeper|more|greater)(?: [\w%]+){0,3} than (?:we|i|you|"
        r"our|the|"
        r"any|what|it)\b|(?:one|that|so) (?:deep|steep|big|large|high)\b|goes? beyond|"
        r"(?:highest|largest|biggest|deepest) (?:\w+ ){0,2}(?:discount|permitted|allowed|possible)|"
        r"too (?:deep|steep|far|generous)|"
        r"ten million|10 ?m(?:illion)?\b|too (?:high|large|big|much)",
    ),
    "format": _Kind(
        r"letters|character|extension|support|format",
        r"\bspaces?\b|blank|character|letters|extension|support|file type|format|file ?names?|"
        r"\.\w{2,4} files|only (?:\w+, ){1,}|accepted (?:types|formats)|types? (?:of file|is|are)",
    ),
    "exists": _Kind(
        r"already|exist|duplicate|same name|CLIENT-1\b|on file|second",
        r"already (?:has|have|there|in|on|a|an|got|exist|taken|with)|exists?|duplicate|"
        r"same (?:name|e-?mail|client)|(?:has|have|had|got) (?:one|its|his|a \w+)(?: own| "
        r"already)?|"
        r"(?:a|any) second|another one|only (?:one|allow one)|twice|\b(?:there|one|it)['s "
        r"]+ already",
    ),
    "stage": _Kind(
        r"stage|prospecting|DEAL-5",
        r"prospecting|\bstage\b|negotiation|qualification|proposal|too far|moved past",
    ),
    "role": _Kind(
        r"analyst|role|DO-2|not permitted",
        r"analyst|\brole\b|outside what|only (?:the )?(?:service )?manager|manager|not "
        r"(?:mine|yours)",
    ),
}
_LISTED = {kind: re.compile(rf"(?:{listed})", re.I) for kind, (listed, _) in _KINDS.items()}
_WORDS = {kind: re.compile(rf"(?<![a-z])(?:{words})", re.I) for kind, (_, words) in _KINDS.items()}
_POLITE = word_set(
    "i i'm we a an the this that it to do done can can't cannot could couldn't not no sorry afraid "
    "but be am is was were will won't would please for you your request complete able unable "
    "possible not nope unfortunately must decline refuse and so made make changes change nothing "
    "has been have haven't help with"
)


def gives_reason(reading: Reading, reason: str) -> bool:
    """Whether the reply gives this reason, in its words or in others of the same kind."""
    if _stands(reading, reason):
        return True
    return any(_WORDS[kind].search(reading.low) for kind in _kinds_of(reason))


@lru_cache(maxsize=512)
def _kinds_of(reason: str) -> tuple[str, ...]:
    """The kinds of reasons that the words of a task's reason list."""
    return tuple(kind for kind, listed in _LISTED.items() if listed.search(reason))


def has_reason_at_all(reading: Reading) -> bool:
    """Whether the reply says more than that it was not done."""
    return any(word not in _POLITE for word in re.findall(r"[a-z0-9']+", reading.low))


def _stands(reading: Reading, words: str) -> bool:
    """Whether all of these words stand in one sentence, each at least as a beginning."""
    patterns = beginnings(words)
    if len(patterns) == 1:
        return patterns[0].search(reading.low) is not None
    start = 0
    for end in reading.ends:
        sentence = reading.low[start:end]
        if all(pattern.search(sentence) for pattern in patterns):
            return True
        start = end
    return False


@lru_cache(maxsize=4096)
def beginnings(words: str) -> tuple[re.Pattern[str], ...]:
    """A pattern for each word that tells something, by its stem; short ones stand whole."""
    found = re.findall(r"[a-z0-9']+", fold(words))
    content = [word for word in found if word not in {"a", "an", "the", "of", "to", "is"}]
    return tuple(re.compile(_begins(word)) for word in content or found)


def _begins(word: str) -> str:
    stem = re.escape(_stem(word))
    return rf"(?<![a-z0-9]){stem}" + (r"(?![a-z0-9])" if len(word) <= 3 else "")


def _stem(word: str) -> str:
    for ending in ("ies", "ied", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word
