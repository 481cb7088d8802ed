"""The values in what a user says, each in one form however it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Literal, NamedTuple

from crmbench.authoring.relative import find_days
from crmbench.language.dates import find_dates
from crmbench.language.numbers import find_number_words, find_numbers
from crmbench.language.text import lower
from crmbench.paraphrase.names import Names, flat, words_of

Kind = Literal["quoted text", "address", "id", "file name", "name", "day", "time", "number"]


class Value(NamedTuple):
    """A value that somebody said."""

    kind: Kind
    key: str
    """Equal for equal values."""
    shown: str
    """As it was written."""
    start: int
    currency: str = ""


class Read(NamedTuple):
    """What a text holds."""

    values: list[Value]
    """In the order of the text."""
    words: str
    """What is left of it in lower case: values give way to spaces."""


_QUOTED = re.compile(r'"([^"\n]+)"|(?<![\w\'])\'([^\'\n]+)\'(?!\w)')
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\bhttps?://[^\s<>\"]*[\w/]|\bwww\.[^\s<>\"]*\w"
)
_PHONE = re.compile(r"\+\d[\d ().-]{6,}\d|\(\d{3}\)[ -]?\d{3}[ -]\d{4}")
_FILE = re.compile(
    r"[\w(][\w().+-]*\.(?:pdf|docx?|pptx?|xlsx?|csv|txt|key|zip|png|jpe?g|msg|eml|md|rtf|odt|mp[34]|mov|html?|json|xml|svg|gif)\b"
)
_VERSION = re.compile(r"\b(?:v\.? ?|version |revision |rev\.? )(\d+)\b")
_ID = re.compile(r"(?<![\w@.$€£-])(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9][\w-]{2,}(?![\w@-])")
_NOT_AN_ID = re.compile(
    r"\d+(?:st|nd|rd|th|k|m|mm|bn|mio|am|pm|usd|eur|gbp)|\d{4}-\d\d-\d\d.*|"
    r"\d+-(?:day|week|month|quarter|year|hour|minute|page|person)s?|"
    r"\d{1,2}-[a-z]{3,9}(?:-\d{2,4})?|[a-z]{3,9}-\d{1,2}(?:-\d{2,4})?"
)
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b\.?|\b(\d{1,2}):(\d\d)\b")
_COUNT = r"\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|thirty"
_SPAN = re.compile(rf"\b({_COUNT})[ -](?:more |further )?(day|week|month|quarter|year|hour)s?\b")
_SPELT = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
_MORE_SPELT = {"a": 1, "an": 1, "fourteen": 14, "thirty": 30}
_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME = re.compile(
    rf"\b(?:(this|next|last|past|previous|coming|current|following) )?"
    rf"(week|month|quarter|year|spring|summer|autumn|fall|winter|{_WEEKDAY})\b"
    r"|\b(today|tomorrow|yesterday|tonight|q[1-4])\b"
    r"|\b(january|february|april|june|july|august|september|october|november|december)\b"
)
_PAIR = re.compile(r"\bboth\b|\bpair of\b|\bcouple of\b")
_ORDINAL = re.compile(r"\b(second|third|fourth|fifth)\b")


def read_values(text: str, names: Names, today: date) -> Read:
    """Everything in a text that has a value: what a rewrite may neither lose nor add.

    Args:
        names: Of the world.
        today: In the world: what "next Friday" is said from.
    """
    shown = flat(text)
    page = _Page(shown)
    page.take(_QUOTED, "quoted text", lambda m: _plain_words(m[1] or m[2]))
    page.take(_ADDRESS, "address", lambda m: m[0].rstrip("."))
    page.take(_FILE, "file name", lambda m: m[0])
    page.take(_PHONE, "id", lambda m: re.sub(r"\D", "", m[0]))
    for name in names.find(page.left(shown)):
        page.note("name", " ".join(name.words), name.start, name.end)
    page.take(_VERSION, "id", lambda m: f"v{m[1]}")
    page.take(_ID, "id", _id)
    page.take(_CLOCK, "time", _clock)
    for day in find_days(page.low.replace("\n", " "), today):
        page.note("day", f"relative {day.day}", day.start, day.end)
    for found in find_dates(page.low):
        key = f"{found.year or '?'}-{found.month}-{found.day or '?'}"
        page.note("day", key, found.start, found.end)
    page.take(_SPAN, "time", _span)
    page.take(_TIME, "time", _time)
    _numbers(page)
    return Read(sorted(page.values, key=lambda value: value.start), page.low)


class _Page:
    """A text of which one value after another is taken out."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.low = lower(shown)
        self.values: list[Value] = []

    def note(self, kind: Kind, key: str, start: int, end: int, currency: str = "") -> None:
        if self.low[start:end].strip():
            self.values.append(Value(kind, key, self.shown[start:end].strip(), start, currency))
            self.low = self.low[:start] + " " * (end - start) + self.low[end:]

    def take(
        self, pattern: re.Pattern[str], kind: Kind, key: Callable[[re.Match[str]], str]
    ) -> None:
        """Take out what a pattern finds; an empty key leaves it where it is."""
        for match in list(pattern.finditer(self.low)):
            found = key(match)
            if found:
                self.note(kind, found, *match.span())

    def left(self, shown: str) -> str:
        """The text with its capitals, where nothing has been taken out."""
        pairs = zip(shown, self.low, strict=True)
        return "".join(char if low != " " else " " for char, low in pairs)


def _plain_words(text: str) -> str:
    return " ".join(word.text for word in words_of(text))


def _id(match: re.Match[str]) -> str:
    return "" if _NOT_AN_ID.fullmatch(match[0]) else match[0]


def _clock(match: re.Match[str]) -> str:
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    if match[3]:
        hour = hour % 12 + (12 if match[3] == "p" else 0)
    return f"{hour}:{minute:02}"


def _span(match: re.Match[str]) -> str:
    count = match[1]
    number = int(count) if count.isdigit() else _MORE_SPELT.get(count) or _SPELT.index(count)
    return f"{number} {match[2]}"


_ALIKE = {"past": "last", "previous": "last", "current": "this", "coming": "next"}


def _time(match: re.Match[str]) -> str:
    which, what = match[1], match[2]
    if what is None:
        return match[3] or match[4]
    if which is None and what not in _WEEKDAY.split("|"):
        return ""
    return f"{_ALIKE.get(which, which)} {what}" if which else what


def _numbers(page: _Page) -> None:
    for match in list(_PAIR.finditer(page.low)):
        page.note("number", "2", *match.span())
    for match in list(_ORDINAL.finditer(page.low)):
        place = ("second", "third", "fourth", "fifth").index(match[1]) + 2
        page.note("number", f"{place} ordinal", *match.span())
    for amount in (*find_numbers(page.low, ()), *find_number_words(page.low)):
        words = page.low[amount.start : amount.end].strip()
        if words == "one":  # "that one" is no number
            continue
        mark = " percent" if amount.percent else " ordinal" if amount.ordinal else ""
        key = f"{amount.value:.10g}{mark}{'+' if amount.plus else ''}"
        page.note("number", key, amount.start, amount.end, amount.currency)


def order_of(values: list[Value], kind: Kind, among: set[str]) -> Iterator[str]:
    """The values of a kind, in the order in which they are first said."""
    seen = set()
    for value in values:
        if value.kind == kind and value.key in among and value.key not in seen:
            seen.add(value.key)
            yield value.key
