"""The right ways to write a value."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date

from crmbench.core.fact import Fact

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def label_of(fact: Fact) -> str:
    """What the value is called in a sentence."""
    return fact.label or {"id": "ID", "text": "answer"}.get(fact.kind, fact.kind)


def written_forms(fact: Fact) -> list[str]:
    """The right ways to write the value alone."""
    return _FORMS[fact.kind](fact)


def _money(fact: Fact) -> list[str]:
    value, code = float(fact.value), fact.unit or "USD"
    sign = {"USD": "$", "EUR": "€", "GBP": "£"}.get(code, f"{code} ")
    digits = f"{abs(value):,.2f}" if value != int(value) else f"{abs(value):,.0f}"
    minus = "-" if value < 0 else ""
    exact = f"{minus}{sign}{abs(value):,.2f}"
    forms = [exact, f"{minus}{sign}{digits}", f"{minus}{digits} {code}", f"{code} {minus}{digits}"]
    forms += [f"{minus}{digits.replace(',', '')}", f"{minus}{sign}{digits.replace(',', '')}"]
    forms.append(f"{minus}{digits.replace(',', chr(0x202F))} {code}")
    if code == "USD":
        forms += [f"{minus}{digits} dollars", f"US{sign}{digits}" if value >= 0 else exact]
    cents = round(abs(value) * 100)
    if value > 0 and cents % 1000 == 0 and value >= 1000:
        forms += [f"{sign}{_short(value / 1e3)}k", f"{sign}{_short(value / 1e3)}K"]
    if value >= 1e6 and cents % 10**6 == 0:
        forms += [f"{sign}{_short(value / 1e6)}M", f"{sign}{_short(value / 1e6)} million"]
        forms.append(f"{_short(value / 1e6)} million {'dollars' if code == 'USD' else code}")
    return forms


def _short(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _number(fact: Fact) -> list[str]:
    value = fact.value
    if float(value).is_integer():
        return [f"{int(value)}", f"{int(value):,}"]
    rounded = round(value, 2) if round(value, 4) != value else value
    return [f"{rounded}", f"{rounded:,}"]


def _percent(fact: Fact) -> list[str]:
    value = fact.value
    digits = _short(round(value, 2) if round(value, 4) != value else value)
    forms = [f"{digits}%", f"{digits} %", f"{digits} percent", f"{digits} per cent"]
    if float(value).is_integer() and 0 <= value < 100:
        forms.append(f"{_in_words(int(value))} percent")
    return forms


def _in_words(number: int) -> str:
    if number < 20:
        return _SMALL[number]
    tens, rest = divmod(number, 10)
    return _TENS[tens] + (f"-{_SMALL[rest]}" if rest else "")


def _count(fact: Fact) -> list[str]:
    value = int(fact.value)
    forms = [str(value), f"{value:,}"]
    return [*forms, _in_words(value)] if 0 <= value < 100 else forms


def _date(fact: Fact) -> list[str]:
    if len(fact.value) == 7:
        first = date.fromisoformat(f"{fact.value}-01")
        return [fact.value, f"{first:%B} {first.year}", f"{first:%b} {first.year}"]
    day = date.fromisoformat(fact.value[:10])
    number, month, year = day.day, f"{day:%B}", day.year
    forms = [
        day.isoformat(),
        f"{month} {number}, {year}",
        f"{month} {_ordinal(number)}, {year}",
        f"{number} {month} {year}",
        f"the {_ordinal(number)} of {month} {year}",
        f"{day:%b} {number}, {year}",
        f"{number} {day:%b} {year}",
        f"{day:%A}, {month} {number}, {year}",
        f"{day.month:02}/{number:02}/{year}",
        f"{day.month}/{number}/{year}",
        f"{number:02}-{day:%b}-{year}",
    ]
    if fact.today:
        apart = (day - date.fromisoformat(fact.today[:10])).days
        if abs(apart) < 300:
            forms += [f"{month} {number}", f"{month} {_ordinal(number)}", f"{number} {month}"]
    return forms


def _ordinal(number: int) -> str:
    ending = (
        "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number}{ending}"


def _name(fact: Fact) -> list[str]:
    name = fact.value
    forms = [name, name, *fact.aliases, name.upper(), f'"{name}"', f"“{name}”"]
    if " & " in name:
        forms.append(name.replace(" & ", " and "))
    if name.endswith((" Inc", " Ltd", " LLC", " GmbH")):
        forms += [name.rsplit(" ", 1)[0], f"{name}."]
    return forms


def _id(fact: Fact) -> list[str]:
    return [fact.value, f"`{fact.value}`", f'"{fact.value}"', *fact.aliases]


def _choice(fact: Fact) -> list[str]:
    value = fact.value
    forms = [value, value, value.lower(), f'"{value}"', *fact.aliases]
    if "-" in value:
        forms += [value.replace("-", " "), value.replace("-", " ").lower()]
    return forms


def _text(fact: Fact) -> list[str]:
    return [fact.value, f'"{fact.value}"', f"“{fact.value}”", *fact.aliases]


_FORMS: dict[str, Callable[[Fact], list[str]]] = {
    "money": _money,
    "number": _number,
    "percent": _percent,
    "count": _count,
    "date": _date,
    "name": _name,
    "id": _id,
    "choice": _choice,
    "text": _text,
}


def boolean_form(fact: Fact, truth: bool, rng: random.Random, style: str) -> str:
    """The assertion affirmed or denied, in a style."""
    assertion = label_of(fact)
    if style in {"table", "json"}:
        return f"{assertion}\t{'Yes' if truth else 'No'}"
    word, verb = ("Yes", "is") if truth else ("No", "is not")
    if style == "terse":
        return rng.choice((f"{assertion}: {word.lower()}", f"{word}.", f"{assertion}? {word}."))
    short = "it's" if truth else "it isn't"
    return rng.choice(
        (
            f"{word}, it {verb} {assertion}.",
            f"{word} - {short} {assertion}.",
            f"It {verb} {assertion}.",
            f"{short.capitalize()} {assertion}.",
        )
    )
