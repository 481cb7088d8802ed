"""Which ids, months and states a text names, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crmbench.core.answer import ID, MONTHS, STATES, Answer
from crmbench.grading.directory import NO_DIRECTORY, Directory
from crmbench.language.reading import Reading

_ID = re.compile(rf"(?<![A-Za-z0-9]){ID.pattern}(?![A-Za-z0-9])")
_SHORT_MONTHS = {name[:3].lower(): name for name in MONTHS} | {"sept": "September"}
_BY_MONTH = {name.lower(): name for name in MONTHS} | _SHORT_MONTHS
_MONTH = re.compile(
    rf"\b({'|'.join(sorted(_BY_MONTH, key=len, reverse=True))})\b\.?(?!\s(?:i|we|you|it|be|"
    rf"not|also)\b)",
    re.IGNORECASE,
)
_ALSO_WORDS = frozenset(("may", "march", "mar", "sep", "dec", "jan", "jun", "jul", "nov", "oct"))
"""Months that in lower case are other words, or are seldom meant as months."""
_NUMBERED = re.compile(r"(?:month\s*)?0?(\d{1,2})(?:\s*/\s*(?:19|20)\d\d)?", re.IGNORECASE)
_BY_STATE = {name.lower(): code for name, code in STATES.items()}
_CODES = frozenset(STATES.values())
_NAMES = "|".join(sorted(STATES, key=len, reverse=True))
_STATE = re.compile(rf"\b(?:((?i:{_NAMES}))|({'|'.join(sorted(_CODES))}))\b")
_PLAIN_ENDS = " \t\r\n.\"'`*!"


class Named(NamedTuple):
    """A value that a text names."""

    value: str
    """In one form: 15 characters of an id, an English month, a state's code."""
    start: int
    end: int


def named(answer: Answer, reading: Reading, directory: Directory = NO_DIRECTORY) -> list[Named]:
    """What of the answer's kind a text names, in order; nothing for texts.

    Args:
        directory: Where the names of ids are looked up: who is named is named by id as well.
    """
    if answer.kind == "id":
        return sorted({*_ids(answer, reading), *_by_name(answer, reading, directory)}, key=_place)
    if answer.kind == "month":
        return _months(reading)
    return _states(reading) if answer.kind == "state" else []


def short(value: str) -> str:
    """An 18-character id in the 15 characters that tell it from all others; the rest as it is."""
    return value[:15] if len(value) == 18 and _ID.fullmatch(value) else value


def _place(found: Named) -> tuple[int, str]:
    return found.start, found.value


def _ids(answer: Answer, reading: Reading) -> Iterator[Named]:
    for match in _ID.finditer(reading.text):
        value = short(match[0])
        if any(char.isdigit() for char in value) and value.startswith(answer.prefix):
            yield Named(value, *match.span())


def _by_name(answer: Answer, reading: Reading, directory: Directory) -> Iterator[Named]:
    for name, start, end in directory.mentions(reading.low):
        keys = [key for key in directory.ids.get(name, ()) if key.startswith(answer.prefix)]
        if answer.prefix and len(keys) == 1:
            yield Named(short(keys[0]), start, end)


def _months(reading: Reading) -> list[Named]:
    text = reading.text
    whole = text.strip(_PLAIN_ENDS).lower()
    if whole in _BY_MONTH:
        return [Named(_BY_MONTH[whole], 0, len(text))]
    numbered = _NUMBERED.fullmatch(whole)
    if numbered and 1 <= int(numbered[1]) <= 12:
        return [Named(MONTHS[int(numbered[1]) - 1], 0, len(text))]
    days = [(date.start, date.end) for date in reading.dates if date.day is not None]
    found = [
        Named(_BY_MONTH[match[1].lower()], *match.span())
        for match in _MONTH.finditer(text)
        if (match[1][0].isupper() or match[1] not in _ALSO_WORDS)
        and not any(first <= match.start() < last for first, last in days)
    ]
    for date in reading.dates:
        written = text[date.start : date.end]
        if not any(char.isalpha() for char in written) and len(reading.dates) == 1:
            found.append(Named(MONTHS[date.month - 1], date.start, date.end))
    return sorted(found, key=_place)


def _states(reading: Reading) -> list[Named]:
    text = reading.text
    whole = text.strip(_PLAIN_ENDS)
    if whole.upper() in _CODES:
        return [Named(whole.upper(), 0, len(text))]
    return [
        Named(_BY_STATE[match[1].lower()] if match[1] else match[2], *match.span())
        for match in _STATE.finditer(text)
        if match[1] or not _is_another_word(text, *match.span())
    ]


def _is_another_word(text: str, start: int, end: int) -> bool:
    """Whether a code is a word in capitals: "OK, it is CO", "State ID: CO", "PRICE IN USD"."""
    if text[start:end] == "ID":
        return text[end : end + 1] in {":", "s"} or re.search(r"\w $", text[:start]) is not None
    if text[start:end] in {"OK", "HI", "OH"}:
        return not text[:start].strip(_PLAIN_ENDS) and text[end : end + 1] in {",", ".", "!"}
    return False


def without_known(found: list[Named], reading: Reading, known: str) -> list[Named]:
    """What is named beside what the user named already, in the same words."""
    return [each for each in found if not _stands_in(known, reading.text[each.start : each.end])]


def _stands_in(known: str, words: str) -> bool:
    return words in known and re.search(rf"\b{re.escape(words)}\b", known) is not None
