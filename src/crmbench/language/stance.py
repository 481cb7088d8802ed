"""Does a text assert a value that it mentions, or does it deny, replace, ask or guess it?

Decided from the words around the mention, within its sentence (or line, or table cell).
"""

from __future__ import annotations

import re
from typing import Literal

from crmbench.language.reading import Reading

Stance = Literal["", "negated", "old", "asked", "conditional", "hedged", "inexact"]
"""Empty: asserted."""

_NEGATOR = re.compile(
    r"""\b(?:
      not(?!\ (?:only|just|merely|simply|surprisingly|to\ (?:mention|worry)|a\ problem)\b)
    | (?:is|was|are|were|do|does|did|has|have|had|ca|could|wo|would|should|must|ai)n't
        (?!\ (?:worry|hesitate|forget|only|just|wait)\b)
    | (?:isnt|wasnt|arent|dont|doesnt|didnt|hasnt|havent|cant|couldnt|wont)
    | cannot | never | neither | nor | without | nobody | nothing
    | no\ longer
    | no(?!\ (?:doubt|problems?|worries|question|issues?|trouble|need|surprise|matter|
        (?:more|less|fewer|later|earlier)\ than)\b)(?![:,.!])
    | none\ of(?:\ them|\ these|\ those|\ which)?
    | far\ from | any(?:thing|body|one)\ but | yet\ to\ be | has\ yet\ to
    | (?:has|have|needs?)\ to\ be(?!\ the\b)
    | (?:failed|tried|trying|attempted|attempt|wanted)\ to(?:\ be)?
    | (?:crm|system|api|tool|server|database|validation)\ (?:\w+\ )?(?:rejected|refused|declined)
    | other\ than | rather\ than | instead\ of | as\ opposed\ to | ceased\ to\ be | stopped\ being
    )\b""",
    re.VERBOSE,
)
_EXCEPTION = re.compile(
    r"\b(?:except(?: for)?|excluding|excludes|omitting|apart from|aside from|leaving out|minus)\b"
)
_EXCEPTION_END = re.compile(r"[:;)]|\b(?:but|is|are|was|were|has|have|these|those|the rest)\b")
_NO_SUBJECT = re.compile(
    r"\b(?:no|none of(?: the)?|neither of(?: the)?) (?:\w+ ){0,3}"
    r"(?:is|are|was|were|has|have)(?: been)?(?: \w+ly)? (?:the |a |an )?[\"']?$"
)
_SCOPE_END = re.compile(
    r"""\b(?:but|however|although|though|because|since|so|and|while|whereas|yet|instead|rather
      |is|are|was|were|has|have|now|remains?|stays?|stands?|which|who|it's|that's|there's|they're
      |currently\ in|still)\b|[:(]|\ -\ |->""",
    re.VERBOSE,
)
_DENIAL = re.compile(
    r"""\b(?:
      (?:not|n't)\ (?:be\ )?(?:true|the\ case|correct|right|accurate|clear|sure|certain|confirmed)
    | (?:do|did|would|does)(?:n't|\ not)\ (?:think|believe|know|look\ like|mean|say)
    | (?:can't|couldn't|cannot|can\ not|could\ not)
        \ (?:confirm|say|tell|find|verify|see|be\ sure|determine)
    | unable\ to\ (?:confirm|say|tell|find|verify|determine)
    | it\ is\ (?:wrong|false|incorrect) | (?<!no\ )(?<!without\ )(?<!a\ )(?<!any\ )doubt
    )\b""",
    re.VERBOSE,
)
_DENIAL_END = re.compile(r"[:;(]|, (?!or\b)|\b(?:but|and|so|however|instead)\b")
_OR = re.compile(r"\bn?or\b")
_DENIED_AFTER = re.compile(
    r"""[\s)"']*(?:
      \?\s*(?:no\b|not\b|nope\b|never\b)
    | [-,(:]*\s*(?:not\ (?:any\ ?more|any\ longer|now\b|true|correct|right|the\ case)|no\ longer
        |(?:is|was|that's|it's)?\s*(?:wrong|incorrect|false)\b)
    | (?:is|are|was|were|would\ be)(?:n't|\ not|\ no\ longer)\ (?:the|its|their|his|her|correct
        |right|true|accurate|what|it\b|one\ of|among|in\ the|on\ the|included|listed|part|any\ ?more
        |current|applicable|found|present|yet)
    | (?:is|are|was|were)\ (?:wrong|incorrect|false|inaccurate|outdated|mistaken|out\ of\ date
        |a\ mistake|an\ error)
    | (?:does|do|did)(?:n't|\ not)\ (?:apply|exist|match|count|qualify|belong|appear)
    | ,?\ (?:but|which|and)\ (?:(?:that|this|it)(?:'s|\ is|\ was)|is|was)\ (?:now\ )?
        (?:outdated|wrong|stale|incorrect|old|out\ of\ date
        |(?:not|no\ longer)\ (?:true|right|valid|correct|current|up))
    )""",
    re.VERBOSE,
)
_EXCLUDED_AFTER = re.compile(
    r"[\s)\"']*(?:\([^)]*\)\s*)?(?:,? (?:and|or|nor) [\w' ]{1,40})?,?\s*(?:which |who )?"
    r"(?:is|are|was|were|has|have|does|do|did)(?:n't| not| no longer)\b"
    r"|[\s)\"']*(?:was|were|is|are|has been|have been) "
    r"(?:excluded|omitted|ruled out|left out|skipped)"
)

