"""How a handbook speaks of clients that are one firm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MARKS: Mapping[str, str] = {
    "tax": "tax number",
    "register": "register entry",
    "renamed": "name, present or former,",
    "phone": "phone number",
}
"""What two clients may have in common, in words."""

DUPLICATE_TERMS = (
    "duplicate",
    "twin record",
    "shadow account",
    "second file",
    "doublet",
    "mirror client",
    "repeat card",
)
"""What one of two clients that are one firm is called."""

FIRST, LAST = "the client created first", "the client created last"
VALUE, NUMBER = (
    "the client whose Active contracts come to most",
    "the client with the most Active contracts",
)
CONFIRMED, STAYING = "the client confirmed last", "the client that stays"
STAYS = (VALUE, NUMBER, FIRST, LAST)
"""Which of them may stay."""
DETAILS = (CONFIRMED, STAYING, FIRST, LAST)
"""Whose details may hold."""
CHOICES = r"the client (?:created (?:first|last)|whose Active contracts come to most|with the most Active contracts|confirmed last|that stays)"  # noqa: E501


def _of_marks() -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for kind, mark in MARKS.items():
        found[kind] = (
            f"Where {{cond}}, one {mark} makes two clients {{term}}s.",
            f"Clients with one {mark} are {{term}}s if {{cond}}.",
            f"As soon as {{cond}}, one {mark} in common makes {{term}}s.",
        )
        found[f"{kind} not"] = (
            f"Where {{cond}}, one {mark} does not make two clients {{term}}s.",
            f"Clients with one {mark} are no {{term}}s if {{cond}}.",
            f"As soon as {{cond}}, one {mark} in common proves no {{term}}s.",
        )
        found[f"{kind}, general"] = (f"One {mark} makes two clients {{term}}s.",)
        found[f"{kind} not, general"] = (f"One {mark} does not yet make two clients {{term}}s.",)
    return found


DUPLICATE_RULES: Mapping[str, Sequence[str]] = {
    **_of_marks(),
    "stays": (
        "Where {cond}, {figure} stays of {term}s.",
        "If {cond}, {term}s are merged into {figure}.",
        "Among {term}s it is {figure} that is kept as soon as {cond}.",
    ),
    "stays, general": ("Of {term}s it is {figure} that stays.",),
    "details": (
        "Where {cond}, {term}s keep the details of {figure}.",
        "If {cond}, the details of {figure} hold for {term}s.",
    ),
    "details, general": ("The details of {figure} hold for {term}s.",),
    "apart": (
        "Where {cond}, {term}s are left apart.",
        "No {term}s are merged if {cond}.",
        "As soon as {cond}, nobody touches {term}s.",
    ),
    "together": (
        "Where {cond}, {term}s are merged all the same.",
        "Nothing keeps {term}s apart if {cond}.",
    ),
    "together, general": (
        "All {term}s are merged unless a provision of this handbook keeps them apart.",
    ),
}
"""What a provision can say on clients that are one firm."""

DUPLICATE_CONDITIONS: Mapping[str, Sequence[str]] = {
    "one industry": ("all of them are in the {} trade", "their industry is {}"),
    "owners differ": ("they have different owners", "not all of them have one owner"),
    "near in time": (
        "they were created 365 days or less apart",
        "no more than 365 days lie between the days on which they were created",
    ),
    "some stop": ("one of them is under a payment stop", "there is a payment stop on one of them"),
    "some public": ("one of them is a public body",),
    "some dispute": ("one of them has an open dispute", "a dispute with one of them is open"),
    "some slow": ("one of them is a slow payer",),
    "no contract": (
        "one of them has no Active contract",
        "there is no Active contract with one of them",
    ),
}
"""What may be true of two clients, or of all of one firm."""
