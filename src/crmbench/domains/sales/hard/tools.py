"""The tools of the hard sets: those of the sales CRM with shorter pages, and the handbook's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import sqlalchemy as sa

from crmbench.authoring.handbook import HANDBOOK_TOOLS
from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.tool import Tool, Toolbox, tool
from crmbench.domains.sales import records, rules
from crmbench.domains.sales.tools import TOOLBOX as SALES_TOOLBOX
from crmbench.errors import ToolError

PAGE = 20
"""Records that a search or list gives at most."""


def _short(original: Tool) -> Tool:
    """The tool with pages of `PAGE` records at most."""
    function: Callable[..., Any] = original.function

    def run(database: Database, **arguments: Any) -> Any:
        limit = arguments.setdefault("limit", PAGE)
        if limit > PAGE:
            raise ToolError(f"Limit must be between 1 and {PAGE}.")
        return function(database, **arguments)

    params = tuple(
        replace(param, description=f"records to return, at most {PAGE} (also if left out)")
        if param.name == "limit"
        else param
        for param in original.params
    )
    return replace(original, params=params, function=run)


@tool()
def client_overview(database: Database, client_id: str) -> Row:
    """Show a client with its contacts, opportunities, contracts and the notes on the client.

    Args:
        client_id: id of the client
    """
    client = rules.must_exist(database, "Client", client_id)
    return {
        **records.public("Client", client),
        "contacts": records.related(database, "Contact", "client_id", client_id),
        "opportunities": records.related(database, "Opportunity", "client_id", client_id),
        "contracts": records.related(database, "Contract", "client_id", client_id),
        "notes": records.related(database, "Note", "entity_id", client_id),
    }


def _merged(given: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("client_search", {"client_id": given[name]}) for name in ("duplicate_id", "survivor_id")
    ]


@tool(writes=True, shown_by=_merged)
def merge_clients(
    database: Database,
    survivor_id: str,
    duplicate_id: str,
    details_from: Literal["survivor", "duplicate"] = "survivor",
) -> Row:
    """Merge a client into another one. Contacts, opportunities, contracts, documents and notes of
    the duplicate move to the survivor, and the duplicate is deleted. Cannot be undone.

    Args:
        survivor_id: id of the client that stays
        duplicate_id: id of the client that goes
        details_from: whose e-mail, phone and address the survivor has afterwards
    """
    survivor = rules.must_exist(database, "Client", survivor_id)
    duplicate = rules.must_exist(database, "Client", duplicate_id)
    if survivor_id == duplicate_id:
        raise ToolError("A client cannot be merged with itself.")
    moved = {}
    for table, column in _MOVED:
        rows = database.find(table, column, duplicate_id)
        moved[table] = len(rows)
        for row in rows:
            database.update(table, row, {column: survivor_id})
    database.delete("Client", duplicate_id)
    if details_from == "duplicate":
        details = {name: duplicate[name] for name in ("email", "phone", "address")}
        survivor = database.update("Client", survivor, details)
    return {"client": records.public("Client", survivor), "moved": moved}


_MOVED = (
    ("Contact", "client_id"),
    ("Opportunity", "client_id"),
    ("Contract", "client_id"),
    ("Document", "entity_id"),
    ("Note", "entity_id"),
)


def _of_something(original: Tool) -> Tool:
    """The search of notes, which has to say what the notes are on or whom they name."""
    function: Callable[..., Any] = original.function

    def run(database: Database, **arguments: Any) -> Any:
        wanted = {**(arguments.get("criteria") or {}), **arguments}
        if not (_is_record(database, wanted.get("entity_id")) or _names_one(database, wanted)):
            raise ToolError(
                "Notes are found by the record that they are on (entity_id, in full), or by the "
                "full name of a client in their text (content)."
            )
        return function(database, **arguments)

    text = (
        f"{original.description} Give entity_id, or as content the full name of a client that the "
        "notes mention."
    )
    return replace(original, description=text, function=run)


def _is_record(database: Database, key: object) -> bool:
    """Whether it is the id of a record that may have notes."""
    tables = ("Client", "Contact", "Opportunity", "Contract", "Quote")
    return isinstance(key, str) and any(database.get(table, key) for table in tables)


def _names_one(database: Database, wanted: Mapping[str, Any]) -> bool:
    """Whether a client's full name is looked for in the text."""
    content = str(wanted.get("content") or "").casefold()
    clients = database.schema["Client"].table
    rows = database.select("client names", lambda: sa.select(clients.c.name), {})
    return any(row["name"].casefold() in content for row in rows)


def _tools() -> list[Tool]:
    """Nothing lists all records of a kind: what bears on a client is looked for from the client."""
    own = [t for t in SALES_TOOLBOX.by_name.values() if not t.name.startswith("list_")]
    paged = [_short(t) if any(p.name == "limit" for p in t.params) else t for t in own]
    paged = [_of_something(t) if t.name == "note_search" else t for t in paged]
    return [*paged, client_overview, merge_clients, *HANDBOOK_TOOLS]


TOOLBOX = Toolbox(_tools())