_CHANGE = re.compile(
    r"\b(?:chang|updat|mov|rais|increas|went|reduc|lower|bump|revis|switch|adjust|push|extend|"
    r"correct|modif|renam|reassign|transferr?|shift|set|amend|advanc|dropp?|cut|grow|grew|grown|"
    r"r[io]se|fell|fall|convert|shorten|postpon|bring|brought|hand|progress|transition|replac)\w*"
)
_FROM = re.compile(r"\bfrom:? (?:an? |the )?(?:[a-z]+ (?=[\"'$\d]))?[\"']?$")
_TO_AFTER = re.compile(r"[\s\"')]*(?:\([^)]*\) ?)?(?:[a-z]+ )?(?:to|into|->|up to|down to)\b")
_ARROW_AFTER = re.compile(r"[\s\"']*(?:->|=+>|-->)")
_VALUE_NOUN = (
    r"(?:\w+\ )?(?:amount|value|price|total|status|stage|date|owner|name|figure|number|probability|"
    r"offer|quote|rate|discount|version|title|phone|email|address|contact|count|one|deadline|term|"
    r"entry|record|setting|level)"
)
_WAS = r"(?:\ (?:was|were|is|had\ been|of|at|were\ at|was\ at|stood\ at))?"
_OLD_BEFORE = re.compile(
    rf"""(?:
      \b(?:previously|formerly|originally|initially|earlier|used\ to\ be|once)
        (?:\ (?:(?:it|they)\ (?:was|were)|at|set\ (?:to|at)|listed\ (?:as|at)|quoted\ at
          |valued\ at|priced\ at|in|was|recorded\ as|was\ (?:at|set\ to)|the|a|an|stage|status))*
    | \b(?:old|previous|prior|former|original|earlier|outdated|superseded|stale|past)
        \ {_VALUE_NOUN}s?(?:\ \([^)]*\))?{_WAS}
    | \b(?:old|previous|prior|former|original|outdated|superseded|stale|before|was|past)
    | \b(?:up|down|changed|moved|updated|increased|raised|reduced)\ from
    | \b(?:instead\ of|rather\ than|in\ place\ of|replac(?:es|ing|ed)|superseding|as\ opposed\ to)
        (?:\ the)?(?:\ {_VALUE_NOUN})?(?:\ of)?
    )\ ?[:=]?\ ?["'(]?$""",
    re.VERBOSE,
)
_OLD_LABEL = re.compile(r"(?:^|[|(\n,;])\s*(?:before|from|old|previous|prior|was)(?: \w+)?:\s*$")
_WAS_BEFORE = re.compile(
    r"\b(?:was|were|had been|stood)(?: (?:at|in|set (?:to|at)|only|just|the))?[\s\"']*$"
)
_BARE_WAS = re.compile(r"(?:[(,]\s*was|\bwas)\s*$")
_PLANNED = re.compile(r"\b(?:was|were) (?:going|supposed|meant|due|planned|scheduled|set) to\b")
_CHANGED_AFTER = re.compile(r"\b(?:but|however|now|then|instead)\b")
_NOW_AFTER = re.compile(
    r"\b(?:it's now|is now|are now|now (?:it|at|is|stands|in|shows|reads|\$|\d)|has since|"
    r"(?:and|but|then|later|since) (?:was |has been |been |got )?(?:chang|updat|rais|mov|increas|"
    r"reduc|lower|revis|bump|amend|correct)\w+ to)"
)
_OLD_AFTER = re.compile(
    r"""[\s)"']*,?\s*(?:
      (?:previously|originally|formerly|beforehand|in\ the\ past|back\ then)\b
    | before\ (?:that|this|the\ (?:change|update|edit|correction|revision)|it\ was|now|today)\b
    | \((?:old|previous|formerly|former|outdated|superseded|before|original|no\ longer)(?:\ \w+)?\)
    | until\ (?:now|today|yesterday|recently|last|the\ (?:change|update))
    | (?:is|was|were|has\ been|have\ been|got|had\ been)\ (?:since\ )?(?:replaced|superseded|changed
        |updated|raised|increased|reduced|lowered|revised|amended|corrected)\b
    | (?:became|turned\ into)\b
    )""",
    re.VERBOSE,
)

