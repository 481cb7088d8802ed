"""How a name, an id, a choice or a phrase is looked for in a reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from crmbench.language.text import lower, plain

_SUFFIX = (
    r"(?:,? ?\b(?:incorporated|inc|limited|ltd|llc|llp|plc|corporation|corp|company|co|gmbh|ag|se|"
    r"sa|s a|sarl|sas|srl|spa|bv|b v|nv|ab|asa|as|a/s|aps|oy|pty|pte|kg|sl|lda|dac)\b\.?)"
)
_SUFFIX_AT_END = re.compile(rf"(?<=\w){_SUFFIX}+$")
_EXTENSIONS = (
    "group|holding|holdings|international|europe|global|worldwide|americas|america|asia|africa|uk|"
    "usa|us|emea|apac|iberia|deutschland|france|canada|australia|north|south|east|west|northern|"
    "southern|eastern|western|logistics|shipping|trading|capital|ventures|partners|industries|"
    "enterprises|solutions|services|systems|labs|foundation|jr|sr|ii|iii"
)
_START = r"(?<![a-z0-9_@])(?<![a-z0-9][-.'/])"
_END = r"(?![a-z0-9_@])(?![-.][a-z0-9])"
_PHONE = re.compile(r"\+?[\d\s().-]{7,}")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write something: literal parts, and what may stand before, between and after.

    A name's own pattern takes a millisecond to compile and is mostly asked once; what stands
    between its words is the same for all names.
    """

    before: re.Pattern[str]
    parts: tuple[str, ...]
    gaps: tuple[re.Pattern[str], ...]
    """What has to follow each part."""

    def end(self, text: str, start: int) -> int:
        """Where the form ends that begins at `start`; -1 if none does."""
        if self.before.match(text, start) is None:
            return -1
        for part, gap in zip(self.parts, self.gaps, strict=True):
            if not text.startswith(part, start):
                return -1
            match = gap.match(text, start + len(part))
            if match is None:
                return -1
            start = match.end()
        return start


@dataclass(frozen=True, slots=True)
class Finder:
    """Forms, and the literal beginnings that every match has one of."""

    forms: tuple[Form, ...]
    """The first that fits goes before the others."""
    heads: tuple[str, ...]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The matches' spans, not overlapping, in order.

        Looking for the beginnings first is several times as fast as trying every place.
        """
        starts = set()
        for head in self.heads:
            at = text.find(head)
            while at >= 0:
                starts.add(at)
                at = text.find(head, at + 1)
        taken = 0
        for start in sorted(starts):
            end = self._end(text, start) if start >= taken else -1
            if end >= 0:
                taken = end
                yield start, end

    def _end(self, text: str, start: int) -> int:
        return next((end for form in self.forms if (end := form.end(text, start)) >= 0), -1)


def fold(text: str) -> str:
    """Text as it stands in a reading: plain and in lower case."""
    return _folded(text) if len(text) <= _SHORT else lower(plain(text)).strip()


_SHORT = 160
"""Characters up to which a folded text is kept: names and values, which are asked for again."""


@lru_cache(maxsize=8192)
def _folded(text: str) -> str:
    return lower(plain(text)).strip()


@lru_cache(maxsize=4096)
def name_pattern(names: tuple[str, ...], whole: bool = True) -> Finder:
    """A pattern that finds any of these names in a reading's `low`.

    Case, accents, "&" against "and", dots after initials and the legal form at the end do not
    matter; two words that may be a person's name are also found as "Lee, Jordan".

    Args:
        whole: Refuse a name that goes on ("Acme" in "Acme Europe").
    """
    found = {pair for name in names for pair in _name_forms(name)}
    pairs = sorted(found, key=lambda pair: (-sum(map(len, pair[0])), pair))
    forms = tuple(_name_form(words, between, whole) for words, between in pairs)
    return Finder(forms, tuple(sorted({_inside(words[0])[0] for words, _ in pairs})))


_Words = tuple[str, ...]


def _name_forms(name: str) -> list[tuple[_Words, str]]:
    """The words of a name in each order in which they may stand; what stands between where the
    first is a person's last name: "Lee, Jordan" and "Lee (Jordan)".
    """
    folded = fold(name)
    bare = _SUFFIX_AT_END.sub("", folded) or folded
    words = [word for word in _SPACE.split(bare) if word not in {"&", "and", "-", "+"}]
    words = words or [bare]
    forms = [(tuple(words), "")]
    if len(words) == 2 and all(word.replace("'", "").replace("-", "").isalpha() for word in words):
        forms += [((words[1], words[0]), between) for between in (", ", r" \(")]
    return forms


def _name_form(words: _Words, turned: str, whole: bool) -> Form:
    parts: list[str] = []
    gaps: list[re.Pattern[str]] = []
    following = [*(_inside(word)[0] for word in words[1:]), None]
    for word, ahead in zip(words, following, strict=True):
        inside = _inside(word)
        parts += inside
        gaps += [_gap(_MARKS, part) for part in inside[1:]]
        dot = r"\.?" if len(word) <= 3 else ""
        if ahead is None:
            gaps.append(_name_end(dot, whole))
        elif turned:
            gaps.append(_gap(dot + turned, ahead))
        else:
            joined = _BETWEEN + ("?" if len(word.strip(".")) == 1 else "")
            gaps.append(_gap(dot + joined, ahead))
    return Form(_BEFORE_WORDS, tuple(parts), tuple(gaps))


_SPACE = re.compile(r"[\s_]+")
_INSIDE = re.compile(r"[.,'\"()]+")
_MARKS = r"[.,'\"()]{0,2}"
_BETWEEN = r"(?:\s*[&+]\s*|\s+and\s+|\s+-\s+|,?[ _]+|\s*[:/-]\s*)"
_BEFORE_WORDS = re.compile(_START)
_AFTER_WORDS = re.compile(_END)


def _inside(word: str) -> list[str]:
    return _INSIDE.split(word.strip(".,\"'()"))


def _gap(between: str, following: str) -> re.Pattern[str]:
    """What stands before a part, which is followed by the part's beginning and nothing else."""
    first = following[:1]
    return _gap_before(between, "[a-z0-9]" if first.isascii() and first.isalnum() else first)


