"""Where the articles stand: a table for any schema, and the tools that search and open it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import sqlalchemy as sa

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.errors import ToolError

TABLE = "Article"
HITS = 10
"""Titles that a search gives."""
TITLES = 40
"""Titles on a page of the list."""
TELLING = 3
"""Words that the database looks for; those left are looked for in what it finds."""
_WORD = re.compile(r"\w+(?:[-'’.,/]\w+)*")
"""A word: "HB-412", "19/2024", "3.5"; not "%"."""
_PLURAL = re.compile(r"(?<=\w\w\w)s$")
"""The ending that makes no difference: that of "renewals"; not that of "gas"."""


def article_table(metadata: sa.MetaData) -> sa.Table:
    """Add the table of articles to a schema's metadata: number, title, issued (ISO date), text."""
    text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Table(
        TABLE,
        metadata,
        sa.Column("number", text, primary_key=True),
        sa.Column("title", text, nullable=False),
        sa.Column("issued", text, nullable=False, info={"compare": "exact"}),
        sa.Column("text", text, nullable=False, info={"compare": "note"}),
    )


def _titles(database: Database, words: Sequence[str] = ()) -> list[Row]:
    """Every article in order, or all that hold these words somewhere; read afresh, as it may be
    long.
    """

    def build() -> sa.Select[tuple[object, ...]]:
        table = database.schema[TABLE].table
        # SQLite's LIKE takes letters in any case; its ILIKE would call lower() for every row.
        alike = "LIKE" if database.dialect == "sqlite" else "ILIKE"
        found = sa.select(table).order_by(table.c.number)
        for place in range(len(words)):
            word = sa.bindparam(f"word{place}", type_=sa.String())
            columns = (table.c.text, table.c.title, table.c.number)
            found = found.where(sa.or_(*(column.bool_op(alike)(word) for column in columns)))
        return found

    parameters = {f"word{place}": f"%{word}%" for place, word in enumerate(words)}
    return database.select(("handbook", len(words)), build, parameters)


def _shown(row: Row) -> Row:
    return {"number": row["number"], "title": row["title"]}


@tool()
def handbook_search(database: Database, words: str, page: int = 1) -> Row:
    """Find articles of the handbook. An article is found when its number, title or text holds every
    word given: whole words in any case; only the plural "s" at a word's end makes no difference. A
    number is found with its letters: HB-12, not 12. Words in double quotes must stand together.
    Returns total_count and a page of ten numbers and titles, in order of number.

    Args:
        words: what to look for
        page: which ten of those found, from 1
    """
    wanted = _needles(words)
    found = [row for row in _titles(database, _telling(wanted)) if _holds(row, wanted)]
    return _page(found, page, HITS)


@tool()
def handbook_list(database: Database, page: int = 1) -> Row:
    """Page through the titles of all articles of the handbook, forty a page, in order of number.

    Args:
        page: which page, from 1
    """
    return _page(_titles(database), page, TITLES)


@tool()
def handbook_open(database: Database, number: str) -> Row:
    """Open an article of the handbook.

    Args:
        number: number of the article
    """
    row = database.get(TABLE, number.strip())
    if row is None:
        raise ToolError(f"The handbook has no article '{number[:40]}'.", "not_found")
    return row


def _needles(words: str) -> list[str]:
    """The words, and what stands together in quotes."""
    parts = words.split('"')
    needles = [_folded(part) for part in parts[1::2]]
    needles += [_folded(word) for part in parts[0::2] for word in part.split()]
    needles = [needle for needle in needles if needle.strip()]
    if not needles:
        raise ToolError("Words must name something to look for.")
    return needles


def _telling(needles: list[str]) -> list[str]:
    """The longest words of what is looked for, as the database can look for them: an article that
    is found holds each of them, letter by letter but for their case.

    Not so words beyond ASCII, whose case a database may not know, and "ss", which is found in "ß".
    """
    words = {word for needle in needles for word in needle.split()}
    surely = [word for word in words if word.isascii() and "ss" not in word]
    return sorted(surely, key=lambda word: (-len(word), word))[:TELLING]


@lru_cache(maxsize=16384)
def _folded(text: str) -> str:
    """Its words between single spaces, with one before and behind: " hb-100 two term "."""
    return f" {' '.join(_PLURAL.sub('', word) for word in _WORD.findall(text.casefold()))} "


def _holds(row: Row, needles: list[str]) -> bool:
    texts = [_folded(row[name]) for name in ("number", "title", "text")]
    return all(any(needle in text for text in texts) for needle in needles)


def _page(rows: list[Row], page: int, size: int) -> Row:
    if page < 1:
        raise ToolError("Page must be 1 or more.")
    shown = rows[(page - 1) * size : page * size]
    return {
        "total_count": len(rows),
        "page": page,
        "pages": max(1, -(-len(rows) // size)),
        "articles": [_shown(row) for row in shown],
    }


HANDBOOK_TOOLS = (handbook_search, handbook_list, handbook_open)
"""Search, list and open; the handle that they take is the `Database`."""
