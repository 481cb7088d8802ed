"""The heuristic agent's reading of names, and how it tells one record from another."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from crmbench.agents.baselines.heuristic.fallback import search_anything
from crmbench.agents.baselines.heuristic.filters import narrowed, take_amount
from crmbench.agents.baselines.heuristic.find import AskError, RecordFinder, RecordFocus
from crmbench.agents.baselines.heuristic.org import OrgReader, full_name, is_open, latest
from crmbench.agents.baselines.heuristic.parse import ParsedUtterance, parse
from crmbench.agents.protocol import Session
from crmbench.core.episode import ToolResult
from crmbench.core.task import TaskView

Record = dict[str, Any]
TODAY = date(2030, 1, 16)


def client(key: str, name: str) -> Record:
    return {"client_id": key, "name": name, "owner": "Ada Pell"}


def deal(key: str, client_id: str, name: str, amount: float, stage: str, owner: str) -> Record:
    return {
        "opportunity_id": key,
        "client_id": client_id,
        "name": name,
        "amount": amount,
        "stage": stage,
        "owner": owner,
    }


def quote(key: str, version: str, status: str, amount: float) -> Record:
    return {
        "quote_id": key,
        "opportunity_id": "d1",
        "version": version,
        "status": status,
        "amount": amount,
    }


def contact(key: str, client_id: str, first: str, last: str, title: str) -> Record:
    return {
        "contact_id": key,
        "client_id": client_id,
        "first_name": first,
        "last_name": last,
        "title": title,
    }


RECORDS: dict[str, list[Record]] = {
    "client": [client("c1", "Oak Tiles Ltd"), client("c2", "Elm"), client("c3", "Fallow Foods")],
    "opportunity": [
        deal("d1", "c1", "Oak Tiles Ltd - Driver App", 50_000, "Proposal", "Ada Pell"),
        deal("d2", "c1", "Oak Tiles Ltd - Yard Planner", 90_000, "Closed-Won", "Ben Orr"),
        deal("d3", "c1", "Oak Tiles Ltd - Yard Planner Plus", 20_000, "Negotiation", "Ben Orr"),
        deal("d4", "c3", "Fallow Foods - Driver App", 70_000, "Prospecting", "Ada Pell"),
    ],
    "quote": [
        quote("q1", "v2", "Sent", 45_000),
        quote("q2", "v10", "Draft", 48_000),
        quote("q3", "v9", "Draft", 49_000),
    ],
    "contact": [
        contact("p1", "c1", "Tess", "Hobart", "Head of Procurement"),
        contact("p2", "c3", "Tess", "Hobart", "Plant Manager"),
        contact("p3", "c3", "Noor", "Bell", "Buyer"),
    ],
    "contract": [
        {"contract_id": "k1", "client_id": "c1", "opportunity_id": "d2", "status": "Active"},
        {"contract_id": "k2", "client_id": "c1", "opportunity_id": "d1", "status": "Expired"},
    ],
}


class Shelf:
    """Serves the records page by page, and counts the calls."""

    def __init__(self, records: dict[str, list[Record]]) -> None:
        self.records, self.calls = records, 0
        tools: tuple[dict[str, Any], ...] = tuple({"name": f"{kind}_search"} for kind in records)
        view = TaskView("sales", TODAY.isoformat(), "", tools)
        self.org = OrgReader(Session(view, self._call, lambda _usage: None))

    def _call(self, name: Any, arguments: Any) -> ToolResult:
        self.calls += 1
        kind = str(name).removesuffix("_search")
        start = arguments.get("offset", 0)
        page = self.records.get(kind, [])[start : start + arguments.get("limit", 0)]
        return ToolResult(True, {"records": page})


@pytest.fixture
def org() -> OrgReader:
    return Shelf(RECORDS).org


def heard(org: OrgReader, said: str) -> ParsedUtterance:
    return parse(said, org, TODAY)


def finder(org: OrgReader, said: str, **focus: str) -> RecordFinder:
    return RecordFinder(heard(org, said), org, RecordFocus(dict(focus)))


def ids(records: list[Record], kind: str) -> list[str]:
    return [str(record[f"{kind}_id"]) for record in records]


# --- the org ------------------------------------------------------------------------------------


def test_records_are_listed_once_until_something_is_written() -> None:
    shelf = Shelf({"client": [client(f"c{n}", f"Firm {n}") for n in range(501)]})
    assert len(shelf.org.all("client")) == 501
    assert shelf.calls == 2
    assert shelf.org.get("client", "c500") == client("c500", "Firm 500")
    assert shelf.org.get("client", "c501") is None
    assert shelf.calls == 2
    shelf.org.call("modify_client", {})
    shelf.org.all("client")
    assert shelf.calls == 5
    assert shelf.org.all("quote") == [], "a tool that is missing gives no records"
    assert shelf.calls == 5


def test_what_is_open_and_which_version_is_the_latest() -> None:
    assert [is_open(d) for d in RECORDS["opportunity"]] == [True, False, True, True]
    assert latest(RECORDS["quote"]) == RECORDS["quote"][1], "v10 comes after v9"
    assert latest([]) is None
    assert full_name({"last_name": "Bell"}) == "Bell"


# --- names --------------------------------------------------------------------------------------


def test_the_longest_name_is_found_and_its_parts_are_not(org: OrgReader) -> None:
    parsed = heard(org, "Move OAK TILES LTD - Yard Planner Plus to 80k")
    assert ids(parsed.deals, "opportunity") == ["d3"]
    assert parsed.clients == []
    assert parsed.products == []
    assert parsed.values.amounts == [80_000]
    assert "Yard" not in parsed.text


def test_a_client_is_found_without_its_legal_form_and_only_as_a_whole_word(org: OrgReader) -> None:
    assert ids(heard(org, "What about Oak Tiles?").clients, "client") == ["c1"]
    assert ids(heard(org, "What about Elm's deals?").clients, "client") == ["c2"]
    assert heard(org, "What about Elmwood?").clients == []
    assert heard(org, "What about Helm?").clients == []


def test_names_come_in_the_order_said(org: OrgReader) -> None:
    assert ids(heard(org, "Elm and Fallow Foods").clients, "client") == ["c2", "c3"]
    assert ids(heard(org, "Fallow Foods and Elm").clients, "client") == ["c3", "c2"]


def test_a_name_within_an_address_is_no_name(org: OrgReader) -> None:
    parsed = heard(org, "Send it to info@elm.example")
    assert parsed.clients == []
    assert parsed.values.emails == ["info@elm.example"]


def test_people_owners_and_products_are_found(org: OrgReader) -> None:
    parsed = heard(org, "Give Tess Hobart's Driver App deal to Ben Orr")
    assert ids(parsed.contacts, "contact") == ["p1", "p2"]
    assert (parsed.owners, parsed.products) == (["Ben Orr"], ["Driver App"])
    assert parsed.says(r"^give\b")
    assert not parsed.says("Hobart")


# --- filters ------------------------------------------------------------------------------------

POOL = RECORDS["opportunity"][:3]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("the deal", ["d1", "d2", "d3"]),
        ("the Yard Planner deal", ["d2"]),
        ("the Planner one", ["d2", "d3"]),
        ("the open deals", ["d1", "d3"]),
        ("the biggest deal", ["d2"]),
        ("the biggest open deal", ["d1"]),
        ("the smallest deal", ["d3"]),
        ("the 20k deal", ["d3"]),
        # What fits none is left aside.
        ("the 33k deal", ["d1", "d2", "d3"]),
        ("the Bridge deal", ["d1", "d2", "d3"]),
    ],
)
def test_deals_are_told_apart(org: OrgReader, said: str, left: list[str]) -> None:
    assert ids(narrowed(POOL, heard(org, said)), "opportunity") == left


def test_strictly_a_description_that_fits_none_leaves_none(org: OrgReader) -> None:
    won = [RECORDS["opportunity"][1]]
    assert narrowed(won, heard(org, "the open deal")) == won
    assert narrowed(won, heard(org, "the open deal"), strict=True) == []


def test_an_amount_that_the_deal_has_is_no_new_value(org: OrgReader) -> None:
    parsed = heard(org, "the 50k deal goes to 60k")
    take_amount(parsed, POOL)
    assert parsed.values.amounts == [60_000]


# --- which record is meant ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "focus", "key"),
    [
        ("Fallow Foods", {}, "c3"),
        ("the Oak Tiles Ltd - Driver App deal", {}, "c1"),
        ("Noor Bell's employer", {}, "c3"),
        ("Tess Hobart's employer", {"client": "c1"}, "c1"),
        ("that client", {"client": "c2"}, "c2"),
    ],
)
def test_the_client_meant(org: OrgReader, said: str, focus: dict[str, str], key: str) -> None:
    found = finder(org, said, **focus).client()
    assert found is not None
    assert found["client_id"] == key


@pytest.mark.parametrize(
    ("said", "focus", "key"),
    [
        ("the deal", {"opportunity": "d4"}, "d4"),
        ("the Driver App deal at Fallow Foods", {"opportunity": "d1"}, "d4"),
        ("the Driver App deal", {"client": "c1"}, "d1"),
        ("the Driver App deal", {"client": "c3"}, "d4"),
        ("the biggest deal at Oak Tiles", {}, "d2"),
        ("Set it for Oak Tiles", {"opportunity": "d3"}, "d3"),
        ("Fallow Foods", {"opportunity": "d3"}, "d4"),
    ],
)
def test_the_deal_meant(org: OrgReader, said: str, focus: dict[str, str], key: str) -> None:
    looking = finder(org, said, **focus)
    found = looking.deal()
    assert found is not None
    assert found["opportunity_id"] == key


def test_what_fits_several_is_asked_back(org: OrgReader) -> None:
    with pytest.raises(AskError, match="several of that name"):
        finder(org, "Tess Hobart's employer").client()
    with pytest.raises(AskError, match=r"Driver App: \$50,000, Proposal(.|\n)*Yard Planner Plus"):
        finder(org, "the deal at Oak Tiles").deal()
    with pytest.raises(AskError, match="Which Tess Hobart"):
        finder(org, "Tess Hobart's number").contact()
    with pytest.raises(AskError, match=r"v2 \(Sent\), v10 \(Draft\), v9 \(Draft\)"):
        finder(org, "the quote").quote(POOL[0])


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("quote v9", "q3"),
        ("the Sent quote", "q1"),
        ("the draft quote", "q2"),
        ("the latest quote", "q2"),
        ("the 45k quote", "q1"),
    ],
)
def test_the_quote_meant(org: OrgReader, said: str, key: str) -> None:
    looking = finder(org, said)
    found = looking.quote(POOL[0])
    assert found is not None
    assert found["quote_id"] == key
    assert looking.focus.ids == {"quote": key, "opportunity": "d1"}
    assert looking.focus.last == "quote"
    assert looking.parsed.values.amounts == []


def test_the_quote_spoken_of_is_kept_within_its_deal(org: OrgReader) -> None:
    found = finder(org, "the quote", quote="q3").quote(POOL[0])
    assert found == RECORDS["quote"][2]
    assert finder(org, "the quote", quote="q3").quote(POOL[1]) is None


def test_the_contract_meant_is_the_running_one_or_the_deals(org: OrgReader) -> None:
    assert finder(org, "Oak Tiles' contract").contract() == RECORDS["contract"][0]
    linked = finder(org, "the contract of the Oak Tiles Ltd - Driver App deal").contract()
    assert linked == RECORDS["contract"][1]
    spoken = finder(org, "that contract", client="c1", contract="k2").contract()
    assert spoken == RECORDS["contract"][1]
    assert finder(org, "Fallow Foods' contract").contract() is None


def test_a_person_is_meant_by_name_and_client_or_by_title(org: OrgReader) -> None:
    assert finder(org, "Tess Hobart of Fallow Foods").contact() == RECORDS["contact"][1]
    assert finder(org, "Tess Hobart", client="c1").contact() == RECORDS["contact"][0]
    assert finder(org, "the buyer at Fallow Foods").contact() == RECORDS["contact"][2]
    assert finder(org, "their buyer", contact="p2").contact() == RECORDS["contact"][1]


# --- elsewhere ----------------------------------------------------------------------------------


def _tool(name: str, required: tuple[str, ...], kind: str = "string") -> dict[str, Any]:
    properties = {argument: {"type": kind} for argument in required}
    return {"name": name, "parameters": {"required": required, "properties": properties}}


def test_elsewhere_the_first_tool_that_searches_a_text_is_used() -> None:
    tools = (
        _tool("delete", ("text",)),
        _tool("search_two", ("a", "b")),
        _tool("search_number", ("n",), "integer"),
        _tool("search_broken", ("q",)),
        _tool("search", ("words",)),
    )
    calls: list[tuple[Any, Any]] = []

    def call(name: Any, arguments: Any) -> ToolResult:
        calls.append((name, arguments))
        return ToolResult(name == "search", "x" * 700)

    view = TaskView("other", "2030-01-02", "", tools)
    reply = search_anything(Session(view, call, lambda _usage: None), "w" * 300)
    assert calls == [("search_broken", {"q": "w" * 200}), ("search", {"words": "w" * 200})]
    assert reply == "This is what I found: " + "x" * 600
