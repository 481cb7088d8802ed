"""For each writing tool, the reading calls that show whether it has done its work.

What a careful agent would call after a write that got no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from crmbench.core.tool import ReadBack
from crmbench.domains.registry import load_domain


def _by(tool: str, *names: str) -> ReadBack:
    """A reading tool with some of the write's own arguments."""
    return lambda given: [(tool, {name: given[name] for name in names if name in given})]


def _query(record: str, column: str, name: str) -> ReadBack:
    """A SOQL query of all fields of the records of which a column has the argument's value."""

    def reads(given: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        value = str(given[name]).replace("\\", "\\\\").replace("'", "\\'")
        query = f"SELECT FIELDS(ALL) FROM {record} WHERE {column} = '{value}' LIMIT 200"
        return [("issue_soql_query", {"query": query})]

    return reads


_CASE = _query("Case", "Id", "case_id")

READS: Mapping[str, ReadBack] = {
    "create_new_client": _by("client_search", "name"),
    "modify_client": _by("client_search", "client_id"),
    "create_new_contact": _by("contact_search", "client_id"),
    "modify_contact": _by("contact_search", "contact_id"),
    "create_new_opportunity": _by("opportunity_search", "client_id"),
    "modify_opportunity": _by("view_opportunity_details", "opportunity_id"),
    # A copy has the name of what it was copied from.
    "clone_opportunity": lambda given: [("opportunity_search", {})],
    "delete_opportunity": _by("opportunity_details", "opportunity_id"),
    "create_quote": _by("quote_search", "opportunity_id"),
    "modify_quote": _by("quote_details", "quote_id"),
    "cancel_quote": _by("quote_details", "quote_id"),
    "delete_quote": _by("quote_details", "quote_id"),
    "create_contract": _by("contract_search", "client_id"),
    "modify_contract": _by("contract_search", "contract_id"),
    "upload_document": _by("document_search", "entity_id"),
    "add_note": _by("note_search", "entity_id"),
    "create_case": _query("Case", "ContactId", "contact_id"),
    "assign_case": _CASE,
    "set_case_status": _CASE,
    "set_case_priority": _CASE,
    "update_case": _CASE,
    "close_case": _CASE,
    "comment_on_case": _query("CaseComment", "ParentId", "case_id"),
    "delete_case_comment": _query("CaseComment", "Id", "comment_id"),
    "draft_article": _query("Knowledge__kav", "Title", "title"),
    "publish_article": _query("Knowledge__kav", "Id", "article_id"),
    "delete_article_draft": _query("Knowledge__kav", "Id", "article_id"),
}


@cache
def reads_of(domain: str) -> Mapping[str, ReadBack]:
    """The same for all writing tools of a domain; what a tool declares itself comes first."""
    tools = load_domain(domain).toolbox.by_name
    return {**READS, **{name: t.shown_by for name, t in tools.items() if t.shown_by is not None}}
