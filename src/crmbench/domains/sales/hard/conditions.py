"""Conditions in words, and the days and figures in them; how they are said and read back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from crmbench.authoring.handbook import Condition
from crmbench.authoring.handbook.rulebook import Op
from crmbench.domains.sales.hard.handbook.duplicate_words import CHOICES, DUPLICATE_CONDITIONS
from crmbench.errors import HarnessError

FIGURE = (
    r"(?:\d+(?:\.\d)? %|\d+ (?:days|years)|\$[\d,]+|\d+ reminders or more"
    rf"|{CHOICES}"
    r"|[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){1,2})"
)
"""A figure as provisions give it: "4.5 %", "30 days", "$250,000", "Ines Vermeer"; not "4.5"."""
CASE = r"[^.;]+?"
"""Conditions in words."""


def money(value: float) -> str:
    return f"${value:,.0f}"


def amount_of(figure: str) -> float:
    """The number in a figure: 4.5 of "4.5 %", 250000 of "$250,000"."""
    return float(figure.lstrip("$").split()[0].replace(",", ""))


# --- conditions -----------------------------------------------------------------------------------

OTHER_WORDS: Mapping[str, Sequence[str]] = {
    "public body": ("civic client", "municipal house", "crown customer"),
    "long-standing": ("veteran", "heritage client", "client of the first hour"),
    "large account": ("key house", "flagship", "pillar client"),
    "slow payer": ("tardy account", "late settler", "laggard"),
    "payment stop": ("blocked debtor", "red-letter account", "padlocked client"),
    "dispute": ("contested house", "litigant", "quarrel client"),
    "changed hands": ("newly bought house", "foundling", "fresh acquisition"),
}
"""What clients of a kind are called too; a handbook says one of these of each kind."""
NOUNS: Mapping[str, str] = {
    **{name: name for name in OTHER_WORDS},
    "long-standing": "long-standing client",
    "payment stop": "client under a payment stop",
    "dispute": "client with an open dispute",
    "changed hands": "client that has changed hands",
}
"""A kind of client as a noun."""


KIND_OF: Mapping[str, str] = {
    **{name: name for name in OTHER_WORDS},
    "some public": "public body",
    "some slow": "slow payer",
    "some stop": "payment stop",
    "some dispute": "dispute",
}
"""Attribute of a condition that speaks of a kind of client, to that kind."""


def _other_wording(attribute: str, word: str) -> str:
    return f"{'one of them' if attribute.startswith('some ') else 'the client'} is a {word}"


def _other_words(attribute: str) -> tuple[str, ...]:
    return tuple(_other_wording(attribute, word) for word in OTHER_WORDS[KIND_OF[attribute]])


CONDITIONS: Mapping[tuple[str, Op], Sequence[str]] = {
    ("industry", "is"): ("the client is in the {} trade", "the client's industry is {}"),
    ("country", "is"): ("the client's address is in {}", "the client sits in {}"),
    ("product", "is"): ("the contract is for {}", "the product sold is {}"),
    ("value", "at least"): ("the old contract is worth {} a year or more",),
    ("value", "below"): ("the old contract is worth less than {} a year",),
    ("public body", "is"): ("the client is a public body", *_other_words("public body")),
    ("long-standing", "is"): ("the client is long-standing", *_other_words("long-standing")),
    ("large account", "is"): ("the client is a large account", *_other_words("large account")),
    ("slow payer", "is"): ("the client is a slow payer", *_other_words("slow payer")),
    ("payment stop", "is"): ("the client is under a payment stop", *_other_words("payment stop")),
    ("dispute", "is"): ("the client has an open dispute", *_other_words("dispute")),
    ("changed hands", "is"): ("the client has changed hands", *_other_words("changed hands")),
    ("buyer public", "is"): (
        "the client was taken over by a public body",
        "a public body has taken the client over",
    ),
    ("group stop", "is"): (
        "another client of its group is under a payment stop",
        "there is a payment stop elsewhere in its group",
    ),
    ("group hold", "is"): (
        "another client of its group is on hold",
        "somebody else in its group is on hold",
    ),
    ("buyer hold", "is"): (
        "the client that took it over is on hold",
        "it was taken over by a client that is on hold",
    ),
    ("head public", "is"): (
        "the head of its group is a public body",
        "a public body stands at the head of its group",
    ),
    ("head slow", "is"): (
        "the head of its group is a slow payer",
        "a slow payer stands at the head of its group",
    ),
    ("close reminders", "is"): (
        "two of its reminders of the last 365 days lie 30 days or less apart",
        "it got two reminders 30 days or less apart in the last 365 days",
    ),
    **{
        (name, "is"): (*wordings, *(_other_words(name) if name in KIND_OF else ()))
        for name, wordings in DUPLICATE_CONDITIONS.items()
    },
}
"""Attribute and comparison to their wordings; a gap takes the value."""
SEARCHED: Mapping[str, str] = {
    "buyer public": 'taken "public body"',
    "buyer hold": 'over "on hold"',
    "head public": '"head of its group" "public body"',
    "head slow": '"head of its group" "slow payer"',
    "group stop": 'group "payment stop"',
    "group hold": 'group "on hold"',
    "close reminders": '"30 days or less apart"',
    "owners differ": "owner",
    "near in time": "365 created",
    "no contract": '"no Active contract"',
}
"""Attribute to a search that finds it in each of its wordings, where that is not its name."""
AND = " and at the same time "


def say_condition(condition: Condition, choice: int, word: str = "") -> str:
    """The condition in the first of its wordings (an even choice) or in another one.

    Args:
        word: What this handbook calls clients of the condition's kind too.
    """
    wordings = CONDITIONS[condition.attribute, condition.op]
    if word:
        wordings = (wordings[0], _other_wording(condition.attribute, word))
    value = money(condition.value) if condition.attribute == "value" else condition.value
    return wordings[choice % len(wordings)].format(value)


def say_case(rng: random.Random, when: Iterable[Condition], words: Mapping[str, str]) -> str:
    """Conditions in words; now and then in the words of a handbook.

    Args:
        words: Kind of client to what it is called too.
    """
    return AND.join(
        say_condition(c, rng.randrange(2), words.get(KIND_OF.get(c.attribute, ""), ""))
        for c in when
    )


@lru_cache(maxsize=4096)
def read_conditions(text: str) -> tuple[Condition, ...]:
    """What `say_condition` said of each, joined by `AND`."""
    return tuple(_read_condition(part) for part in text.split(AND))


def _read_condition(text: str) -> Condition:
    for (attribute, op), wordings in CONDITIONS.items():
        for wording in wordings:
            head, gap, tail = wording.partition("{}")
            if not gap and text == wording:
                return Condition(attribute)
            if gap and text.startswith(head) and text.endswith(tail):
                value = text[len(head) : len(text) - len(tail)]
                if attribute == "value":
                    return Condition(attribute, amount_of(value), op)
                return Condition(attribute, value)
    raise HarnessError(f"no condition reads '{text}'")
