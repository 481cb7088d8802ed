"""Contracts."""

from __future__ import annotations

from crmbench.domains.sales.tools.generic import create_tool, modify_tool, search_tool

TOOLS = (
    create_tool(
        "create_contract",
        "Contract",
        ("client_id",),
        "Create a contract with a client, for one of its opportunities if there is one.",
    ),
    search_tool("contract_search", "Contract", "Find contracts."),
    modify_tool("modify_contract", "Contract", "Change fields of a contract."),
)
