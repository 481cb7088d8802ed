"""Documents and notes: what is attached to other records."""

from __future__ import annotations

from crmbench.domains.sales.tools.generic import create_tool, search_tool

TOOLS = (
    create_tool(
        "upload_document",
        "Document",
        ("entity_type", "entity_id", "file_name"),
        "Attach a document to an opportunity, contract, quote or client.",
    ),
    search_tool("document_search", "Document", "Find documents by what they are attached to."),
    create_tool(
        "add_note",
        "Note",
        ("entity_type", "entity_id", "content"),
        "Write a note on an opportunity, client, contact, quote or contract.",
    ),
    search_tool("note_search", "Note", "Find notes by what they are written on or what they say."),
)
