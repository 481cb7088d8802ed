"""Quotes: what was offered for a deal."""

from __future__ import annotations

import sqlalchemy as sa

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.sales import records, rules
from crmbench.domains.sales.schema import QUOTE
from crmbench.domains.sales.tools.generic import create_tool, modify_tool, search_tool
from crmbench.errors import ToolError


@tool(writes=True)
def cancel_quote(database: Database, quote_id: str) -> Row:
    """Cancel a quote: its status becomes Canceled.

    Args:
        quote_id: id of the quote
    """
    return records.modify(database, "Quote", quote_id, {"status": "Canceled"}, {})


@tool(writes=True)
def delete_quote(database: Database, quote_id: str) -> Row:
    """Delete a quote with its documents and notes.

    Args:
        quote_id: id of the quote
    """
    rules.must_exist(database, "Quote", quote_id)
    database.delete("Quote", quote_id)
    return {"deleted": True, "quote_id": quote_id}


@tool()
def quote_details(database: Database, quote_id: str) -> Row:
    """Show the fields of a quote.

    Args:
        quote_id: id of the quote
    """
    return records.public("Quote", rules.must_exist(database, "Quote", quote_id))


@tool()
def compare_quotes(database: Database, quote_ids: list[str]) -> Row:
    """Put quotes side by side.

    Args:
        quote_ids: ids of the quotes, at least one
    """
    return {"quotes": _quotes(database, quote_ids)}


@tool()
def compare_quote_details(database: Database, quote_ids: list[str]) -> Row:
    """Put quotes side by side, with their amounts and statuses by id and the sum of the amounts.

    Args:
        quote_ids: ids of the quotes, at least one
    """
    quotes = _quotes(database, quote_ids)
    return {
        "quotes": quotes,
        "amounts": {quote["quote_id"]: quote["amount"] for quote in quotes},
        "statuses": {quote["quote_id"]: quote["status"] for quote in quotes},
        "total_amount": round(sum(quote["amount"] for quote in quotes), 2),
    }


@tool()
def quote_prefixes(database: Database) -> Row:
    """List the prefixes that quotes carry, with how many quotes carry each."""
    rows = database.select("quote prefixes", _prefix_statement, {})
    return {
        "prefixes": [row["quote_prefix"] for row in rows],
        "counts": {row["quote_prefix"]: row["n"] for row in rows},
    }


def _prefix_statement() -> sa.SelectBase:
    prefix = QUOTE.c.quote_prefix
    counted = sa.select(prefix, sa.func.count().label("n")).where(prefix.is_not(None))
    return counted.group_by(prefix).order_by(prefix)


def _quotes(database: Database, quote_ids: list[str]) -> list[Row]:
    if not quote_ids:
        raise ToolError("Quote ids must name at least one quote.")
    return [
        records.public("Quote", rules.must_exist(database, "Quote", quote_id))
        for quote_id in quote_ids
    ]


TOOLS = (
    create_tool(
        "create_quote",
        "Quote",
        ("opportunity_id", "amount", "status"),
        "Create a quote for an opportunity.",
    ),
    search_tool("quote_search", "Quote", "Find quotes."),
    modify_tool("modify_quote", "Quote", "Change fields of a quote."),
    cancel_quote,
    delete_quote,
    quote_details,
    compare_quotes,
    compare_quote_details,
    quote_prefixes,
)
