"""Which of several deals fit what was said of them."""

from __future__ import annotations

import re

from crmbench.agents.baselines.heuristic.org import Record, is_open
from crmbench.agents.baselines.heuristic.parse import STAGES, ParsedUtterance, product

_LARGEST = re.compile(r"\b(?:biggest|largest|highest|top|bigger|larger)\b", re.IGNORECASE)
_SMALLEST = re.compile(r"\b(?:smallest|smaller|lowest|cheapest)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:open|running|ongoing|active)\b", re.IGNORECASE)


def take_amount(parsed: ParsedUtterance, deals: list[Record]) -> None:
    """An amount that the deal has already tells it from others and is no new value."""
    for deal in deals:
        if deal.get("amount") in parsed.values.amounts:
            parsed.values.amounts.remove(deal["amount"])


def narrowed(pool: list[Record], parsed: ParsedUtterance, *, strict: bool = False) -> list[Record]:
    """The deals that fit what was said of them; a description that fits none is left aside.

    Args:
        strict: One that fits none leaves none.
    """
    for fits in (_of_product, _of_openness, _of_amount):
        kept = fits(pool, parsed)
        if kept is not None and (kept or strict):
            pool = kept
    if pool and _LARGEST.search(parsed.text):
        return [max(pool, key=lambda d: d.get("amount") or 0)]
    if pool and _SMALLEST.search(parsed.text):
        return [min(pool, key=lambda d: d.get("amount") or 0)]
    return pool


def _of_product(pool: list[Record], parsed: ParsedUtterance) -> list[Record] | None:
    if parsed.products:
        exact = [d for d in pool if product(d) == parsed.products[0]]
        return exact or [d for d in pool if product(d).startswith(parsed.products[0])]
    words = set(re.findall(r"[A-Z][a-z]{3,}", parsed.text)) - set(STAGES)
    near = [d for d in pool if words & set(product(d).split(" "))]
    return near or None


def _of_openness(pool: list[Record], parsed: ParsedUtterance) -> list[Record] | None:
    return [d for d in pool if is_open(d)] if _OPEN.search(parsed.text) else None


def _of_amount(pool: list[Record], parsed: ParsedUtterance) -> list[Record] | None:
    return [d for d in pool if d.get("amount") in parsed.values.amounts] or None
