"""The tools of the sales CRM, one file an area, and the toolbox that holds them all."""

from __future__ import annotations

from crmbench.core.tool import Toolbox
from crmbench.domains.sales.tools import (
    clients,
    contracts,
    documents,
    listings,
    opportunities,
    quotes,
)

TOOLBOX = Toolbox(
    [
        *clients.TOOLS,
        *opportunities.TOOLS,
        *quotes.TOOLS,
        *contracts.TOOLS,
        *documents.TOOLS,
        *listings.TOOLS,
    ]
)
