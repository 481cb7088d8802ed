"""Years, periods, minimums and the units of amounts, against what the user said and the records
hold: "$14 off" for 14 %, "the last 18 weeks" for months, "in May 2025" for 2024.

All of these leave a reply open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.sources import Sources
from crmbench.language.dates import DateMention
from crmbench.language.number_words import UNDER_TWENTY
from crmbench.language.reading import Reading


def wrong_measures(reading: Reading, sources: Sources) -> Iterator[str]:
    """What in the measures of a reply is not as the user said or the records hold, in words."""
    yield from _years(reading, sources)
    yield from _periods(reading, sources)
    yield from _minimums(reading, sources)
    yield from _units(reading, sources)
    yield from _equations(reading)


def _years(reading: Reading, sources: Sources) -> Iterator[str]:
    """A day or a month of a year that nothing speaks of it in."""
    for date in reading.dates:
        if date.year is None:
            continue
        if date.day is None:
            # In a question about a year every month of it may be told.
            known = str(date.year) in sources.context.question
            known = known or (date.year, date.month) in sources.said_months
            known = known or any(
                (date.year, date.month) == (year, month) for year, month, _ in sources.full_days
            )
        else:
            # Where no record has the day in any year, it was worked out, and is judged elsewhere.
            known = sources.knows_full_day(date.year, date.month, date.day) or not any(
                (date.month, date.day) == (month, day) for _, month, day in sources.full_days
            )
        if not known and not _is_today(reading, date):
            yield f"{reading.text[date.start : date.end]!r} is of no record"
            return


_TODAY = re.compile(r"\btoday\b[ ,(:is]*$")


def _is_today(reading: Reading, date: DateMention) -> bool:
    return _TODAY.search(reading.low, 0, date.start) is not None


_NUMBER = rf"\d+|an?|{'|'.join(UNDER_TWENTY)}"
_LAST = re.compile(
    rf"\b(?:last|past|previous|recent|latest) (?P<n>{_NUMBER})[ -]"
    r"(?P<unit>days?|weeks?|months?|quarters?|years?)\b"
)
"""Example: "the last 18 months". Not: "18 months of warranty"."""
_IN_DAYS = {"day": 1.0, "week": 7.0}
_IN_MONTHS = {"month": 1.0, "quarter": 3.0, "year": 12.0}


def _length(number: str, unit: str) -> tuple[str, float]:
    unit = unit.rstrip("s")
    scale = _IN_DAYS if unit in _IN_DAYS else _IN_MONTHS
    return ("days" if unit in _IN_DAYS else "months"), _value(number) * scale[unit]


def _value(number: str) -> float:
    if number in {"a", "an"}:
        return 1.0
    return float(number) if number.isdigit() else float(UNDER_TWENTY.index(number))


def _periods(reading: Reading, sources: Sources) -> Iterator[str]:
    """Another period back from today than the user's: "the last 18 weeks" for months."""
    told = list(_LAST.finditer(reading.low))
    if not told:
        return
    asked = {_length(m["n"], m["unit"]) for m in _LAST.finditer(sources.context.said)}
    for match in told if asked else ():
        if _length(match["n"], match["unit"]) not in asked:
            yield f"{match[0]!r} is not what was asked for"
            return


_LEAST = re.compile(
    rf"\b(?:more than|over|at least|a minimum of|fewer than|less than) (?P<n>{_NUMBER}) "
    r"(?:(?!dozen|hundred|thousand)\w+ )?cases?\b"
)
"""Example: "more than 12 cases". Not: "12 of the cases"."""


def _minimums(reading: Reading, sources: Sources) -> Iterator[str]:
    """Another number of cases at the least than the one that the user named."""
    told = list(_LEAST.finditer(reading.low))
    if not told:
        return
    asked = {_value(match["n"]) for match in _LEAST.finditer(sources.context.said)}
    if not asked:
        return
    # "At least 13" is "more than 12".
    near = {value + step for value in asked for step in (-1, 0, 1)}
    for match in told:
        if _value(match["n"]) not in near:
            yield f"{match[0]!r} is not what was asked for"
            return


_OFF = re.compile(r" off\b(?! (?:the|of|from|its|your|that|list)\b)")
_EACH = re.compile(
    r" ?(?:/|(?:a|an|per|each|every) )(?P<unit>day|week|month|quarter|year|user|seat)\b"
)
_ACTIVE_CONTRACTS = re.compile(
    r"\bactive contracts (?:of|worth|come to|for) (?:more than |over |at least |exactly )?$"
)
"""Before an amount that is one of a year, asked or not: "has Active contracts of more than ". Not:
"an Active contract of ".
"""
_POINTS = re.compile(r" points? (?:more|less|off|above|below)\b|-?points?\b")


