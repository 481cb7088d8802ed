"""The questions that a handbook answers, and how each is named."""

from __future__ import annotations

from collections.abc import Mapping

from crmbench.domains.sales.hard.handbook.duplicate_words import DUPLICATE_QUESTIONS

SHIFT_QUESTIONS: Mapping[str, str] = {
    "delay": "how far to put off",
    "reduction": "how much to take off",
    "chance": "the highest chance",
    "keeper": "handing over",
    "frozen": "leaving as it is",
    "open": "doing as asked",
}
"""How the questions are named that a shift asks."""
QUESTIONS: Mapping[str, str] = {
    "uplift": "what is added",
    "ceiling": "the ceiling",
    "lead time": "the day of signing",
    "desk": "who is in charge",
    "hold": "waiting",
    "release": "going ahead",
    **SHIFT_QUESTIONS,
    **DUPLICATE_QUESTIONS,
}
"""How a provision's question is named when the provision is spoken of by what it says."""
YES_NO: Mapping[str, tuple[str, str]] = {
    "hold": ("hold", "release"),
    "frozen": ("frozen", "open"),
    "apart": ("apart", "together"),
    **{mark: (mark, f"{mark} not") for mark in ("tax", "register", "renamed", "phone")},
}
"""Subject that is answered by yes or no, to the kinds of provision that say so."""
