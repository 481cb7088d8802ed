"""Records that a report says were made or changed, against those that were."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.sources import Sources
from crmbench.language.claims import is_unreal
from crmbench.language.reading import Reading


def unmade_records(reading: Reading, sources: Sources) -> Iterator[str]:
    """Records that a report tells of and that were not written, in words."""
    yield from _made(reading, sources)
    yield from _another(reading, sources)
    yield from _too(reading, sources)
    yield from _updated(reading, sources)
    yield from _number_of_records(reading, sources)


def unmade_beside(reading: Reading, sources: Sources) -> Iterator[str]:
    """The same where nothing was written at all."""
    yield from _made(reading, sources)
    yield from _another(reading, sources)
    yield from _too(reading, sources)


_MADE = re.compile(
    r"\b(?:created|added|made|drafted|uploaded|attached|wrote|written|logged|left|opened|scheduled|"
    r"booked|set up|put|entered|saved|recorded|raised|issued)\b"
    r"(?: (?!to |on |in |for )\S*[^\s.!?:;]){0,4}? "
    r"(?P<thing>note|quote|contract|contact|task|reminder|follow-up|appointment|meeting|deal|"
    r"opportunity|document|file|comment|ticket|discount|client|customer|article|draft|call)\b"
    r"(?!'s| owner| name| status| stage| itself| amount| as | record)"
)


_PASSIVE = re.compile(
    r"\b(?P<thing>note|contract|task|reminder|follow-up|appointment|meeting|comment|ticket|"
    r"discount|article|call|event|letter|e-mail|message)\b(?: (?!i\b|we\b|you\b)[\w-]+){0,4}? "
    r"(?:(?:was|were|has been|have been|is)(?: also| now| already)* )?"
    r"(?:created|added|made|drafted|logged|opened|scheduled|booked|set up|sent|written|raised|"
    r"issued)\b"
)
_ANOTHER = re.compile(
    r"\b(?:second|another|further|additional|separate|extra) (?:new )?(?P<thing>[a-z-]{4,})\b"
)
_TOO = re.compile(
    r"\b(?:the |a |an )(?:first |new |own )?(?P<thing>quote|contract|note|comment|article|contact|"
    r"task|"
    r"reminder|meeting)\b[^.;!?\n]{0,40}\b(?:too|also|as well)\b"
)


def _made(reading: Reading, sources: Sources) -> Iterator[str]:
    """A record that is said to have been made, and of which nothing knows."""
    deeds = sources.deeds
    known = f"{sources.context.question.lower()}\n{deeds.texts}\n{deeds.tables_written}"
    for match in (*_MADE.finditer(reading.low), *_PASSIVE.finditer(reading.low)):
        if match["thing"] in known or not _is_told(reading, match):
            continue
        if match[0].startswith("left") or reading.low.endswith("you ", 0, match.start()):
            continue
        yield f"it may not have been done: {match[0]!r}"
        return


def _another(reading: Reading, sources: Sources) -> Iterator[str]:
    """A second record is said to have been made, where one was, or none."""
    made = sum(change.before is None for change in sources.deeds.effect)
    for match in _ANOTHER.finditer(reading.low):
        first = max(reading.sentence(match.start())[0], match.start() - 60)
        told = _VERB_BEFORE.search(reading.low, first, match.start()) is not None
        if made < 2 and told and match[0] not in sources.told and _is_told(reading, match):
            yield f"it may not have been done: {match[0]!r}"
            return


def _is_told(reading: Reading, match: re.Match[str]) -> bool:
    """Whether it is told as done: not denied, not supposed, not asked."""
    return not (is_unreal(reading.low, match.start()) or reading.is_asked(match.start()))


def _too(reading: Reading, sources: Sources) -> Iterator[str]:
    """Something else is there "too", and nothing of its kind was written."""
    deeds = sources.deeds
    known = f"{sources.context.question.lower()}\n{deeds.texts}\n{deeds.tables_written}"
    for match in _TOO.finditer(reading.low):
        if match["thing"] not in known and _is_told(reading, match):
            yield f"it may not have been done: {match[0]!r}"
            return


_UPDATED = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:only |just )?(?:updated|changed|corrected|modified)\b"
)


def _updated(reading: Reading, sources: Sources) -> Iterator[str]:
    """Something is said to have been changed, where all that was written is new."""
    match = _UPDATED.search(reading.low)
    made = all(change.before is None for change in sources.deeds.effect)
    if match and made and not is_unreal(reading.low, match.start()):
        yield f"{match[0]!r}: a record was made"


_VERB_BEFORE = re.compile(r"\b(?:added|made|created|opened|drafted|set up|put|wrote|entered)\b")

_BOTH_RECORDS = re.compile(
    r"\bboth (?:of )?(?:the |their |his |her |these )?(?:\w+ )?(?:cases|deals|quotes|clients|"
    r"contacts|contracts|opportunities)\b"
)
_SEVERAL = re.compile(r"\b(?:both|all (?:of them|\w+ (?:deals|quotes|cases)))\b")


_KEPT = re.compile(r"(?: \w+){0,2} (?:unchanged|untouched|as before|the same|stay|remain|left)\b")
"""Behind "both" where it is said of what did not change."""


def _number_of_records(reading: Reading, sources: Sources) -> Iterator[str]:
    one = len(sources.deeds.effect) == 1
    match = (_SEVERAL if one else _BOTH_RECORDS).search(reading.low)
    tables = [change.table for change in sources.deeds.effect]
    if match and _KEPT.match(reading.low, match.end()):
        return
    if match and len(set(tables)) == len(tables) and "both" not in sources.context.question.lower():
        yield f"{match[0]!r}: one record was written"
