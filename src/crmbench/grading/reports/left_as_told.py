"""What a report of many writes tells of records and columns that were left as they were, held
against what was written.

"Owners and statuses were not touched", "01215662 into 01215602; stays Medium", "01217278 did not go
to Ivy Dixon": where it is so, it denies nothing of the deed; where it is not, the report is open.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from crmbench.core.journal import Change
from crmbench.grading.directory import NUMBER
from crmbench.grading.reports.sources import Sources
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

_MANY = 3
"""Records from which on a report tells one by one what became of them."""


class LeftAsTold(NamedTuple):
    """A part that tells what was left as it was, and whether that is so."""

    start: int
    end: int
    is_so: bool


def left_as_told(reading: Reading, sources: Sources) -> Iterator[tuple[int, int]]:
    """Parts that tell truly what was left as it was, or of what is no writing at all."""
    if len(sources.deeds.effect) >= _MANY:
        yield from ((told.start, told.end) for told in _told(reading, sources) if told.is_so)
        yield from of_reading(reading, sources)
        yield from nothing_left(reading)


def nothing_left(reading: Reading) -> Iterator[tuple[int, int]]:
    """Where it says that nothing was refused or left to do: places in the text."""
    yield from (match.span() for match in _NOTHING_LEFT.finditer(reading.low))


def not_left_as_told(reading: Reading, sources: Sources) -> Iterator[str]:
    """What is told to be left as it was, and was written; at most one, in words."""
    if len(sources.deeds.effect) >= _MANY:
        for told in _told(reading, sources):
            if not told.is_so:
                yield f"it was done, and the reply says {reading.low[told.start : told.end]!r}"
                return


def _told(reading: Reading, sources: Sources) -> Iterator[LeftAsTold]:
    records = _Records(sources)
    yield from _columns(reading, records)
    if records.numbers:
        yield from _values(reading, records)
        yield from _lists(reading, records)
        yield from _subjects(reading, records)
        yield from _not_given(reading, records, sources)


@dataclass(frozen=True)
class _Records:
    """The records of a world that have a number, and what the turn wrote of them."""

    sources: Sources

    @cached_property
    def numbers(self) -> ChainMap[str, str]:
        """The number of a record to its id."""
        rows = dict(self.sources.context.changed)
        rows.update((c.key, c.after or c.before or {}) for c in self.sources.deeds.effect)
        own = {str(row[NUMBER]): key for key, row in rows.items() if row.get(NUMBER)}
        # A world has tens of thousands of records: those are gone through once, not once a reply.
        return ChainMap(own, self.sources.deeds.directory.by_number)

    @cached_property
    def written(self) -> Mapping[str, Change]:
        return {change.key: change for change in self.sources.deeds.effect}

    def named(self, text: str) -> list[str]:
        """The ids of the records that a text names by number, in their order."""
        found = (self.numbers.get(number) for number in _DIGITS.findall(text))
        return [key for key in found if key is not None]

    def changed(self, key: str) -> frozenset[str]:
        """The columns of a record that the turn set."""
        change = self.written.get(key)
        if change is None:
            return frozenset()
        before, after = change.before or {}, change.after or {}
        return frozenset(c for c in {*before, *after} if before.get(c) != after.get(c))

    def reset(self, key: str) -> Iterator[str]:
        """The columns that were set of a record that was there before and was not merged away
        (which closes it), in lower case without their ending.
        """
        if self.written[key].before is not None and _MASTER not in self.changed(key):
            yield from (column.lower().removesuffix("__c") for column in self.changed(key))

    def row(self, key: str) -> Mapping[str, Any]:
        """A record as it stands after the turn."""
        if key in self.written:
            return self.written[key].after or {}
        changed = self.sources.context.changed
        return changed.get(key) or self.sources.deeds.directory.rows.get(key, {})


def is_whose(words: str, sources: Sources) -> bool:
    """Whether words are a number of a record behind the name of somebody it is of, or whose address
    it came from: "Anita Morris 01216610".
    """
    name, _, number = fold(words).rpartition(" ")
    records = _Records(sources)
    key = records.numbers.get(number) if name and _DIGITS.fullmatch(number) else None
    held = [value for value in records.row(key).values() if isinstance(value, str)] if key else []
    # A case without an account tells its sender by the address alone.
    boxes = (set(_WORD.findall(fold(value).split("@")[0])) for value in held if "@" in value)
    if any(set(name.split()) <= box for box in boxes):
        return True
    names = (shown for value in held for shown in sources.shown(value))
    return any(name in shown or _is_short(shown, name) for shown in names)


def _is_short(shown: str, name: str) -> bool:
    """Whether a name is shown with the first letter alone: "j. dhar" of "jonah dhar"."""
    first, _, last = shown.partition(" ")
    short = len(first) == 2 and first[1] == "."
    return short and name.startswith(first[0]) and name.endswith(f" {last}")


_MASTER = "MasterRecordId"
_DIGITS = re.compile(r"\b\d{5,10}\b")
_WORD = re.compile(r"[a-z]+")
_COLUMNS: dict[str, tuple[str, ...]] = {
    "owners?(?:hip)?": ("owner", "ownerid"),
    "status(?:es)?": ("status",),
    "priorit(?:y|ies)": ("priority",),
    "issues?": ("issueid",),
    "subjects?": ("subject",),
    "accounts?": ("accountid",),
    "contacts?": ("contactid",),
    "(?:close |closing )dates?": ("closedate", "close_date"),
    "stages?": ("stage",),
    "amounts?": ("amount",),
}
"""What people call the columns of many records, and the columns meant."""
_COLUMN = rf"(?:{'|'.join(_COLUMNS)})(?: (?:fields?|values?|columns?))?"
_UNTOUCHED = re.compile(
    rf"(?:^|(?<=[.;:!?\n(,])|(?<=\band))\W*(?:(?:all|the|their|its) )*(?P<columns>{_COLUMN}"
    rf"(?:(?:,|,? and|,? or|,? nor) (?:the )?{_COLUMN})*)"
    r"(?: of (?:(?:the|these|those|all|other) )*(?:cases|records|deals|ones)"
    r"(?: that (?:remain|stay|are left))?)? (?:"
    r"(?:were|was|are|is|have been|has been)(?: not|n't) "
    r"(?:touched|changed|altered|edited|modified|updated)|"
    r"(?:were|was|are|is|stay(?:s|ed)?|remain(?:s|ed)?|(?:were|was) (?:left|kept)) "
    r"(?:all )?(?:as (?:they|it) (?:are|is|were|was)|unchanged|untouched|the same))\b"
)
"""Example: "Owners and statuses of the cases that remain were not touched". Not: "the cases were
not touched"."""


