"""Which tools search and which look one record up, told by their names."""

from __future__ import annotations

import re

from crmbench.core.tool import Tool

_LISTS = re.compile(r"(?:^|_)search(?:_|$)|^list_|_(?:soql|sosl)_query$|^get_(?:cases|issues)$")
"""Tools that give any number of records."""
LISTS_EXAMPLES = (
    ("opportunity_search", True),
    ("search_products", True),
    ("list_notes", True),
    ("issue_soql_query", True),
    ("get_cases", True),
    ("opportunity_details", False),
    ("get_purchase_history", False),
    ("respond", False),
)
_INDEXED = re.compile(r"(?:^|_)search(?:_|$)|^list_|^summari[sz]e_|_sosl_query$|^get_cases$")
"""Tools that read the search index and not the records themselves."""
INDEXED_EXAMPLES = (
    ("opportunity_search", True),
    ("summarize_opportunities", True),
    ("issue_sosl_query", True),
    ("get_cases", True),
    ("issue_soql_query", False),
    ("view_opportunity_details", False),
    ("get_email_messages_by_case_id", False),
)
_OUTSIDE = re.compile(r"^(?:handbook|notebook)_")
"""Tools that are no part of the CRM, and that no condition touches."""
OUTSIDE_EXAMPLES = (("handbook_search", True), ("note_search", False))


def is_outside(name: str) -> bool:
    """Whether a tool of that name is no part of the CRM."""
    return bool(_OUTSIDE.match(name))


def gives_lists(tool: Tool) -> bool:
    """Whether a tool gives any number of records."""
    return not tool.writes and gives_lists_by_name(tool.name)


def gives_lists_by_name(name: str) -> bool:
    """Whether a reading tool of that name gives any number of records."""
    return bool(_LISTS.search(name)) and not _OUTSIDE.match(name)


def reads_index(tool: Tool) -> bool:
    """Whether a tool reads the search index, which may lag, and not the records themselves."""
    return not tool.writes and reads_index_by_name(tool.name)


def reads_index_by_name(name: str) -> bool:
    """Whether a reading tool of that name reads the search index."""
    return bool(_INDEXED.search(name)) and not _OUTSIDE.match(name)
