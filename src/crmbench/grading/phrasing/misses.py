"""Wrong ways to say a fact, near enough to the right ones to be mistaken for them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from crmbench.core.fact import Fact
from crmbench.grading.phrasing.wording import NOT_EXACT
from crmbench.grading.phrasing.written import boolean_form, label_of, written_forms


def near_misses(fact: Fact, rng: random.Random) -> list[str]:
    """Wrong ways to say the fact: statements that an attentive reader would not be told it by.

    Off by a digit or a power of ten, negated, given as the old value, hedged, asked, somebody
    else's, cut short; whatever the kind allows. In no set order, without repeats.
    """
    misses = _MISSES[fact.kind](fact, rng)
    return list(dict.fromkeys(misses))


def _framed(fact: Fact, rng: random.Random, other: str) -> list[str]:
    """The right value, denied, replaced, asked or guessed; and another one in its stead."""
    label = label_of(fact)
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
    label = label_of(fact)
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
    foreign = written_forms(Fact("money", fact.value, unit=other))[0]
    label = label_of(fact)
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
    label = label_of(fact)
    if len(fact.value) == 7:
        year, month = int(fact.value[:4]), int(fact.value[5:])
        other = f"{year}-{month % 12 + 1:02}"
        return _framed(fact, rng, other)
    day = date.fromisoformat(fact.value[:10])
    later = day + timedelta(days=rng.choice((1, 7, 10, 30)))
    wrong = [later, day - timedelta(days=1), _year_later(day)]
    if day.day <= 12 and day.day != day.month:
        wrong.append(date(day.year, day.day, day.month))
    other = rng.choice(written_forms(Fact("date", later.isoformat())))
    plain = [
        f"The {label} is {rng.choice(written_forms(Fact('date', w.isoformat())))}." for w in wrong
    ]
    return [*_framed(fact, rng, other), *plain, f"The {label} is in {day:%B} {day.year}."]


def _year_later(day: date) -> date:
    return day.replace(year=day.year + 1, day=min(day.day, 28))


def _name_misses(fact: Fact, rng: random.Random) -> list[str]:
    label, name = label_of(fact), fact.value
    other = str(rng.choice(fact.rivals)) if fact.rivals else _other_name(name, rng)
    misses = _framed(fact, rng, other)
    bare = _LEGAL_FORM.sub("", name)
    words = bare.split()
    if len(words) > 1 and words[0] not in fact.aliases:
        misses.append(f"The {label} is {words[0]}.")
    misses += [f"The {label} is {bare[:-1]}.", f"The {label} is {bare}son."]
    return misses


_LEGAL_FORM = re.compile(
    r",? (?:Inc|Ltd|LLC|GmbH|Corp|AG|PLC|plc|KG|BV|NV|SA|SAS|SARL|SL|Lda|Srl|SpA|Oy|AB|AS|A/S|ASA|"
    r"ApS|DAC)\.?$"
)


def _other_name(name: str, rng: random.Random) -> str:
    words = _LEGAL_FORM.sub("", name).split()
    words[-1] = rng.choice(("Halvorsen", "Quarry", "Brightwater", "Okonkwo"))
    return " ".join(words) if len(words) > 1 else f"{words[0]}wick"


def _id_misses(fact: Fact, rng: random.Random) -> list[str]:
    label, value = label_of(fact), fact.value
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
    label, value = label_of(fact), fact.value
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
    wrong = [
        boolean_form(fact, not fact.value, rng, style) for style in ("plain", "plain", "terse")
    ]
    return [*wrong, f"Is it {label_of(fact)}?", f"It might be {label_of(fact)}."]


def _list_misses(fact: Fact, rng: random.Random) -> list[str]:
    label = label_of(fact)
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
    label, value = label_of(fact), fact.value
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
