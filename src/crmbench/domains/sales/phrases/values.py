"""Values as people write them: amounts, dates, percentages, counts.

Every form is one that a careful reader cannot misread: no 3/4, no date without a year that the
world's clock would not settle, no amount without its unit.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from crmbench.core.answer import MONTHS
from crmbench.language.number_words import UNDER_TWENTY

SlotKind = Literal["money", "date", "percent", "count", "plain", "noun"]
_NUMBERS = ("no", *UNDER_TWENTY[1:13])


@dataclass(frozen=True)
class Slot:
    """A value to be put into a phrasing."""

    kind: SlotKind
    value: Any
    slots: Mapping[str, Slot] = field(default_factory=dict)
    """For a noun: the values of its own phrasing."""
    required: bool = False
    """Whether a phrasing that leaves it out would not say which record is meant."""


def money(value: float) -> Slot:
    """US dollars."""
    return Slot("money", value)


def day(iso: str) -> Slot:
    """An ISO date."""
    return Slot("date", iso)


def percent(value: float) -> Slot:
    """15 for 15 %."""
    return Slot("percent", value)


def count(value: int) -> Slot:
    """A small whole number."""
    return Slot("count", value)


def plain(text: str) -> Slot:
    """A name or other words, said as they are."""
    return Slot("plain", text)


def noun(phrase: str, **slots: Slot) -> Slot:
    """A description that the phrase bank words: "the latest quote on the Helio deal"."""
    return Slot("noun", phrase, slots)


def write(slot: Slot, voice: str, today: date, rng: random.Random) -> str:
    """One way in which a person of that voice would write the value."""
    if slot.kind == "money":
        return rng.choice(money_forms(slot.value, voice))
    if slot.kind == "date":
        return rng.choice(date_forms(date.fromisoformat(slot.value), voice, today))
    if slot.kind == "percent":
        return rng.choice(percent_forms(slot.value, voice))
    if slot.kind == "count":
        small = 0 <= slot.value < len(_NUMBERS)
        return _NUMBERS[slot.value] if small and voice != "terse" else str(slot.value)
    return str(slot.value)


def money_forms(value: float, voice: str) -> list[str]:
    """Ways to write dollars."""
    cents = value != int(value)
    full = f"{value:,.2f}" if cents else f"{value:,.0f}"
    if voice in ("formal", "email"):
        return [f"${full}", f"USD {full}", f"${full}", f"{full} dollars"]
    forms = [f"${full}"]
    if not cents and value % 100 == 0 and 1000 <= value < 1_000_000:
        thousands = f"{value / 1000:g}"
        if voice == "dictated":
            return [f"{thousands} thousand dollars", f"{thousands} thousand", f"{full} dollars"]
        forms += [f"{thousands}k", f"${thousands}k", f"{thousands}K"]
    if not cents and value >= 1_000_000 and value % 10_000 == 0:
        forms += [f"${value / 1e6:g}M", f"{value / 1e6:g} million dollars"]
    if voice in ("terse", "hurried") and not cents:
        forms.append(f"${value:.0f}")
    return forms


def date_forms(value: date, voice: str, today: date) -> list[str]:
    """Ways to write a date; without its year only where the next such date is the one meant."""
    month, short = MONTHS[value.month - 1], MONTHS[value.month - 1][:3]
    near = 0 <= (value - today).days < 300
    if voice in ("formal", "email"):
        dated = [f"{month} {value.day}, {value.year}", f"{value.day} {month} {value.year}"]
        return [*dated, value.isoformat()]
    if voice == "terse":
        full = [value.isoformat(), f"{short} {value.day} {value.year}"]
        return [*full, f"{short} {value.day}", f"{value.day} {short}"] if near else full
    if near:
        return [f"{month} {_ordinal(value.day)}", f"the {_ordinal(value.day)} of {month}"] + (
            [f"{short} {value.day}"] if voice == "hurried" else [f"{month} {value.day}"]
        )
    return [f"{month} {_ordinal(value.day)}, {value.year}", f"{month} {value.day}, {value.year}"]


def percent_forms(value: float, voice: str) -> list[str]:
    """Ways to write a percentage."""
    shown = f"{value:g}"
    if voice in ("formal", "email"):
        return [f"{shown} %", f"{shown} percent", f"{shown}%"]
    if voice == "dictated":
        return [f"{shown} percent"]
    return [f"{shown}%", f"{shown} percent"] if voice == "chatty" else [f"{shown}%"]


def _ordinal(number: int) -> str:
    ending = (
        "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number}{ending}"


def month_of(iso: str) -> str:
    """The month of a date in words, with its year: "March 2026"."""
    value = date.fromisoformat(iso)
    return f"{MONTHS[value.month - 1]} {value.year}"
