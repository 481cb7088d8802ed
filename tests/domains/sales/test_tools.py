"""The sales CRM as its users know it: tools, arguments, rules and the texts of errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crmbench.core.episode import Episode
from crmbench.core.postgres import PostgresBackend
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.core.world import Backend
from crmbench.domains.sales.domain import SALES

TASK = Task("tools", "sales", "empty", (Turn(1, "Hi"),), Gold((GoldTurn(),)))
NAMED = """
create_new_client client_search modify_client create_new_contact contact_search modify_contact
create_new_opportunity opportunity_search modify_opportunity clone_opportunity delete_opportunity
view_opportunity_details opportunity_details summarize_opportunities create_quote quote_search
modify_quote cancel_quote delete_quote quote_details compare_quotes compare_quote_details
quote_prefixes create_contract contract_search company_search upload_document add_note list_clients
list_contacts list_opportunities list_quotes list_contracts list_documents list_notes
list_companies summarize_counts
"""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    made: Backend
    made = (
        SqliteBackend(SALES.schema) if request.param == "sqlite" else PostgresBackend(SALES.schema)
    )
    yield made
    made.close()


class Crm:
    """Calls tools and expects them to work, or to fail."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        record = self.episode.execute(tool, arguments)
        assert record.ok, record.error
        return record.result

    def refuses(self, tool: str, /, **arguments: Any) -> str:
        before = self.episode.database.digest()
        record = self.episode.execute(tool, arguments)
        assert not record.ok, record.result
        assert self.episode.database.digest() == before
        assert record.error
        return record.error


@pytest.fixture
def crm(backend: Backend) -> Iterator[Crm]:
    with Episode(SALES, TASK, backend) as episode:
        yield Crm(episode)


def client(crm: Crm, **fields: Any) -> str:
    made = crm("create_new_client", **{"name": "Acme", "email": "a@b.example", "status": "Active",
                                       **fields})  # fmt: skip
    return str(made["client_id"])


def deal(crm: Crm, client_id: str, **fields: Any) -> str:
    given = {"name": "Deal", "client_id": client_id, "amount": 1000, "stage": "Proposal", **fields}
    return str(crm("create_new_opportunity", **given)["opportunity_id"])


def test_every_tool_of_the_original_exists() -> None:
    assert set(NAMED.split()) <= SALES.toolbox.by_name.keys()


def test_schemas_are_what_model_apis_take() -> None:
    for schema in SALES.toolbox.schemas:
        assert schema["description"]
        assert schema["parameters"]["type"] == "object"
        assert schema["parameters"]["additionalProperties"] is False
    tools = {schema["name"]: schema for schema in SALES.toolbox.schemas}
    create = tools["create_new_opportunity"]["parameters"]
    assert create["required"] == ["name", "client_id", "amount", "stage"]
    assert "Closed-Won" in create["properties"]["stage"]["enum"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"stage": "proposal"}, "Stage must be one of: Prospecting, Qualification, Proposal"),
        ({"amount": "1000"}, "Amount must be numeric."),
        ({"amount": 0}, "Amount must be greater than zero."),
        ({"amount": 10_000_001}, "Amount must not exceed 10,000,000."),
        ({"amount": float("nan")}, "Amount must be numeric"),
        ({"probability": 100}, "Probability must be between 1 and 99."),
        ({"probability": 50.5}, "Probability must be expressed as a whole-number percentage."),
        ({"close_date": "2025-01-05"}, "Close date must be today or in the future."),
        ({"close_date": "05/01/2026"}, "Close date must be a valid ISO-8601 date (YYYY-MM-DD)."),
        ({"name": " Deal"}, "Name must not contain leading or trailing whitespace."),
        ({"name": "  "}, "Name must not be blank or whitespace."),
        ({"client_id": "nobody"}, "Client not found with ID 'nobody'."),
        ({"colour": "red"}, "Opportunity has no field named 'colour'."),
    ],
)
def test_opportunities_obey_their_rules(crm: Crm, fields: dict[str, Any], expected: str) -> None:
    owner = client(crm)
    given = {"name": "Deal", "client_id": owner, "amount": 1000, "stage": "Proposal", **fields}
    assert expected in crm.refuses("create_new_opportunity", **given)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "active"}, "Status must be one of: Active, Prospect, Inactive."),
        ({"email": "A@B.EXAMPLE"}, "Client already exists with email 'A@B.EXAMPLE'."),
        ({"email": "nowhere"}, "Email must be a valid e-mail address."),
        ({"name": None}, "misses the required argument 'name'"),
        ({"name": 7}, "Name must be text."),
        ({"name": "x" * 1_000_000}, "Name must not exceed 32,000 characters"),
        ({"name": "a\x00b"}, "Name must not contain a NUL character."),
        ({"name": "\ud800"}, "Name must not contain unpaired surrogates."),
    ],
)
def test_clients_obey_their_rules(crm: Crm, fields: dict[str, Any], expected: str) -> None:
    client(crm)
    given = {"name": "Other", "email": "o@b.example", "status": "Active", **fields}
    assert expected in crm.refuses("create_new_client", **given)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run.exe", "Document file extension '.exe' is not supported (allowed: pdf, doc, docx"),
        ("my plan.pdf", "may only include letters, numbers, dots, underscores, and hyphens."),
        ("plan", "is not supported"),
        (".pdf", "is not supported"),
    ],
)
def test_documents_have_known_names(crm: Crm, name: str, expected: str) -> None:
    owner = client(crm)
    error = crm.refuses("upload_document", entity_type="Client", entity_id=owner, file_name=name)
    assert expected in error
    made = crm("upload_document", entity_type="Client", entity_id=owner, file_name="Plan-1.PDF")
    assert made["uploaded_at"] == "2025-01-06T09:00:01Z"


