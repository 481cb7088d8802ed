"""Values that a simulated user has made up: in its words, and in nothing that it was told.

Amounts, numbers, percentages, dates, phone numbers, e-mail addresses and ids are found, however
they are written. Made-up names and phrases are not: no rule tells them from a paraphrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from crmbench.language.dates import DateMention
from crmbench.language.numbers import Amount
from crmbench.language.reading import read

SMALL = 12
"""Plain whole numbers up to this one are also counts and numbering ("2 quotes"): not looked at."""
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?:\+|\(\d)[\d ().-]{6,}\d")
_CODE = re.compile(r"(?<![\w@.-])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{4,}(?![\w@-])", re.IGNORECASE)
_WRITTEN_OTHERWISE = re.compile(
    r"\d+(?:st|nd|rd|th|k|m|mm|bn|am|pm|usd|eur|gbp)|\d+-(?:day|week|month|year|hour)s?",
    re.IGNORECASE,
)


def invented(text: str, told: Iterable[str], today: str = "") -> str | None:
    """The first value in `text` that nothing in `told` holds, as it is written; None if none.

    Args:
        told: What the user knows: its requests, and what the agent said.
        today: The world's date (ISO), which everybody knows.
    """
    known = "\n".join([*told, today])
    values = (*_addresses(text, known), *_dates(text, known), *_numbers(text, known))
    return values[0] if values else None


def _addresses(text: str, known: str) -> Iterator[str]:
    lower = known.casefold()
    for match in _EMAIL.finditer(text):
        if match[0].casefold().rstrip(".") not in lower:
            yield match[0]
    phones = {_digits(match[0]) for match in _PHONE.finditer(known)}
    for match in _PHONE.finditer(text):
        if _digits(match[0]) not in phones:
            yield match[0]
    dates = [(mention.start, mention.end) for mention in read(text).dates]
    for match in _CODE.finditer(read(text).text):
        inside = any(start <= match.start() < end for start, end in dates)
        if inside or _WRITTEN_OTHERWISE.fullmatch(match[0]):
            continue
        if match[0].casefold() not in lower:
            yield match[0]


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _dates(text: str, known: str) -> Iterator[str]:
    found, told = read(text), read(known)
    for mention in found.dates:
        if not any(_same(mention, other) for other in told.dates):
            yield found.text[mention.start : mention.end]


def _same(one: DateMention, two: DateMention) -> bool:
    """Whether two mentions can be one date; what either leaves open does not matter."""
    if one.month != two.month or (one.year and two.year and one.year != two.year):
        return False
    return one.day is None or one.day == two.day or (two.day is None and _is_last(one, two))


def _is_last(one: DateMention, two: DateMention) -> bool:
    """The last day of a month that was named: how people say its end."""
    year = one.year or two.year or 2024
    following = date(year + one.month // 12, one.month % 12 + 1, 1)
    return one.day == (following - date.resolution).day


def _numbers(text: str, known: str) -> Iterator[str]:
    found, told = read(text), read(known)
    values = {abs(amount.value) for amount in (*told.numbers, *told.number_words)}
    values |= {float(mention.year) for mention in told.dates if mention.year}
    for amount in (*found.numbers, *found.number_words):
        if not _harmless(amount) and not any(_near(abs(amount.value), v) for v in values):
            yield found.text[amount.start : amount.end].strip()


def _harmless(amount: Amount) -> bool:
    plain = not amount.currency and not amount.percent and not amount.places
    return amount.ordinal or (plain and abs(amount.value) <= SMALL)


def _near(one: float, two: float) -> bool:
    return abs(one - two) <= 1e-9 * max(one, two)
