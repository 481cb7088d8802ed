"""More than was done: things that nobody asked for, the same done to others, an old value that
never was, and a written value told of another record.

All of these leave a report undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.other_matters import without_other_matters
from crmbench.grading.reports.roles import role, spans
from crmbench.grading.reports.sources import Sources
from crmbench.language.capitals import words_of
from crmbench.language.claims import is_unreal
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read

_THINGS = re.compile(
    r"\b(?P<thing>reminders?|invoices?|confirmations?|letters?|messages?|tasks?|meetings?|"
    r"appointments?|notifications?|receipts?|calendar|vouchers?|refunds?|surveys?|heads-up|"
    r"tickets?|follow-ups?|spelling|newsletters?|"
    r"(?:an?|confirmation|welcome|short|quick) e-?mail(?= (?:is|was|went|has|goes|with|to)\b)|"
    r"(?:dropp?e?d?|wrote|written|sent) (?:\w+ ){1,3}a line|copy (?:went|goes|was sent|is on)|"
    r"team (?:has been|was|is) (?:told|informed|aware)|the (?:client|customer|team|manager|boss) "
    r"(?:knows|has been told|is aware|was told|is informed))\b"
)
_NOT_TOLD = re.compile(
    r"n't\b|\b(?:not|no|never|nothing|without|if|could|can|would|should|shall|may|might|want|like|"
    r"need|needs|ask|asked|before (?:i|we|you|that|it)|until|once|when|whether|instead of|you)\b|\?"
)
_SAME = re.compile(
    r"\b(?:same|likewise|similarly|identical)\b[^.;!?\n]{0,40}\b(?:others?|another|rest|both|"
    r"remaining|second one|all of them|all \w+s)\b|"
    r"\b(?:others?|another|rest|remaining)\b[^.;!?\n]{0,24}\b(?:as well|too|likewise)\b"
)
_SAME_TO_EVERY = re.compile(
    r"\bdid the same\b[^.;!?\n]{0,24}\b(?:every|each|all|the other|the rest|another)\b"
)
_CHANGED_TOO = re.compile(r"(?:ed|done|made|set|put|did|too|as well|now)\b")


def more_things(reading: Reading, sources: Sources) -> Iterator[str]:
    """A thing that no request, no text that was written and no record speaks of."""
    known = f"{sources.told}\n{sources.context.record_text}"
    for match in _THINGS.finditer(reading.low):
        word = match["thing"].rstrip("s")
        if word in known or is_unreal(reading.low, match.start()):
            continue
        if reading.low.endswith("your ", 0, match.start("thing")):
            continue
        first, last = reading.sentence(match.start())
        if not _NOT_TOLD.search(reading.low, first, last):
            yield f"it may not have been done: {match[0]!r}"
            return


def same_to_others(reading: Reading, sources: Sources) -> Iterator[str]:
    """The same is said to be done to another record, where one was written."""
    one = len(sources.deeds.effect) == 1
    for match in (_SAME if one else _SAME_TO_EVERY).finditer(reading.low):
        first, last = reading.sentence(match.start())
        if not _CHANGED_TOO.search(reading.low, first, last):
            continue
        if not (_NOT_TOLD.search(reading.low, first, last) or match[0] in sources.context.said):
            yield f"one record was written: {match[0]!r}"
            return


_THE_OTHER = re.compile(
    r"\b(?:on|to|for|with|at|of|under|in) (?:the|your|their|its) other (?:\w+ ){0,2}"
    r"(?:deal|quote|case|client|contact|contract|one|opportunity|account)\b"
)


def the_other(reading: Reading, sources: Sources) -> Iterator[str]:
    """It is said to be done to "the other" record, of which the request does not speak."""
    asked = sources.context.question.lower()
    for match in _THE_OTHER.finditer(reading.low):
        first, last = reading.sentence(match.start())
        if re.search(r"\b(?:other|second)\b", asked) or _NOT_TOLD.search(reading.low, first, last):
            continue
        if _CHANGED_TOO.search(reading.low, first, match.start()):
            yield f"another record may be meant: {match[0]!r}"
            return


_FROM_OLD = re.compile(
    r"\b(?:now|reads?|brought|lowered|raised|moved|changed|went|goes|dropped|updated)\b"
    r"[^.;!?\n]{0,60}\b(?:instead of|from|in place of|rather than)\b[^.;!?\n\d$]{0,12}$"
)


def changed_from(reading: Reading, sources: Sources) -> Iterator[str]:
    """A figure is told as what was before, where all that was written is new."""
    changed = {v for c in sources.cells if not c.created for v in c.old}
    if any(value.replace(".", "").isdigit() for value in changed) or not sources.amounts:
        return
    for amount in reading.numbers:
        first, _ = reading.sentence(amount.start)
        before = reading.low[max(first, amount.start - 100) : amount.start]
        if amount.currency and _FROM_OLD.search(before):
            yield f"{reading.text[amount.start : amount.end]!r} was not changed"
            return


def wrong_old(reading: Reading, sources: Sources) -> Iterator[str]:
    """Somebody, a day or a state is told as what was before, and was not."""
    changed = [cell for cell in sources.cells if not cell.created and cell.new]
    for cell in changed:
        kind = _kind(cell.new[0])
        known = {v for c in sources.cells for v in (*c.old, *c.new) if _kind(v) == kind}
        if cell.column.lower() in {"owner", "ownerid"}:
            told = _people(reading, sources)
        elif kind == "day":
            told = [(d.start, d.end) for d in reading.dates if d.day is not None]
        elif any(cell.new[0] in states for states in _STATES):
            told = _states(reading, cell.new[0])
        else:
            continue
        right = {span for value in known for span in spans(reading, value)}
        for start, end in told:
            if kind == "day" and _is_what_was_asked(reading, start, end, sources):
                continue
            known_here = any(a < end and start < b for a, b in right)
            if not known_here and _is_before(reading, start, end):
                yield f"{reading.text[start:end]!r} is not what was before"
                return


_IN_ITS_PLACE = re.compile(r"\b(?:instead of|rather than|in place of|not) (?:on |to )?$")


def _is_what_was_asked(reading: Reading, start: int, end: int, sources: Sources) -> bool:
    """Whether a day is the one that was asked for, and another was written in its place."""
    if not _IN_ITS_PLACE.search(reading.low, 0, start):
        return False
    asked = {(date.month, date.day) for date in read(sources.context.question).dates}
    return any(
        (date.month, date.day) in asked
        for date in reading.dates
        if (date.start, date.end) == (start, end)
    )


_TO_NEW = re.compile(r"[\s*)\"]*(?:->|=>)")
_BEFORE_CELL = re.compile(r"\b(?:before|old|previous|from|was)(?: \w+)?: ?[\"'*(]*$")
_FROM = re.compile(r"\b(?:from|replac\w+|instead of|(?<!there )was|previously|formerly) \W*$")


def _is_before(reading: Reading, start: int, end: int) -> bool:
    before = reading.low[max(0, start - 24) : start]
    if _TO_NEW.match(reading.low, end) or _BEFORE_CELL.search(before):
        return True
    return _FROM.search(before) is not None and role(reading, start, end) == "old"


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _kind(value: str) -> str:
    return "day" if _DAY.match(value) else "other"


_STATES: tuple[frozenset[str], ...] = (
    frozenset(
        ("prospecting", "qualification", "proposal", "negotiation", "closed-won", "closed-lost")
    ),
    frozenset(("active", "inactive", "prospect")),
    frozenset(("draft", "sent", "approved", "rejected", "canceled")),
    frozenset(("new", "working", "waiting on customer", "escalated", "closed")),
    frozenset(("low", "medium", "high", "critical")),
)
"""The states that a column may hold, by column."""


def _states(reading: Reading, one: str) -> list[tuple[int, int]]:
    alike = next(states for states in _STATES if one in states)
    return [span for state in sorted(alike) for span in spans(reading, state)]


def _people(reading: Reading, sources: Sources) -> list[tuple[int, int]]:
    directory = sources.deeds.directory
    return [
        (start, end)
        for name, start, end in directory.mentions(reading.low)
        if directory.tables[name] & _STAFF and " " in name
    ]


_STAFF = frozenset({"", "User"})


def told_of_another(reading: Reading, sources: Sources) -> Iterator[str]:
    """A value that was written is told of a record of the same kind that was not written."""
    deeds = sources.deeds
    directory = deeds.directory
    own = {*sources.called, *(value for cell in sources.cells for value in cell.new)}
    tables = {change.table for change in deeds.effect}
    fresh = {
        value
        for cell in sources.cells
        for value in set(cell.new) - set(cell.old)
        if len(value) > 2 and not cell.created
    }
    for name, start, end in directory.mentions(reading.low):
        if name in own or not directory.tables[name] & tables or " " not in name:
            continue
        if name in deeds.texts or name in fold(sources.context.question):
            continue
        first, last = reading.sentence(start)
        if any(a for a, _ in _named_between(reading, first, start, own)):
            continue
        told = [at for value in fresh for at, _ in spans(reading, value) if end <= at < last]
        if told and not _NOT_TOLD.search(reading.low, first, last):
            yield f"{reading.text[start:end]!r} was not written"
            return


def _named_between(
    reading: Reading, first: int, last: int, names: set[str]
) -> Iterator[tuple[bool, str]]:
    for name in sorted(names):
        if len(name) > 3 and name in reading.low[first:last]:
            yield True, name


_NEW_ONE = re.compile(
    r"\b(?:new|a|an|another|the) (?:new )?(?P<state>draft|sent|approved|rejected|cancell?ed) "
    r"(?:version|quote|offer)\b"
)


def state_of_new(reading: Reading, sources: Sources) -> Iterator[str]:
    """A quote was made, and is called by another state than its own: "new sent quote"."""
    states = {
        value
        for cell in sources.cells
        if cell.table == "Quote" and cell.column == "status"
        for value in (*cell.new, *cell.old)
    }
    made = any(cell.created and cell.table == "Quote" for cell in sources.cells)
    reading = without_other_matters(reading, sources) if made else reading
    for match in _NEW_ONE.finditer(reading.low) if made else ():
        state = match["state"].replace("cancelled", "canceled")
        if state not in states and match[0] not in sources.context.said:
            yield f"{match[0]!r} was not written"
            return


def miscalled(reading: Reading, sources: Sources) -> Iterator[str]:
    """A name in quotation marks that is the one of a record that was written, but for a word."""
    for match in _QUOTED.finditer(reading.low):
        quoted = words_of(match["text"])
        for own in sorted(sources.called):
            shared = quoted & words_of(own)
            near = len(shared) > 3 and 2 * len(shared) > len(quoted) > len(shared)
            if near and not sources.knows(match["text"].strip(" .,")):
                yield f"{match['text']!r} is not what was written"
                return


_QUOTED = re.compile(r"\"(?P<text>[^\"\n]{12,})\"")


def other_quotes(reading: Reading, sources: Sources) -> Iterator[str]:
    """A text that was written is quoted with a name or a figure that it does not hold."""
    directory = sources.deeds.directory
    for match in _QUOTED.finditer(reading.low) if sources.notes else ():
        for name, start, end in directory.mentions(match["text"]):
            known = name in sources.deeds.texts or name in sources.context.said
            if not known and " " in name and directory.tables[name] & (_STAFF | {"Contact"}):
                yield f"{match['text'][start:end]!r} is not in what was written"
                return
        figures = sources.deeds.new_figures | sources.said_figures
        for amount in reading.numbers:
            inside = match.start("text") <= amount.start < match.end("text")
            if inside and (amount.currency or amount.percent) and amount.value not in figures:
                yield f"{reading.text[amount.start : amount.end]!r} is not in what was written"
                return
