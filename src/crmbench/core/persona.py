"""Personas: which part of one is a person's name, and which says who is speaking."""

from __future__ import annotations

MAX_NAME = 5
"""Words of a name at most."""


def role_of(persona: str) -> str:
    """What a persona is, its name left out: "sales manager" for "Ada Novak, sales manager".

    A name is what stands before the first comma, if it is at most `MAX_NAME` words of which the
    first and the last do not begin with a small letter. A persona without one is returned as it is.
    """
    name, comma, role = persona.partition(",")
    words = name.split()
    named = 0 < len(words) <= MAX_NAME and not (words[0][0].islower() or words[-1][0].islower())
    return role.strip() if comma and named and role.strip() else persona