@lru_cache(maxsize=256)
def _gap_before(between: str, first: str) -> re.Pattern[str]:
    ahead = first if len(first) != 1 else re.escape(first)
    return re.compile(f"{between}(?={ahead})" if ahead else between)


@lru_cache(maxsize=4)
def _name_end(dot: str, whole: bool) -> re.Pattern[str]:
    goes_on = rf"(?!\s(?:{_EXTENSIONS})\b(?!:))" if whole else ""
    return re.compile(rf"{dot}(?:{_SUFFIX}+)?{_END}{goes_on}")


@lru_cache(maxsize=4096)
def text_pattern(phrases: tuple[str, ...]) -> Finder:
    """A pattern that finds any of these phrases in a reading's `low`.

    An address (with "@", or of a page) is found as it is; a phone number by its digits; other
    phrases by their words, whatever stands between them.
    """
    forms = tuple(_phrase(fold(phrase)) for phrase in sorted(phrases, key=len, reverse=True))
    return Finder(forms, tuple(sorted({form.parts[0] for form in forms})))


def _phrase(phrase: str) -> Form:
    if "@" in phrase or "://" in phrase:
        return Form(_BEFORE_ADDRESS, (phrase,), (_AFTER_ADDRESS,))
    if _PHONE.fullmatch(phrase):
        digits = _NO_DIGITS.sub("", phrase)
        return _spread(_BEFORE_DIGITS, tuple(digits), _BETWEEN_DIGITS, _AFTER_DIGITS)
    words = _PHRASE_WORD.findall(phrase)
    if not words:
        return Form(_ANYWHERE, (phrase,), (_ANYWHERE,))
    return _spread(_BEFORE_WORDS, tuple(words), _BETWEEN_WORDS, _AFTER_WORDS)


def _spread(
    before: re.Pattern[str], parts: _Words, between: re.Pattern[str], after: re.Pattern[str]
) -> Form:
    return Form(before, parts, (*[between] * (len(parts) - 1), after))


_ANYWHERE = re.compile("")
_BEFORE_ADDRESS = re.compile(r"(?<![\w.+-])")
_AFTER_ADDRESS = re.compile(r"(?![\w@-]|\.\w)")
_BEFORE_DIGITS = re.compile(r"(?<!\d)")
_BETWEEN_DIGITS = re.compile(r"[\s().-]{0,3}")
_AFTER_DIGITS = re.compile(r"(?!\d|-\d)")
_NO_DIGITS = re.compile(r"\D")
_PHRASE_WORD = re.compile(r"[a-z0-9]+|[^\sa-z0-9.,;:'\"!?()\[\]/-]")
_BETWEEN_WORDS = re.compile(r"[\s.,;:'\"!?()\[\]/-]{0,4}")


@lru_cache(maxsize=4096)
def id_pattern(ids: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds any of these ids in a reading's `text`, exactly.

    Hexadecimal ids (UUIDs) are the same in either case; all others are not.
    """
    forms = []
    for value in ids:
        plain_id = unicodedata.normalize("NFKC", value).strip()
        hexadecimal = re.fullmatch(r"[0-9a-fA-F-]{32,36}", plain_id) is not None
        forms.append(f"(?i:{re.escape(plain_id)})" if hexadecimal else re.escape(plain_id))
    return re.compile(r"(?<![\w.-])(?:" + "|".join(forms) + r")(?![\w]|[-.]\w)")


@lru_cache(maxsize=4096)
def choice_pattern(options: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds any of these options, each as the group ``o<place>``, longest first."""
    places = sorted(range(len(options)), key=lambda place: len(options[place]), reverse=True)
    forms = [f"(?P<o{place}>{_option(options[place])})" for place in places]
    return re.compile(
        rf"(?<![a-z0-9_@])(?<![a-z0-9]-)(?<![a-z0-9]\.)(?:{'|'.join(forms)})(?![a-z0-9_@])(?!-[a-z])"
    )


def _option(option: str) -> str:
    words = re.findall(r"[a-z0-9]+", fold(option))
    if not words:
        return re.escape(fold(option))
    spelt = [re.sub(r"^canceled$", "cancell?ed", re.escape(word)) for word in words]
    return r"[\s_/:(-]{0,3}".join(spelt)
