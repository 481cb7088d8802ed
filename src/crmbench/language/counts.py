"""Counts as people say them."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number and its noun: "1 episode", "2 episodes"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