def test_a_closed_deal_is_locked_but_for_what_it_may_still_get(crm: Crm) -> None:
    key = deal(crm, client(crm), stage="Closed-Won")
    error = crm.refuses("modify_opportunity", opportunity_id=key, updates={"amount": 5})
    assert error == (
        "Cannot modify closed opportunity fields ['amount'] while stage is 'Closed-Won'."
    )
    changed = crm("modify_opportunity", opportunity_id=key, owner="Ana", stage="Closed-Won")
    assert changed["owner"] == "Ana"


def test_modify_takes_fields_flat_nested_or_both(crm: Crm) -> None:
    key = client(crm)
    crm("modify_client", client_id=key, industry="Food")
    crm("modify_client", client_id=key, updates={"phone": "1"}, owner="Ana")
    (found,) = crm("client_search", client_id=key)["records"]
    assert (found["industry"], found["phone"], found["owner"]) == ("Food", "1", "Ana")
    twice = crm.refuses("modify_client", client_id=key, updates={"owner": "A"}, owner="B")
    assert "given twice" in twice
    assert crm("modify_client", client_id=key, updates={}) == found
    assert crm("modify_client", client_id=key, updates={"phone": None})["phone"] is None


def test_search_takes_any_field_nested_or_flat_and_pages(crm: Crm) -> None:
    for number in range(5):
        client(crm, name=f"Größe {number}", email=f"g{number}@x.example", industry="Food")
    client(crm, name="Acme", email="acme@x.example", industry="Seafood")
    assert crm("client_search", industry="food")["total_count"] == 6
    assert crm("client_search", criteria={"name": "GRÖSSE"})["total_count"] == 0
    assert crm("client_search", criteria={"name": "GRÖßE"}, email="G1@")["total_count"] == 1
    page = crm("client_search", industry="FOOD", limit=2, offset=3)
    assert [r["name"] for r in page["records"]] == ["Größe 3", "Größe 4"]
    assert page["total_count"] == 6
    assert crm("client_search", industry="food", offset=50)["total_count"] == 6
    assert "no field named" in crm.refuses("client_search", criteria={"colour": "red"})
    assert "Limit must be" in crm.refuses("client_search", limit=0)
    assert crm("client_search", name="%")["total_count"] == 0


def test_numbers_match_exactly_and_text_must_be_text(crm: Crm) -> None:
    key = deal(crm, client(crm), amount=1500.5, probability=40)
    assert crm("opportunity_search", amount=1500.5)["total_count"] == 1
    assert crm("opportunity_search", probability=40.0, stage="PROP")["total_count"] == 1
    assert crm("opportunity_search", amount=1500)["total_count"] == 0
    assert "Amount must be numeric." in crm.refuses("opportunity_search", amount="1500.5")
    assert "Name must be text." in crm.refuses("opportunity_search", name=7)
    assert crm("opportunity_search", criteria={"owner": None})["total_count"] == 1
    assert crm("opportunity_details", opportunity_id=key)["amount"] == 1500.5


