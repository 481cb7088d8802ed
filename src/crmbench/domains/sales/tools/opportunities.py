"""Opportunities: the deals."""

from __future__ import annotations

from typing import Any

from crmbench.core.arguments import OBJECT
from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.tool import Param, Tool, tool
from crmbench.domains.sales import records, rules
from crmbench.domains.sales.tools.generic import create_tool, field_params, modify_tool, search_tool


@tool(writes=True)
def clone_opportunity(database: Database, opportunity_id: str) -> Row:
    """Copy an opportunity. The copy is named after it with " (Clone)" behind.

    Args:
        opportunity_id: id of the opportunity to copy
    """
    original = rules.must_exist(database, "Opportunity", opportunity_id)
    fields = {k: v for k, v in original.items() if k not in ("opportunity_id", "created_at", "seq")}
    fields["name"] = f"{original['name']} (Clone)"
    # A copy keeps its date though it may have passed: it is a copy, not a new promise.
    clock = database.clock
    fields["opportunity_id"] = clock.next_id()
    fields["created_at"] = clock.timestamp()
    return records.public("Opportunity", database.insert("Opportunity", fields))


@tool(writes=True)
def delete_opportunity(database: Database, opportunity_id: str) -> Row:
    """Delete an opportunity with its quotes, documents and notes. Contracts stay, unlinked.

    Args:
        opportunity_id: id of the opportunity
    """
    rules.must_exist(database, "Opportunity", opportunity_id)
    changes = database.delete("Opportunity", opportunity_id)
    deleted = sum(1 for change in changes if change.after is None)
    return {"deleted": True, "opportunity_id": opportunity_id, "records_deleted": deleted}


@tool()
def view_opportunity_details(database: Database, opportunity_id: str) -> Row:
    """Show an opportunity with its client, contacts, quotes, contracts, documents and notes.

    Args:
        opportunity_id: id of the opportunity
    """
    opportunity = rules.must_exist(database, "Opportunity", opportunity_id)
    client_id = opportunity["client_id"]
    client = rules.must_exist(database, "Client", client_id)
    return {
        **records.public("Opportunity", opportunity),
        "client": records.public("Client", client),
        "contacts": records.related(database, "Contact", "client_id", client_id),
        "quotes": records.related(database, "Quote", "opportunity_id", opportunity_id),
        "contracts": records.related(database, "Contract", "opportunity_id", opportunity_id),
        "documents": records.related(database, "Document", "entity_id", opportunity_id),
        "note_records": records.related(database, "Note", "entity_id", opportunity_id),
    }


@tool()
def opportunity_details(database: Database, opportunity_id: str) -> Row:
    """Show the fields of an opportunity.

    Args:
        opportunity_id: id of the opportunity
    """
    row = rules.must_exist(database, "Opportunity", opportunity_id)
    return records.public("Opportunity", row)


def _summarize(database: Database, criteria: Row | None = None, **fields: Any) -> Row:
    rows = records.all_matching(database, "Opportunity", {**(criteria or {}), **fields})
    return {
        "total_count": len(rows),
        "total_amount": round(sum(row["amount"] for row in rows), 2),
        "by_stage": _totals(rows, "stage"),
        "by_owner": _totals(rows, "owner"),
    }


def _totals(rows: list[Row], column: str) -> dict[str, Row]:
    """Count and amount for each value of a column; records without one under "(none)"."""
    totals: dict[str, Row] = {}
    for row in rows:
        entry = totals.setdefault(row[column] or "(none)", {"count": 0, "amount": 0.0})
        entry["count"] += 1
        entry["amount"] = round(entry["amount"] + row["amount"], 2)
    return {name: totals[name] for name in sorted(totals)}


SUMMARIZE = Tool(
    "summarize_opportunities",
    "Count and add up opportunities, in all and by stage and owner. Takes the same criteria as "
    "opportunity_search; without any it covers all opportunities.",
    False,
    (
        *field_params("Opportunity"),
        Param("criteria", OBJECT, False, "the same fields, as an object"),
    ),
    _summarize,
    "Opportunity has no field named '{name}'.",
)

TOOLS = (
    create_tool(
        "create_new_opportunity",
        "Opportunity",
        ("name", "client_id", "amount", "stage"),
        "Create an opportunity: a deal with a client.",
    ),
    search_tool("opportunity_search", "Opportunity", "Find opportunities."),
    modify_tool(
        "modify_opportunity",
        "Opportunity",
        "Change fields of an opportunity. Stage, amount, probability and close date are locked "
        "once it is closed.",
    ),
    clone_opportunity,
    delete_opportunity,
    view_opportunity_details,
    opportunity_details,
    SUMMARIZE,
)
