"""What a SOSL search says, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from crmbench.salesforce.soql import ast as soql


@dataclass(frozen=True, slots=True)
class ReturnedObject:
    """One object of RETURNING, as the query that its part in parentheses amounts to."""

    query: soql.Query
    counted: bool
    """Whether it has a LIMIT of its own."""


@dataclass(frozen=True, slots=True)
class WithClause:
    """One WITH clause."""

    name: str
    pos: int
    harmless: bool
    """Whether leaving it out gives the same records."""


@dataclass(frozen=True, slots=True)
class Search:
    """A whole search."""

    words: str
    """The search text without its braces or quotes; backslashes as written."""
    pos: int
    fields: str
    """``all``, ``name``, ``email``, ``phone`` or ``sidebar``."""
    targets: tuple[ReturnedObject, ...]
    withs: tuple[WithClause, ...]
    limit: soql.LiteralValue | None
    bound: bool
    """Whether the search text is a variable of Apex."""
