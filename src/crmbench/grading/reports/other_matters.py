"""Parts of a report that tell of other matters than the deed: what was left alone, what a rule
forbids in general, what could not be done the old way before it was done in another.

"The deal's amount is untouched" beside a new quote denies nothing, and "the draft v4 keeps its
$56,000" is no old value of the deal. Such parts are passed over where the rest tells the deed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.left_as_told import left_as_told
from crmbench.grading.reports.sources import Sources
from crmbench.grading.reports.telling import tells
from crmbench.language.capitals import runs
from crmbench.language.claims import claims
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read

KINDS: dict[str, frozenset[str]] = {
    r"deals?|opportunit(?:y|ies)": frozenset({"Opportunity"}),
    r"quotes?|offers?": frozenset({"Quote"}),
    r"contracts?": frozenset({"Contract"}),
    r"clients?|customers?|accounts?": frozenset({"Client", "Account", "Company"}),
    r"contacts?": frozenset({"Contact"}),
    r"cases?": frozenset({"Case"}),
    r"articles?": frozenset({"Knowledge__kav"}),
    r"notes?": frozenset({"Note"}),
    r"comments?": frozenset({"CaseComment"}),
    r"files?|documents?": frozenset({"Document"}),
}
"""What people call a record, and the tables meant."""
_KIND = {re.compile(rf"\b(?:{words})\b"): tables for words, tables in KINDS.items()}
_PART = re.compile(
    r"[;()|]|,\s|\s-\s|\b(?:but|so|since|because|while|whereas)\b|"
    r"\band (?=(?:the|i|it|its|we|his|her|their|no|nothing|neither)\b)"
)
_VERB = (
    r"(?:touch|chang|alter|edit|adjust|updat|mov|modif|amend|extend|renew|rais|lower|reduc|affect|creat|made|need|necessar|requir)"
    r"\w*"
)
_UNTOUCHED = re.compile(
    r"\b(?:stays?|stayed|remain(?:s|ed)?|still|unchanged|untouched|unaffected|kept|keeps?|"
    r"(?:is|are|was|were) (?:as|what|where) (?:it|they) (?:is|are|was|were)|as before|left|"
    r"leave)\b|"
    rf"(?:\bnot|n't|\bnever|\bwithout|\bno) (?:been |be |also |yet |to )*{_VERB}\b|"
    rf"\b(?:neither|nothing|none) (?:\w+ ){{0,4}}{_VERB}\b"
)
"""Example: "the contract itself was not changed". Not: "the contract was not created"."""
_WHERE_IT_IS = re.compile(
    r"\b(?:on|to|with|under|at|for|of|in) (?:the |its |this |that )?(?:\w+ ){0,3}$"
)
_ATTACHED = frozenset({"Note", "Document", "CaseComment"})


def _named(text: str) -> frozenset[str]:
    return frozenset(t for words, tables in _KIND.items() if words.search(text) for t in tables)


def parts(reading: Reading) -> Iterator[tuple[int, int]]:
    """The parts of sentences, between commas and conjunctions that begin a new subject."""
    start, low = 0, _ASIDE.sub(_joined, reading.low)
    for end in (*reading.ends, len(low)):
        first = start
        for match in _PART.finditer(low, start, end):
            yield first, match.start()
            first = match.end()
        if first < end:
            yield first, end
        start = max(start, end)


_ASIDE = re.compile(r"\(([^()\n]*)\)")


def _joined(match: re.Match[str]) -> str:
    """An aside that tells nothing of its own belongs to what it stands in: "v1 ($19,950) is"."""
    return match[0] if _UNTOUCHED.search(match[1]) else f" {match[1]} "


def without_other_matters(reading: Reading, sources: Sources) -> Reading:
    """A reading with blanks, place for place, for what it tells of other matters."""
    if not reading.may_deny:
        return reading
    found = [*_left_alone(reading, sources), *_general(reading), *_done_otherwise(reading, sources)]
    found += left_as_told(reading, sources)
    found += [match.span() for match in _NO_DENIAL.finditer(reading.low)]
    if not found:
        return reading
    text = reading.text
    for start, end in found:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    rest = read(text)
    return rest if tells(rest, sources) else reading


def _left_alone(reading: Reading, sources: Sources) -> Iterator[tuple[int, int]]:
    """Parts on records of kinds of which none was written, that tell that they are as before."""
    written = {change.table for change in sources.deeds.effect}
    for start, end in parts(reading):
        part = reading.low[start:end]
        match = _UNTOUCHED.search(part)
        if match is None:
            continue
        if _of_another_version(part, sources) or _of_another_name(reading, start, end, sources):
            yield start, end
            continue
        named = _named(_APART.sub("", part))
        if named and not named & written and not (written <= _ATTACHED and _is_a_place(part)):
            yield start, end


_VERSION = re.compile(r"\bv(?:ersion )?(\d{1,2})\b")


def _of_another_version(part: str, sources: Sources) -> bool:
    """Whether a part is on versions of which none was written: "draft v2 is unchanged"."""
    rows = [change.after or change.before or {} for change in sources.deeds.effect]
    written = {str(row["version"]).lstrip("v") for row in rows if row.get("version")}
    told = set(_VERSION.findall(part))
    return bool(told) and bool(written) and not told & written


def _of_another_name(reading: Reading, start: int, end: int, sources: Sources) -> bool:
    """Whether a part begins with a name that was spoken of or looked up, and was not written."""
    first = next((run for run in runs(reading.text) if start <= run.start < end), None)
    if first is None or len(first.text.split()) < 2 or first.start > start + 6:
        return False
    name = fold(first.text)
    own = {*sources.called, *(value for cell in sources.cells for value in (*cell.new, *cell.old))}
    return sources.knows(name) and not any(name in each or each in name for each in own)


_APART = re.compile(
    r"\b(?:apart from|aside from|besides|except(?: for)?|other than|beyond) (?:\w+ ){0,2}\w+"
)


def _is_a_place(part: str) -> bool:
    """Whether every record that a part names is only a place: "not stored on the deal"."""
    return all(
        _WHERE_IT_IS.search(part, 0, match.start())
        for words in _KIND
        for match in words.finditer(part)
    )


_RULE = re.compile(
    r"(?:^|(?<=[.;:!?\n(,]))[\s*-]*(?:as |since |because )?(?:(?:an?|any|every|no) (?:\w+ )?|"
    r"(?:sent|approved|active|closed|signed|canceled|won|lost) )"
    r"(?:quotes?|deals?|contracts?|clients?|cases?|contacts?|articles?|offers?|amounts?)\b"
    r"[^.;:!?\n()]{0,60}?\b(?:can't|cannot|can ?not|may not|must not|isn't|is not|aren't|are not|"
    r"won't|don't|doesn't|stays?|remains?|keeps?)\b[^.;:!?\n(),]*"
)
"""A rule in general. Example: "a quote that's out can't be edited". Not: "the quote can't be"."""


def _general(reading: Reading) -> Iterator[tuple[int, int]]:
    for match in _RULE.finditer(reading.low):
        yield match.span()


_COULD_NOT = re.compile(
    r"\b(?:could|can|did|do|was|were)(?:n't| not|not) (?:be )?(?:alter|chang|edit|correct|updat|"
    r"adjust|amend|modif|touch|fix)\w*\b[^.;!?\n]*"
)


def _done_otherwise(reading: Reading, sources: Sources) -> Iterator[tuple[int, int]]:
    """What could not be done to the old record, before the one that replaces it was made: "the
    sent one couldn't be corrected, so I canceled it and made a new version".
    """
    tables = {change.table for change in sources.deeds.effect if change.before is None}
    replaced = any(c.before is not None and c.table in tables for c in sources.deeds.effect)
    if not replaced:
        return
    for match in _COULD_NOT.finditer(reading.low):
        if any(c.weight != "state" and c.start > match.start() for c in claims(reading)):
            yield match.span()


_NO_DENIAL = re.compile(
    r"\b(?:i|we) (?:didn't|did not|don't|do not) (?:want|need|have|mean|like|wish|dare) to\b"
    r"(?! (?:do|change|make|touch|go))[^.;!?\n]*|"
    r"\b(?:i|we) (?:couldn't|could not|wouldn't|would not|can't|cannot) (?:have )?"
    r"[^.;,!?\n]{0,40}\bwithout (?:it|one|that|this|them|you|a|an|the)\b(?! \w+ing)|"
    r"\b(?:can(?:'t|not| not)|could(?:n't| not)) be (?:ruled out|excluded)\b|"
    r"\b(?:was|were)(?:n't| not) \w+ed (?:by (?:itself|themselves)|on (?:its|their) own|"
    r"separately)\b"
)
"""What only tells of a wish, of what would have been or may be, or was not done apart. Examples:
"I didn't want to guess", "cannot be ruled out". Not: "I didn't add it", "cases were not merged".
"""
