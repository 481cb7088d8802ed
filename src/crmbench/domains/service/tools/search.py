"""Finding articles and products by words."""

from __future__ import annotations

from functools import partial
from math import log
from typing import Any

import sqlalchemy as sa

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg, among
from crmbench.domains.service.schema import KNOWLEDGE, PRODUCT2
from crmbench.errors import ToolError
from crmbench.salesforce.sosl.index import fts5_query, tsquery
from crmbench.salesforce.sosl.words import Term, words_of

MAX_WORDS = 32
MAX_ARTICLES = 10
MAX_PRODUCTS = 25

_COMMON = frozenset(
    words_of(
        "an and any are as at be by can do does for from had has have how if in is it its me my "
        "not of on or our so that the their them there they this to was we what when where which "
        "who why will with would you your"
    )
)
"""Words that tell nothing about what is looked for; left out unless there is nothing else."""


@tool()
def search_knowledge_articles(org: ServiceOrg, search_term: str) -> list[Row]:
    """Find knowledge articles by words of their title, summary or text, in any case. The best fit
    comes first: rare words and words of the title count most, short common words not at all.
    Returns at most 10 records with Id, Title, Summary, FAQ_Answer__c (the whole text), UrlName and
    PublishStatus (Online, or Draft for one that is not published yet); an empty list when no
    article has any of the words.

    Args:
        search_term: words to look for, such as "refund damaged tent"; a * at the end of a word
            stands for any ending
    """
    rows = _search(org, KNOWLEDGE, search_term, MAX_ARTICLES)
    return [{k: v for k, v in row.items() if k != "CreatedDate"} for row in rows]


@tool()
def search_products(org: ServiceOrg, search_term: str) -> list[Row]:
    """Find products by words of their name or description, in any case. The best fit comes first:
    rare words and words of the name count most, short common words not at all. Returns at most 25
    records with Id, Name and Description; an empty list when no product has any of the words.

    Args:
        search_term: words to look for, such as "green two-person tent"; a * at the end of a word
            stands for any ending
    """
    rows = _search(org, PRODUCT2, search_term, MAX_PRODUCTS)
    return [
        {"Id": row["Id"], "Name": row["Name"], "Description": row["Description"]} for row in rows
    ]


def _search(org: ServiceOrg, table: sa.Table, search_term: str, most: int) -> list[Row]:
    """The records that fit a search best, by the sum of their words' weights, then by id.

    A word weighs log(1 + N / n), where n of the N records have it (inverse document frequency,
    Spärck Jones, 1972), and half of that again if it is in the record's name.
    """
    (counted,) = org.select(("size", table.name), partial(_size_statement, table))
    scores: dict[str, float] = {}
    for term in _terms(search_term):
        found = _found(org, table, term, "all")
        weight = log(1 + counted["n"] / max(1, len(found)))
        for key in found:
            scores[key] = scores.get(key, 0.0) + weight
        for key in _found(org, table, term, "name"):
            scores[key] += weight / 2
    best = sorted(scores, key=lambda key: (-round(scores[key], 6), key))[:most]
    rows = org.select(("records", table.name), partial(_records_statement, table), ids=best)
    by_key = {row["Id"]: row for row in rows}
    return [by_key[key] for key in best]


def holding_every_word(org: ServiceOrg, table: sa.Table, search_term: str) -> list[str]:
    """The ids of the records that hold every term of a search; see `terms_with_phrases`.

    Raises:
        ToolError: It has no word, or too many.
    """
    terms = terms_with_phrases(search_term)
    return sorted(set.intersection(*(set(_found(org, table, term, "all")) for term in terms)))


def terms_with_phrases(search_term: str) -> list[Term]:
    """The words of a search and its phrases in double quotes, each once.

    Short common words outside quotes are left aside, unless there is nothing else; a number of one
    digit is a word like any other.

    Raises:
        ToolError: It has no word, or too many.
    """
    parts = search_term.split('"')
    phrases = [Term(tuple(found)) for part in parts[1::2] if (found := _words(part))]
    loose = [word for part in parts[0::2] for word in _words(part)]
    telling = [word for word in loose if word.isdigit() or (len(word) > 1 and word not in _COMMON)]
    words = [Term((word,)) for word in telling or ([] if phrases else loose)]
    return _counted([*phrases, *words])


def _terms(search_term: str) -> list[Term]:
    """The words of a search, each once."""
    words = _words(search_term)
    telling = [word for word in words if len(word) > 1 and word not in _COMMON] or words
    return _counted([Term((word,)) for word in telling])


def _words(text: str) -> list[str]:
    """The words of a text in their order, with the stars at their ends."""
    words = []
    for piece in text.split():
        found = words_of(piece)
        if found and piece.endswith("*"):
            found[-1] += "*"
        words += found
    return words


def _counted(terms: list[Term]) -> list[Term]:
    """The terms of a search, each once.

    Raises:
        ToolError: There is none, or there are too many.
    """
    if not terms:
        raise ToolError("Search term must hold at least one word.")
    kept = list(dict.fromkeys(terms))
    if len(kept) > MAX_WORDS:
        raise ToolError(f"Search term must not hold more than {MAX_WORDS} words.")
    return kept


def _found(org: ServiceOrg, table: sa.Table, term: Term, scope: str) -> list[str]:
    """The ids of the records with a word."""
    ask = fts5_query if org.dialect == "sqlite" else tsquery
    statement = partial(_found_statement, table)
    rows = org.select(("found", table.name), statement, words=ask(term, scope))
    return [row["Id"] for row in rows]


def _found_statement(table: sa.Table, dialect: str) -> sa.SelectBase:
    index = f'"{table.name}__fts"'
    if dialect == "sqlite":
        text = f"SELECT rowid FROM {index} WHERE {index} MATCH :words"
        key: sa.ColumnElement[Any] = sa.literal_column(f'"{table.name}".rowid', sa.Integer())
    else:
        text = f"SELECT id FROM {index} WHERE vector @@ CAST(:words AS tsquery)"
        key = table.c.Id
    found = sa.text(text).bindparams(sa.bindparam("words", type_=sa.String()))
    ids = found.columns(sa.column("found", key.type))
    return sa.select(table.c.Id).where(key.in_(ids))


def _records_statement(table: sa.Table, dialect: str) -> sa.SelectBase:
    return sa.select(table).where(among(dialect, table.c.Id, "ids"))


def _size_statement(table: sa.Table, dialect: str) -> sa.SelectBase:
    del dialect
    return sa.select(sa.func.count().label("n")).select_from(table)


TOOLS = (search_knowledge_articles, search_products)
