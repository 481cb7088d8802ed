"""How a name, an id, a choice or a phrase is looked for in a reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

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


@dataclass(frozen=True)
class Finder:
    """A pattern, and the literal beginnings that every match has one of."""

    source: str
    """The pattern's text: it is compiled when the first beginning is met, which most never are."""
    heads: tuple[str, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.source)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The matches' spans, not overlapping, in order.

        Looking for the beginnings first is several times as fast as letting the pattern try every
        place.
        """
        starts = set()
        for head in self.heads:
            at = text.find(head)
            while at >= 0:
                starts.add(at)
                at = text.find(head, at + 1)
        taken = 0
        for start in sorted(starts):
            match = self.pattern.match(text, start) if start >= taken else None
            if match is not None:
                taken = match.end()
                yield match.span()


def fold(text: str) -> str:
    """Text as it stands in a reading: plain and in lower case."""
    return lower(plain(text)).strip()


@lru_cache(maxsize=4096)
def name_pattern(names: tuple[str, ...], whole: bool = True) -> Finder:
    """A pattern that finds any of these names in a reading's `low`.

    Case, accents, "&" against "and", dots after initials and the legal form at the end do not
    matter; two words that may be a person's name are also found as "Lee, Jordan".

    Args:
        whole: Refuse a name that goes on ("Acme" in "Acme Europe").
    """
    pairs = sorted({pair for name in names for pair in _name_forms(name)}, key=_by_length)
    forms = "|".join(form for form, _ in pairs)
    end = rf"(?:{_SUFFIX}+)?{_END}" + (rf"(?!\s(?:{_EXTENSIONS})\b(?!:))" if whole else "")
    heads = tuple(sorted({head for _, head in pairs}))
    return Finder(f"{_START}(?:{forms}){end}", heads)


def _by_length(pair: tuple[str, str]) -> tuple[int, str]:
    return -len(pair[0]), pair[0]


def _name_forms(name: str) -> list[tuple[str, str]]:
    """The patterns of a name, each with what it begins with."""
    folded = fold(name)
    bare = _SUFFIX_AT_END.sub("", folded) or folded
    words = [word for word in re.split(r"[\s_]+", bare) if word not in {"&", "and", "-", "+"}]
    words = words or [bare]
    between = r"(?:\s*[&+]\s*|\s+and\s+|\s+-\s+|,?[ _]+|\s*[:/-]\s*)"
    joined = "".join(
        _word(word) + (between + "?" if len(word.strip(".")) == 1 else between)
        for word in words[:-1]
    )
    forms = [(joined + _word(words[-1]), _head(words[0]))]
    if len(words) == 2 and all(word.replace("'", "").replace("-", "").isalpha() for word in words):
        forms.append((rf"{_word(words[1])}, {_word(words[0])}", _head(words[1])))
    return forms


def _head(word: str) -> str:
    return re.split(r"[.,'\"()]+", word.strip(".,\"'()"))[0]


def _word(word: str) -> str:
    inside = re.split(r"[.,'\"()]+", word.strip(".,\"'()"))
    return r"[.,'\"()]{0,2}".join(map(re.escape, inside)) + (r"\.?" if len(word) <= 3 else "")


@lru_cache(maxsize=4096)
def text_pattern(phrases: tuple[str, ...]) -> Finder:
    """A pattern that finds any of these phrases in a reading's `low`.

    An address (with "@", or of a page) is found as it is; a phone number by its digits; other
    phrases by their words, whatever stands between them.
    """
    pairs = [_phrase(fold(phrase)) for phrase in sorted(phrases, key=len, reverse=True)]
    pattern = "|".join(form for form, _ in pairs)
    return Finder(f"(?:{pattern})", tuple(sorted({head for _, head in pairs})))


def _phrase(phrase: str) -> tuple[str, str]:
    """The pattern of a phrase, and what it begins with."""
    if "@" in phrase or "://" in phrase:
        return rf"(?<![\w.+-]){re.escape(phrase)}(?![\w@-]|\.\w)", phrase
    if _PHONE.fullmatch(phrase):
        digits = re.sub(r"\D", "", phrase)
        return r"(?<!\d)" + r"[\s().-]{0,3}".join(digits) + r"(?!\d|-\d)", digits[0]
    words = re.findall(r"[a-z0-9]+|[^\sa-z0-9.,;:'\"!?()\[\]/-]", phrase)
    if not words:
        return re.escape(phrase), phrase
    between = r"[\s.,;:'\"!?()\[\]/-]{0,4}"
    return _START + between.join(map(re.escape, words)) + _END, words[0]


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
