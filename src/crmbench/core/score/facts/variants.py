"""Many right ways to say a fact, and many wrong ones: what the matchers are tried on.

Shares no code with the matchers, so that the two check each other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, Literal

from crmbench.core.score.facts.types import Fact
from crmbench.core.score.facts.wording import (
    CLAIMS,
    CLOSINGS,
    EMPTY_LISTS,
    FILLERS,
    NOT_EXACT,
    OPENINGS,
    REFUSALS_BLUNT,
    REFUSALS_POLITE,
    REFUSALS_RELAYED,
    STATEMENTS,
    TERSE_STATEMENTS,
)

Style = Literal["plain", "terse", "bullets", "table", "chatty", "bold", "json"]
STYLES: tuple[Style, ...] = ("plain", "terse", "bullets", "table", "chatty", "bold", "json")
"""The ways in which a whole reply is laid out."""

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


def realise(fact: Fact, rng: random.Random, style: str = "plain") -> str:
    """One right way to say the fact, as a piece that `wrap` joins in the same style.

    Args:
        style: One of `STYLES`. terse gives the bare value or ``label: value``; table and json
            give ``label<TAB>value`` for `wrap` to lay out; the others a sentence.
    """
    label = _label(fact)
    if fact.kind == "boolean":
        return _boolean(fact, fact.value, rng, style)
    if fact.kind == "list":
        return _list(fact, rng, style)
    written = rng.choice(written_forms(fact))
    return _state(fact, label, written, rng, style)


def _state(fact: Fact, label: str, written: str, rng: random.Random, style: str) -> str:
    about = f"{label} ({fact.subject})" if fact.subject else label
    if style in {"table", "json"}:
        return f"{about}\t{written}"
    if style == "terse":
        return rng.choice(TERSE_STATEMENTS).format(label=about, value=written)
    if style == "bold":
        written = f"**{written}**"
    if fact.kind == "count" and label.endswith("s") and rng.random() < 0.5:
        shown = label if fact.value != 1 else label[:-1]
        return rng.choice(("I found {0} {1}.", "That makes {0} {1}.", "{0} {1} in total.")).format(
            written, shown
        )
    sentence = rng.choice(STATEMENTS).format(label=label, value=written)
    return f"For {fact.subject}: {sentence}" if fact.subject else sentence


def _label(fact: Fact) -> str:
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


def _boolean(fact: Fact, truth: bool, rng: random.Random, style: str) -> str:
    assertion = _label(fact)
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


def _list(fact: Fact, rng: random.Random, style: str) -> str:
    items = [rng.choice(written_forms(item)) for item in fact.items()]
    label = _label(fact)
    if not items:
        nothing = rng.choice(EMPTY_LISTS)
        return f"{label}\tnone" if style in {"table", "json"} else nothing.format(label=label)
    rng.shuffle(items)
    if style in {"table", "json"}:
        return f"{label}\t{', '.join(items)}"
    if style == "bullets":
        return f"{label}:\n" + "\n".join(f"  - {item}" for item in items)
    if style == "terse":
        return ", ".join(items)
    joined = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{label.capitalize()}: {joined}."


def near_misses(fact: Fact, rng: random.Random) -> list[str]:
    """Wrong ways to say the fact: statements that an attentive reader would not be told it by.

    Off by a digit or a power of ten, negated, given as the old value, hedged, asked, somebody
    else's, cut short; whatever the kind allows. In no set order, without repeats.
    """
    misses = _MISSES[fact.kind](fact, rng)
    return list(dict.fromkeys(misses))


def _framed(fact: Fact, rng: random.Random, other: str) -> list[str]:
    """The right value, denied, replaced, asked or guessed; and another one in its stead."""
    label = _label(fact)
    written = rng.choice(written_forms(fact)).strip('"“”')
    frames = [
        f"The {label} is {other}.",
        f"The {label} is not {written}.",
        f"The {label} is no longer {written}.",
        f"The {label} is either {written} or {other}.",
        f"Should I set the {label} to {written}?",
        f"The {label} might be {written}.",
        f"I could not confirm that the {label} is {written}.",
        f"The {label} is {other}, not {written}.",
    ]
    if not re.search(r"\b(old|previous|former|original|prior|earlier)\b", label.lower()):
        frames += [
            f"The {label} was changed from {written} to {other}.",
            f"The {label} is {other} (previously {written}).",
            f"The {label} is now {other} instead of {written}.",
        ]
    return frames


def _numeric_misses(fact: Fact, rng: random.Random) -> list[str]:
    label = _label(fact)
    frames = _framed(fact, rng, rng.choice(written_forms(_with(fact, _off(fact.value, rng)))))
    for value in _wrong_numbers(fact):
        written = rng.choice(written_forms(_with(fact, value)))
        frames.append(f"The {label} is {written}.")
    written = written_forms(fact)[0]
    if not re.search(r"\b(max|min|limit|threshold|cap|most|least)", label.lower()):
        frames += [f"The {label} is {word} {written}." for word in NOT_EXACT]
    return frames


def _with(fact: Fact, value: Any) -> Fact:
    return Fact(fact.kind, value, label=fact.label, unit=fact.unit, today=fact.today)


def _off(value: float, rng: random.Random) -> float:
    """The number with one digit changed."""
    value = value if round(value, 4) == value else round(value, 2)
    whole = float(value).is_integer()
    digits = list(str(int(value)) if whole else f"{value}")
    places = [place for place, digit in enumerate(digits) if digit.isdigit()]
    place = rng.choice(places)
    digits[place] = rng.choice([d for d in "123456789" if d != digits[place]])
    changed = "".join(digits)
    return int(changed) if whole else float(changed)


def _wrong_numbers(fact: Fact) -> list[float]:
    value = fact.value
    if fact.kind == "count":
        return [int(value) + 1, int(value) * 10 + 1, *([int(value) - 1] if value > 1 else [])]
    wrong = [value + 1] if value == 0 else [value * 10, value / 10]
    if fact.kind == "money":
        wrong += [value + 1, value + 0.5]
    return wrong


def _money_misses(fact: Fact, rng: random.Random) -> list[str]:
    other = "EUR" if (fact.unit or "USD") != "EUR" else "GBP"
    foreign = _money(Fact("money", fact.value, unit=other))[0]
    label = _label(fact)
    digits = f"{abs(float(fact.value)):.0f}"
    return [
        *_numeric_misses(fact, rng),
        f"The {label} is {foreign}.",
        f"The reference is Q-{digits}.",
        f"The {label} is on record {digits}7.",
    ]


def _count_misses(fact: Fact, rng: random.Random) -> list[str]:
    value = int(fact.value)
    return [
        *_numeric_misses(fact, rng),
        f"It is version v{value}.",
        f"See Q{value} and ticket A-{value}.",
        f"There are {value} to {value + 2} of them.",
        f"It happened at {value % 12 + 1}:{value % 60:02}.",
    ]


def _date_misses(fact: Fact, rng: random.Random) -> list[str]:
    label = _label(fact)
    if len(fact.value) == 7:
        year, month = int(fact.value[:4]), int(fact.value[5:])
        other = f"{year}-{month % 12 + 1:02}"
        return _framed(fact, rng, other)
    day = date.fromisoformat(fact.value[:10])
    later = day + timedelta(days=rng.choice((1, 7, 10, 30)))
    wrong = [later, day - timedelta(days=1), _year_later(day)]
    if day.day <= 12 and day.day != day.month:
        wrong.append(date(day.year, day.day, day.month))
    other = rng.choice(_date(Fact("date", later.isoformat())))
    plain = [f"The {label} is {rng.choice(_date(Fact('date', w.isoformat())))}." for w in wrong]
    return [*_framed(fact, rng, other), *plain, f"The {label} is in {day:%B} {day.year}."]


def _year_later(day: date) -> date:
    return day.replace(year=day.year + 1, day=min(day.day, 28))


def _name_misses(fact: Fact, rng: random.Random) -> list[str]:
    label, name = _label(fact), fact.value
    other = str(rng.choice(fact.rivals)) if fact.rivals else _other_name(name, rng)
    misses = _framed(fact, rng, other)
    bare = _LEGAL_FORM.sub("", name)
    words = bare.split()
    if len(words) > 1 and words[0] not in fact.aliases:
        misses.append(f"The {label} is {words[0]}.")
    misses += [f"The {label} is {bare[:-1]}.", f"The {label} is {bare}son."]
    return misses


_LEGAL_FORM = re.compile(r",? (?:Inc|Ltd|LLC|GmbH|Corp|AG|PLC)\.?$")


def _other_name(name: str, rng: random.Random) -> str:
    words = _LEGAL_FORM.sub("", name).split()
    words[-1] = rng.choice(("Halvorsen", "Quarry", "Brightwater", "Okonkwo"))
    return " ".join(words) if len(words) > 1 else f"{words[0]}wick"


def _id_misses(fact: Fact, rng: random.Random) -> list[str]:
    label, value = _label(fact), fact.value
    place = rng.randrange(len(value))
    digit = rng.choice([d for d in "0123456789" if d != value[place]])
    changed = value[:place] + digit + value[place + 1 :]
    return [
        f"The {label} is {changed}.",
        f"The {label} is {value[:-1]}.",
        f"The {label} is {value}0.",
        f"The {label} is not {value}.",
        f"The {label} is X{value}.",
    ]


def _choice_misses(fact: Fact, rng: random.Random) -> list[str]:
    others = [option for option in (*fact.options, *map(str, fact.rivals)) if option != fact.value]
    label, value = _label(fact), fact.value
    if not others:
        return [f"The {label} is not {value}.", f"It isn't {value}.", f"{value}? No."]
    other = rng.choice(others)
    return [
        *_framed(fact, rng, other),
        f"{label}: {other}",
        f"It isn't {value}.",
        f"{value}? No.",
        f"{label}: {value}/{other}",
        f"The {label} is {value} or {other}.",
        f"The {label} is {value}. The {label} is {other}.",
        f"It is non-{value}.",
    ]


def _boolean_misses(fact: Fact, rng: random.Random) -> list[str]:
    wrong = [_boolean(fact, not fact.value, rng, style) for style in ("plain", "plain", "terse")]
    return [*wrong, f"Is it {_label(fact)}?", f"It might be {_label(fact)}."]


def _list_misses(fact: Fact, rng: random.Random) -> list[str]:
    label = _label(fact)
    items = [written_forms(item)[0] for item in fact.items()]
    extra = [option for option in fact.options if fact.only and option not in fact.value]
    if not items:
        return [f"{label.capitalize()}: {extra[0]}." if extra else f"I looked at the {label}."]
    misses = [f"{label.capitalize()}: {', '.join(items[:place] + items[place + 1 :]) or 'none'}."
              for place in range(len(items))]  # fmt: skip
    if extra:
        misses.append(f"{label.capitalize()}: {', '.join([*items, rng.choice(extra)])}.")
        misses.append(f"{label.capitalize()}: {', '.join([*fact.options, *items])}.")
    return misses


def _text_misses(fact: Fact, rng: random.Random) -> list[str]:
    del rng
    label, value = _label(fact), fact.value
    words = value.split()
    misses = [f"The {label} is not {value}.", f"Is the {label} {value}?"]
    if len(words) > 1:
        misses += [
            f"The {label} is {' '.join(words[:-1])}.",
            f"The {label} is {' '.join(words[1:])}.",
        ]
    return misses


_MISSES: dict[str, Callable[[Fact, random.Random], list[str]]] = {
    "money": _money_misses,
    "number": _numeric_misses,
    "percent": _numeric_misses,
    "count": _count_misses,
    "date": _date_misses,
    "name": _name_misses,
    "id": _id_misses,
    "choice": _choice_misses,
    "boolean": _boolean_misses,
    "list": _list_misses,
    "text": _text_misses,
}


def refusal(rng: random.Random, reason: str | None = None) -> str:
    """A refusal or a relayed failure: polite, blunt or citing a rule; with the reason if any."""
    words = rng.choice((REFUSALS_POLITE, REFUSALS_BLUNT, REFUSALS_RELAYED))
    text = rng.choice(words)
    return f"{text} {rng.choice(('Reason', 'Why', 'The reason'))}: {reason}." if reason else text


def false_success(rng: random.Random) -> str:
    """A claim that it was done."""
    return rng.choice(CLAIMS)


def wrap(told: Sequence[str], style: str, rng: random.Random) -> str:
    """A whole reply that tells these pieces in the style.

    Args:
        told: What `realise` wrote in the same style; sentences of another origin are taken too.
    """
    return _WRAPS.get(style, _plain)(list(told), rng)


def _sentences(told: Sequence[str]) -> list[str]:
    """The pieces as sentences or labelled lines, cells put back into words."""
    return [": ".join(piece.split("\t", 1)) for piece in told]


def _plain(told: list[str], rng: random.Random) -> str:
    del rng
    return "\n".join(_sentences(told)) or "Noted."


def _terse(told: list[str], rng: random.Random) -> str:
    joint = rng.choice(("\n", "; ", " | "))
    return joint.join(_sentences(told)) or "ok"


def _bullets(told: list[str], rng: random.Random) -> str:
    mark = rng.choice(("-", "*", "•"))
    return "\n".join(f"{mark} {piece}" for piece in _sentences(told)) or "Noted."


def _bold(told: list[str], rng: random.Random) -> str:
    pieces = _sentences(told)
    return "### Summary\n\n" + "\n\n".join(pieces) + f"\n\n_{rng.choice(CLOSINGS)}_"


def _table(told: list[str], rng: random.Random) -> str:
    rows = [piece.split("\t", 1) for piece in told if "\t" in piece]
    texts = [piece for piece in told if "\t" not in piece]
    head = rng.choice(("| Field | Value |", "| Item | Details |"))
    lines = [head, "|---|---|", *(f"| {label} | {value} |" for label, value in rows)]
    return "\n\n".join([*texts, "\n".join(lines)] if rows else texts) or "Noted."


def _json(told: list[str], rng: random.Random) -> str:
    del rng
    rows = [piece.split("\t", 1) for piece in told if "\t" in piece]
    texts = [piece for piece in told if "\t" not in piece]
    pairs = []
    for label, value in rows:
        bare = value.strip('"“”`')
        pairs.append(f'"{label}": "{bare}"')
    return "\n".join([*texts, "{" + ", ".join(pairs) + "}"] if rows else texts) or "{}"


def _chatty(told: list[str], rng: random.Random) -> str:
    filler = rng.sample(FILLERS, 2)
    body = " ".join(_sentences(told))
    return "\n\n".join(
        (f"{rng.choice(OPENINGS)} {filler[0]}", body, f"{filler[1]} {rng.choice(CLOSINGS)}")
    )


_WRAPS: dict[str, Callable[[list[str], random.Random], str]] = {
    "plain": _plain,
    "terse": _terse,
    "bullets": _bullets,
    "table": _table,
    "chatty": _chatty,
    "bold": _bold,
    "json": _json,
}
