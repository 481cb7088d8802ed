"""Amounts, percentages, addresses, numbers and file names in what was said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

from crmbench.agents.baselines.heuristic.dates import take_dates

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_FILE = re.compile(
    r"[\w()+&.-]*\w\.(?:pdf|docx?|pptx?|xlsx?|csv|txt|html?|png|jpe?g|exe|zip|mp4|key)\b",
    re.IGNORECASE,
)
_PHONE = re.compile(r"\+\d[\d ()-]{6,}\d")
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]")
_VERSION = re.compile(r"\bv(\d{1,2})\b", re.IGNORECASE)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s?(?:%|per ?cent\b|pct\b)", re.IGNORECASE)
_MONEY = re.compile(
    r"(?P<sign>\$|€|\busd\s?)?\s?(?<![\w.])(?P<n>\d[\d,]*(?:\.\d+)?)"
    r"\s?(?P<u>k|m|mn|mio|million|thousand|grand)?\b(?P<d>\s?(?:us )?(?:dollars|usd|bucks)\b)?",
    re.IGNORECASE,
)
_CAPITAL = r"[A-Z][A-Za-z&-]*"
_TITLE = re.compile(
    rf"\b(?:(?:Head|Director|VP|Vice President|Chief) of {_CAPITAL}(?: {_CAPITAL})?"
    rf"|(?:{_CAPITAL} ){{1,3}}(?:Manager|Director|Lead|Officer|Engineer|Analyst|Coordinator|Buyer"
    r"|Planner|Specialist|Assistant|Supervisor|Administrator|Controller|Consultant))\b"
)
_FACTOR = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6}


@dataclass
class Values:
    """What a text gives, each kind in the order said."""

    text: str
    """What is left of it."""
    emails: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    quoted: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    dates: list[date] = field(default_factory=list)
    percents: list[float] = field(default_factory=list)
    amounts: list[float] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    """Positions of people."""


def read_values(text: str, today: date) -> Values:
    """Read and take out every value.

    Args:
        text: What was said, without the names of records, which may hold figures.
    """
    found = Values(text)
    found.emails = _take(found, _EMAIL)
    found.titles = [match[0] for match in _TITLE.finditer(text)]
    found.files = _take(found, _FILE)
    found.phones = _take(found, _PHONE)
    found.quoted = [_QUOTED.sub(r"\1", name) for name in _take(found, _QUOTED)]
    found.dates, found.text = take_dates(found.text, today)
    found.versions = [version.casefold() for version in _take(found, _VERSION)]
    found.percents = [float(_digits(p)) for p in _take(found, _PERCENT)]
    found.amounts = _amounts(found)
    return found


def money(value: float | None) -> str:
    """An amount as it is told."""
    return "none" if value is None else f"${value:,.2f}".removesuffix(".00")


def _digits(text: str) -> str:
    return re.sub(r"[^\d.]", "", text)


def _take(found: Values, pattern: re.Pattern[str]) -> list[str]:
    taken = [match[0].strip() for match in pattern.finditer(found.text)]
    found.text = pattern.sub(lambda match: " " * len(match[0]), found.text)
    return taken


def _amounts(found: Values) -> list[float]:
    """The numbers that are money: with a sign or unit, or large and no year."""
    amounts = []
    for match in _MONEY.finditer(found.text):
        unit = (match["u"] or "").casefold()
        digits = match["n"].replace(",", "")
        number = float(digits) * _FACTOR.get(unit, 1)
        marked = bool(match["sign"] or match["u"] or match["d"] or "," in match["n"].strip(","))
        if marked or (number >= 1000 and not 2000 <= number <= 2040):
            amounts.append(round(number, 2))
            left, right = match.span()
            found.text = found.text[:left] + " " * (right - left) + found.text[right:]
    return amounts
