"""It was done: does the report say that it was not?

What counts is what a denial is about. "The probability stays at 50 %", where only the title was
written, and "the approved v2 stays as it is" deny nothing; "it is still with Cora Warner", who was
replaced, does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.claimed_deeds import KINDS
from crmbench.grading.reports.objects import COLUMNS
from crmbench.grading.reports.other_matters import without_other_matters
from crmbench.grading.reports.recited import without_recited
from crmbench.grading.reports.roles import phrases, spans
from crmbench.grading.reports.sources import Sources
from crmbench.grading.reports.telling import only_offers
from crmbench.language.capitals import words_of
from crmbench.language.claims import claims
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance
from crmbench.language.word_sets import word_set

_NOT_DONE = re.compile(
    r"""\b(?:
      (?:i|we)(?:'ve|\ have)?\ (?:could|can|did|do|have|has|was|am|are|were|will|would|must|may)?
        \ ?(?:n't|not|\ not)\b
    | (?:i|we)\ (?:couldn't|can't|cannot|didn't|haven't|won't|wasn't|am\ unable|was\ unable
        |could\ not|did\ not|have\ not|will\ not|refuse|decline|failed)
    | (?:has|have|was|were|is|are|could|can|did|does|would)(?:n't|\ not)\ (?:yet\ )?
        (?:be\ |been\ )?(?:\w+ed|done|made|set|put|go|saved|written|sent|possible|allowed|changed)\b
    | (?:failed|failure
        |(?<!and\ )(?<!or\ )(?<!one\ )rejected(?!\ (?:quotes?|ones?|offers?)|\ and)|refused
        |declined|denied|unable|rather\ not|turned\ (?:it\ )?down)
    | there\ (?:is|are|was|were)\ (?:therefore\ )?no\ (?:comment|note
          |quote|deal|contact|contract|article)
    | no\ (?:new\ |separate\ |other\ )?(?:change|changes|update|comment|note|deal|quote|contact
          |case|article|contract|version|entry|record|client)
        \ (?:was|were|is|has\ been|have\ been)\ \w+
    | nothing\ (?:had|has|needed|needs|was)\ to\ be\ \w+ed
    | nothing\ to\ (?:escalate|change|assign|correct|merge|do)\b
    | nothing\ (?:was|is|has\ been|got)\ (?:changed|done|created|saved|written|updated)
        (?!\ (?:else|besides|beyond|otherwise))
    | (?:can't|cannot)\ be\ \w+ed\b | not\ (?:yet\ )?(?:saved|done|sent|created|added|made)
        (?:\ (?:it|them))?\ yet | (?:aren't|isn't)\ (?:there|saved|set)\b
    | (?:could|can|did|do)(?:n't|not|\ not)\ (?:be\ )?
        (?:add|save|make|set|write|change|update|find|do|create|move|assign|escalate|put|correct
          |draft|comment|extend|mark)\w*
    | (?:i|we)\ left\ (?:\w+\ )?out\b | the\ \w+\ (?:i|we)\ left\ out
    | (?:made|make|added|add|wrote|created|left|leave)\ (?:nothing
        |no\ (?:comment|note|change|changes|deal|quote|entry|contract|article))
    )""",
    re.VERBOSE,
)
_STAYS = re.compile(
    r"\b(?:stays?(?! (?:valid|good|open until|in force))|stayed|remain(?:s|ed)?(?! valid)|still|"
    r"unchanged|untouched|kept|keeps|(?<!quote )(?<!deal )(?<!one )(?<!place )as before|"
    r"left (?:it|them|alone|as|unchanged|where)|leav(?:e|ing) (?:it|them)|"
    r"left (?!a |an |no )(?:[\w'$,.-]+ ){1,6}?(?:as|alone|unchanged|untouched|at|in place|with|"
    r"where|"
    r"in)|"
    r"as (?:it|they) (?:is|are|was|were)|no change)\b"
)
_ELSE = re.compile(
    r"\b(?:else|others?|namesakes?|otherwise|further|besides|any longer|any more|anymore|"
    r"no longer|rest|"
    r"everyone|else's|by (?:that|this) (?:yet|alone|so far))\b"
)
_COULD_NO_MORE = re.compile(
    r"^\W*(?:could|can)(?:n't|not| not)\b[^.;!?\n]*\bany ?(?:more|longer)\b"
)
"""What "could not be done any more" was not done at all."""
_CONCEDED = re.compile(r"\b(?:but|except|although|though|however|only|yet)\b")
_UNDONE_AFTER_ALL = re.compile(
    r"\b(?:failed|could not be|couldn't be|rejected|refused|did not go through|didn't go through|"
    r"not saved|still (?:with|in its old))\b"
)
_ONLINE = re.compile(r"\b(?:online|publish\w*|live)\b")


def undone(reading: Reading, sources: Sources) -> Iterator[tuple[str, bool]]:
    """Why a report may say that what was done was not, and whether it does for certain."""
    reading = without_other_matters(without_recited(reading, sources), sources)
    denials = [
        match
        for match in (_NOT_DONE.finditer(reading.low) if reading.may_deny else ())
        if not _is_of_something_else(reading, match, sources)
    ]
    stays = None if denials else _stays(reading, sources)
    if not denials and stays is None:
        offer = only_offers(reading, sources)
        if offer:
            yield f"it may only offer to do it: {offer!r}", False
        return
    if stays is not None:
        yield stays
        return
    words = denials[0][0].strip()
    done = [claim for claim in claims(reading) if claim.start < denials[0].start()]
    if any(claim.weight == "certain" for claim in done):
        later = _UNDONE_AFTER_ALL.search(reading.low, denials[0].start())
        if later is None:
            if len(sources.deeds.effect) > 1 or _CONCEDED.search(reading.low):
                yield f"a part may not have been done: {words!r}", False
            return
    claimed = any(claim.weight != "state" for claim in claims(reading))
    claimed = claimed or _told_elsewhere(reading, denials[0].start(), sources)
    # "It is put off to 12 January, so 3 May is not possible."
    claimed = claimed or any(
        first < denials[0].start()
        for cell in sources.cells
        for value in cell.new
        if len(value) > 2 and value not in cell.old
        for first, _ in spans(reading, value)
    )
    # Behind another sentence a denial is more often of something else than one that opens.
    opens = denials[0].start() < reading.sentence(0)[1]
    yield f"it was done, and the reply says {words!r}", opens and not claimed


def _told_elsewhere(reading: Reading, place: int, sources: Sources) -> bool:
    """Whether another sentence than the one at `place` tells a value that was written."""
    first, last = reading.sentence(place)
    rest = f"{reading.low[:first]} {reading.low[last:]}"
    words = words_of(rest)
    told = read(rest)
    _, replaced, _ = sources.slots
    written = {v for c in sources.cells for v in set(c.new) - set(c.old) if len(v) > 2} - replaced
    if sources.context.figures & {amount.value for amount in told.numbers}:
        return True
    return any(
        any(not stance(told, *span) for span in spans(told, value))
        or (" " in value and words_of(value) <= words)
        for value in sorted(written)
    )


_REASON = re.compile(r"\b(?:because|since|as)\b")
"""What follows it tells why: "couldn't add it, because it takes no further documents"."""


def _is_of_something_else(reading: Reading, match: re.Match[str], sources: Sources) -> bool:
    """Whether a denial is of something else: "nothing else", or that a draft is online."""
    clause = _REASON.split(reading.low[match.start() : reading.sentence(match.start())[1]])[0]
    drafted = "draft" in sources.deeds.new and _ONLINE.search(clause) is not None
    if drafted or (_ELSE.search(clause) and not _COULD_NO_MORE.search(clause)):
        return True
    if re.match(r"\W*(?:because|since|as)\b", reading.low[match.end() :]):
        return False
    if _is_anothers(reading, match, sources) or _of_another_deed(reading, match, sources):
        return True
    if _of_what_was_asked(reading, match, sources):
        return True
    first, _ = _part(reading, match.start())
    what = reading.low[first : match.start() + 80].split(",")[0]
    return _names_another_column(what, sources) and not _names_own_column(what, sources)


_NOT_POSSIBLE = re.compile(r"(?:is|was|would be)(?:n't| not) (?:possible|allowed)$")


def _of_what_was_asked(reading: Reading, match: re.Match[str], sources: Sources) -> bool:
    """Whether what was not possible is a day or a figure that was asked for, and another one was
    written: "so 4 August was not possible".
    """
    if not _NOT_POSSIBLE.match(match[0]):
        return False
    asked = read(sources.context.question)
    written = read(sources.deeds.texts)
    days = {(d.month, d.day) for d in asked.dates} - {(d.month, d.day) for d in written.dates}
    figures = {a.value for a in asked.numbers} - sources.deeds.new_figures
    told = [d.end for d in reading.dates if (d.month, d.day) in days]
    told += [a.end for a in reading.numbers if a.value in figures]
    return any(not reading.low[end : match.start()].strip() for end in told if end <= match.start())


_DENIED_VERB = re.compile(
    r"\W*(?:yet|also|actually|otherwise|so far|be|been|had|have)?\W*([a-z-]+)"
)
_TELLING = re.compile(
    r"\b(?:notif|inform|let (?!me\b|us\b).{1,40}know|tell (?!me\b|us\b)|call (?:him|her|them)|"
    r"(?:e-?mail|send|mail) (?:it|them|him|her|the)\b|forward)"
)
_TELLS = re.compile(
    r"^(?:e-?mail|mail|contact|notif|inform|call|phon|tell|told|reach|alert|messag|shar|remind|"
    r"invit)",
    re.MULTILINE,
)
_LOOKS = re.compile(r"^(?:read|re-read|check|recheck|re-check|look|search|verif)", re.MULTILINE)
"""Beginnings of verbs of looking: who "could not read every memo" may have done what was asked for,
unless that was to look.
"""
_BY_ANOTHER = re.compile(r"(?:declined|refused)$")
_CUSTOMER = re.compile(r"\b(?:customers?|clients?) (?:had |have |has |both )?$")
"""Who may have declined what is offered: "overpaid 36.00 (both customers declined)"."""
_TEXT_THAT = re.compile(r"\b(?:memos?|articles?) (?:that |which )$")
"""Before what was not done with texts of a handbook: "a memo that I did not find could matter"."""
_OTHER_DEEDS = {
    "send|sent|forward": "send",
    "publish": "publish",
    "delet|remov|eras|archiv": "delete",
    "clos": "close",
    "escalat": "escalate",
    "approv": "approve",
    "sign": "sign",
    "cancel": "cancel",
    "refund|credit|reimburs|invoic": "refund",
    "merg": "merge",
}
"""Beginnings of verbs of deeds that few requests are about, and the kind of deed they tell."""


def _of_another_deed(reading: Reading, match: re.Match[str], sources: Sources) -> bool:
    """Whether what was not done is a deed of another kind than those asked for and done: "I
    haven't e-mailed anyone".
    """
    verb = _DENIED_VERB.match(reading.low, match.end())
    told = f"{verb[1] if verb else ''}\n{match[0].rpartition(' ')[2]}"
    asked = sources.context.question.lower()
    if _TEXT_THAT.search(reading.low, 0, match.start()):
        return True
    if _BY_ANOTHER.match(match[0]) and _CUSTOMER.search(reading.low, 0, match.start()):
        return True
    looked = _LOOKS.search(told)
    if looked:
        return looked[0] not in asked
    if _TELLS.search(told):
        return _TELLING.search(asked) is None
    for verbs, name in _OTHER_DEEDS.items():
        if re.search(rf"^(?:{verbs})", told, re.MULTILINE):
            kind = KINDS[name]
            asked = _MARKED.sub("", asked)
            return not (kind.done(sources) or re.search(rf"\b(?:{kind.asked})", asked))
    return False


_MARKED = re.compile(r"\b(?:marked(?: as)?|the|that is|that's|a) (?:sent|approved|signed|closed)\b")
"""What only tells which record is meant: "the quote marked Sent"."""
_PASSIVE = re.compile(r"(?:has|have|was|were|is|are)(?:n't| not) (?:yet )?(?:be |been )?\w+ed\b")
_IN_A_REASON = re.compile(r"\([^()]*$|\b(?:because|since|as)\b[^.;!?\n]*$|:[^.;!?\n]*$")
_BY = re.compile(r"\s+by (?!me\b|us\b|the system\b|default\b)")
_OWN_SUBJECT = word_set(
    "it this that they these those he she which who i we you nothing none change changes update "
    "updates request requests transfer move assignment reassignment handover edit edits record "
    "records write correction corrections escalation extension deed action step entry"
)


def _is_anothers(reading: Reading, match: re.Match[str], sources: Sources) -> bool:
    """Whether a reason tells of something that others have not done, to a thing that nobody asked
    to be written: "the client has a dispute (its settling was not noted by Legal)".
    """
    first, _ = _part(reading, match.start())
    before = reading.low[reading.sentence(match.start())[0] : match.start()]
    if not _PASSIVE.fullmatch(match[0]) or not _IN_A_REASON.search(before):
        return False
    if not _BY.match(reading.low, match.end()):
        return False
    subject = words_of(reading.low[first : match.start()])
    written = sources.deeds.words | words_of(sources.context.question.lower())
    written |= words_of(sources.deeds.tables_written)
    return bool(subject) and not subject & (_OWN_SUBJECT | written - _DETERMINERS)


_DETERMINERS = word_set("a an the its their his her of on in for to and with")


def _is_of_another_record(reading: Reading, place: int, sources: Sources) -> bool:
    """Whether a sentence names a record, and none of those that were written: "the renewal of Ash
    SA stays at 25 percent", beside another that was put at 10.
    """
    first, last = reading.sentence(place)
    named = {
        name
        for name, _, _ in sources.deeds.directory.mentions(reading.low[first:last])
        if " " in name and not sources.deeds.directory.tables[name] & _PEOPLE
    }
    written, replaced, near = sources.slots
    own = {*written, *replaced, *near, *sources.called}
    return bool(named) and not any(name in own or name in sources.deeds.texts for name in named)


_PEOPLE = frozenset({"User", "Contact"})


def _stays(reading: Reading, sources: Sources) -> tuple[str, bool] | None:
    """What stays as it was, if it is what was written."""
    for match in _STAYS.finditer(reading.low):
        first, last = _part(reading, match.start())
        clause = reading.low[first:last]
        start = max(0, match.start() - 32)
        if _DID_NOT.search(reading.low, start, match.start()):
            continue
        if _WHICH.search(reading.low, start, match.start()) and _NO_VALUE.match(
            reading.low, match.end()
        ):
            continue
        if _GENERAL.match(clause) or _tells_what_is_asked(reading, first, last, sources):
            continue
        if _is_of_another_record(reading, match.start(), sources):
            continue
        stale = _stale(reading, first, last, sources)
        words = reading.low[match.start() : min(last, match.end() + 30)].strip()
        if stale and not _fresh(reading, first, last, sources):
            claimed = any(claim.weight == "certain" for claim in claims(reading))
            return f"it was done, and the reply says {words!r}", not claimed
        if _ELSE.search(clause) or _names_unchanged(clause, sources):
            continue
        if _names_own_column(clause, sources) and not _fresh(reading, first, last, sources):
            return f"it was done, and the reply says {words!r}", False
    return None


_DID_NOT = re.compile(r"(?:n't|\bnot|\bcannot|\bno longer)(?: be| to)? $")
"""Before what did not stay: "it couldn't stay with her"."""
_WHICH = re.compile(
    r"\b(?:set the \w+|those|cases?|ones?|(?<!\d)\d{1,4}|two|three|four|five|six|seven|eight|nine|"
    r"ten|eleven|twelve|some|most|all|both) (?:that|which) $"
)
"""Before what only tells which are meant, if no value follows: "I set the priority that [stays].",
"on 28 of the cases that [remain] I changed it". Not: "I set it; she stays", "01215664 that stays".
"""
_NO_VALUE = re.compile(
    r" (?:i|we|by|under)\b| (?:is|are) (?:named|told|given|shown|listed)\b|\W*(?:[.,;:!)\n]|$)"
)
"""After "stays" or "remains". Examples: " by the rules", " is named first". Not: " Low"."""
_GENERAL = re.compile(r"\W*(?:as |since |because )?(?:a|an|any|every|each|only)\b")


def _tells_what_is_asked(reading: Reading, first: int, last: int, sources: Sources) -> bool:
    """Whether a sentence tells a figure that the reply must tell: "46 clients remain"."""
    return any(
        first <= amount.start < last and amount.value in sources.context.figures
        for amount in (*reading.numbers, *reading.number_words)
    )


_CUT = re.compile(r"[,;(]|:\s|\s-\s|\bbut\b|\band\b|\bsince\b|\bbecause\b|\bso\b")


def _part(reading: Reading, place: int) -> tuple[int, int]:
    """The part of a sentence at `place`, between commas and conjunctions."""
    first, last = reading.sentence(place)
    for match in _CUT.finditer(reading.low, first, place):
        first = match.end()
    after = _CUT.search(reading.low, place, last)
    return first, after.start() if after else last


def _stale(reading: Reading, first: int, last: int, sources: Sources) -> bool:
    """Whether a value that was replaced stands in a sentence."""
    held = {value for cell in sources.cells if cell.new for value in set(cell.old) - set(cell.new)}
    return any(first <= at < last for value in held for at, _ in spans(reading, value))


def _fresh(reading: Reading, first: int, last: int, sources: Sources) -> bool:
    replaced = {value for cell in sources.cells for value in cell.old}
    held = {value for cell in sources.cells for value in cell.new} - replaced
    return any(first <= at < last for value in held for at, _ in spans(reading, value))


def _names_own_column(clause: str, sources: Sources) -> bool:
    return any(
        re.search(rf"\b(?:{words})\b", clause)
        for words, columns in COLUMNS.items()
        if sources.columns.intersection(columns if "value" in columns else columns[:1])
    )


def _names_another_column(clause: str, sources: Sources) -> bool:
    return any(
        re.search(rf"\b(?:{words})\b", clause)
        for words, columns in COLUMNS.items()
        if not sources.columns.intersection(columns if "value" in columns else columns[:1])
    )


_VERSION = re.compile(r"\bv(?:ersion )?(\d{1,2})\b")


_OF_STATE = re.compile(
    r"\b(draft|sent|approved|rejected|canceled|closed|open|expired|active|inactive|won|lost)"
    r"(?: (?:and|or) \w+)? (?:ones|quotes|deals|cases|clients|contracts)\b"
)
"""Records that are left alone by the state they are in: "approved quotes were left as they are"."""


def _names_unchanged(clause: str, sources: Sources) -> bool:
    """Whether a clause is about a column, a version or a record that was not written."""
    if _names_another_column(clause, sources):
        return True
    held = {value for cell in sources.cells for value in (*cell.old, *cell.new)}
    if any(match[1] not in held for match in _OF_STATE.finditer(clause)):
        return True
    written = {
        found for cell in sources.cells for value in cell.new for found in _VERSION.findall(value)
    }
    told = set(_VERSION.findall(clause))
    if told and not told & written:
        return True
    changed = {value for cell in sources.cells for value in (*cell.old, *cell.new)}
    kept = {
        value.lower()
        for row in sources.rows
        for value in row.values()
        if isinstance(value, str) and 3 < len(value) < 60
    } - changed
    return any(True for value in kept for _ in phrases(clause, value))
