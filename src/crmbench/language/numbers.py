"""Amounts, percentages and plain numbers in a reply, in digits and in words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from crmbench.language.number_words import TENS, UNDER_TWENTY

_NUMBER = re.compile(
    r"""\d(?:
      \d{0,2}(?:,\d{3})+(?:\.\d+)?
    | \d{0,2}(?:\.\d{3})+,\d{1,2}(?!\d)
    | \d{0,2}(?:[ ']\d{3})+(?:[.,]\d{1,2})?(?![\d'])
    | \d*(?:\.\d+)?
    )""",
    re.VERBOSE,
)
_CODES = "usd|eur|gbp|cad|aud|chf|jpy|inr|sek|nok|dkk|pln|cny|brl|mxn|nzd|sgd|hkd"
_BEFORE = re.compile(rf"((?:us|ca?|au?|nz|hk|sg?)?\$|[€£¥₹]|\b(?:{_CODES})\$?)[^\S\n]?(-?)\Z")
_AFTER = re.compile(
    rf"""(?P<scale>\s?(?:thousand|grand|million|billion|mio|mil|mm|mn|bn|k|m|b)\b(?!['/]))?
    (?P<plus>\+)?
    [^\S\n]?(?P<tail>%|percent\b|per\ cent\b|pct\b|(?:{_CODES})\b
      |(?:us|canadian|australian|hong\ kong|singapore)?\s?(?:dollars?|bucks)\b
      |euros?\b|pounds?\b|sterling\b|yen\b|francs?\b|[€£¥₹]|\$(?!\d))?""",
    re.VERBOSE,
)
_SCALES = {
    "k": 1e3, "thousand": 1e3, "grand": 1e3,
    "m": 1e6, "mm": 1e6, "mn": 1e6, "mil": 1e6, "mio": 1e6, "million": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9,
}  # fmt: skip
_SYMBOLS = {
    "$": "USD", "us$": "USD", "c$": "CAD", "ca$": "CAD", "a$": "AUD", "au$": "AUD",
    "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "sg$": "SGD",
    "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR",
    "euro": "EUR", "euros": "EUR", "pound": "GBP", "pounds": "GBP", "sterling": "GBP",
    "yen": "JPY", "franc": "CHF", "francs": "CHF",
    "canadian": "CAD", "australian": "AUD", "hong kong": "HKD", "singapore": "SGD",
}  # fmt: skip
_CLOCK = re.compile(r"\s?(?:[ap]\.?m\b|o'clock)")
_PHONE = re.compile(r"\+\d[\d ().-]{6,}\d|\(\d{3}\)[ -]?\d{3}[ -]\d{4}")

_WORD_VALUES = {word: place for place, word in enumerate(UNDER_TWENTY)}
_WORD_VALUES |= {word: 10 * place for place, word in enumerate(TENS, 2)}
_WORD_SCALES = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}
_WORD = "|".join(sorted((*_WORD_VALUES, *_WORD_SCALES), key=len, reverse=True))
_WORD_FIRST = sorted(_WORD_VALUES, key=len, reverse=True)
_WORDS = re.compile(
    rf"\b(?:(?:half\s+)?an?\s+(?:{'|'.join(_WORD_SCALES)})|{'|'.join(_WORD_FIRST)})\b"
    rf"(?:(?:[\s-]+|\s+and\s+)(?:{_WORD})\b)*(?:\s+point(?:\s+(?:{'|'.join(UNDER_TWENTY[:10])})\b)+)?"
)


_WORD_CUES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fifteen", "twenty", "thirty", "forty", "fifty", "eighty"),
    *("hundred", "dozen", "thousand", "million", "billion"),
)


class Amount(NamedTuple):
    """A number in a text, with what is written around it."""

    value: float
    start: int
    """Of the whole mention, a currency sign included."""
    end: int
    currency: str = ""
    percent: bool = False
    ordinal: bool = False
    places: int = 0
    """Decimals shown."""
    plus: bool = False
    """Followed by a plus sign: this much and more."""


def find_numbers(low: str, taken: Sequence[tuple[int, int]]) -> list[Amount]:
    """All numbers in digits of a lower-case text, in order.

    Digits that are part of something else (a date, an id, a version, a phone number, a time of
    day, the numbering of a list) are left out.

    Args:
        taken: Spans that are something else already.
    """
    spans = list(taken)
    if "+" in low or "(" in low:
        spans += [match.span() for match in _PHONE.finditer(low)]
    firsts, reaches = _merged(spans)
    found = []
    for match in _NUMBER.finditer(low):
        start, end = match.span()
        place = bisect_right(firsts, start) - 1
        if place >= 0 and start < reaches[place]:
            continue
        amount = _read(low, start, end)
        if amount is not None:
            found.append(amount)
    return found


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Where spans begin, in order, and how far those that begin by then reach: a long text has
    thousands of them.
    """
    ordered = sorted(spans)
    reaches = list(accumulate((last for _, last in ordered), max))
    return [first for first, _ in ordered], reaches


def _read(low: str, start: int, end: int) -> Amount | None:
    before = _BEFORE.search(low, max(0, start - 6), start)
    after = _AFTER.match(low, end)
    scale = (after["scale"] or "").strip() if after else ""
    tail = (after["tail"] or "") if after else ""
    last = after.end() if after else end
    first = before.start() if before else start
    negative = bool(before and before[2])
    if low[first - 1 : first] == "-" and not low[max(0, first - 2) : first - 1].strip(" (:|\n\t"):
        first, negative = first - 1, True
    if not scale and not tail and not (after and after["plus"]):
        last = end
        ordinal = _is_ordinal(low, end)
        if not ordinal and not _ends_here(low, end):
            return None
    else:
        ordinal = False
        if not (tail or low[end : end + 1] == " " or scale or _ends_here(low, end)):
            return None
    if not _starts_here(low, first) or (last - first < 4 and _numbers_a_list(low, first, last)):
        return None
    digits = low[start:end]
    if digits[0] == "0" and digits[1:2].isdigit():
        return None
    value, places = _value(digits)
    value = round(value * _SCALES.get(scale, 1.0), 6)
    currency = _currency(before[1] if before else "", tail)
    percent = tail in {"%", "percent", "per cent", "pct"}
    plus = bool(after and after["plus"])
    return Amount(
        -value if negative else value, first, last, currency, percent, ordinal, places, plus
    )


def _is_ordinal(low: str, end: int) -> bool:
    return low[end : end + 2] in {"st", "nd", "rd", "th"} and not low[end + 2 : end + 3].isalnum()


def _ends_here(low: str, end: int) -> bool:
    following = low[end : end + 1]
    if following.isalnum() or following in {"_", "@"} or _CLOCK.match(low, end):
        return False
    return not (following in {".", ",", "/", ":", "'"} and low[end + 1 : end + 2].isdigit())


def _starts_here(low: str, start: int) -> bool:
    if not start:
        return True
    previous, earlier = low[start - 1], low[start - 2 : start - 1]
    if previous.isalnum() or previous in "_#@":
        return False
    if previous in ".,/:'":
        return not earlier.isdigit() and previous in ",:'"
    # "q-12" is an id; "3-4" is a range, which the matchers refuse by what stands before.
    return previous != "-" or not earlier.isalpha() or low[start - 3 : start - 2].isdigit()


def _numbers_a_list(low: str, start: int, end: int) -> bool:
    if low[end : end + 1] not in {".", ")"} or low[end + 1 : end + 2] != " ":
        return False
    line = low.rfind("\n", 0, start) + 1
    if low[line:start].strip() or low[end + 1 : end + 3].strip() == "":
        return False
    # No list begins at 0, nor at 2: "0. Neither is on hold" answers how many.
    number = low[start:end]
    return number == "1" or (number.isdigit() and f"{int(number) - 1}{low[end]}" in low[:line])


def _value(digits: str) -> tuple[float, int]:
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif " " in digits or "'" in digits:
        digits = re.sub(r"[ ']", "", digits)
        digits = re.sub(r",(\d{1,2})$", r".\1", digits)
    digits = digits.replace(",", "")
    return float(digits), len(digits.partition(".")[2])


def _currency(before: str, tail: str) -> str:
    for mark in (before, tail):
        if mark.upper().rstrip("$") in _CODES_UPPER:
            return mark.upper().rstrip("$")
    if before:
        return _SYMBOLS.get(before, before.upper())
    nation = re.sub(r"\s?(?:dollars?|bucks)$", "", tail).strip()
    if tail in _SYMBOLS or nation in _SYMBOLS:
        return _SYMBOLS[tail if tail in _SYMBOLS else nation]
    return "USD" if tail.endswith(("dollar", "dollars", "bucks")) else ""


_CODES_UPPER = frozenset(_CODES.upper().split("|"))


def find_number_words(low: str) -> list[Amount]:
    """All numbers in words of a lower-case text, in order."""
    found: list[Amount] = []
    if not any(word in low for word in _WORD_CUES):
        return found
    for match in _WORDS.finditer(low):
        start, end = match.span()
        if low[start - 1 : start] == "-" or low[end : end + 2] in {"-o", "th"}:
            continue
        value = _words_value(match[0])
        if value is None:
            continue
        after = _AFTER.match(low, end)
        tail = (after["tail"] or "") if after and not after["scale"] else ""
        percent = tail in {"%", "percent", "per cent", "pct"}
        last = after.end() if after and tail else end
        found.append(Amount(value, start, last, _currency("", tail), percent))
    return found


def _words_value(text: str) -> float | None:
    whole, _, decimals = text.partition(" point ")
    total, current, halved = 0.0, 0.0, whole.startswith("half")
    for word in re.split(r"[\s-]+", whole):
        if word in {"half", "a", "an", "and"}:
            continue
        if word in _WORD_VALUES:
            unit = _WORD_VALUES[word]
            # "twenty five" adds up; "three four" are two numbers.
            if current % 100 and not (current % 10 == 0 and current % 100 >= 20 and unit < 10):
                return None
            current += unit
        elif word in {"hundred", "dozen"}:
            current = (current or 1) * _WORD_SCALES[word]
        elif word in _WORD_SCALES:
            total += (current or 1) * _WORD_SCALES[word]
            current = 0.0
    value = float(total + current)
    if decimals:
        places = "".join(str(_WORD_VALUES[word]) for word in decimals.split())
        value += float(f"0.{places}")
    return value / 2 if halved else value


def results(one: float, other: float) -> tuple[float, ...]:
    """What two figures make: their sum, difference and product, a percentage of one by the other,
    and how many per cent one is of the other, or more or less.
    """
    found = [abs(one - other), one + other, one * other]
    found += [one * other / 100, one * (1 - other / 100), one * (1 + other / 100)]
    if other:
        found += [100 * one / other, abs(100 - 100 * one / other)]
    return tuple(found)
