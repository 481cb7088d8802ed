"""The org's query languages, and the answer."""

from __future__ import annotations

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg
from crmbench.errors import ToolError


@tool()
def issue_soql_query(org: ServiceOrg, query: str) -> Row:
    """Ask the org in SOQL, such as "SELECT Id, Subject, Account.Name FROM Case WHERE Status = 'New'
    AND CreatedDate = LAST_N_DAYS:30 ORDER BY CreatedDate DESC LIMIT 10" or "SELECT OwnerId,
    COUNT(Id) n FROM Case GROUP BY OwnerId HAVING COUNT(Id) > 5". Relative dates are relative to the
    org's today, in UTC. Returns totalSize (the number of records), done, and records. A query that
    is refused gives its error code and the place of the error.

    Args:
        query: one SELECT statement
    """
    return org.soql.run(query, org.database.connection.execute, org.now).as_json()


@tool()
def issue_sosl_query(org: ServiceOrg, query: str) -> Row:
    """Search the org's texts in SOSL, such as "FIND {tent AND (torn OR ripped)} IN ALL FIELDS
    RETURNING Knowledge__kav(Id, Title), Case(Id, Subject WHERE Status != 'Closed' LIMIT 5)". Words
    may end in * or hold ?, and phrases stand in quotes. Returns searchRecords; each says its object
    under attributes.

    Args:
        query: one FIND statement
    """
    return org.sosl.run(query, org.database.connection.execute, org.now).as_json()


@tool()
def respond(org: ServiceOrg, content: str) -> Row:
    """Submit your answer to what was asked, once you are sure of it. Nothing in the org changes.
    Submitting again replaces the answer before.

    Args:
        content: the answer alone: an id, the name of a month, a two-letter state, a short text, or
            None when nothing fits
    """
    del org
    if not content.strip():
        raise ToolError('Content must not be empty; when nothing fits, answer "None".')
    return {"submitted": content}


QUERIES = (issue_soql_query, issue_sosl_query)
ENDING = (respond,)
