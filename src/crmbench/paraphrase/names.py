"""Names in what a user says: those of the world's records, and any other by its capitals.

A rewrite has to keep names word for word: two clients may differ in nothing but "Ltd" and "Inc",
and part of a deal's name is often all that tells it from the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from crmbench.core.domain import Domain
from crmbench.core.task import Task
from crmbench.language.text import lower, plain

MAX_NAME = 80
"""Characters; a longer text of a record is prose, not a name."""
MAX_WORDS = 8
_JOINED = (" ", " & ", " - ")
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_SMALL = re.compile(r"(?<![\w'-])[a-z]{2,}(?![\w'-])")
_BEGINS = re.compile(r"(?:^|[.!?:;\n>]|[.!?]['\")])\s*['\"(]*$|(?:^|\n)\s*[-–•]\s*$")


@cache
def usual_words() -> frozenset[str]:
    """Words that often begin a sentence or always have a capital, in lower case: no names."""
    text = resources.files("crmbench.paraphrase").joinpath("usual_words.txt")
    return frozenset(text.read_text("utf-8").split())


class Word(NamedTuple):
    """A word of a text."""

    text: str
    """In lower case, without a possessive s."""
    start: int
    end: int
    capital: bool
    first: bool
    """Of a sentence or line, where a capital means nothing."""


class Name(NamedTuple):
    """A name in a text."""

    words: tuple[str, ...]
    start: int
    end: int


def flat(text: str) -> str:
    """A text in one plain form, its lines kept, single spaces between words."""
    lines = (" ".join(line.split()) for line in plain(text, keep_struck=True).splitlines())
    return "\n".join(line for line in lines if line)


def words_of(text: str) -> list[Word]:
    """The words of a text that `flat` made."""
    low = lower(text)
    found = []
    for match in _WORD.finditer(low):
        start, end = match.span()
        if match[0].endswith("'s") and len(match[0]) > 2:
            end -= 2
        first = bool(_BEGINS.search(text, max(0, start - 6), start)) or start == 0
        found.append(Word(low[start:end], start, end, text[start].isupper(), first))
    return found


def holds(words: Sequence[Word], wanted: Sequence[str]) -> bool:
    """Whether these words stand one after another in a text."""
    return not missing(words, [wanted])


def missing(words: Sequence[Word], wanted: Sequence[Sequence[str]]) -> list[int]:
    """Which of these runs of words a text does not hold, by their places.

    No word of the text serves two of them: who is named twice must be named twice.
    """
    texts: list[str | None] = [word.text for word in words if word.text != "and"]
    lost = []
    for place in sorted(range(len(wanted)), key=lambda at: -len(wanted[at])):
        seek = [text for text in wanted[place] if text != "and"]
        starts = range(len(texts) - len(seek) + 1)
        start = next((at for at in starts if texts[at : at + len(seek)] == seek), None)
        if start is None:
            lost.append(place)
        else:
            texts[start : start + len(seek)] = [None] * len(seek)
    return sorted(lost)


@dataclass(frozen=True)
class Names:
    """What is known of the names of a world.

    Args:
        parts: Every run of words in a name of a record, in lower case.
        ordinary: Words that are no names, whatever their capitals.
        common: Words that the records also write small; at the beginning of a sentence their
            capital means nothing.
    """

    parts: frozenset[tuple[str, ...]]
    ordinary: frozenset[str]
    common: frozenset[str] = frozenset()

    def find(self, text: str) -> list[Name]:
        """The names in a text that `flat` made."""
        words = words_of(text)
        found: list[Name] = []
        place = 0
        while place < len(words):
            length = self._known(words, place) or self._written(text, words, place)
            if length:
                run = words[place : place + length]
                name = Name(tuple(w.text for w in run), run[0].start, run[-1].end)
                # A first and a last name are two names of a record and one of a person.
                if found and text[found[-1].end : name.start] == " ":
                    last = found.pop()
                    name = Name(last.words + name.words, last.start, name.end)
                found.append(name)
            place += length or 1
        return found

    def strange(self, text: str, known: Iterable[str]) -> str | None:
        """A word of a name in a text that `flat` made, if it is not among the words known."""
        have = set(known)
        words = words_of(text)
        for place, word in enumerate(words):
            if not word.capital or word.text in have or word.text in self.ordinary:
                continue
            if self._opens(word):
                continue
            if not word.first or (word.text,) in self.parts or _addressed(text, words, place):
                return text[word.start : word.end]
        return None

    def _opens(self, word: Word) -> bool:
        """Whether a word begins a sentence and is an everyday one."""
        return word.first and (word.text in self.ordinary or word.text in self.common)

    def _tells(self, word: Word) -> bool:
        """Whether a word's capital says that it belongs to a name."""
        return word.capital and word.text not in usual_words() and not self._opens(word)

    def _known(self, words: Sequence[Word], place: int) -> int:
        """The words that stand here and in a record's name."""
        for length in range(min(MAX_WORDS, len(words) - place), 0, -1):
            run = words[place : place + length]
            if tuple(word.text for word in run) not in self.parts:
                continue
            if any(self._tells(word) for word in run):
                return length
        return 0

    def _written(self, text: str, words: Sequence[Word], place: int) -> int:
        """The words that stand here with capitals as only names have."""
        length = 0
        while place + length < len(words):
            word = words[place + length]
            doubtful = word.first and (length > 0 or self._opens(word))
            apart = length > 0 and text[words[place + length - 1].end : word.start] not in _JOINED
            if not word.capital or word.text in self.ordinary or doubtful or apart:
                break
            length += 1
        alone = length == 1 and words[place].first
        return 0 if alone and (words[place].text,) not in self.parts else length


