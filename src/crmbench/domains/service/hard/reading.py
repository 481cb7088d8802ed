"""How the hard org is read: long texts one record at a time, all else by queries."""

from __future__ import annotations

import re
from functools import cache

import sqlalchemy as sa

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.hard.desk.excerpts import excerpt
from crmbench.domains.service.hard.schema import HARD, catalog
from crmbench.domains.service.org import ServiceOrg, among
from crmbench.domains.service.records import must_exist
from crmbench.domains.service.schema import KNOWLEDGE
from crmbench.domains.service.tools import TASK_TOOLS as EASY_TASK_TOOLS
from crmbench.domains.service.tools import customers, general, search
from crmbench.domains.service.tools.arguments import Id
from crmbench.errors import ToolError

HITS, PAGES = 10, 3
"""Articles on a page of a search, and pages that are shown of one."""
SHOWN = ("Id", "Title", "Summary", "PublishStatus")
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\{[^}]*\}")
"""What is no name of a field in a query: ``'a text'`` and the words of a search, ``{tent}``; a
name outside of both is one: ``TextBody``."""


@cache
def _long_texts() -> re.Pattern[str]:
    names = {
        info.name
        for each in catalog().objects.values()
        for info in each.fields.values()
        if info.kind == "textarea"
    }
    return re.compile(rf"\b(?:{'|'.join(sorted(names))})\b|\bFIELDS(?=\s*\()", re.IGNORECASE)


def is_long_text(field: str) -> bool:
    """Whether no query returns or filters a field of this name."""
    return _long_texts().fullmatch(field) is not None


def refuse_long_texts(query: str) -> None:
    """Refuse a query that names a long text area.

    Raises:
        ToolError: It names one.
    """
    found = _long_texts().search(_QUOTED.sub("''", query))
    if found:
        raise ToolError(
            f"{found[0]}: long text areas are neither returned nor filtered by queries here. Find "
            "their words with FIND, and open the record: read_case, read_article.",
            "INVALID_FIELD",
        )


def refuse_articles(query: str) -> None:
    """Refuse a search for articles.

    Raises:
        ToolError: It asks for them, or for no object in particular.
    """
    named = _QUOTED.sub("''", query)
    if "returning" not in named.lower() or KNOWLEDGE.name.lower() in named.lower():
        raise ToolError(
            "Name the objects to return (RETURNING Case(Id), CaseComment(Id)); articles are "
            "searched with search_knowledge_articles.",
            "INVALID_SEARCH",
        )


@tool()
def issue_soql_query(org: ServiceOrg, query: str) -> Row:
    """Ask the org in SOQL, such as "SELECT Id, Subject, Account.Name FROM Case WHERE Status = 'New'
    AND CreatedDate = LAST_N_DAYS:30 ORDER BY CreatedDate DESC LIMIT 10" or "SELECT OwnerId,
    COUNT(Id) n FROM Case GROUP BY OwnerId HAVING COUNT(Id) > 5". Relative dates are relative to the
    org's today, in UTC. Long text areas (TextBody, Body, Description, CommentBody, FAQ_Answer__c,
    Summary; describe_object marks them) are neither returned nor filtered by queries, nor is
    FIELDS(): open the record with read_case or read_article. Returns totalSize (the number of
    records), done, and records. A query that is refused gives its error code and the place of the
    error.

    Args:
        query: one SELECT statement
    """
    refuse_long_texts(query)
    found: Row = general.issue_soql_query.function(org, query=query)
    return found


@tool()
def issue_sosl_query(org: ServiceOrg, query: str) -> Row:
    """Search the org's texts in SOSL, such as "FIND {tent AND (torn OR ripped)} IN ALL FIELDS
    RETURNING Case(Id, Subject WHERE Status != 'Closed' LIMIT 5), CaseComment(Id, ParentId)".
    Words may end in * or hold ?, and phrases stand in quotes. Long texts are searched, but not
    returned. Knowledge articles are searched with search_knowledge_articles alone. Returns
    searchRecords; each says its object under attributes.

    Args:
        query: one FIND statement
    """
    refuse_long_texts(query)
    refuse_articles(query)
    found: Row = general.issue_sosl_query.function(org, query=query)
    return found