def _columns(reading: Reading, records: _Records) -> Iterator[LeftAsTold]:
    """Columns of all records: "owners, statuses and accounts are as they were"."""
    written = {column for key in records.written for column in records.reset(key)}
    for match in _UNTOUCHED.finditer(reading.low):
        meant = {
            column
            for words, columns in _COLUMNS.items()
            if re.search(rf"\b(?:{words})\b", match["columns"])
            for column in columns
        }
        yield LeftAsTold(*match.span(), not meant & written)


_KEPT = re.compile(
    r"\b(?:stay(?:s|ed)?|remain(?:s|ed)?|keeps|kept|is still) (?:(?:at|its|the|as|priority) )*"
    r"(?P<value>[a-z][a-z -]{1,24}?)(?: priority)?(?= ?(?:[.,;:!?()\n]|$))"
)
"""Example: "01215662 into 01215602; stays Medium". Not: "01215602 stays open until 3 May"."""


def _values(reading: Reading, records: _Records) -> Iterator[LeftAsTold]:
    """A value that the record named last in the line has kept."""
    for match in _KEPT.finditer(reading.low):
        line, _ = reading.line(match.start())
        named = records.named(reading.low[line : match.start()])
        if not named or _MASTER in records.changed(named[-1]):
            continue
        row, changed = records.row(named[-1]), records.changed(named[-1])
        before = records.written[named[-1]].before or {} if changed else row
        for column in sorted(row):
            held = {fold(str(each.get(column))) for each in (row, before)}
            if match["value"] in held:
                yield LeftAsTold(*match.span(), column not in changed)
                break


_LISTED = re.compile(
    r"(?:^|(?<=[.;!?\n]))\W*(?:left (?:alone|untouched|unmerged|as (?:they|it) (?:are|were|was))|"
    r"not (?:touched|merged|changed))(?: on purpose)?:(?P<list>[^.!?\n]*)"
)
_ASIDE = re.compile(r"\([^()\n]*\)")
_AGAINST = re.compile(
    r"\b(?:because|since|as|than|from|with|beside|besides|but|while|after|before|of)\b"
)
"""After it a list of what was left alone tells why, and may name what was written."""


def _lists(reading: Reading, records: _Records) -> Iterator[LeftAsTold]:
    """A list of records that were left alone: "left alone: 01216630 (a month apart), 01215916"."""
    for match in _LISTED.finditer(reading.low):
        listed = _AGAINST.split(_ASIDE.sub(" ", match["list"]))[0]
        if any(key in records.written for key in records.named(listed)):
            yield LeftAsTold(*match.span(), False)


_ONE = r"\d{5,10}(?: ?\([^()\n]*\))?"
_LEFT = re.compile(
    rf"\b{_ONE}(?:(?:,|,? and) {_ONE})* (?:(?:were|was|have been|has been|is|are) )"
    r"(?:left (?:alone|untouched|as (?:they|it) (?:are|is|were|was))|"
    r"not (?:touched|changed|altered|merged)|untouched|unchanged)\b"
)
"""Example: "01215916 and 01217600 were left alone". Not: "01215916 was left with her"."""


def _subjects(reading: Reading, records: _Records) -> Iterator[LeftAsTold]:
    """Records that are said not to have been touched: so where none of them was written."""
    for match in _LEFT.finditer(reading.low):
        named = records.named(_ASIDE.sub(" ", match[0]))
        if not named:
            continue
        if match[0].endswith("merged"):
            yield LeftAsTold(
                *match.span(), not any(_MASTER in records.changed(key) for key in named)
            )
        else:
            yield LeftAsTold(*match.span(), not any(key in records.written for key in named))