def _addressed(text: str, words: Sequence[Word], place: int) -> bool:
    """Whether the first word of a sentence stands as only a name does: before a comma, at the end
    of its line, or before another capital.
    """
    word = words[place]
    following = words[place + 1] if place + 1 < len(words) else None
    beside = following is not None and following.capital and following.start == word.end + 1
    return beside or text[word.end : word.end + 1] in {"", ",", "\n"}


def names_of(domain: Domain, task: Task) -> Names:
    """What is known of the names in the world of a task, its own records included."""
    options = frozenset(option.casefold() for option in options_of(domain))
    parts: set[tuple[str, ...]] = set()
    common: set[str] = set()
    for table, row in _rows(domain, task):
        for column, value in row.items():
            if isinstance(value, str) and "@" not in value and "://" not in value:
                common.update(_SMALL.findall(value))
                if _may_name(domain, table, column, value) and value.casefold() not in options:
                    parts.update(_runs(words_of(flat(value))))
    ordinary = frozenset(_ordinary(domain) | usual_words())
    return Names(frozenset(parts), ordinary, frozenset(common))


def _rows(domain: Domain, task: Task) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for table, rows in domain.world(task.world).stream():
        for row in rows:
            yield table, row
    for table, records in task.seed_data.items():
        for record in records.values():
            yield table, record


def _may_name(domain: Domain, table: str, column: str, value: str) -> bool:
    """Whether a column's value may be a name: no id, no prose."""
    info = domain.schema[table]
    if column == info.key or column in info.references or column in info.assigned:
        return False
    return len(value) <= MAX_NAME and info.compare.get(column) != "note"


def _ordinary(domain: Domain) -> set[str]:
    """The words of the house rules, of the tables and their columns, and of their values."""
    found = {word.text for word in words_of(flat(domain.policy)) if not word.capital}
    for table, info in domain.schema.tables.items():
        for name in (table, *info.columns):
            found.update(re.findall(r"[a-z]+", name.casefold()))
    for option in options_of(domain):
        found.update(word.text for word in words_of(option))
    return found


def _runs(words: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """Every run of words that has one with a capital.

    Where most words have none, the text is a sentence, and its first word's capital means nothing.
    """
    long = [word for word in words if len(word.text) > 3]
    title = 2 * sum(word.capital for word in long) >= len(long)
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + MAX_WORDS) + 1):
            run = words[start:end]
            told = any(word.capital and (title or not word.first) for word in run)
            if told and not _is_small(run[0]) and not _is_small(run[-1]):
                yield tuple(word.text for word in run)


def _is_small(word: Word) -> bool:
    """Whether a word is one that no name begins or ends with, such as "the"."""
    return not word.capital and word.text in usual_words()


def options_of(domain: Domain) -> list[str]:
    """The values that the arguments of a domain's tools may take, where they are listed."""
    found: dict[str, None] = {}

    def collect(part: Any) -> None:
        if isinstance(part, Mapping):
            for option in part.get("enum") or ():
                if isinstance(option, str):
                    found[option] = None
            for inner in part.values():
                collect(inner)
        elif isinstance(part, list | tuple):
            for inner in part:
                collect(inner)

    for schema in domain.toolbox.schemas:
        collect(schema)
    return [option for option in found if option not in domain.schema.tables]