_HEDGE = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|probably|presumably|likely|might be|may be|could be|"
    r"may have|might have|i (?:think|guess|suspect|assume|suppose)|i'm (?:guessing|not sure)|"
    r"not sure|unsure|seems?(?: to be)?|appears to be|somewhere|between|should be around|"
    r"if .* would be|would have been|i(?:'d| would)? (?:suggest|recommend|propose)|suggests|"
    r"or maybe|i'd guess|my guess|estimated?|if i recall)\b"
)
_HEDGE_END = re.compile(r"[:;(]|, (?!or\b)|\bbut\b|\bso\b|\bin fact\b|\bactually\b")
_HEDGE_AFTER = re.compile(
    r"[\s)\"']*,?\s*(?:i (?:think|guess|suspect|assume|suppose)\b|maybe\b|perhaps\b|probably\b|"
    r"or so\b|if i recall|give or take|or thereabouts|\(\?\)|\?\?|(?:i'm )?not sure)"
)
_OFFER = re.compile(
    r"\b(?:i|we)(?:'ll|'d| (?:can|could|would|will|should|might|may|am going to))"
    r"(?!'|n't|not\b| not\b)(?: (?:gladly|also|instead|happily|then))?"
    r"(?! (?:confirm|see|tell|report|say|verify|find|assure|only|advise|inform|read|now confirm))\b"
)
_OFFER_END = re.compile(r"\b(?:is|are|was|were|has|have|but|and|it's|that's|get|arrive)\b|[:;(]")
_CONDITION = re.compile(r"(?:^|[\s,(])(?:if|unless|whether|assuming|suppose|in case|should you)\b")
_CONDITION_END = re.compile(r"[,:;(]|\bthen\b")
_ASKING = re.compile(
    r"""(?:^|[,;:(-]\s*|\b(?:and|so|but|or)\s+(?=(?:would|do|shall|should|can|could)\s(?:you|i|we)\b))
    (?:and\ |or\ |so\ |but\ )?
    (?:would|do|does|did|is|are|was|were|shall|should|can|could|may\ i|what|which|who|whom|whose
      |when|where|how|why|want|any|anything|have|has|am\ i|will|right|correct|ok|okay|yes|no
      |did\ you|let\ me\ know)\b""",
    re.VERBOSE,
)
_OFFERED_NEXT = re.compile(
    r"^[^.;!?\n]{0,60}\s(?:would you like (?:me|to)|shall i|want me to|do you want me to|"
    r"should i (?:also|now|then))\b"
)
"""After the value an offer begins without a full stop between: "12,500 Would you like me to …?"."""
_YES_AFTER = re.compile(
    r"[^?\n]{0,60}\?+[\s|\"')]*(?:value:\s*)?(?:yes|yep|yeah|correct|indeed|it is|exactly)\b"
)