_NOT_GIVEN = re.compile(
    r"\b(?:did(?:n't| not) go|(?:was|were)(?:n't| not) (?:given|assigned|routed|handed))"
    r" (?:by|to)\b[^.;:!?\n]*"
)
_BEGINS = re.compile(r"[.;:!?\n]|\b(?:so|because|since|but|while) ")


def _not_given(reading: Reading, records: _Records, sources: Sources) -> Iterator[LeftAsTold]:
    """Who did not get a record: "01217278 (Ivy Dixon) did not go by the wish"."""
    for match in _NOT_GIVEN.finditer(reading.low):
        start = reading.line(match.start())[0]
        for begins in _BEGINS.finditer(reading.low, start, match.start()):
            start = begins.end()
        clause = reading.low[start : match.end()]
        found = sources.deeds.directory.mentions(clause)
        people = {n for n, _, _ in found if "User" in sources.deeds.directory.tables[n]}
        owners = [set(_owner(key, records)) for key in records.named(clause)]
        if people and owners and all(owners):
            yield LeftAsTold(start, match.end(), not any(people & held for held in owners))


def _owner(key: str, records: _Records) -> Iterator[str]:
    """Whom the turn gave a record to, folded; nobody where it did not."""
    if "OwnerId" in records.changed(key):
        yield from records.sources.shown(records.row(key).get("OwnerId"))


_UNREAD = re.compile(
    r"\b(?:i|we) (?:could|can|did|do|have)(?:n't| not|not) "
    r"(?:do(?: in full)?: (?:(?:i|we) (?:could|did)(?:n't| not) )?)?(?:\w+ly )?"
    r"(?:read|open|look (?:through|at)|go through|study) "
    r"(?:(?!and |or |nor )(?:\d[\d,]*|[\w-]+) ){0,7}?"
    r"(?:memos?|articles?|notices?|handbooks?|letters?)\b"
    r"(?! (?:and|or|nor) (?!(?:so|i|we|may|might|could|a|the|other|memos?|articles?|notices?) ))"
)
"""Example: "I could not open every one of some 1,080 memos". Not: "I could not read or move the
case", "could not read the memos and assign the case"."""
_READ_SO_FAR = re.compile(
    r"\b(?:i|we) (?:(?:have|only|just|also|then) )*(?:read|opened|checked|searched|"
    r"looked (?:at|through)|went through) (?:(?!and |or |nor )[\w'-]+ ){0,6}?"
    r"(?:memos?|articles?|notices?)(?: (?!and |or |nor )[\w'-]+){0,12},? (?:but |and )?"
    r"not all of (?:them|these|those)\b|"
    r"\b(?:i|we) (?:(?:have|only|also) )*(?:read|opened|checked|searched|looked (?:at|through)|"
    r"went through) (?:(?!and |or |nor )[\w'-]+ ){0,12}?cases(?: (?!and |or |nor )[\w'-]+){0,10},? "
    r"(?:but |and )?not all of the (?:others?|rest|remaining)\b|"
    r"\b(?:memos?|articles?|notices?) (?:that |which )?(?:might|may|could) (?:still |also )?have "
    r"(?:changed|ended|bearing|an effect)\b"
)
"""Examples: "I read the memos that my searches found, not all of them", "I read all of the cases
that could be late, but not all of the other 100". Not: "I read the memo and changed the cases, not
all of them", "I reviewed the cases, but not all of the others".
"""


def of_reading(reading: Reading, sources: Sources) -> Iterator[tuple[int, int]]:
    """How far was read and what was not, where nobody asked for it to be: places in the text."""
    asked = re.search(r"\bread\b", sources.context.question.lower())
    articles = any(change.table == "Knowledge__kav" for change in sources.deeds.effect)
    if not asked and not articles:
        yield from (match.span() for match in _UNREAD.finditer(reading.low))
        yield from (match.span() for match in _READ_SO_FAR.finditer(reading.low))


_NOTHING_LEFT = re.compile(
    r"\bnothing (?:(?:in it|of it|there|here|in that|of that) )?(?:that )?(?:i|we) "
    r"(?:could|can|did)(?:n't| not) (?:do|finish|complete|settle)(?=\W*(?:[.;,:!\n]|$))|"
    r"\bno (?:case|record|one) (?:of them )?(?:that )?(?:i|we) (?:could|did)(?:n't| not) \w+|"
    r"\bnothing (?:was|is|has been) (?:refused|rejected)(?=\W*(?:[.;,:!\n]|$))|"
    r"\b(?:nothing|none|no case) (?:(?:that |which )?(?:was asked|(?:you|they) asked(?: me)?)"
    r"(?: for| to do)? )?(?:(?:was|is|has been|were) left|remains|stays|remained) "
    r"(?:undone|open|unfinished|to do)(?=\W*(?:[.;,:!\n]|$))"
)
"""Examples: "There was nothing in it that I could not do", "no case that I could not assign",
"nothing that was asked remains undone". Not: "nothing I could do", "one merge was left undone".
"""
