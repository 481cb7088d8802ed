"""Each rule for a single field, with values that it takes and values that it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.core.trace import CallRecord
from crmbench.domains.sales import rules
from crmbench.domains.sales.domain import SALES
from crmbench.errors import ToolError

TAKEN = [
    ("Client", "name", "Acme", "Acme"),
    ("Client", "email", "A@b.example", "A@b.example"),
    ("Client", "status", "Prospect", "Prospect"),
    ("Client", "phone", None, None),
    ("Opportunity", "amount", 10_000_000, 10_000_000.0),
    ("Opportunity", "amount", 0.014, 0.01),
    ("Opportunity", "probability", 1.0, 1),
    ("Opportunity", "probability", 99, 99),
    ("Opportunity", "close_date", "2024-02-29", "2024-02-29"),
    ("Opportunity", "stage", "Closed-Lost", "Closed-Lost"),
    ("Document", "file_name", "a.b-c_d.PDF", "a.b-c_d.PDF"),
]
REFUSED = [
    ("Client", "name", "", "must not be blank"),
    ("Client", "name", "Acme ", "leading or trailing whitespace"),
    ("Client", "name", "a\x00b", "NUL character"),
    ("Client", "name", None, "must be text"),
    ("Client", "name", "x" * 32_001, "must not exceed 32,000 characters"),
    ("Client", "email", "a@b@c.example", "valid e-mail"),
    ("Client", "email", "a b@c.example", "valid e-mail"),
    ("Client", "email", "@c.example", "valid e-mail"),
    ("Client", "status", "prospect", "must be one of: Active, Prospect, Inactive"),
    ("Client", "colour", "red", "Client has no field named 'colour'"),
    ("Client", "seq", 1, "Client has no field named 'seq'"),
    ("Opportunity", "amount", True, "must be numeric"),
    ("Opportunity", "amount", float("inf"), "must be numeric"),
    ("Opportunity", "amount", -1, "greater than zero"),
    ("Opportunity", "amount", 10_000_000.01, "must not exceed 10,000,000"),
    ("Opportunity", "probability", 0, "between 1 and 99"),
    ("Opportunity", "probability", 100, "between 1 and 99"),
    ("Opportunity", "probability", 0.5, "whole-number percentage"),
    ("Opportunity", "close_date", "2025-02-29", "ISO-8601"),
    ("Opportunity", "close_date", "20250301", "ISO-8601"),
    ("Opportunity", "close_date", 20250301, "must be text"),
    ("Document", "file_name", "two words.pdf", "letters, numbers, dots"),
    ("Document", "file_name", "noending", "extension '' is not supported"),
    ("Document", "file_name", ".pdf", "extension '.pdf' is not supported"),
    ("Document", "file_name", "run.exe", "extension '.exe' is not supported"),
    ("Note", "entity_type", "note", "must be one of"),
]


@pytest.mark.parametrize(("entity", "name", "value", "stored"), TAKEN)
def test_a_value_is_stored_as_it_should_be(
    entity: str, name: str, value: object, stored: object
) -> None:
    assert rules.clean(entity, {name: value}) == {name: stored}


@pytest.mark.parametrize(("entity", "name", "value", "why"), REFUSED)
def test_a_value_is_refused_with_its_reason(
    entity: str, name: str, value: object, why: str
) -> None:
    with pytest.raises(ToolError) as refused:
        rules.clean(entity, {name: value})
    assert why in refused.value.text


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    client = {"name": "Acme", "email": "a@b.example", "status": "Active"}
    open_, won = (
        {"name": "Deal", "client_id": "c-1", "amount": 1000, "stage": stage}
        for stage in ("Proposal", "Closed-Won")
    )
    contract = {"client_id": "c-1", "status": "Active", "value": 10.0}
    seed: dict[str, dict[str, dict[str, Any]]] = {
        "Client": {"c-1": client, "c-2": {**client, "email": "c@d.example"}},
        "Opportunity": {"open": open_, "won": won},
        "Contract": {"k-1": {**contract, "start_date": "2025-05-01", "end_date": "2025-06-01"}},
    }
    with Sandbox.open(SALES, "empty", seed_data=seed) as made:
        yield made


def modify(sandbox: Sandbox, kind: str, key: str, updates: dict[str, Any]) -> CallRecord:
    return sandbox.call(f"modify_{kind}", {f"{kind}_id": key, "updates": updates})


@pytest.mark.parametrize(
    ("kind", "key", "updates", "why"),
    [
        ("client", "c-1", {"email": "C@D.example"}, "Client already exists with email"),
        ("client", "c-1", {"email": "A@B.example"}, None),
        ("client", "c-9", {"name": "New"}, "Client not found with ID 'c-9'"),
        ("opportunity", "won", {"amount": 5}, "Cannot modify closed opportunity fields ['amount']"),
        ("opportunity", "won", {"stage": "Proposal"}, "Cannot modify closed opportunity"),
        ("opportunity", "won", {"amount": 1000}, None),
        ("opportunity", "won", {"name": "Renamed"}, None),
        ("opportunity", "open", {"amount": 5}, None),
        ("opportunity", "open", {"close_date": "2020-01-01"}, "must be today or in the future"),
        ("opportunity", "open", {"client_id": "c-9"}, "Client not found with ID 'c-9'"),
    ],
)
def test_a_change_obeys_the_rules_that_need_other_rows(
    sandbox: Sandbox, kind: str, key: str, updates: dict[str, Any], why: str | None
) -> None:
    before = sandbox.digest()
    done = modify(sandbox, kind, key, updates)
    assert done.ok is (why is None), done.error
    if why is not None:
        assert why in (done.error or "")
        assert sandbox.digest() == before


def test_a_close_date_may_be_today(sandbox: Sandbox) -> None:
    assert modify(sandbox, "opportunity", "open", {"close_date": sandbox.today}).ok


@pytest.mark.parametrize(
    ("end", "fits"), [("2025-04-30", False), ("2025-05-01", True), ("2026-01-01", True)]
)
def test_a_contract_does_not_end_before_it_begins(sandbox: Sandbox, end: str, fits: bool) -> None:
    dates = {"start_date": "2025-05-01", "end_date": end}
    fields = {"client_id": "c-1", "opportunity_id": "won", "value": 1.0, "status": "Active"}
    done = sandbox.call("create_contract", {**fields, **dates})
    assert done.ok is fits, done.error
    assert fits or "End date must not be before start date" in (done.error or "")
