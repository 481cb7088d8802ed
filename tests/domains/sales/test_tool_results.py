"""The sales tools one by one: what each returns, what it leaves alone, what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crmbench.core.episode import Episode
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.domains.sales.domain import SALES
from crmbench.domains.sales.rules import field_names
from crmbench.domains.sales.tools.generic import field_params, kind_for

TASK = Task("tools", "sales", "empty", (Turn(1, "Hi"),), Gold((GoldTurn(),)))


class Crm:
    """Calls tools in an org of two clients, three deals and three quotes."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.clients = [
            self("create_new_client", name=name, email=f"{name}@x.example", status=status)[
                "client_id"
            ]
            for name, status in (("Oak", "Active"), ("Elm", "Prospect"))
        ]
        self.deals = [
            self("create_new_opportunity", name=name, client_id=self.clients[owner], amount=amount,
                 stage=stage)["opportunity_id"]
            for name, owner, amount, stage in (
                ("One", 0, 10.1, "Proposal"),
                ("Two", 0, 20.2, "Closed-Won"),
                ("Three", 1, 40.4, "Proposal"),
            )
        ]  # fmt: skip
        self.quotes = [
            self("create_quote", opportunity_id=self.deals[deal], amount=amount, status="Draft",
                 version=f"v{n}", quote_prefix=prefix)["quote_id"]
            for n, (deal, amount, prefix) in enumerate(
                ((0, 0.1, "B-"), (0, 0.2, "A-"), (2, 0.4, "B-")), start=1
            )
        ]  # fmt: skip

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        record = self.episode.execute(tool, arguments)
        assert record.ok, record.error
        return record.result

    def error(self, tool: str, /, **arguments: Any) -> str:
        before = self.episode.database.digest()
        record = self.episode.execute(tool, arguments)
        assert not record.ok
        assert self.episode.database.digest() == before
        return str(record.error)


@pytest.fixture
def crm() -> Iterator[Crm]:
    with Episode(SALES, TASK, SqliteBackend(SALES.schema)) as episode:
        yield Crm(episode)


def test_counts_are_of_each_kind(crm: Crm) -> None:
    key = crm.deals[0]
    crm("add_note", entity_type="Opportunity", entity_id=key, content="Hi")
    crm("create_contract", client_id=crm.clients[0])
    assert crm("summarize_counts") == {
        "clients": 2,
        "contacts": 0,
        "opportunities": 3,
        "quotes": 3,
        "contracts": 1,
        "documents": 0,
        "notes": 1,
        "companies": 0,
    }


def test_a_list_is_paged_oldest_first(crm: Crm) -> None:
    page = crm("list_opportunities", limit=2, offset=1)
    assert page["total_count"] == 3
    assert [deal["name"] for deal in page["records"]] == ["Two", "Three"]
    assert crm("list_contacts")["records"] == []


def test_a_search_takes_criteria_and_fields_together_and_a_field_goes_first(crm: Crm) -> None:
    both = crm("opportunity_search", criteria={"client_id": crm.clients[0]}, stage="Proposal")
    assert [deal["name"] for deal in both["records"]] == ["One"]
    assert crm("opportunity_search", criteria={"name": "One"}, name="Two")["records"][0][
        "opportunity_id"
    ] == crm.deals[1]  # fmt: skip


def test_a_summary_covers_what_is_asked_for_alone(crm: Crm) -> None:
    assert crm("summarize_opportunities", criteria={"stage": "Proposal"}) == {
        "total_count": 2,
        "total_amount": 50.5,
        "by_stage": {"Proposal": {"count": 2, "amount": 50.5}},
        "by_owner": {"(none)": {"count": 2, "amount": 50.5}},
    }
    assert list(crm("summarize_opportunities")["by_stage"]) == ["Closed-Won", "Proposal"]


def test_quotes_are_compared_in_the_order_asked_for(crm: Crm) -> None:
    ids = [crm.quotes[1], crm.quotes[0]]
    assert [q["quote_id"] for q in crm("compare_quotes", quote_ids=ids)["quotes"]] == ids
    compared = crm("compare_quote_details", quote_ids=ids)
    assert compared["amounts"] == {ids[0]: 0.2, ids[1]: 0.1}
    assert compared["total_amount"] == 0.3, "to the cent"
    assert crm("quote_details", quote_id=ids[0])["version"] == "v2"