def test_clones_and_details_and_deletes(crm: Crm) -> None:
    owner = client(crm)
    key = deal(crm, owner)
    crm("create_quote", opportunity_id=key, amount=10, status="Draft", quote_prefix="Q-")
    crm("add_note", entity_type="Opportunity", entity_id=key, content="Hello")
    crm("create_new_contact", first_name="Jo", last_name="Li", client_id=owner)
    seen = crm("view_opportunity_details", opportunity_id=key)
    assert seen["client"]["name"] == "Acme"
    assert [len(seen[n]) for n in ("quotes", "contacts", "note_records", "documents")] == [
        1,
        1,
        1,
        0,
    ]
    clone = crm("clone_opportunity", opportunity_id=key)
    assert clone["name"] == "Deal (Clone)"
    assert clone["opportunity_id"] != key
    assert crm("quote_prefixes") == {"prefixes": ["Q-"], "counts": {"Q-": 1}}
    assert crm("delete_opportunity", opportunity_id=key)["records_deleted"] == 3
    assert crm("summarize_counts")["quotes"] == 0
    gone = crm.refuses("opportunity_details", opportunity_id=key)
    assert gone == f"Opportunity not found with ID '{key}'."


def test_summaries_and_comparisons_add_up(crm: Crm) -> None:
    owner = client(crm)
    one = deal(crm, owner, amount=100.1, owner="Ana")
    deal(crm, owner, amount=200.2, stage="Negotiation")
    assert crm("summarize_opportunities", client_id=owner) == {
        "total_count": 2,
        "total_amount": 300.3,
        "by_stage": {
            "Negotiation": {"count": 1, "amount": 200.2},
            "Proposal": {"count": 1, "amount": 100.1},
        },
        "by_owner": {
            "(none)": {"count": 1, "amount": 200.2},
            "Ana": {"count": 1, "amount": 100.1},
        },
    }
    ids = [
        crm("create_quote", opportunity_id=one, amount=a, status=s)["quote_id"]
        for a, s in ((10, "Draft"), (20.5, "Sent"))
    ]
    compared = crm("compare_quote_details", quote_ids=ids)
    assert compared["total_amount"] == 30.5
    assert compared["statuses"] == dict(zip(ids, ("Draft", "Sent"), strict=True))
    assert crm("cancel_quote", quote_id=ids[0])["status"] == "Canceled"
    crm("delete_quote", quote_id=ids[1])
    assert "Quote not found" in crm.refuses("compare_quotes", quote_ids=ids)


NONSENSE: list[tuple[Any, Any]] = [
    ("no_such_tool", {}),
    (None, {}),
    (7, {"a": 1}),
    ("client_serch", {}),
    ("client_search", None),
    ("client_search", [1, 2]),
    ("client_search", "name=Acme"),
    ("client_search", {"name": '\'; DROP TABLE "Client"; --', "limit": "all"}),
    ("client_search", {"criteria": "name"}),
    ("client_search", {7: "x"}),
    ("client_search", {"limit": 10**400}),
    ("client_search", {"limit": True}),
    ("compare_quotes", {"quote_ids": "q"}),
    ("compare_quotes", {"quote_ids": []}),
    ("compare_quotes", {"quote_ids": [None]}),
    ("modify_client", {"client_id": {"a": 1}, "updates": {}}),
    ("add_note", {"entity_type": "Company", "entity_id": "x", "content": "y"}),
    ("opportunity_search", {"amount": float("inf")}),
]


@pytest.mark.parametrize(("name", "arguments"), NONSENSE)
def test_nonsense_is_refused_in_words_and_changes_nothing(
    crm: Crm, name: Any, arguments: Any
) -> None:
    before = crm.episode.database.digest()
    record = crm.episode.execute(name, arguments)
    assert not record.ok
    assert record.error
    assert record.error_kind
    assert crm.episode.database.digest() == before


def test_what_is_nested_too_deeply_is_refused(crm: Crm) -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"a": deep}
    key = client(crm)
    record = crm.episode.execute("modify_client", {"client_id": key, "updates": deep})
    assert not record.ok
    assert "nested deeper" in (record.error or "")
    crm.episode.say()
    crm.episode.call("modify_client", {"client_id": key, "updates": deep})
    assert crm.episode.finish().to_json()


def test_sql_in_text_is_only_text(crm: Crm) -> None:
    name = 'Robert\'); DROP TABLE "Client";--'
    client(crm, name=name)
    assert crm("client_search", name="DROP TABLE")["records"][0]["name"] == name