_INEXACT_BEFORE = re.compile(
    r"""(?:
      \b(?:about|around|approx(?:imately|\.)?|roughly|circa|ca\.?|nearly|almost|close\ to
        |just\ shy\ of|just\ (?:over|under|above|below)|somewhere\ (?:around|near)
        |in\ the\ (?:region|ballpark)\ of|an?\ estimated|estimated\ at|some|or|give\ or\ take)
    | ~ | \b(?:either|between)\b[^,;:]{0,30}
    )\s*(?:the\ |a\ )?$""",
    re.VERBOSE,
)
_BOUND_BEFORE = re.compile(
    r"(?:\b(?:over|under|above|below|(?:more|less|fewer|greater|higher|lower) than|at least|"
    r"at most|(?<!add )(?<!adds )(?<!adding )up to|as (?:much|many|few|little) as|"
    r"in excess of|exceed(?:s|ing)?|upwards of|no (?:more|less|fewer) than|max(?:imum)?(?: of)?|"
    r"min(?:imum)?(?: of)?)|(?<![-=])[<>]=?)\s*(?:the |a )?$"
)
_INEXACT_AFTER = re.compile(
    r"\s*(?:or so|or thereabouts|-?ish\b|or more|or less|or fewer|or higher|or lower|and up\b|"
    r"and above|approximately\b|approx\b|give or take|-odd\b|plus or minus|\+/-)"
)
_DIGIT_WORD = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_RANGE_AFTER = re.compile(
    rf"\s*(?:-|to|or|through)\s*(?:(?:[$€£]|usd |eur |gbp )?\d|(?:{_DIGIT_WORD})\b)"
)
_OR_DATE_AFTER = re.compile(
    r"\s*or (?:on )?(?:the )?(?:\d|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|"
    r"oct|nov|dec)"
)
_RANGE_BEFORE = re.compile(
    rf"(?:(?<![a-z\d.,])\d[\d,.]*(?:k|m|mm|bn)?\s*(?:%|usd|eur)?|\b(?:{_DIGIT_WORD}))\s*(-|\bto|\bor|\bthrough)\s*$"
)


_REACH = 400
"""Characters around a mention within which its sentence can deny, condition or replace it."""


def stance(
    reading: Reading, start: int, end: int, *, numeric: bool = False, date: bool = False
) -> Stance:
    """How the reading stands to what it says at ``[start, end)``.

    Args:
        numeric: It is a number: "about", "at least" and ranges count.
        date: It is a date: "from … to …" is a period unless something is said to change.
    """
    low = reading.low
    first, last = reading.sentence(start)
    # No cue reaches further; what has no full stop can be as long as a data dump.
    prefix, suffix = low[max(first, start - _REACH) : start], low[end : min(last, end + _REACH)]
    prefix = prefix[prefix.rfind(";") + 1 :]
    if "?" in suffix and _asked(low, prefix, suffix, end):
        return "asked"
    if reading.may_negate and _negated(prefix, suffix, low[end : end + 60]):
        return "negated"
    if reading.may_replace and _old(prefix, suffix, low[end : end + 90], numeric, date):
        return "old"
    if prefix and reading.may_suppose and _governed(_CONDITION, _CONDITION_END, prefix):
        return "conditional"
    if reading.may_doubt:
        if prefix and _governed(_OFFER, _OFFER_END, prefix):
            return "conditional"
        if (prefix and _governed(_HEDGE, _HEDGE_END, prefix)) or _HEDGE_AFTER.match(suffix):
            return "hedged"
    if (numeric or date) and _inexact(prefix, suffix, numeric):
        return "inexact"
    return ""


