"""What a reply says was done, against what was written.

Leaving details out is no fault, and a bare "Done." passes. That it was not done, another record,
person or value than what was written, or more than was done is a misreport.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.answer import STATES
from crmbench.grading.deeds import Deeds
from crmbench.grading.facts.context import Context
from crmbench.grading.report_values import unknown_values
from crmbench.grading.words import Problem
from crmbench.language.capitals import is_title, runs, words_of
from crmbench.language.claims import claims
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read

MISREPORT = "misreports what was done"
"""How the problems begin that say so; they are counted apart."""

_NOT_DONE = re.compile(
    r"""\b(?:
      (?:i|we)(?:'ve|\ have)?\ (?:could|can|did|do|have|has|was|am|are|were|will|would|must|may)?
        \ ?(?:n't|not|\ not)\b
    | (?:i|we)\ (?:couldn't|can't|cannot|didn't|haven't|won't|wasn't|am\ unable|was\ unable
        |could\ not|did\ not|have\ not|will\ not|refuse|decline|failed)
    | (?:has|have|was|were|is|are|could|can|did|does|would)(?:n't|\ not)\ (?:yet\ )?
        (?:be\ |been\ )?(?:\w+ed|done|made|set|put|go|saved|written|sent|possible|allowed|changed)\b
    | (?:failed|failure|rejected|refused|declined|denied|unable|rather\ not|turned\ (?:it\ )?down)
    | no\ (?:change|changes|update|comment|note|deal|quote|contact|case|article|contract)
        \ (?:was|were|is|has\ been|have\ been)\ \w+
    | nothing\ (?:was|is|has\ been|got)\ (?:changed|done|created|saved|written|updated)
        (?!\ (?:else|besides|beyond|otherwise))
    | (?:stays?|remains?|still)\ (?:\w+\ ){0,3}?(?:with|as|in|on|at|where|what|unchanged
        |[\w-]+(?:\ [\w-]+)?'s)\b
    | left\ (?:it|the\ [\w'\ ]{1,30}|everything)\ (?:with|as|at|in|unchanged|alone)
    | (?:can't|cannot)\ be\ \w+ed\b | not\ (?:yet\ )?(?:saved|done|sent|created|added|made)
        (?:\ (?:it|them))?\ yet | (?:aren't|isn't)\ (?:there|saved|set)\b
    | i\ left\ (?:it|that|them|one|the\ \w+)?\ ?out\b | the\ \w+\ i\ left\ out
    | (?:could|can|did|do)(?:n't|not|\ not)\ (?:be\ )?
        (?:add|save|make|set|write|change|update|find|do|create|move|assign|escalate|put|correct|draft|comment|extend|mark)\w*
    | (?:leave|left|leaving|made|make|added|add|wrote|created)\ (?:it\ alone|nothing
        |no\ (?:comment|note|change|changes|deal|quote|entry|contract|article))
    | (?:unchanged|untouched)
    )""",
    re.VERBOSE,
)
_ELSE = re.compile(
    r"\b(?:else|others?|otherwise|further|besides|"
    r"any longer|any more|anymore|no longer|rest)\b"
)
_UNASKED = (
    (
        "publish",
        re.compile(r"\b(?:published|(?:is|are|now|went|gone|put it) (?:\w+ )?(?:online|live))\b"),
    ),
    ("e-mail", re.compile(r"\b(?:e-?mailed|sent (?:\w+ ){0,3}(?:e-?mail|message|mail|letter))\b")),
    ("notify", re.compile(r"\b(?:notified|informed|let (?:\w+ ){1,3}know(?! if))\b")),
    ("delete", re.compile(r"\b(?:deleted|erased)\b")),
    ("refund", re.compile(r"\b(?:refunded|credited|reimbursed)\b")),
    ("close", re.compile(r"\b(?:closed the case|case (?:is|was|has been) closed)\b")),
)
_DEED = re.compile(
    r"publish|online|live|mail|sent|notif|inform|know|deleted|erased|fund|cred|reimb|clos"
)
"""What of `_UNASKED` no match is without."""
_IDS = re.compile(
    r"(?<![A-Za-z0-9-])(?:(?=[A-Za-z0-9]*\d)[a-zA-Z0-9]{15}(?:[A-Za-z0-9]{3})?|"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![A-Za-z0-9-])"
)


def report_problems(reply: str, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """What a reply misreports of a turn's deeds, the certain faults and the possible ones."""
    if not deeds:
        return
    reading = read(reply)
    if reading.low.strip(" .!\n") in _BARE:
        return
    yield from _undone(reading, deeds)
    yield from _other_record(reading, deeds, context)
    yield from _other_name(reading, deeds, context)
    yield from _more(reading, deeds, context)
    yield from _other_figure(reading, deeds, context)
    for why in unknown_values(reading, deeds, context):
        yield _misreport(why, False)


_BARE = frozenset(("done", "ok", "okay", "all done", "it's done", "all set"))


def _misreport(why: str, certain: bool) -> Problem:
    return Problem(f"{MISREPORT}: {why}", certain)


def _undone(reading: Reading, deeds: Deeds) -> Iterator[Problem]:
    """It was done, and the reply says that it was not."""
    denials = [
        match
        for match in (_NOT_DONE.finditer(reading.low) if reading.may_deny else ())
        if not _is_benign(reading, match.start(), deeds)
    ]
    if not denials:
        offer = _OFFERS.search(reading.low)
        if offer and not claims(reading):
            yield _misreport(f"it may only offer to do it: {offer[0]!r}", False)
        return
    words = denials[0][0].strip()
    done = [claim for claim in claims(reading) if claim.start < denials[0].start()]
    if any(claim.weight == "certain" for claim in done):
        later = _UNDONE_AFTER_ALL.search(reading.low, denials[0].start())
        if later is None:
            if len(deeds.effect) > 1 or _CONCEDED.search(reading.low):
                yield _misreport(f"a part may not have been done: {words!r}", False)
            return
    claimed = any(claim.weight != "state" for claim in claims(reading))
    yield _misreport(f"it was done, and the reply says {words!r}", not claimed)


_CONCEDED = re.compile(r"\b(?:but|except|although|though|however|only|yet)\b")
_UNDONE_AFTER_ALL = re.compile(
    r"\b(?:failed|could not be|couldn't be|rejected|refused|did not go through|didn't go through|"
    r"not saved|still (?:with|in its old))\b"
)


def _is_benign(reading: Reading, start: int, deeds: Deeds) -> bool:
    """Whether a denial is of something else: "nothing else", or that a draft is online."""
    clause = reading.low[start : reading.sentence(start)[1]]
    drafted = "draft" in deeds.new and _ONLINE.search(clause) is not None
    return drafted or _ELSE.search(clause) is not None


_ONLINE = re.compile(r"\b(?:online|publish\w*|live)\b")
_OFFERS = re.compile(
    r"\b(?:if you (?:agree|want|like|wish|confirm)|shall i|should i|do you want me to|"
    r"would you like "
    r"me to|i(?:'ll| will| can| could))\b"
)


def _other_record(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """An id of the same kind of record as one that was written, and of none that was."""
    found = [_short(match[0]) for match in _IDS.finditer(reading.text)]
    if not found:
        return
    known = {_short(key) for key in deeds.keys}
    user = {_short(key) for key in _IDS.findall(f"{context.question}\n{context.earlier}")}
    right = [key for key in found if key in known]
    for key in found:
        if key in known:
            continue
        rivals = [other for other in known if other[:3] == key[:3]]
        named_right = any(other in right for other in rivals)
        if rivals and not named_right:
            yield _misreport(f"{key} was not written", True)
        elif key not in user:
            yield _misreport(f"{key} is not what was written", False)
        return


def _short(key: str) -> str:
    return key[:15] if len(key) == 18 else key


_TO = re.compile(
    r"(?:\b(?:to|with|goes to|given to|new (?:owner|agent)(?: is|:)?|owner(?: is|:)|owner to|"
    r"passed to|assigned to)\s*)$"
)
_FROM = re.compile(
    r"(?:\b(?:from|before(?: was|:| is|,)?|previous(?:ly)?(?: \w+)?(?: was|:|,)?|was|were|"
    r"formerly|former "
    r"(?:owner|agent):?|instead of|replac\w+|isn't|not|no longer|until now|away from|old "
    r"owner:?)\s*)$"
)
_TAKES = re.compile(
    r"^\s*(?:now )?(?:has(?! (?:it )?(?:until|before))|owns|takes|gets|is (?:now )?the (?:new )?"
    r"(?:owner|one|agent)|has (?:now )?been assigned|was assigned|is in charge|is responsible|"
    r"will (?:take|handle))\b"
)
_HAD = re.compile(
    r"^(?:'s)?\s*(?:had (?:it|the case|this|that|\w*\d)|before|until|any longer|no longer|"
    r"(?:is|was) (?:the )?(?:\w+ )?(?:owner|one)(?: before)?|is no longer)\b"
)


def _other_name(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """Another person, article or product than the one that was written, or the two swapped."""
    yield from _stranger(reading, deeds, context)
    found = list(deeds.directory.mentions(reading.low))
    if not found:
        return
    new, old = deeds.texts, deeds.old
    right = any(name in new for name, _, _ in found)
    for name, start, end in found:
        if name in context.said and not (
            _role(reading, start, end) == "new" and deeds.tables & deeds.directory.tables[name]
        ):
            continue
        if name in old and not _in_deeds(name, deeds):
            if _role(reading, start, end) == "new":
                yield _misreport(f"{name!r} was replaced, not set", True)
            continue
        if name in new:
            if _in_deeds(name, deeds) and old and _role(reading, start, end) == "old":
                yield _misreport(f"{name!r} is what was set, not what was before", False)
            continue
        if deeds.tables & deeds.directory.tables[name]:
            yield _misreport(f"{name!r} was not written", not right)
        elif name not in context.record_text and deeds.directory.tables[name] - {""}:
            yield _misreport(f"{name!r} is not what was written", False)


def _in_deeds(name: str, deeds: Deeds) -> bool:
    return any(name == value for value in deeds.new)


def _role(reading: Reading, start: int, end: int) -> str:
    """Whether a name is given as what is now ("new"), what was ("old"), or neither."""
    first, last = reading.sentence(start)
    before, after = reading.low[first:start], reading.low[end:last]
    if (
        _HAD.match(after)
        or _AWAY.match(after)
        or _FROM.search(before.rstrip("\"' *") + " ")
        or _THEN.search(before)
    ):
        return "old"
    return "new" if _TO.search(before) or _TAKES.match(after) else ""


_AWAY = re.compile(r"^\s*(?:is |being )?(?:away|absent|out|off|on leave)\b")
_THEN = re.compile(r"\b(?:before (?:that|this)|until then|(?:was|were) with|previously)\b")


def _stranger(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """A name of several words that neither the user, nor the records, nor the deeds know."""
    for run in runs(reading.text):
        if len(run.text.split()) < 2 or is_title(run.text):
            continue
        words = words_of(run.text) - context.known_words - _STATE_WORDS
        # The records are long, and their words are only made where nothing else knows the name.
        if not words or words <= deeds.words:
            continue
        words -= deeds.words | context.people_words | context.record_words
        if words and fold(run.text) not in context.record_text:
            yield _misreport(f"{run.text!r} is not known", False)
            return


_STATE_WORDS = frozenset(word for name in STATES for word in words_of(name))


def _more(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """More than was done: "published", where a draft was made."""
    if not _DEED.search(reading.low):
        return
    for stem, pattern in _UNASKED:
        match = pattern.search(reading.low)
        drafted = stem == "publish" and "draft" in deeds.new
        asked = stem[:5] in context.question.lower() or stem in deeds.texts
        if match is None or (asked and not drafted):
            continue
        if _denied(reading, match.start()):
            continue
        yield _misreport(f"it says {match[0]!r}", drafted)
        return


_UNIT = re.compile(
    r"[\s-]?(?:(days?|weeks?|months?|years?|hours?|minutes?|inches|degrees?|pounds?|dollars?|percent)"
    r"\b|[%$])"
)
_MONTH = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
)


def _other_figure(reading: Reading, deeds: Deeds, context: Context) -> Iterator[Problem]:
    """A figure with its unit, or a month, in the place of the one that the written text holds."""
    figures = [
        (amount, unit)
        for amount in (*reading.numbers, *reading.number_words)
        if (unit := _unit(reading, amount.end))
    ]
    named = set(_MONTH.findall(reading.low))
    if not (figures or named):
        return
    written = deeds.written
    told = [*written.numbers, *written.number_words]
    known = {amount.value for amount in (*told, *read(context.question).numbers)}
    units = {_unit(written, amount.end) for amount in told} - {""}
    for amount, unit in figures if units else ():
        if amount.value not in known:
            right = any(each.value in {a.value for a in told} for each in reading.numbers)
            yield _misreport(
                f"{reading.low[amount.start : amount.end]!r} {unit} was not written",
                unit in units and not right,
            )
            return
    months = set(_MONTH.findall(written.low))
    others = named - months - set(_MONTH.findall(context.said))
    if months and others and not months & named:
        yield _misreport(f"{sorted(others)[0]!r} was not written", True)


def _unit(reading: Reading, end: int) -> str:
    match = _UNIT.match(reading.low, end)
    return (match[1] or match[0]).strip().rstrip("s") if match else ""


_DENIED = re.compile(
    r"\b(?:not|n't|no|nothing|never|none|before|until|once|when|shall|should|want|if|can|could|"
    r"would|will|may|to be|nor|without|yet)\b[^.;!?\n]{0,40}$|n't\b[^.;!?\n]{0,40}$"
)


def _denied(reading: Reading, start: int) -> bool:
    first, _ = reading.sentence(start)
    return _DENIED.search(reading.low, first, start) is not None
