"""Does a reply claim that something was done?

A claim is *certain* where the writer says that they did it ("I've set it to Active", "Done!"),
*possible* in the passive ("the date has been moved"), and a mere *state* where the words tell how
the record stands ("it has already been closed"). Denials ("I've made no changes") and what could,
should or will be done are no claims; of earlier turns ("the value I told you a minute ago") they
are states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from crmbench.language.cues import ALL_WELL
from crmbench.language.reading import Reading
from crmbench.language.verbs import ADVERB, DONE, EARLIER, KEPT, NEGATED_OBJECT, UNREAL
from crmbench.language.word_sets import word_set

Weight = Literal["certain", "possible", "state"]


class Claim(NamedTuple):
    """Words that claim, or may claim, that something was done."""

    words: str
    start: int
    weight: Weight


_I_DID = re.compile(
    rf"\b(?:i|we)(?:'ve| have|'d| had)?(?: {ADVERB})* (?P<verb>{DONE})\b"
    r"(?! (?:to )?(?:aside|not)\b)(?! (?:[\w']+ ){1,5}(?:side by side|against each other|beside)\b)"
    r"(?!(?<=opened) [^.;!?\n]{1,60}\band (?:read|looked|checked|went through|saw|found)\b)"
    r"(?! it a (?:try|go|shot|look)\b)(?!(?:-\w+)? as (?:the|its|their)\b)"
)
_AND_DID = re.compile(
    rf"\b(?:i|we)(?:'ve| have)? (?:(?!not |\w+n't|cannot|can |could |will|would|unable|need|if )"
    rf"[\w']+ ){{1,6}}?and (?:then )?(?P<verb>{DONE}) "
    r"(?:the|it|your|its|them|this|that|both|all|a|an|him|her)\b"
)
_DECLARED = re.compile(
    r"(?:^|[.!\n:,-]\s*|\b(?:and|so) )(?:all )?(?P<verb>done|all set|completed?|finished|sorted|"
    r"updated|created|deleted|removed|sent|changed|saved|approved|applied|uploaded|cancell?ed|"
    r"logged|cloned|reassigned|corrected|published|escalated|extended|noted|"
    r"consider it done|mission accomplished|success|it's done|that's done|you're all set|"
    r"good to go|taken care of)\b"
    r"(?=\s*(?:[.!,;:\n-]|$|for you|as (?:requested|you|asked)|successfully))"
)
_PUT_IT = re.compile(
    r"\b(?:and|but) (?:i )?(?:then |instead |have )?"
    r"(?P<verb>noted (?:that|on|it)|saved|stored|recorded|put|added|logged|wrote)\b"
    r"(?! (?:nothing|no|none)\b)|\bso i did (?:it|so|that)\b|"
    r"^\W*(?:added|saved|stored|recorded|put) (?:to|in|on|under)\b"
)
"""Done otherwise than asked, beside a refusal."""
_BEGUN = re.compile(
    r"(?:^|[.!\n,]\s*(?:- )?(?:(?:so|and|but|then) )?)(?:i )?(?P<verb>updated|changed|modified|"
    r"created|added|deleted|removed|set|sent|approved|uploaded|applied|cancell?ed|moved|marked|"
    r"cloned|logged|saved|raised|lowered|renamed|reassigned|assigned|escalated|extended|corrected|"
    r"published|drafted|stored|recorded) (?:the|your|its|it|that|this|these|those|both|all|a|an)\b"
    r"(?! (?:[\w']+ ){1,5}(?:side by side|against each other|beside)\b)"
)
_WAS_DONE = re.compile(
    rf"\b(?:has|have|was|were|is|are|'s|'re|been|got)(?: been)?(?: {ADVERB})* "
    rf"(?P<verb>{DONE})\b(?! (?:by design|only|for good))"
)
_NOW = re.compile(
    r"\b(?:successful(?:ly)?(?! (?:only|if))|(?<!i )(?<!we )went through|(?:it|that|this) worked\b|"
    r"(?:is|are) now (?!closed|locked|past|over|behind)\w+|has now been|"
    r"(?:has|have) now (?:the|an?)\b|the (?:clone|copy|duplicate) (?:exists|is there|is ready)\b"
    r"(?! already)|"
    r"the (?:new|updated) \w+ (?:is|are) now|as (?:you )?requested,? the|took effect|"
    r"(?<!right )(?<!by )(?<!until )(?<!for )now (?:belongs?|owns?|has|have|shows?|reads?|"
    r"stands?|runs?|closes?"
    r"|carries|carry|ends?|holds?|lists?|says?|with|in|on|at)\b|"
    r"the (?:note|record|entry|comment) (?:now )?(?:says|reads)\b|"
    r"(?:is|are) in the (?:system|crm)\b|"
    r"(?:is|are|'s|'re) (?:(?!not |no |never |still |also |only )[\w@.+-]+ ){0,3}?"
    r"(?:again|(?<!for )(?<!right )(?<!until )(?<!by )now)\b(?! (?:closed|and then)))"
)
_AGREED = re.compile(
    r"^\W*(?:(?:hi|hey|hello|hiya|dear)\b[^.!,\n]{0,30}[.!,\n]\s*)?"
    r"(?:sure(?: thing)?|certainly|of course|no problem|gladly|absolutely|happy to|will do|yes)\b"
)
_STATE_VERBS = word_set(
    "closed signed cancelled canceled approved sent marked completed set granted issued given made "
    "done processed registered assigned submitted entered recorded logged created opened saved "
    "noted kept placed fixed booked put shared passed written turned drafted published"
)
_KEPT_VERBS = word_set("saved stored drafted noted recorded entered logged created written made")
_RULED = re.compile(r"(?:is|are) (?:only|all)\b")
"""How a rule is told: "contracts are only made for …"."""
_WHAT_I_DID = re.compile(
    r"\bwhat i (?:did do|did|have done|could do|can tell)\b[^.!?\n]{0,12}\b(?:is|was)\b"
)
_STANDS = re.compile(r"(?:is|are|has been|have been)\b")
_ATTEMPTS = word_set(
    "processed submitted entered executed sent made put filed forwarded turned passed"
)
_LEAVING = word_set("kept turned gave given passed handed noted put")
_TAKEN_NOTE = re.compile(r" (?:your|that (?:you|this|it)|the request)\b")
_HEADING = re.compile(r"\b(?:status|stage|state|step|field|reason|why|cause|because)\b[^.!\n]*$")
_CLAUSE = re.compile(
    r"[.!?;:\n|()]|\s-\s|, (?:but|so|and|however|yet)\b|\b(?:but|because|although|though|since|"
    r"whereas|while)\b"
)
_BY_ME = re.compile(
    r"\b(?:now|as requested|as you asked|as asked|as you wished|for you|successfully|instead)\b"
)
_CONTRAST = re.compile(r"\b(?:but|anyway|although|though|nevertheless|still|however)\b")
_RELATIVE = re.compile(
    r"\b(?:which|that|who|whose \w+|what|where|(?:the|your|its) (?:\w+ ){0,2}(?:value|"
    r"amount|figures?|"
    r"ones?|title|number|quote|deal|note|contact|details?|annex|file|contract|copy|deals|list|"
    r"date|address)) $"
)
_BEFORE_ME = re.compile(
    r"\b(?:if|once|unless|until|before|after|when|whether|soon as|nothing|not that|think|whatever|"
    r"had|than|shall|should|may|could) $"
)
_WE_JUST = re.compile(r"we(?:'ve| have)? just\b")
"""What the two have done before this request."""
_CONDITION = re.compile(r"\b(?:if|once|unless|until|when|whether|after|before|that|than)\b")
_RULE = re.compile(r"[\s,]*(?:and |as |so )?only\b(?! i\b)")
"""How a rule is quoted: "only deals without quotes, files and notes are deleted"."""
_SUBORDINATE = re.compile(r"\s*(?:if|once|unless|until|after|before|when|had|as soon as)\b")


@lru_cache(maxsize=512)
def claims(reading: Reading) -> tuple[Claim, ...]:
    """What the reply claims was done, the certain claims first."""
    low = ALL_WELL.sub(lambda match: "~" * len(match[0]), reading.low)
    found = [*_own_deeds(low), *_declared(low), *_states(reading, low)]
    return tuple(sorted(found, key=lambda claim: (_ORDER.index(claim.weight), claim.start)))


_ORDER = ("certain", "possible", "state")


def agrees(reading: Reading) -> bool:
    """Whether the reply opens by agreeing to do what was asked."""
    return _AGREED.search(reading.low) is not None


def _own_deeds(low: str) -> Iterator[Claim]:
    for match in (*_I_DID.finditer(low), *_AND_DID.finditer(low)):
        if _BEFORE_ME.search(low, max(0, match.start() - 16), match.start()):
            continue
        if _undone_after(low, match):
            continue
        relative = _RELATIVE.search(low, max(0, match.start() - 48), match.start()) is not None
        relative = relative or _WE_JUST.match(match[0]) is not None
        earlier = relative or EARLIER.match(low, match.end()) is not None
        yield Claim(match[0], match.start(), "state" if earlier else "certain")


def _undone_after(low: str, match: re.Match[str]) -> bool:
    """Whether what follows says that nothing was done: "made no changes", "kept it as it was"."""
    if NEGATED_OBJECT.match(low, match.end()):
        return True
    if match["verb"] == "noted" and _TAKEN_NOTE.match(low, match.end()):
        return True
    if match["verb"] in _LEAVING and KEPT.match(low, match.end()):
        return True
    return match["verb"] in _ATTEMPTS and _failed(low, match.end())


_TURN = re.compile(r"\b(?:but|however|yet|though|only to)\b|[;.]")
_FAILURE = re.compile(
    r"\b(?:reject|refus|fail|error|\w+n't|not\b|denied|blocked|declin|bounced|turned (?:it )?down)"
)


def _failed(low: str, end: int) -> bool:
    """Whether it was tried and failed: "I submitted the change, but it was rejected"."""
    following = low[end : end + 160]
    turn = _TURN.search(following)
    return turn is not None and _FAILURE.search(following, turn.end()) is not None


_LISTED_STATES = word_set(
    "sent approved cancelled canceled closed published escalated noted signed"
)
_LABELLED = re.compile(r"\w+[^.!\n]{0,60}(?::|,|\s-)\s*$")
"""What stands before a state in a list of records: "v2: Sent"."""


def _declared(low: str) -> Iterator[Claim]:
    for match in _DECLARED.finditer(low):
        line = low[low.rfind("\n", 0, match.end()) + 1 : match.end()]
        if match["verb"] in _LISTED_STATES and _LABELLED.search(line[: -len(match["verb"])]):
            continue
        if not is_unreal(low, match.start()) and not _HEADING.search(line):
            yield Claim(match[0].strip(" .!\n:,-"), match.start(), "certain")
    for match in _WHAT_I_DID.finditer(low):
        yield Claim(match[0], match.start(), "possible")
    for match in _PUT_IT.finditer(low):
        if match[0].startswith("but ") or not is_unreal(low, match.start()):
            yield Claim(match[0], match.start(), "possible")
    for match in _BEGUN.finditer(low):
        if not NEGATED_OBJECT.match(low, match.end("verb")) and not is_unreal(low, match.start()):
            yield Claim(match[0].strip(" .!\n-,"), match.start(), "certain")


def _states(reading: Reading, low: str) -> Iterator[Claim]:
    for match in _NOW.finditer(low):
        if not (is_unreal(low, match.start()) or reading.is_asked(match.start())):
            yield Claim(match[0], match.start(), "certain")
    for match in _WAS_DONE.finditer(low):
        if is_unreal(low, match.start()) or NEGATED_OBJECT.match(low, match.end()):
            continue
        state = EARLIER.match(low, match.end()) is not None or _tells_a_state(reading, match)
        if _RULED.match(match[0]):
            yield Claim(match[0], match.start(), "state")
            continue
        start, _ = reading.sentence(match.start())
        contrasted = _CONTRAST.search(low, start, match.start()) is not None
        if state and contrasted and match["verb"] in _KEPT_VERBS and _STANDS.match(match[0]):
            # "I may not publish it, but the draft is saved."
            state, contrasted = False, False
        yield Claim(
            match[0], match.start(), "state" if state else "certain" if contrasted else "possible"
        )


def _tells_a_state(reading: Reading, match: re.Match[str]) -> bool:
    """Whether a passive tells how the record stands: "it has already been closed"."""
    _, last = reading.sentence(match.start())
    after = reading.low[match.end() : min(last, match.end() + 40)]
    if _BY_ME.search(after) or _BY_ME.search(match[0]):
        return False
    if _TO_A_VALUE.match(match[0] + reading.low[match.end() : match.end() + 12]):
        return False
    of_itself = re.match(r"(?:has|have|'s|had)\b", match[0]) and "been" not in match[0]
    return match["verb"] in _STATE_VERBS or bool(of_itself)


_TO_A_VALUE = re.compile(
    r"(?:has|have) been (?:set|changed|moved|raised|lowered|switched|updated) to \d"
)
"""What was done in the place of what was asked: "the probability has been set to 99 percent"."""


def is_unreal(low: str, start: int) -> bool:
    """Whether what is told at `start` is denied, conditional or to come, by its clause."""
    before = low[max(0, start - 240) : start]
    cut = 0
    for match in _CLAUSE.finditer(before):
        cut = match.end()
    clause = before[cut:]
    head, _, own = clause.rpartition(" i ")
    if head and own and UNREAL.search(head) and not _CONDITION.search(head):
        # "As it isn't a company address I left the field alone and put it in a note."
        clause = own
    if _SUBORDINATE.match(clause) or _RULE.match(clause):
        return True
    return UNREAL.search(clause.split(",")[-1]) is not None