def test_prefixes_are_sorted_and_counted(crm: Crm) -> None:
    crm("create_quote", opportunity_id=crm.deals[0], amount=1, status="Draft")
    assert crm("quote_prefixes") == {"prefixes": ["A-", "B-"], "counts": {"A-": 1, "B-": 2}}


def test_canceling_and_deleting_touch_the_one_quote(crm: Crm) -> None:
    assert crm("cancel_quote", quote_id=crm.quotes[0])["status"] == "Canceled"
    assert crm("delete_quote", quote_id=crm.quotes[1]) == {
        "deleted": True,
        "quote_id": crm.quotes[1],
    }
    left = crm("list_quotes")["records"]
    assert [(q["quote_id"], q["status"]) for q in left] == [
        (crm.quotes[0], "Canceled"),
        (crm.quotes[2], "Draft"),
    ]
    assert "Quote not found" in crm.error("cancel_quote", quote_id=crm.quotes[1])
    assert "at least one quote" in crm.error("compare_quotes", quote_ids=[])


def test_a_deal_goes_with_what_hangs_on_it_and_its_contract_stays(crm: Crm) -> None:
    key = crm.deals[0]
    contract = crm("create_contract", client_id=crm.clients[0], opportunity_id=key)["contract_id"]
    crm("upload_document", entity_type="Opportunity", entity_id=key, file_name="a.pdf")
    crm("add_note", entity_type="Opportunity", entity_id=crm.deals[2], content="Another's")
    gone = crm("delete_opportunity", opportunity_id=key)
    # The deal, two quotes, a document.
    assert gone == {"deleted": True, "opportunity_id": key, "records_deleted": 4}
    (kept,) = crm("contract_search", contract_id=contract)["records"]
    assert kept["opportunity_id"] is None
    assert crm("summarize_counts")["notes"] == 1


def test_a_copy_has_all_but_its_name_and_id_and_none_of_the_quotes(crm: Crm) -> None:
    original = crm("opportunity_details", opportunity_id=crm.deals[1])
    copy = crm("clone_opportunity", opportunity_id=crm.deals[1])
    changed = {name for name in original if original[name] != copy[name]}
    assert changed == {"opportunity_id", "name", "created_at"}
    assert copy["name"] == "Two (Clone)"
    assert "seq" not in copy
    crm("clone_opportunity", opportunity_id=crm.deals[0])
    assert crm("summarize_counts")["quotes"] == 3


def test_the_whole_view_of_a_deal_holds_its_own_records(crm: Crm) -> None:
    seen = crm("view_opportunity_details", opportunity_id=crm.deals[2])
    assert (seen["name"], seen["client"]["name"]) == ("Three", "Elm")
    assert [quote["quote_id"] for quote in seen["quotes"]] == [crm.quotes[2]]
    assert seen["contacts"] == seen["contracts"] == seen["documents"] == seen["note_records"] == []


def test_a_field_that_there_is_not_is_named(crm: Crm) -> None:
    for tool in ("opportunity_search", "summarize_opportunities"):
        assert "Opportunity has no field named 'size'." in crm.error(tool, size=3)
    updates = crm.error("modify_client", client_id=crm.clients[0], updates={"size": 3})
    assert "Client has no field named 'size'." in updates


@pytest.mark.parametrize(
    ("entity", "field", "schema"),
    [
        ("Opportunity", "amount", {"type": "number"}),
        ("Opportunity", "probability", {"type": "integer"}),
        ("Opportunity", "name", {"type": "string"}),
        (
            "Quote",
            "status",
            {"type": "string", "enum": ["Draft", "Sent", "Approved", "Rejected", "Canceled"]},
        ),
    ],
)
def test_a_fields_schema_is_that_of_its_column(
    entity: str, field: str, schema: dict[str, Any]
) -> None:
    assert kind_for(entity, field).schema == schema


def test_required_fields_come_first_and_no_field_is_missing() -> None:
    params = field_params("Client", ("status", "name"))
    assert [p.name for p in params[:2]] == ["status", "name"]
    assert [p.name for p in params if p.required] == ["status", "name"]
    assert sorted(p.name for p in params) == sorted(field_names("Client"))


def test_only_tools_that_change_something_are_said_to_write() -> None:
    reading = ("search", "list_", "details", "summarize", "compare", "prefixes")
    for tool in SALES.toolbox.by_name.values():
        assert tool.writes is not any(word in tool.name for word in reading), tool.name
