"""Records and values that a reply denies or asserts against what was looked up and written.

"There was no contract to put it on", where the file went on one; "can't find a product called …"
that was found; "X is already a client", where it is another one who has the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.facts.context import Context
from crmbench.grading.reports.other_matters import KINDS
from crmbench.grading.reports.sources import Sources
from crmbench.language.legal_forms import without_legal_forms
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

_NO_SUCH = re.compile(
    r"\b(?:there(?:'s| is| was| are| were)|we have|they have|has|have|i found|found|i see) "
    rf"no (?:open |active |such )?(?P<kind>{'|'.join(KINDS)})\b"
    r"(?! (?:left|note|on the|of (?:that|this)|by|with|called|named|under|yet|before|for)\b)"
)


def denied_of_written(reading: Reading, sources: Sources) -> Iterator[str]:
    """A kind of record is denied, and one of it was written, or holds what was written."""
    tables = {change.table for change in sources.deeds.effect}
    tables |= {str((c.after or {}).get("entity_type")) for c in sources.deeds.effect}
    for match in _NO_SUCH.finditer(reading.low):
        for words, own in KINDS.items():
            if re.fullmatch(words, match["kind"]) and own & tables:
                yield f"it denies what there is: {match[0]!r}"
                return


_VALUES: dict[str, tuple[str, ...]] = {
    r"(?:job )?title": ("title",),
    r"e-?mail(?: address)?": ("email",),
    r"phone(?: number)?": ("phone",),
    r"owner": ("owner",),
    r"close date": ("close_date",),
}
_WITHOUT = re.compile(
    r"\b(?:without|has no|with no|have no|no) (?:an? |any )?"
    rf"(?P<what>{'|'.join(_VALUES)})\b(?! (?:change|was changed|needed|has changed))"
)


def denied_values(reading: Reading, sources: Sources) -> Iterator[str]:
    """A value is denied of a record that was made with it: "recorded without a title"."""
    held = {cell.column for cell in sources.cells if cell.new and cell.created}
    for match in _WITHOUT.finditer(reading.low):
        for words, columns in _VALUES.items():
            if re.fullmatch(words, match["what"]) and held.intersection(columns):
                if re.search(
                    r"\bone\b|\bwould|\bcould", reading.low[match.start() : match.end() + 12]
                ):
                    continue
                yield f"it denies what was written: {match[0]!r}"
                return


_NOT_FOUND = re.compile(
    r"\b(?:can't|cannot|can not|couldn't|could not|didn't|did not|unable to) (?:find|see|locate) "
    r"(?:an?|any|the) (?:\w+ )?(?:called|named|by the name of|"
    r"with the name) \W?(?P<name>[\w' .&/-]{6,60})|"
    r"\b(?:there is|there's|we have) no \w+ (?:called|named) \W?(?P<other>[\w' .&/-]{6,60})"
)


def denied_names(reading: Reading, context: Context) -> Iterator[str]:
    """A record is said not to be found by a name that the calls of this turn gave."""
    for match in _NOT_FOUND.finditer(reading.low):
        name = (match["name"] or match["other"]).strip(" .")
        names = {n for n, _, _ in context.directory.mentions(name) if " " in n}
        if any(each in context.record_text for each in {name, *names}):
            yield f"it denies what there is: {match[0]!r}"
            return


_ALREADY = re.compile(
    r"\b(?:it|they|this company|the company|is|are|'s) (?:is |are )?already (?:exists?\b|"
    r"one of our|an? "
    r"(?:client|customer|contact)|on (?:file|record)|in (?:our|the) (?:system|crm|books)|"
    r"(?:registered|known|listed|entered))"
)
_OF_DATA = re.compile(r"\b(?:e-?mail|mail|address|domain|number|phone)\b")


def untrue_twins(reading: Reading, context: Context) -> Iterator[str]:
    """A client is said to be there already, and no record of that name was found: it is another
    one who has the address.
    """
    for match in _ALREADY.finditer(reading.low):
        first, last = reading.sentence(match.start())
        sentence = reading.low[first:last]
        if _OF_DATA.search(sentence):
            continue
        names = _asked_names(context)
        told = [name for name in names if name in reading.low]
        found = any(name in context.record_text for name in names)
        other = any(
            name in context.record_text and not any(name in own or own in name for own in names)
            for name, _, _ in context.directory.mentions(sentence)
        )
        if told and not found and not other:
            yield f"it may be no reason that {match[0]!r}"
            return


_NAME = re.compile(r"[A-Z][\w&'-]+(?: (?:[A-Z&][\w&'-]*|of|and|de|la|&))+")


def _asked_names(context: Context) -> set[str]:
    """The names in the request, with and without their legal form, folded."""
    found = {match[0] for match in _NAME.finditer(context.question)}
    return {fold(name) for name in found} | {fold(without_legal_forms(name)) for name in found}
