"""The place of a text at which a search has found it."""

from __future__ import annotations

from collections.abc import Sequence

from crmbench.salesforce.sosl.words import Term, words_of

AROUND = 7
"""Words shown before and after what was found."""


def excerpt(text: str, terms: Sequence[Term]) -> str:
    """The words around the first term that stands in a text; its beginning if none does."""
    pieces = text.split()
    words = [(word, place) for place, piece in enumerate(pieces) for word in words_of(piece)]
    for term in terms:
        last = len(words) - len(term.words) + 1
        for start in range(last):
            if all(_fits(wanted, words[start + n][0]) for n, wanted in enumerate(term.words)):
                return _around(pieces, words[start][1], words[start + len(term.words) - 1][1])
    return _around(pieces, 0, 0)


def _fits(wanted: str, word: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def _around(pieces: Sequence[str], first: int, last: int) -> str:
    start, end = max(0, first - AROUND), last + AROUND + 1
    head = "… " if start else ""
    tail = " …" if end < len(pieces) else ""
    return f"{head}{' '.join(pieces[start:end])}{tail}"
