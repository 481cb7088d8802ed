"""A value that was not found in its usual forms: may it be there in others?

Here a reader must not be sure that it is missing: "a quartet of agreements" tells four, "Ms Joshi,
first name Lakshmi" tells Lakshmi Joshi.
"""

from __future__ import annotations

import re

from crmbench.core.fact import Fact
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.day_words import ordinal
from crmbench.language.capitals import words_of
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS_BY_NAME = re.compile(
    r"\b(?:new year|valentine|halloween|christmas|midsummer|april fool|may day|boxing day|"
    r"(?:end|last day|middle|beginning|start|first|turn|ides) of|mid-?\w+|"
    r"(?:day|week|month|year)s?\b|today|tomorrow|yesterday|tonight|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|(?:twenty|thirty)[ -]\w+|"
    r"\w+(?:teenth|ieth)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
    r"eleventh|twelfth)\b"
)
_OTHER_NUMBERS: dict[int, str] = {
    0: r"no|none|nothing|empty|nobody|nil|zip|without|any",
    1: (
        r"an?|alone|lonely|solo|unaided|single|sole|only|lone|once|solitary|just the|the one|"
        r"this|that|it|is"
    ),
    2: r"brace|deuce|tandem|twain|couple|pair|both|twice|twin|duo|double|two|either|another",
    3: r"trio|triple|thrice|threesome|triplet|triad",
    4: r"quartet|quadruple|foursome|four|handful",
    5: r"quintet|handful|fivesome|hand",
    6: r"sextet|half a dozen|half-dozen|half-a-dozen",
    7: r"septet",
    8: r"octet",
    9: r"nonet",
    12: r"dozen",
    20: r"score",
    24: r"two dozen",
}
_BULLET = re.compile(r"^\s*(?:-|\d+[.)])\s+\S", re.MULTILINE)
_SPELT = re.compile(
    r"\b(?:half|halves|quarter|third|dozen|hundred|thousand|grand|million|billion|(?:two|three|four|five)?score|k|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|point|double|twice|triple)\b"
)
_MAIL = re.compile(r"[\w.+-]+@[\w.-]+\w")


def may_be_said(reading: Reading, fact: Fact, context: Context) -> bool:
    """Whether the value may stand in the reply in a form that the matchers do not know."""
    low = reading.low
    if fact.kind == "boolean":
        return bool(low.strip())
    if fact.kind == "count":
        return _count_may_be_said(reading, int(fact.value))
    if fact.kind in {"money", "number", "percent"}:
        return _amount_may_be_said(reading, float(fact.value))
    if fact.kind == "date":
        return _date_may_be_said(reading, str(fact.value))
    if fact.kind == "list":
        return False
    return _words_may_be_said(reading, fact, context) or _spelt_out(reading, str(fact.value))


def _spelt_out(reading: Reading, value: str) -> bool:
    """A phone number in other digits or words, an address of e-mail with its signs in words."""
    if "@" in value:
        whole = re.search(r"\w@\w", reading.low)
        return whole is None and re.search(r"@|\bat\b", reading.low) is not None
    digits = len(re.sub(r"\D", "", value))
    return digits >= 7 and (
        len(reading.number_words) >= 2 or len(re.sub(r"\D", "", reading.low)) >= 4
    )


def _count_may_be_said(reading: Reading, value: int) -> bool:
    others = [
        number.value
        for number in (*reading.numbers, *reading.number_words)
        if not number.currency and not number.percent and number.value < 1000
    ]
    if value == 1 and others:
        return False
    words = _OTHER_NUMBERS.get(value)
    if words and re.search(rf"\b(?:{words})\b", reading.low):
        return True
    return value > 1 and len(_BULLET.findall(reading.low)) == value


_IN_PARTS = re.compile(r"\b(?:thousand|million|grand)(?: and)? \d")
"""An amount in two parts: "105 thousand and 82"."""