def _units(reading: Reading, sources: Sources) -> Iterator[str]:
    """An amount told as what is taken off, or of a unit of time; a percentage that is a sum."""
    known = f"{sources.told}\n{sources.context.record_text}"
    for amount in reading.numbers:
        words = reading.low[amount.start : amount.end + 12].strip()
        if amount.currency not in {"", "USD"} and not re.search(
            _FOREIGN.get(amount.currency, amount.currency.lower()), known
        ):
            yield f"{words!r} is of another currency"
            return
        if amount.currency:
            whole = amount.value in sources.amounts or amount.value in sources.context.figures
            if whole and _OFF.match(reading.low, amount.end):
                yield f"{words!r} is no discount"
                return
            each = _EACH.match(reading.low, amount.end)
            if each and _ACTIVE_CONTRACTS.search(reading.low, 0, amount.start):
                continue
            if each and not re.search(rf"\b(?:per|an?|each|every) {each['unit']}\b", known):
                yield f"{words!r}: nothing is told by the {each['unit']}"
                return
            if amount.value <= 100 and amount.value in sources.percents:
                held = sources.amounts | sources.context.money
                if amount.value not in held:
                    yield f"{words!r} is a percentage"
                    return
        elif amount.percent and amount.value > 100 and amount.value not in sources.percents:
            yield f"{words!r} is an amount"
            return
        elif amount.percent and _POINTS.match(reading.low, amount.end) and "point" not in known:
            yield f"{words!r} is not what was written"
            return


_FOREIGN = {"EUR": "€|eur", "GBP": "£|gbp|pound"}
_A = r"(?<![\w.,])[$€£]?(?P<{0}>\d[\d,]*(?:\.\d+)?)(?P<{0}p> ?(?:%|percent))?(?![\d,.]\d)"
_PRODUCT = (
    re.compile(
        _A.format("a") + r" ?[x×*] ?" + _A.format("b") + r" ?(?:=|is|makes) ?" + _A.format("c")
    ),
    re.compile(
        _A.format("c")
        + r" ?\((?:=|that's |i\.e\. )?"
        + _A.format("a")
        + r" ?[x×*] ?"
        + _A.format("b")
        + r"\)"
    ),
)
"""Example: "$125,000 x 75% = $93,750", "$93,750 ($125,000 x 75%)"."""
_SHARE = (
    re.compile(
        _A.format("c")
        + r"(?:, ?| \(?)(?:which is |that's |i\.e\. )?(?P<p>\d+(?:\.\d+)?) ?(?:%|percent) "
        r"(?P<way>off|under|below|less than|above|over|on top of|more than) (?:the |its )?"
        r"(?:deal's |deal amount of |amount of )?" + _A.format("a")
    ),
    re.compile(
        r"(?P<p>\d+(?:\.\d+)?) ?(?:%|percent) (?P<way>off|under|below|less than|above|over|"
        r"on top of|"
        r"more than) (?:the |its )?(?:deal's |deal amount of |amount of )?"
        + _A.format("a")
        + r" (?:makes|is|=|comes to|gives|leaves) "
        + _A.format("c")
    ),
)
"""Example: "$26,980 (24% off $35,500)", "2 percent off $22,500 makes $22,050"."""
_LESS = frozenset(("off", "under", "below", "less than"))


def _equations(reading: Reading) -> Iterator[str]:
    """A sum that is wrong: one of its figures is not what it is told to be."""
    for pattern in _PRODUCT if _TIMES.search(reading.low) else ():
        for match in pattern.finditer(reading.low):
            one, other, told = _figure(match["a"]), _figure(match["b"]), _figure(match["c"])
            scale = 0.01 if match["ap"] or match["bp"] else 1.0
            if abs(one * other * scale - told) > _ROUNDED:
                yield f"{match[0]!r} is no right sum"
                return
    for pattern in _SHARE if "%" in reading.low or "percent" in reading.low else ():
        for match in pattern.finditer(reading.low):
            if match["ap"] or match["cp"]:
                continue
            whole, told = _figure(match["a"]), _figure(match["c"])
            share = whole * float(match["p"]) / 100
            right = whole - share if match["way"] in _LESS else whole + share
            if min(abs(right - told), abs(share - told)) > _ROUNDED:
                yield f"{match[0]!r} is no right sum"
                return


_TIMES = re.compile(r"[\d%] ?[x×*] ?[$€£\d]")
_ROUNDED = 1.0


def _figure(digits: str) -> float:
    return float(digits.replace(",", ""))
