"""Whole replies: refusals, claims, and the ways in which facts are laid out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal

from crmbench.grading.phrasing.wording import (
    CLAIMS,
    CLOSINGS,
    FILLERS,
    OPENINGS,
    REFUSALS_BLUNT,
    REFUSALS_POLITE,
    REFUSALS_RELAYED,
)

Style = Literal["plain", "terse", "bullets", "table", "chatty", "bold", "json"]
STYLES: tuple[Style, ...] = ("plain", "terse", "bullets", "table", "chatty", "bold", "json")
"""The ways in which a whole reply is laid out."""


def refusal(rng: random.Random, reason: str | None = None) -> str:
    """A refusal or a relayed failure: polite, blunt or citing a rule; with the reason if any."""
    words = rng.choice((REFUSALS_POLITE, REFUSALS_BLUNT, REFUSALS_RELAYED))
    text = rng.choice(words)
    return f"{text} {rng.choice(('Reason', 'Why', 'The reason'))}: {reason}." if reason else text


def false_success(rng: random.Random) -> str:
    """A claim that it was done."""
    return rng.choice(CLAIMS)


def wrap(told: Sequence[str], style: str, rng: random.Random) -> str:
    """A whole reply that tells these pieces in the style.

    Args:
        told: What `realise` wrote in the same style; sentences of another origin are taken too.
    """
    return _WRAPS.get(style, _plain)(list(told), rng)


def _sentences(told: Sequence[str]) -> list[str]:
    """The pieces as sentences or labelled lines, cells put back into words."""
    return [": ".join(piece.split("\t", 1)) for piece in told]


def _plain(told: list[str], rng: random.Random) -> str:
    del rng
    return "\n".join(_sentences(told)) or "Noted."


def _terse(told: list[str], rng: random.Random) -> str:
    joint = rng.choice(("\n", "; ", " | "))
    return joint.join(_sentences(told)) or "ok"


def _bullets(told: list[str], rng: random.Random) -> str:
    mark = rng.choice(("-", "*", "•"))
    return "\n".join(f"{mark} {piece}" for piece in _sentences(told)) or "Noted."


def _bold(told: list[str], rng: random.Random) -> str:
    pieces = _sentences(told)
    return "### Summary\n\n" + "\n\n".join(pieces) + f"\n\n_{rng.choice(CLOSINGS)}_"


def _table(told: list[str], rng: random.Random) -> str:
    rows = [piece.split("\t", 1) for piece in told if "\t" in piece]
    texts = [piece for piece in told if "\t" not in piece]
    head = rng.choice(("| Field | Value |", "| Item | Details |"))
    lines = [head, "|---|---|", *(f"| {label} | {value} |" for label, value in rows)]
    return "\n\n".join([*texts, "\n".join(lines)] if rows else texts) or "Noted."


def _json(told: list[str], rng: random.Random) -> str:
    del rng
    rows = [piece.split("\t", 1) for piece in told if "\t" in piece]
    texts = [piece for piece in told if "\t" not in piece]
    pairs = []
    for label, value in rows:
        bare = value.strip('"“”`')
        pairs.append(f'"{label}": "{bare}"')
    return "\n".join([*texts, "{" + ", ".join(pairs) + "}"] if rows else texts) or "{}"


def _chatty(told: list[str], rng: random.Random) -> str:
    filler = rng.sample(FILLERS, 2)
    body = " ".join(_sentences(told))
    return "\n\n".join(
        (f"{rng.choice(OPENINGS)} {filler[0]}", body, f"{filler[1]} {rng.choice(CLOSINGS)}")
    )


_WRAPS: dict[str, Callable[[list[str], random.Random], str]] = {
    "plain": _plain,
    "terse": _terse,
    "bullets": _bullets,
    "table": _table,
    "chatty": _chatty,
    "bold": _bold,
    "json": _json,
}
