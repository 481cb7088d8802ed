"""Clients, their contacts, and the companies kept for reference."""

from __future__ import annotations

from crmbench.domains.sales.tools.generic import create_tool, modify_tool, search_tool

TOOLS = (
    create_tool(
        "create_new_client",
        "Client",
        ("name", "email", "status"),
        "Create a client. Its e-mail address must not belong to another client.",
    ),
    search_tool("client_search", "Client", "Find clients."),
    modify_tool("modify_client", "Client", "Change fields of a client."),
    create_tool(
        "create_new_contact",
        "Contact",
        ("first_name", "last_name", "client_id"),
        "Create a contact: a person at a client.",
    ),
    search_tool("contact_search", "Contact", "Find contacts."),
    modify_tool("modify_contact", "Contact", "Change fields of a contact."),
    search_tool(
        "company_search",
        "Company",
        "Find partners, vendors and competitors; clients are not among them.",
    ),
)