@tool()
def search_knowledge_articles(org: ServiceOrg, search_term: str, page: int = 1) -> Row:
    """Find knowledge articles that hold every word given in their title, summary or text, in any
    case. Numbers are words, those of one digit too. Words in double quotes must follow each other,
    as in "7 July 2025"; of words without quotes short common ones are left aside. Returns
    total_count and a page of ten with Id, Title, Summary, PublishStatus (Online, Archived or
    Draft) and Excerpt (some words around the first place in the text that was found), the oldest
    first, without the text (see read_article). No more than three pages are shown of a search: of
    what is found more often, narrow the words.

    Args:
        search_term: words to look for, such as: refund damaged tent; a * at the end of a word
            stands for any ending
        page: which ten of those found, 1 to 3
    """
    if not 1 <= page <= PAGES:
        raise ToolError(f"Page must be 1 to {PAGES}; narrow the words.", "invalid_arguments")
    terms = search.terms_with_phrases(search_term)
    keys = search.holding_every_word(org, KNOWLEDGE, search_term)
    rows = org.select("articles found", _articles_statement, ids=keys)
    rows = sorted(rows, key=lambda row: (row["ArticleNumber"], row["Id"]))
    shown = rows[(page - 1) * HITS : page * HITS]
    return {
        "total_count": len(rows),
        "page": page,
        "pages": max(1, -(-len(rows) // HITS)),
        "articles": [
            {name: row[name] for name in SHOWN} | {"Excerpt": excerpt(row["FAQ_Answer__c"], terms)}
            for row in shown
        ],
    }


def _articles_statement(dialect: str) -> sa.SelectBase:
    table = HARD.tables[KNOWLEDGE.name]
    columns = [table.c[name] for name in (*SHOWN, "ArticleNumber", "FAQ_Answer__c")]
    return sa.select(*columns).where(among(dialect, table.c.Id, "ids"))


@tool()
def read_article(org: ServiceOrg, article_id: Id) -> Row:
    """Open one knowledge article. Returns the whole record, its text as FAQ_Answer__c.

    Args:
        article_id: id of the article
    """
    return dict(must_exist(org, "Knowledge__kav", article_id))


@tool()
def read_case(org: ServiceOrg, case_id: Id) -> Row:
    """Open one case. Returns the whole record, with its e-mails, chats and comments, each a list
    with the oldest first, and the ids of cases merged into it.

    Args:
        case_id: id of the case
    """
    case = dict(must_exist(org, "Case", case_id))
    emails = customers.get_email_messages_by_case_id.function(org, case_id=case_id)
    chats = customers.get_livechat_transcript_by_case_id.function(org, case_id=case_id)
    comments = org.select("comments of a case", _comments_statement, case=case_id)
    merged = org.select("merged into a case", _merged_statement, case=case_id)
    return case | {
        "emails": emails,
        "chats": chats,
        "comments": [dict(row) for row in comments],
        "merged": [row["Id"] for row in merged],
    }


def _comments_statement(dialect: str) -> sa.SelectBase:
    del dialect
    table = HARD.tables["CaseComment"]
    names = (table.c.Id, table.c.CommentBody, table.c.CreatedById, table.c.CreatedDate)
    chosen = sa.select(*names).where(table.c.ParentId == sa.bindparam("case"))
    return chosen.order_by(table.c.CreatedDate, table.c.Id)


def _merged_statement(dialect: str) -> sa.SelectBase:
    del dialect
    table = HARD.tables["Case"]
    chosen = sa.select(table.c.Id).where(table.c.MasterRecordId == sa.bindparam("case"))
    return chosen.order_by(table.c.Id)


QUERIES = (issue_soql_query, issue_sosl_query)
OPENING = (read_case, read_article, search_knowledge_articles)
TASK_TOOLS = tuple(each for each in EASY_TASK_TOOLS if each.name != search_knowledge_articles.name)
"""The easy org's, of which none gives long texts of more than one record."""
