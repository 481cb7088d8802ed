"""An utterance without its values: what remains is the phrasing."""

from __future__ import annotations

import re

_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“][^\"”]+[\"”]|(?<!\w)'[^']+'(?!\w)")
_EMAIL = re.compile(r"\S+@\S+")
_NUMBER = re.compile(r"[$€£]?\d[\d,.:/%k-]*", re.IGNORECASE)
_DATE_WORD = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|monday|tuesday|wednesday|thursday|friday)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w&'’-]*(?:\s+(?:[A-Z&][\w&'’-]*))*")


def mask(utterance: str) -> str:
    """An utterance without what a template would fill in: names, numbers, dates and ids."""
    masked = _ID.sub("#", utterance)
    for pattern in (_EMAIL, _QUOTED, _NAME, _DATE_WORD, _NUMBER):
        masked = pattern.sub("#", masked)
    return re.sub(r"#(?:[\s,]*#)+", "#", " ".join(masked.split())).casefold()
