"""Query results too long for one answer, kept until they are fetched."""

from __future__ import annotations

from typing import Any, NamedTuple

from crmbench.salesforce.ids import prefixed_id
from crmbench.salesforce.sobjects.errors import SobjectError

PAGE = 2_000
LEAST_PAGE = 200
CURSORS = 10
"""Results that a client may have open at once, as in Salesforce."""


class Page(NamedTuple):
    """Some records of a result."""

    total: int
    records: list[dict[str, Any]]
    locator: str | None
    """Of the next page; None on the last one."""


class Cursors:
    """The open results of one org. The oldest goes where there are too many."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[list[dict[str, Any]], int]] = {}
        self._made = 0

    def first(self, records: list[dict[str, Any]], total: int, size: int) -> Page:
        """The first page of a result.

        Args:
            records: All of it.
            total: What it says it has in all.
            size: Records of a page.
        """
        if len(records) <= size:
            return Page(total, records, None)
        self._made += 1
        key = prefixed_id("01g", self._made)
        self._open[key] = (records, size)
        if len(self._open) > CURSORS:
            del self._open[next(iter(self._open))]
        return Page(total, records[:size], f"{key}-{size}")

    def page(self, locator: str) -> Page:
        """The page of a locator, such as ``01gHs0000000001IAA-2000``; can be asked for again.

        Raises:
            SobjectError: There is no such result, or it is not open any more.
        """
        key, _, place = locator.partition("-")
        found = self._open.get(key)
        if found is None or not place.isascii() or not place.isdigit() or len(place) > 9:
            raise SobjectError("INVALID_QUERY_LOCATOR", "invalid query locator")
        records, size = found
        start = int(place)
        end = start + size
        if start >= len(records):
            raise SobjectError("INVALID_QUERY_LOCATOR", "invalid query locator")
        more = f"{key}-{end}" if end < len(records) else None
        return Page(len(records), records[start:end], more)
