"""A note or a comment that was written, against what a reply says that it says.

"Away from March 19" of a note "until March 19", "up to three photos" of a comment "one or two",
"because of the divorce" of a note that gives no reason. All of these leave a reply open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.sources import Sources
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read

_UNTIL = re.compile(r"\b(?:until|till|through|by|before)(?: \w+,?)? (?:the )?$")
_FROM = re.compile(r"\b(?:from|since|starting|as of|after)(?: \w+,?)? (?:the )?$")
_BECAUSE = re.compile(
    r"\b(?:because of|due to|on account of|owing to|thanks to) (?P<why>[^.;:!?\n,()]{3,60})"
)
_WORD = re.compile(r"[a-z]{4,}")
_DULL = frozenset(("that", "this", "their", "your", "with", "from", "which", "what", "have"))
_TO_US = re.compile(r"\b(?:make|send|give|get|owe|hand|offer|write)s? us (?:an? |the )?\w+")
_FROM_US = re.compile(
    r"\b(?:we owe|our (?:offer|quote|proposal|answer)|from us|we (?:send|make|give))\b"
)
_SAYS = re.compile(
    r"\b(?:comment|note)\b[^.;!?\n]{0,48}?\b(?:says?|saying|reads?|tells?|"
    r"states?)(?: that)? (?!so\b)"
    r"(?P<what>[^.;!?\n]{8,120})"
)


def other_texts(reading: Reading, sources: Sources) -> Iterator[str]:
    """What a reply tells of a text that was written, and it does not hold; at most one."""
    if not sources.notes:
        return
    for check in (_turned_days, _other_reasons, _turned_gifts, _other_counts, _other_words):
        for why in check(reading, sources):
            yield why
            return


def _turned_days(reading: Reading, sources: Sources) -> Iterator[str]:
    """A day until which something holds is told as the one from which it does."""
    for note in sources.notes:
        written = read(note)
        for date in written.dates:
            before = note[max(0, date.start - 16) : date.start]
            own, other = (_UNTIL, _FROM) if _UNTIL.search(before) else (_FROM, _UNTIL)
            if not own.search(before):
                continue
            for told in reading.dates:
                words = reading.low[max(0, told.start - 16) : told.start]
                same = (told.month, told.day) == (date.month, date.day)
                if same and other.search(words) and not own.search(words):
                    yield f"it says otherwise: {reading.low[max(0, told.start - 8) : told.end]!r}"
                    return


def _other_reasons(reading: Reading, sources: Sources) -> Iterator[str]:
    """A reason that neither the text nor the request gives."""
    known = f"{fold(sources.context.question)}\n" + "\n".join(sources.notes)
    for match in _BECAUSE.finditer(reading.low):
        words = set(_WORD.findall(match["why"])) - _DULL
        if words and not any(word[:5] in known for word in words):
            yield f"it gives no such reason: {match[0]!r}"
            return


def _turned_gifts(reading: Reading, sources: Sources) -> Iterator[str]:
    """What we owe them is told as what they owe us."""
    written = "\n".join((*sources.notes, fold(sources.context.question)))
    match = _TO_US.search(reading.low)
    if match and _FROM_US.search(written) and not _TO_US.search(written):
        yield f"it is the other way round: {match[0]!r}"


_THING = re.compile(r" (?:(?:more|new|other|full|whole|business|working) )?(?P<thing>[a-z]{3,})")


def _other_counts(reading: Reading, sources: Sources) -> Iterator[str]:
    """A small number in words, where the text has others, of the thing that was asked about."""
    written = [a.value for n in sources.notes for a in (*read(n).numbers, *read(n).number_words)]
    written = [value for value in written if value < _SMALL]
    told = [a for a in (*reading.numbers, *reading.number_words) if a.value < _SMALL]
    asked = fold(sources.context.question)
    if not written or not told or any(amount.value in written for amount in told):
        return
    for amount in told:
        thing = _THING.match(reading.low, amount.end)
        if thing and re.search(rf"\b(?:many|long|much)?\b[^.?]*\b{thing['thing'][:5]}", asked):
            if amount.value not in sources.said_figures and "how" in asked:
                yield f"it says otherwise: {reading.low[amount.start : thing.end()]!r}"
                return
            if "many" in asked and amount.value not in sources.said_figures:
                yield f"it says otherwise: {reading.low[amount.start : thing.end()]!r}"
                return


_SMALL = 100


def _other_words(reading: Reading, sources: Sources) -> Iterator[str]:
    """What the text is said to say has no word of it, of the request or of what was looked up."""
    held = read("\n".join(sources.notes))
    figures = {a.value for a in (*held.numbers, *held.number_words)}
    for match in _SAYS.finditer(reading.low):
        told = read(match["what"])
        days = {(d.month, d.day) for d in held.dates} & {(d.month, d.day) for d in told.dates}
        if days or figures & {a.value for a in (*told.numbers, *told.number_words)}:
            continue
        words = set(_WORD.findall(match["what"])) - _DULL
        if not words & set(_WORD.findall("\n".join(sources.notes))) and not any(
            note.strip(" .") in match["what"] for note in sources.notes
        ):
            yield f"it does not say so: {match['what']!r}"
            return