def _amount_may_be_said(reading: Reading, value: float) -> bool:
    if value == 0:
        return bool(re.search(r"\b(?:no|none|nothing|nil|zero|free)\b", reading.low))
    wanted = _leading(value)
    if any(_leading(number.value) == wanted for number in reading.numbers if number.value):
        return True
    digits = re.sub(r"\D", "", reading.low)
    if f"{value:.0f}" in digits or _IN_PARTS.search(reading.low):
        return True
    spelt = _SPELT.search(reading.low) is not None
    return spelt and not any(number.currency for number in reading.numbers)


def _leading(value: float) -> str:
    """The digits of a number without the zeros at its end."""
    return f"{abs(value):.2f}".replace(".", "").strip("0")


def _date_may_be_said(reading: Reading, value: str) -> bool:
    month, day = int(value[5:7]), int(value[8:10]) if len(value) >= 10 else None
    for mention in reading.dates:
        if mention.month == month and (day is None or mention.day in {day, None}):
            return True
    if day is not None and re.search(_ordinal_day(day, month), reading.low):
        return True
    full = any(mention.day for mention in reading.dates)
    if re.search(rf"\b{_MONTHS[month - 1]}", reading.low) and not full:
        return True
    return not full and _DAYS_BY_NAME.search(reading.low) is not None


def _ordinal_day(day: int, month: int) -> str:
    """A pattern of a day in words: "the first of April"."""
    word, name = ordinal(day), _MONTHS[month - 1]
    return rf"\b{word} of {name}|\b{name}\w* (?:the )?{word}\b"


def _words_may_be_said(reading: Reading, fact: Fact, context: Context) -> bool:
    value = fold(str(fact.value))
    if "@" in value:
        spelt = value.split("@")[0].replace(".", " dot ")
        return not _MAIL.search(reading.low) and (
            spelt in reading.low or (" at " in reading.low and value.split("@")[0] in reading.low)
        )
    digits = re.sub(r"\D", "", value)
    if len(digits) >= 7 and len(digits) >= len(value.replace(" ", "")) - 4:
        return digits[-7:] in re.sub(r"\D", "", reading.low)
    parts = set(re.findall(r"[^\W_]+", value))
    wanted = {word for word in parts if len(word) > 2} or parts
    there = words_of(reading.low)
    alike = _ALIKE.get(value) if fact.kind == "choice" else None
    if alike and re.search(rf"\b(?:{alike})", reading.low):
        return True
    telling = wanted - context_words(context)
    if telling:
        return any(_is_like(word, there) for word in telling)
    found = [word for word in wanted if _is_like(word, there)]
    return 2 * len(found) >= len(wanted)


_ALIKE = {
    "active": "live|running|current|alive|going",
    "inactive": "dormant|asleep|sleep|parked|not active",
    "draft": "unsent|not (?:yet )?sent|(?:has|have)n't (?:left|gone|been sent)|not gone out",
    "sent": "gone out|went out|is out|with them|with the client|on its way",
    "canceled": "cancel|called off|withdrawn|scrapped",
    "approved": "sign|green light|cleared|ok'd|okayed",
    "negotiation": "negotiat|haggl|bargain",
    "proposal": "propos|offer",
    "qualification": "qualif",
    "prospecting": "prospect|early|first stage",
    "closed-won": (
        "won|got it|ours|landed|win|finish|trophy|sealed|in the bag|victory|home|"
        "crossed|bagged|nailed"
    ),
    "closed-lost": "lost|slipped|gone|loss",
}
"""How a status or stage is told in other words, which is never certain."""


def context_words(context: Context) -> set[str]:
    """The words that the user has used: a reply may repeat them and tell nothing."""
    return words_of(context.said)


def _is_like(word: str, there: set[str]) -> bool:
    return word in there or (
        len(word) > 4 and any(other.startswith(word[:-2]) for other in there if len(other) > 4)
    )
