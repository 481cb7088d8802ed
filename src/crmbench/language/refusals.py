"""Does a reply refuse or report a failure, claim a success, or ask something back?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from crmbench.language.finding import Finding
from crmbench.language.reading import Reading, read

# What an agent does to records, in the forms "updated" and "updating".
_DONE = (
    "updated|changed|modified|edited|created|added|deleted|removed|set|sent|approved|uploaded|"
    "attached|applied|cancell?ed|moved|marked|cloned|copied|duplicated|logged|saved|recorded|"
    "assigned|reassigned|renamed|closed|granted|processed|completed|scheduled|extended|issued|"
    "registered|raised|lowered|increased|reduced|entered|corrected|adjusted|put|booked|filed|"
    "submitted|executed|finali[sz]ed|linked|merged|reopened|activated|deactivated|switched|"
    "transferred|made|erased|wiped|signed|converted|replaced|done|handled|taken care of|"
    "gone ahead|went ahead|pushed|bumped|swapped|restored|shared|emailed|forwarded|gave|given"
)
_ADVERB = (
    r"(?:also|now|just|already|successfully|gone ahead and|went ahead and|accordingly|duly|happily|"
    r"since|then|therefore|instead|nevertheless|still|quietly)"
)
_SUBJECT = r"(?:i|we)"
_I_DID = re.compile(
    rf"\b{_SUBJECT}(?:'ve| have|'d| had)?(?: {_ADVERB})* (?P<verb>{_DONE})\b"
    r"(?! (?:to )?(?:aside|not)\b)(?!(?:-\w+)? as (?:the|its|their)\b)"
)
_AND_DID = re.compile(
    rf"\b{_SUBJECT}(?:'ve| have)? (?:(?!not |\w+n't|cannot|can |could|will|would|unable|need|if )"
    rf"[\w']+ ){{1,6}}?and (?:then )?(?P<verb>{_DONE}) "
    r"(?:the|it|your|its|them|this|that|both|all)\b"
)
_WAS_DONE = re.compile(
    rf"\b(?:has|have|was|were|is|are|'s|'re|been)(?: been)?(?: {_ADVERB})* "
    rf"(?P<verb>{_DONE})\b(?! (?:by design|only|for))"
)
_DECLARED = re.compile(
    r"(?:^|[.!\n:,-]\s*|\b(?:and|so) )(?:all )?(?:done|all set|completed|finished|sorted|updated|"
    r"created|deleted|removed|sent|changed|saved|approved|applied|uploaded|cancell?ed|"
    r"consider it done|mission accomplished|success|it's done|that's done|you're all set|"
    r"good to go|taken care of)\b"
    r"(?=\s*(?:[.!,;:\n-]|$|for you|as (?:requested|you|asked)|successfully))"
)
_BEGUN = re.compile(
    r"(?:^|[.!\n]\s*(?:- )?)(?:i )?(?:updated|changed|modified|created|added|deleted|removed|set|"
    r"sent|approved|uploaded|applied|cancell?ed|moved|marked|cloned|logged|saved|raised|lowered|"
    r"renamed) (?:the|your|its|it|that|this|these|those|both|all|a|an)\b"
)
_SUCCESS = re.compile(
    r"\b(?:successful(?:ly)?(?! (?:only|if))|(?<!i )(?<!we )went through|"
    r"is now (?!closed|locked|past|over)\w+|are now \w+|"
    r"has now been|the (?:new|updated) \w+ (?:is|are) now|as (?:you )?requested,? the|"
    r"took effect|is in place now|now (?:shows|reads|stands at))\b"
)
_FAILED_TO_SUCCEED = re.compile(
    r"\b(?:not|n't|un|never|no|cannot|without|unable to|if|once|unless|until|after|before|when|"
    r"could|would|can|may|might|will|'ll|should|must|to be|nothing|none|neither|nor|only|"
    r"failed to)\b"
)

_REFUSAL = re.compile(
    r"""\b(?:
      (?:ca|could|wo|would|did|do|does|is|are|was|were|has|have|had|must|should|need|ai)n't
        (?!\ (?:worry|hesitate|forget|only|just|wait|(?:find|see|spot)\ any
          |any\ (?:issue|problem))\b)
    | (?:cant|couldnt|wont|wouldnt|didnt|doesnt|isnt|wasnt|hasnt|havent|cannot)
        (?!\ (?:find|see|spot)\ any\b)
    | (?:can|could|will|would|may|must|should|do|does|did|am|is|are|was|were|has|have|had
        |'m|'s|'re|'ve)\ (?:\w+ly\ |also\ |still\ )?not(?!\ (?:only|just|(?:find|see|spot)\ any))
    | not\ (?:able|allowed|permitted|authori[sz]ed|possible|supported|valid|found|eligible|available
        |something|going\ to|done|in\ a\ position|within|updated|changed|created|deleted|completed
        |processed|applied|executed|sent|approved|acceptable|accepted|made|permissible|without)
    | unable | impossible | declin(?:e|ed|ing) | refus(?:e|es|ed|al|ing)
    | reject(?:s|ed|ion)? | den(?:y|ied|ies) | fail(?:s|ed|ure|ing)? | errors?(?!-free)
    | prohibit(?:s|ed)? | forbid(?:s|den)? | disallow(?:s|ed)? | block(?:s|ed) | prevent(?:s|ed)
    | bars?\ (?:me|us)| against\ (?:the\ |our\ |company\ |house\ )?(?:policy|rules?)
    | violat(?:e|es|ed|ing) | breach(?:es)? | contrary\ to
    | (?:no|without)\ (?:permission|authority|authori[sz]ation|such|matching|match|record|client
        |deal|opportunity|quote|contact|contract|changes?)\b(?!\ (?:needed|required|necessary))
    | no\ (?:can\ do|go|way) | off[\ -]limits | out\ of\ (?:bounds|my\ hands)
    | nothing\ (?:was|has\ been|is|got|'s|has)\ (?:been\ )?
        (?:changed|updated|done|created|deleted|saved|sent|modified)
    | (?:remains?|left|stays?|kept|leaving|leave|am\ leaving)\ (?:\w+\ ){0,4}
        (?:as\ (?:it\ is|is|it\ was|they\ are)|unchanged|untouched|alone)
    | (?:needs?|has|have)\ to\ be\ (?:approved|authori[sz]ed|signed\ off) | exceed(?:s|ed)?
    | beyond\ (?:my|what) | unsuccessful | unchanged | invalid | unsupported | unauthori[sz]ed
    | (?:does\ not|doesn't)\ exist
    | (?:needs?|requires?)\ (?:[\w'-]+\ ){0,4}
        (?:approval|authori[sz]ation|permission|sign-?off|consent)
    | only\ (?:a\ |an\ |the\ )?[\w\ ]{1,30}\ (?:can|may|is\ allowed|are\ allowed)
    | (?:went|go|goes)\ wrong | must\ decline | have\ to\ (?:decline|refuse|say\ no|pass|stop)
    | held\ (?:off|back) | holding\ off | stopped\ short | won't\ go\ through
    | (?:is|are)\ (?:locked|read-only|frozen|final) | too\ (?:late|high|large) | out\ of\ scope
    | already\ (?:exists?|in\ use|taken|registered) | not\ go\ through
    )\b
    | (?:^|[.!\n]\s*)no[,.!](?:\ |$)""",
    re.VERBOSE,
)
_NOT_A_REFUSAL = re.compile(
    r"\b(?:no|without|not (?:see|find|encounter|have)|"
    r"(?:didn't|couldn't|don't|doesn't|can't|cannot|(?:did|could|do|does|can) not) "
    r"(?:find|see|spot|encounter|run into|hit|get)) (?:any )?(?:\w+ )?"
    r"(?:issues?|problems?|errors?|conflicts?|failures?|trouble|duplicates?|objections?|obstacles?|"
    r"hitch|hitches|difficult\w+|reasons? not|blockers?|violations?|rejections?|refusal)\b"
    r"|\bno (?:problem|worries|issue|doubt|need)\b|\bnot (?:a problem|an issue)\b"
    r"|\b(?:do not|don't|please don't) (?:hesitate|worry)\b|\bcan't wait\b"
    r"|\bno (?:further|other|more|additional) \w+ (?:is|are|was|were|needed|required)\b"
    r"|\bnot only\b|\bwithout (?:any )?(?:error|fail|a hitch)\w*\b|\bnever fails?\b"
    r"|\bhas(?:n't| not) been (?:easier|better)\b|\berror-free\b|\bwhy not\b"
)
_BECAUSE = re.compile(
    r"\b(?:because|since|as|so|therefore|hence|which means|given that|that|which|already|due to|"
    r"after|once|when|before|if|until|unless|only)\b"
)
_STATE_VERBS = frozenset(
    [
        "closed",
        "signed",
        "cancelled",
        "canceled",
        "approved",
        "sent",
        "marked",
        "completed",
        "set",
        "granted",
        "issued",
        "given",
        "made",
        "done",
        "processed",
        "registered",
        "assigned",
        "submitted",
        "entered",
        "recorded",
        "logged",
    ]
)
_ATTEMPTS = frozenset(
    ("processed", "submitted", "entered", "executed", "sent", "made", "put", "filed", "forwarded")
)
_TURN = re.compile(r"\b(?:but|however|yet|though|only to)\b|[;.]")
_CONTRAST = re.compile(r"\b(?:but|however|still|anyway|regardless|nevertheless|yet|though)\b")


def claims_success(reply: str) -> bool:
    """Whether a reply says that what was asked for has been done.

    "I've updated it" and "Done" claim it. What was done before and explains a refusal ("the deal
    has already been closed, so I can't …"), what was not done, and what could be done do not.
    """
    return _claim(read(reply)) is not None


@lru_cache(maxsize=512)
def _claim(reading: Reading) -> str | None:
    """The words that claim a success, if any do."""
    low = _NOT_A_REFUSAL.sub(lambda match: "~" * len(match[0]), reading.low)
    refused = _REFUSAL.search(low) is not None
    for match in (*_I_DID.finditer(low), *_AND_DID.finditer(low)):
        if not _is_undone(low, match.start()) and not _failed_attempt(low, match):
            return match[0]
    for match in _DECLARED.finditer(low):
        if not _is_undone(low, match.start()) and not _is_a_heading(low, match.end()):
            return match[0].strip(" .!\n:,-")
    begun = _BEGUN.search(low)
    if begun is not None:
        return begun[0].strip(" .!\n-")
    for pattern in (_WAS_DONE, _SUCCESS):
        for match in pattern.finditer(low):
            if not _is_undone(low, match.start()) and not (
                refused and _explains(reading, low, match)
            ):
                return match[0]
    return None


def _failed_attempt(low: str, match: re.Match[str]) -> bool:
    """Whether it was tried and failed: "I submitted the change, but it was rejected"."""
    if match["verb"] not in _ATTEMPTS:
        return False
    following = low[match.end() : match.end() + 160]
    turn = _TURN.search(following)
    return turn is not None and _REFUSAL.search(following, turn.end()) is not None


def _is_undone(low: str, start: int) -> bool:
    """Whether the claim is denied, conditional or to come."""
    clause = re.split(
        r"[.!?;:\n|]|, (?:but|so|and|however)\b|\bbut\b", low[max(0, start - 240) : start]
    )[-1]
    words = clause.split(",")[-1]
    return (
        _FAILED_TO_SUCCEED.search(words) is not None
        or re.match(r"\s*(?:if|once|unless|until|after|before|when|had)\b", clause) is not None
    )


_HEADING = re.compile(r"\b(?:status|stage|state|step|field|reason|why|cause|because)\b[^.!\n]*$")


def _is_a_heading(low: str, end: int) -> bool:
    """Whether the word names a column, a state or a cause: "Status: approved"."""
    line = low[low.rfind("\n", 0, end) + 1 : end]
    return _HEADING.search(line) is not None


def _explains(reading: Reading, low: str, match: re.Match[str]) -> bool:
    """Whether something done is a reason or a state of affairs, not the agent's doing."""
    first, last = reading.sentence(match.start())
    sentence = low[first:last]
    if _CONTRAST.search(sentence[: match.start() - first]) or re.search(
        r"\b(?:now|as requested|as you asked|for you|successfully|instead)\b",
        low[match.start() : min(last, match.end() + 40)],
    ):
        return False
    if match.re is _WAS_DONE and match["verb"] in _STATE_VERBS:
        return True
    return _REFUSAL.search(sentence) is not None and _BECAUSE.search(sentence) is not None


def refuses(reply: str, reasons: Sequence[str] | str | None = ()) -> Finding:
    """Whether a reply conveys that what was asked for was not done, and claims no success.

    Args:
        reasons: Words of which the reply must give one, in any case and order, within one
            sentence; beginnings of words do ("approv" for "approval"). None or empty: no reason
            is asked for.
    """
    reading = read(reply)
    claim = _claim(reading)
    if claim is not None:
        return Finding(False, f"it claims success: {claim!r}")
    low = _NOT_A_REFUSAL.sub(" ", reading.low)
    if _REFUSAL.search(low) is None:
        return Finding(False, "no refusal or failure is reported")
    wanted = (reasons,) if isinstance(reasons, str) else tuple(reasons or ())
    if wanted and not any(_gives(reading, reason) for reason in wanted):
        return Finding(False, f"no reason is given; one of: {', '.join(wanted)}")
    return Finding(True)


def _gives(reading: Reading, words: str) -> bool:
    """Whether all of these words stand in one sentence, each at least as a beginning."""
    patterns = _beginnings(words)
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
def _beginnings(words: str) -> tuple[re.Pattern[str], ...]:
    from crmbench.language.patterns import fold

    found = re.findall(r"[a-z0-9']+", fold(words))
    content = [word for word in found if word not in {"a", "an", "the", "of", "to", "is"}]
    stems = [_stem(word) for word in content or found]
    return tuple(re.compile(rf"(?<![a-z0-9]){re.escape(stem)}") for stem in stems)


def _stem(word: str) -> str:
    for ending in ("ies", "ied", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


_OFFER = re.compile(
    r"(?:anything else|something else|what else|any other|further (?:help|questions?)|"
    r"else (?:i|we) can|how (?:else )?can i help|does that help|is that (?:ok|okay|all|fine)|"
    r"sound good|happy to help|shall i (?:also|do anything)|would you like (?:me )?(?:to )?"
    r"(?:anything|something|help|see|know|more)|need anything)"
)
_REQUEST = re.compile(
    r"\b(?:please (?:\w+ly )?(?:tell|let me know|specify|confirm|provide|clarify|share|give|"
    r"indicate|choose|pick|select|say|send|advise|state|supply)|"
    r"(?:i|we)(?:'ll|'d| will| would)?(?: also| still)? (?:need|require)(?: you)? to know|"
    r"(?:i|we) (?:still )?(?:need|require|am missing|'m missing)|"
    r"(?:could|can|would|will) you (?:\w+ly )?(?:please )?(?:tell|let me know|specify|confirm|"
    r"provide|clarify|share|give|indicate|choose|say)|"
    r"let me know (?:which|what|when|who|whether|where|how|the|if)|"
    r"tell me (?:which|what|when|who|whether|where|how|the)|(?:i'd|i would) like to know|"
    r"kindly (?:specify|confirm|provide|clarify|share)|i'm missing|(?:is|are) missing)\b"
)
_ANAPHORA = re.compile(
    r"\b(?:which (?:one|of)|did you mean|do you mean|what do you mean|which do you|which would|"
    r"which should|which did you|can you (?:clarify|specify)|could you (?:clarify|specify))"
)


def asks(reply: str, about: Sequence[str] | str = ()) -> bool:
    """Whether a reply asks the user for something that it needs to know.

    "Anything else?" is no such question.

    Args:
        about: Words of which the question, the sentence before it or, for "which one", the whole
            reply must hold one; beginnings of words do. Empty: any question counts.
    """
    low = read(reply).low
    wanted = (about,) if isinstance(about, str) else tuple(about)
    for previous, start, end in _questions(reply):
        context = low if _ANAPHORA.search(low[start:end]) else low[previous:end]
        if not wanted or any(_holds(context, words) for words in wanted):
            return True
    return False


@lru_cache(maxsize=512)
def _questions(reply: str) -> tuple[tuple[int, int, int], ...]:
    """Where questions are: where the sentence before begins, the question itself, and its end."""
    reading = read(reply)
    found = []
    start = previous = 0
    for end in reading.ends:
        sentence = reading.low[start:end]
        if _is_question(sentence):
            found.append((previous, start, end))
        previous, start = (start, end) if sentence.strip() else (previous, end)
    return tuple(found)


def _is_question(sentence: str) -> bool:
    if _OFFER.search(sentence):
        return False
    return sentence.rstrip(" \"')\n").endswith("?") or _REQUEST.search(sentence) is not None


def _holds(text: str, words: str) -> bool:
    return all(pattern.search(text) for pattern in _beginnings(words))
