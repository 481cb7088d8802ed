"""crmbench from Python, as the docs show it."""

from __future__ import annotations

from pathlib import Path

import pytest

import crmbench
from crmbench import SalesCRM, load, run
from crmbench.errors import InputError, ToolError


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_the_crm_can_be_used_directly(backend: str) -> None:
    with SalesCRM(backend) as crm:
        client = crm.create_new_client(name="Acme Inc.", email="ops@acme.example", status="Active")
        deal = crm.create_new_opportunity(
            name="Acme - Renewal", client_id=client.client_id, amount=125_000.0, stage="Negotiation"
        )
        quote = crm.create_quote(
            opportunity_id=deal.opportunity_id, amount=120_000.0, status="Draft"
        )
        assert crm.quote_search(opportunity_id=deal.opportunity_id).records[0].amount == 120_000.0
        before = crm.digest()
        with pytest.raises(ToolError, match="Client already exists with email"):
            crm.create_new_client(name="Other", email="OPS@acme.example", status="Active")
        with pytest.raises(ToolError, match="must not exceed 10,000,000"):
            crm.modify_quote(quote_id=quote.quote_id, amount=10**9)
        assert crm.digest() == before
        assert crm.snapshot()["Quote"][quote.quote_id]["status"] == "Draft"
        with pytest.raises(AttributeError, match="no tool 'make_coffee'"):
            crm.make_coffee()
        with pytest.raises(AttributeError, match="no field 'colour'"):
            _ = client.colour
        assert "client_search" in dir(crm)


def test_any_domain_is_a_crm_and_a_sandbox() -> None:
    with crmbench.CRM("service") as crm:
        assert "issue_soql_query" in dir(crm)
        assert crm.issue_soql_query(query="SELECT COUNT() FROM Case").totalSize > 0
        with pytest.raises(ToolError):
            crm.issue_soql_query(query="SELECT")
    with crmbench.Sandbox.open("sales", tools=None, seed="s") as sandbox:
        assert sandbox.call("client_search", {}).result["total_count"] == 0
    with pytest.raises(InputError, match="no domain 'marketing'"):
        crmbench.Sandbox.open("marketing")


def test_the_same_calls_give_the_same_records() -> None:
    digests = set()
    for _ in range(2):
        with SalesCRM() as crm:
            crm.create_new_client(name="A", email="a@x.example", status="Active")
            digests.add(crm.digest())
    assert len(digests) == 1


class MyAgent:
    async def turn(self, session: object, utterance: str) -> str:
        return f"You said: {utterance}"


def test_a_run_from_a_class_over_chosen_tasks(tmp_path: Path) -> None:
    tasks = load("demo")[:3]
    result = run(tasks, MyAgent, trials=2, out=tmp_path / "run")
    assert len(result) == 6
    assert result.success == 0.0
    assert {episode.trace.turns[0].reply[:9] for episode in result} == {"You said:"}
    assert (tmp_path / "run" / "episodes.jsonl").exists()
    assert run("demo", "oracle").success == 1.0


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(InputError):
        load("nowhere.jsonl")
    with pytest.raises(InputError):
        run("demo", "nobody")
    with pytest.raises(AttributeError):
        _ = crmbench.nothing
