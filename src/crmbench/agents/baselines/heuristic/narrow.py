"""Which of several deals fit what was said of them."""

from __future__ import annotations

import re

from crmbench.agents.baselines.heuristic.hear import STAGES, Heard, product
from crmbench.agents.baselines.heuristic.org import Record, is_open

_LARGEST = re.compile(r"\b(?:biggest|largest|highest|top|bigger|larger)\b", re.IGNORECASE)
_SMALLEST = re.compile(r"\b(?:smallest|smaller|lowest|cheapest)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:open|running|ongoing|active)\b", re.IGNORECASE)


def take_amount(heard: Heard, deals: list[Record]) -> None:
    """An amount that the deal has already tells it from others and is no new value."""
    for deal in deals:
        if deal.get("amount") in heard.values.amounts:
            heard.values.amounts.remove(deal["amount"])


def narrowed(pool: list[Record], heard: Heard, *, strict: bool = False) -> list[Record]:
    """The deals that fit what was said of them; a description that fits none is left aside.

    Args:
        strict: One that fits none leaves none.
    """
    for fits in (_of_product, _of_openness, _of_amount):
        kept = fits(pool, heard)
        if kept is not None and (kept or strict):
            pool = kept
    if pool and _LARGEST.search(heard.text):
        return [max(pool, key=lambda d: d.get("amount") or 0)]
    if pool and _SMALLEST.search(heard.text):
        return [min(pool, key=lambda d: d.get("amount") or 0)]
    return pool


def _of_product(pool: list[Record], heard: Heard) -> list[Record] | None:
    if heard.products:
        exact = [d for d in pool if product(d) == heard.products[0]]
        return exact or [d for d in pool if product(d).startswith(heard.products[0])]
    words = set(re.findall(r"[A-Z][a-z]{3,}", heard.text)) - set(STAGES)
    near = [d for d in pool if words & set(product(d).split(" "))]
    return near or None


def _of_openness(pool: list[Record], heard: Heard) -> list[Record] | None:
    return [d for d in pool if is_open(d)] if _OPEN.search(heard.text) else None


def _of_amount(pool: list[Record], heard: Heard) -> list[Record] | None:
    return [d for d in pool if d.get("amount") in heard.values.amounts] or None