def is_excluded(reading: Reading, start: int, end: int) -> bool:
    """Whether what is said at ``[start, end)`` is named to be ruled out: "Acme is not"."""
    _, last = reading.sentence(start)
    return _EXCLUDED_AFTER.match(reading.low, end, last) is not None


def is_bound(reading: Reading, start: int) -> bool:
    """Whether the number at `start` is only given as a bound: "at least", "up to"."""
    return _BOUND_BEFORE.search(reading.low, max(0, start - 24), start) is not None


def _asked(low: str, prefix: str, suffix: str, end: int) -> bool:
    if _OFFERED_NEXT.search(suffix):
        return False
    question = prefix + "\x00" + suffix
    opening = _ASKING.search(question)
    if opening is not None and opening.start() > len(prefix):
        return False
    return _YES_AFTER.match(low, end) is None


def _negated(prefix: str, suffix: str, after: str) -> bool:
    if _DENIED_AFTER.match(after):
        return True
    if not prefix:
        return False
    if _governed(_DENIAL, _DENIAL_END, prefix):
        return True
    if _governed(_EXCEPTION, _EXCEPTION_END, prefix) or _NO_SUBJECT.search(prefix):
        return True
    cue = _last(_NEGATOR, prefix)
    if cue is None:
        return False
    between = prefix[cue.end() :]
    if _SCOPE_END.search(between) or between.count(" ") > 10:
        return False
    comma = between.find(",")
    return comma < 0 or _OR.search(between[comma:] + suffix[:40]) is not None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def _governed(cue: re.Pattern[str], end: re.Pattern[str], prefix: str) -> bool:
    """Whether the last cue in the prefix reaches the mention."""
    found = _last(cue, prefix)
    return found is not None and end.search(prefix, found.end()) is None


def _old(prefix: str, suffix: str, after: str, numeric: bool, date: bool) -> bool:
    if _OLD_AFTER.match(suffix) or _ARROW_AFTER.match(suffix):
        return True
    if not prefix:
        return False
    if _PLANNED.search(prefix) and _CHANGED_AFTER.search(after):
        return True
    if _FROM.search(prefix, max(0, len(prefix) - 32)):
        leads_on = _TO_AFTER.match(suffix) is not None
        if _CHANGE.search(prefix) or (leads_on and numeric and not date):
            return True
    if _BARE_WAS.search(prefix) and prefix.rstrip().endswith(("(was", ", was", "| was")):
        return True
    if _WAS_BEFORE.search(prefix, max(0, len(prefix) - 32)):
        return _NOW_AFTER.search(after) is not None or _is_old_noun(prefix)
    return _is_old_noun(prefix) or _OLD_LABEL.search(prefix, max(0, len(prefix) - 48)) is not None


def _is_old_noun(prefix: str) -> bool:
    found = _OLD_BEFORE.search(prefix, max(0, len(prefix) - 64))
    return found is not None and found[0].strip(" :=\"'(") != "was"


def _inexact(prefix: str, suffix: str, numeric: bool) -> bool:
    if _INEXACT_BEFORE.search(prefix, max(0, len(prefix) - 48)) or _INEXACT_AFTER.match(suffix):
        return True
    if not numeric:
        return _OR_DATE_AFTER.match(suffix) is not None
    if _RANGE_AFTER.match(suffix):
        return not (_FROM.search(prefix) or _CHANGE.search(prefix))
    ranged = _RANGE_BEFORE.search(prefix, max(0, len(prefix) - 24))
    return ranged is not None and not (
        ranged[1] == "to" and (_CHANGE.search(prefix) or "from" in prefix)
    )
