"""Sets of words, written as a text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text that spaces part."""
    return frozenset(text.split())
