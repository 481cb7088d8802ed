"""How long a memory is. No tokenizer fits every model, so a token is four characters here."""

from __future__ import annotations

CHARACTERS = 4
"""Of a token."""


def tokens_in(text: str) -> int:
    """Tokens of a text, rounded up."""
    return -(-len(text) // CHARACTERS)


def cut(text: str, budget: int) -> str:
    """The beginning of a text that has no more than `budget` tokens."""
    return text[: max(budget, 0) * CHARACTERS]


def fill(parts: list[str], budget: int, between: str = "\n") -> str:
    """As many parts, from the first on, as fit whole into a budget."""
    chosen: list[str] = []
    for part in parts:
        if tokens_in(between.join([*chosen, part])) > budget:
            continue
        chosen.append(part)
    return between.join(chosen)
