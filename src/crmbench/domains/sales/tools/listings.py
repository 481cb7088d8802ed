"""Lists of whole entities, and how many records there are."""

from __future__ import annotations

from functools import partial

import sqlalchemy as sa

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.tools.generic import list_tool

_PLURALS = {
    "Client": "clients",
    "Contact": "contacts",
    "Opportunity": "opportunities",
    "Quote": "quotes",
    "Contract": "contracts",
    "Document": "documents",
    "Note": "notes",
    "Company": "companies",
}


@tool()
def summarize_counts(database: Database) -> Row:
    """Say how many records there are of each kind."""
    counts = {}
    for entity, plural in _PLURALS.items():
        build = partial(_count, entity)
        counts[plural] = database.select(("count all", entity), build, {})[0]["n"]
    return counts


def _count(entity: str) -> sa.SelectBase:
    return sa.select(sa.func.count().label("n")).select_from(SCHEMA[entity].table)


TOOLS = (
    *(
        list_tool(f"list_{plural}", entity, f"Page through all {plural}, oldest first.")
        for entity, plural in _PLURALS.items()
    ),
    summarize_counts,
)
