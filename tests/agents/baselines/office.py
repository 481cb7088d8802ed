"""A small org of two clients with the heuristic agent at work in it."""

from __future__ import annotations

import asyncio
from typing import Any

from crmbench.agents.baselines.heuristic import Heuristic
from crmbench.agents.protocol import Session
from crmbench.core.episode import Episode, ToolResult
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, Task
from crmbench.domains.sales.domain import SALES

OPEN_DEAL = "Mossgate Tiles Ltd - Driver App"
WON_DEAL = "Mossgate Tiles Ltd - Yard Planner"
REP = "Ada Pell, sales representative"
MANAGER = "Vera Quint, sales manager"


class Office:
    """An org with two clients, and the agent at work in it."""

    def __init__(self, persona: str = REP) -> None:
        task = Task("office", "sales", "empty", (), Gold(()), persona=persona)
        self.episode = Episode(SALES, task, SqliteBackend(SALES.schema))
        self.agent = Heuristic()
        self.session = Session(self.episode.view, self._call, lambda _usage: None)

    def _call(self, name: Any, arguments: Any) -> ToolResult:
        record = self.episode.execute(name, arguments)
        return ToolResult(record.ok, record.result if record.ok else record.error)

    def do(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self._call(tool, arguments)
        assert result.ok, result.value
        assert isinstance(result.value, dict)
        return result.value

    def say(self, words: str) -> str:
        return asyncio.run(self.agent.turn(self.session, words))

    def all(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        return list(self.do(f"{kind}_search", limit=500, **fields)["records"])

    def deal(self, name: str) -> dict[str, Any]:
        return self.all("opportunity", name=name)[0]


def furnish(office: Office) -> Office:
    """Two clients; the first with a contact, an open deal with a quote, and a won deal."""
    acme = office.do(
        "create_new_client",
        name="Mossgate Tiles Ltd",
        email="info@mossgatetiles.example",
        status="Active",
        owner="Ada Pell",
        phone="+44 20 555 0100",
        industry="Ceramics",
    )["client_id"]
    office.do(
        "create_new_client",
        name="Fallow Foods",
        email="hello@fallowfoods.example",
        status="Inactive",
        owner="Ben Orr",
        industry="Groceries",
    )
    office.do(
        "create_new_contact",
        first_name="Tess",
        last_name="Hobart",
        client_id=acme,
        title="Head of Procurement",
        email="tess.hobart@mossgatetiles.example",
        phone="+44 20 555 0111",
    )
    deal = office.do(
        "create_new_opportunity",
        name="Mossgate Tiles Ltd - Driver App",
        client_id=acme,
        amount=50000,
        stage="Qualification",
        probability=25,
        owner="Ada Pell",
        close_date="2030-06-30",
    )["opportunity_id"]
    office.do(
        "create_quote",
        opportunity_id=deal,
        amount=48000,
        status="Draft",
        version="v1",
        name="Mossgate Tiles Ltd - Driver App v1",
        valid_until="2030-01-31",
    )
    office.do(
        "create_new_opportunity",
        name="Mossgate Tiles Ltd - Yard Planner",
        client_id=acme,
        amount=20000,
        stage="Closed-Won",
        probability=99,
        owner="Ben Orr",
    )
    return office
