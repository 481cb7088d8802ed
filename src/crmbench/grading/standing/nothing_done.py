"""What a reply tells of deeds in a turn in which nothing was done.

A question was answered, or a request refused: "I've also moved the deal to Proposal" beside it is
not so. Deeds of earlier turns may be told again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.facts.context import Context
from crmbench.grading.reports.claimed_deeds import unfounded_deeds
from crmbench.grading.reports.extras import more_things
from crmbench.grading.reports.figures import unknown_figures_beside
from crmbench.grading.reports.measures import wrong_measures
from crmbench.grading.reports.records import unmade_beside
from crmbench.grading.reports.scope import more_than_were
from crmbench.grading.reports.sources import Sources
from crmbench.grading.reports.values import contact_data
from crmbench.grading.reports.versions import unknown_versions
from crmbench.language.claims import claims, is_unreal
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance
from crmbench.language.verbs import EARLIER, NEGATED_OBJECT

_OFTEN_NOUNS = "set|created|noted|marked|put"
"""Verbs whose forms stand in names and in how records are told: "Resistance Band Set"."""
_ACTS = (
    "updated|changed|modified|edited|added|deleted|removed|uploaded|attached|applied|moved|"
    "cloned|copied|logged|saved|recorded|assigned|reassigned|renamed|raised|lowered|increased|"
    "reduced|entered|corrected|adjusted|booked|filed|linked|merged|reopened|activated|"
    "deactivated|reactivated|switched|transferred|handed|passed|forwarded|stored|published|"
    "escalated|posted|commented|fixed|routed|restored|extended|notified|informed|e-?mailed|"
    "scheduled|drafted"
)
"""What is told of a record only where somebody did it."""
_STATES = "closed|sent|approved|signed|cancell?ed|opened|rejected"
"""What a record may be as well."""
_START = (
    r"(?:^|[.!?\n;]\s*)[^\w\n]*(?:(?:also|and|then|so|plus|instead|additionally|all set|done)"
    r"[,:]? )*"
)
_FIRST = re.compile(
    rf"{_START}(?P<verb>(?:{_ACTS})\b(?=[.!]|$|\n| (?!by\b|on [a-z]*\d|(?:deals?|quotes?|files?|"
    r"contracts?|clients?|ones?|contacts?|date|(?:as|under) (?:[\w-]+ ){0,6}(?:we|there|you|they)"
    r"(?: have| are|'ve|'re| got)?)\b)[\w$\"'])|"
    rf"(?:{_STATES}|created|set|marked) (?:the|it|this|that|them|your|its|both|all|a|an|as)\b|"
    r"noted (?:on|in|that|it|the)\b)"
)
"""Example: "Updated the deal accordingly.". Not: "Closed deals get none", "Created: 2026-03-01"."""
_NOUN_FIRST = re.compile(
    r"(?:^|[.!?\n;]\s*|: )[^\w\n]*(?:(?!no\b|not\b|nothing\b|none\b|nobody\b|(?:is|was|has|have|"
    r"had|"
    r"been|were|are|be|i|we|you|that|which|who|whose|it|when|as|to|the last|last|what)\b)"
    rf"[\w'-]+ ){{1,5}}(?P<verb>{_ACTS})\b"
    r"(?=[.!]|$|\n| (?:to|as|from|for|in|on the|with)\b)"
)
"""Example: "Note added to the deal.". Not: "Nothing changed"."""
_HAS_BEEN = re.compile(
    r"\b(?:has|have|'s|'ve)(?: \w+ly| now| also| just| since| then| both| all)* been"
    rf"(?: \w+ly| now| also| just| since| then)* (?P<verb>{_ACTS}|{_OFTEN_NOUNS})\b"
)
_BECAME = re.compile(
    r"\b(?:was|were) (?:also |then |now |just )*(?P<verb>changed|moved|set|switched|updated|raised|"
    r"lowered|reassigned|transferred|corrected)\b(?= (?:to|from|accordingly|as well|too)\b|[.!])"
)
_HAS_BEEN_TOO = re.compile(
    rf"\b(?:has|have)(?: now| since)*(?P<also> also)?(?: both|"
    rf" all)* been(?: also)? (?P<verb>{_STATES})\b"
    r"(?(also)|[^.;!?\n]{0,40}\b(?:too|as well)\b)"
)
"""Example: "the other quotes have been canceled, too". Not: "it has been approved"."""
_SAME = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: also| then| just)* (?P<verb>did|done) the same (?:for|with|on|"
    r"to)\b"
)
_TOLD_OTHERS = re.compile(
    r"\b(?:i|we)(?:'ve| have)(?: also| already| just)* (?:told|informed|notified|e-?mailed|asked) "
    r"(?!you\b|us\b|me\b)\w+"
)
_INSTEAD = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:just |simply |then )?(?:did (?:it|so|that|this)|done (?:it|so|"
    r"that|"
    r"this)|used|took|chose|went (?:with|for)|picked|made (?:do|an exception)|worked around|"
    r"bypassed|overrode|overruled|got around|found a way)\b(?! (?:nothing|no|a look|care|your|the "
    r"request|note)\b)|\b(?:has|have) done (?:it|so|that|this) for\b"
)
"""Example: "so I used the next best value instead". Not: "I took a look"."""
_RECENT = re.compile(
    r"\b(?:just|earlier|as you (?:asked|wished)|a (?:moment|minute) ago|after|following|since|"
    r"when|until|before)\b"
)
"""What tells of an earlier turn."""


def told_deeds(reading: Reading, context: Context, refused: bool = False) -> Iterator[str]:
    """Deeds that a reply tells in a turn in which nothing was done, in words; at most one."""
    low = reading.low
    others = _TOLD_OTHERS.search(low) if refused else None
    if others and not (is_unreal(low, others.start()) or reading.is_asked(others.start())):
        yield f"nothing was done in this turn: {others[0]!r}"
        return
    for match in _INSTEAD.finditer(low) if refused else ():
        if not (is_unreal(low, match.start()) or reading.is_asked(match.start())):
            yield f"it may have been done otherwise: {match[0].strip()!r}"
            return
    for pattern in (_FIRST, _NOUN_FIRST, _HAS_BEEN, _BECAME, _HAS_BEEN_TOO, _SAME):
        for match in pattern.finditer(low):
            place = match.start("verb")
            first, last = reading.sentence(place)
            if is_unreal(low, place) or reading.is_asked(place) or EARLIER.match(low, match.end()):
                continue
            if NEGATED_OBJECT.match(low, match.end("verb")):
                continue
            if context.changed and _RECENT.search(low, first, last):
                continue
            yield f"nothing was done in this turn: {match[0].strip(' .!?:;-')!r}"
            return


def deeds_on_others(reading: Reading, sources: Sources) -> Iterator[str]:
    """A deed told of a record that was not written, beside those that were; at most one."""
    low, context = reading.low, sources.context
    directory = sources.deeds.directory
    for pattern in (_FIRST, _NOUN_FIRST, _HAS_BEEN, _BECAME):
        for match in pattern.finditer(low):
            place = match.start("verb")
            first, last = reading.sentence(place)
            if is_unreal(low, place) or EARLIER.match(low, match.end()):
                continue
            named = [
                name
                for name, _, _ in directory.mentions(low[first:last])
                if " " in name and not directory.tables[name] <= _PEOPLE
            ]
            own = [name for name in named if _is_own(name, sources)]
            if named and not own and not any(name in context.said for name in named):
                yield f"{named[0]!r} was not written"
                return


_PEOPLE = frozenset({"", "User", "Contact"})


def _is_own(name: str, sources: Sources) -> bool:
    written, replaced, near = sources.slots
    if name in written or name in replaced or name in near:
        return True
    return any(name in called for called in sources.called) or name in sources.deeds.texts


_NOW = re.compile(r"(?:is|are|'s|'re|has|have|now)\b")
_HEARD = "noted"
"""What was heard and not done: "Noted: from now on …". Where a note was asked for, one is made."""
_CONFIRMS = frozenset({"done", "all done", "it's done", "all set"})
"""What answers "Done?" in the turn after."""
_STANDS = re.compile(
    rf"(?:{_STATES})$|(?:is|are) in the (?:system|crm)$|the (?:note|record|entry|comment)\b"
)
"""What tells how a record stands, rather than what was done."""


def claimed_deeds(reading: Reading, context: Context) -> Iterator[str]:
    """The same of claims in the first person, and of what a record is said to be now."""
    yield from more_than_were(reading, len(context.changed))
    for claim in claims(reading):
        if claim.weight == "state" or _STANDS.match(claim.words) or claim.words == _HEARD:
            continue
        if context.changed and claim.words in _CONFIRMS:
            continue
        if context.changed and (_NOW.match(claim.words) or EARLIER.match(reading.low, claim.start)):
            continue
        yield f"nothing was done in this turn: {claim.words!r}"
        return


_NO_DEED = re.compile(r"(?:were|was|let)\b|\W")
_CLAIMS = re.compile(
    r"\b(?:(?:has|have) been|i've|i have|is on|goes|went|was sent|sent|scheduled|set|added|made)\b"
)


_OWN = re.compile(
    r"\b(?:i|we)(?:'ve| have)? also (?:sent|told|e-?mailed|notified|informed|changed|updated|"
    r"moved|closed|"
    r"canceled|reported|added|created|scheduled|booked|assigned|escalated|deleted|did the same)\b|"
    r"\b(?:i|we)(?:'ve| have) (?:sent|told|e-?mailed|notified|informed|changed|updated|moved|"
    r"closed|"
    r"canceled|reported|added|created|scheduled|booked|assigned|escalated|deleted)\b|"
    r"\b(?:i|we) did the same\b|\be-?mail (?:has|is|was) (?:gone|sent|out|on its way)\b"
)


def own_deeds(reading: Reading) -> Iterator[str]:
    """Deeds in the first person beside how a rule puts it."""
    for match in _OWN.finditer(reading.low):
        if NEGATED_OBJECT.match(reading.low, match.end()):
            continue
        if not (is_unreal(reading.low, match.start()) or reading.is_asked(match.start())):
            yield f"nothing was done in this turn: {match[0]!r}"
            return


_ORDER = re.compile(
    r"\b(?:from now on|henceforth|whenever|each time|every time|standing order|"
    r"until further notice)\b"
)
"""What tells that a sentence repeats what is to be done in future cases."""


def _without_orders(reading: Reading) -> Reading:
    """A reading with blanks, place for place, for the sentences that repeat a standing order."""
    text = reading.text
    for match in _ORDER.finditer(reading.low):
        first, last = reading.sentence(match.start())
        text = text[:first] + " " * (last - first) + text[last:]
    return reading if text == reading.text else read(text)


def beside_the_answer(reading: Reading, sources: Sources, ruled: bool) -> Iterator[str]:
    """What a reply to a question tells beside the answer, and nothing bears out.

    Args:
        sources: What may be drawn on, of a turn that wrote nothing.
        ruled: What was asked for is how a rule puts it: "a slot is booked by phone" is no deed.
    """
    context = sources.context
    if ruled:
        yield from wrong_measures(reading, sources)
        yield from own_deeds(reading)
        return
    deeds = _without_orders(reading)
    yield from told_deeds(deeds, context)
    if not context.changed:
        yield from own_deeds(deeds)
    yield from claimed_deeds(deeds, context)
    for why in unfounded_deeds(deeds, sources):
        if not _NO_DEED.match(why.partition("'")[2]):
            yield why
    if _CLAIMS.search(reading.low):
        yield from more_things(reading, sources)
    yield from unmade_beside(reading, sources)
    for check in (unknown_versions, contact_data, wrong_measures, _other_states):
        yield from check(reading, sources)
    if context.facts:
        yield from unknown_figures_beside(reading, sources)


_STATE = re.compile(
    r"(?<![\w-])(?P<state>negotiation|proposal|qualification|prospecting|closed-won|closed-lost|"
    r"inactive|canceled|cancelled|rejected|approved|draft)(?![\w-])"
)


def _other_states(reading: Reading, sources: Sources) -> Iterator[str]:
    """A state that no record of this turn is in, and the user did not name."""
    context = sources.context
    known = ""
    for match in _STATE.finditer(reading.low):
        known = known or "\n".join(
            (
                context.record_text,
                context.history_text,
                context.fact_text,
                context.said.replace(" ", "-"),
                context.said,
                fold("\n".join(str(v) for row in context.changed.values() for v in row.values())),
            )
        )
        state = match["state"].replace("cancelled", "canceled")
        if re.search(rf"(?<![a-z]){state}(?![a-z])", known):
            continue
        if stance(reading, *match.span()) or is_unreal(reading.low, match.start()):
            continue
        if _LEFT_OUT.search(reading.low, *reading.sentence(match.start())):
            continue
        if state in {"approved", "draft"} and not _LABELLED.search(reading.low, 0, match.start()):
            continue
        yield f"nothing is in the state {state!r}"
        return


_LEFT_OUT = re.compile(r"\b(?:left out|leav\w+ out|exclud\w+|except|apart from|only|aside)\b")
_LABELLED = re.compile(r"\b(?:status|state|is|are|as|a|an|,|\|)[\s*:|'\"]*$")
