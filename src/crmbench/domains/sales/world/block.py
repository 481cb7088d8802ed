"""One block of a world: clients and all that hangs on them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from crmbench.domains.sales.world.clients import make_contacts, make_firms
from crmbench.domains.sales.world.deals import make_deals, make_quotes
from crmbench.domains.sales.world.notes import make_notes
from crmbench.domains.sales.world.papers import make_companies, make_contracts, make_documents
from crmbench.domains.sales.world.setting import setting
from crmbench.domains.sales.world.spec import WorldSpec

Row = dict[str, Any]


def make_block(spec: WorldSpec, number: int, fraction: float) -> dict[str, list[Row]]:
    """The rows of a block by table.

    Args:
        spec: Of the world.
        number: Of the block, from 0; equal specs and numbers make equal rows.
        fraction: How much of a full block, above 0, at most 1.
    """
    here = setting(spec, number, fraction)
    firms = make_firms(here)
    contacts = make_contacts(here, firms)
    deals = make_deals(here, firms)
    quotes = make_quotes(here, deals)
    contracts = make_contracts(here, firms, deals)
    companies = make_companies(here, firms)
    documents = make_documents(here, firms, deals, contracts)
    notes = make_notes(here, firms, deals, contracts, companies)
    return {
        "Client": [firm.row for firm in firms],
        "Contact": contacts,
        "Opportunity": sorted((d.row for d in deals), key=itemgetter("created_at")),
        "Quote": quotes,
        "Contract": [contract.row for contract in contracts],
        "Company": companies,
        "Document": documents,
        "Note": notes,
    }
