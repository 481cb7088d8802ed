"""What the CRM enforces, at the border of each rule and one step beside it, on both databases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.core.postgres import PostgresBackend
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.world import Backend
from crmbench.domains.sales.domain import SALES

CASES = [
    orjson.loads(line)
    for line in (Path(__file__).parent / "rule_borders.jsonl").read_bytes().splitlines()
]
"""Rule, tool and arguments, and what is said where the call is refused."""
DEAL = {"name": "Deal", "client_id": "c-1", "amount": 1000.0, "probability": 60}
SEED: dict[str, dict[str, dict[str, Any]]] = {
    "Client": {
        "c-1": {"name": "Acme", "email": "a@b.example", "status": "Active"},
        "c-2": {"name": "Bolt", "email": "c@d.example", "status": "Active"},
    },
    "Opportunity": {
        "open": {**DEAL, "stage": "Proposal", "close_date": "2025-03-01"},
        "overdue": {**DEAL, "stage": "Proposal", "close_date": "2024-12-31"},
        "won": {**DEAL, "stage": "Closed-Won", "close_date": "2024-12-31"},
        "lost": {**DEAL, "stage": "Closed-Lost", "close_date": "2024-12-31"},
    },
}
"""As on 2025-01-06."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    kind = SqliteBackend if request.param == "sqlite" else PostgresBackend
    made: Backend = kind(SALES.schema)
    yield made
    made.close()


def written_out(value: Any) -> Any:
    """The value, with long texts as the table has them: ``{"repeat": [text, times]}``."""
    if isinstance(value, dict) and value.keys() == {"repeat"}:
        text, times = value["repeat"]
        return text * times
    if isinstance(value, dict):
        return {name: written_out(item) for name, item in value.items()}
    return value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["tool"])
def test_a_rule_holds_to_its_border(backend: Backend, case: dict[str, Any]) -> None:
    with Sandbox(SALES, SALES.world("empty"), backend, seed_data=SEED) as sandbox:
        record = sandbox.call(case["tool"], written_out(case["arguments"]))
        says = case.get("says")
        assert record.ok is (says is None), f"{case['rule']}: {record.error}"
        assert says is None or says in str(record.error)
        writes = SALES.toolbox.get(case["tool"]).writes
        assert bool(record.changes) is (record.ok and writes)


def test_every_rule_is_seen_to_allow_or_to_refuse_and_most_both() -> None:
    seen = defaultdict(set)
    for case in CASES:
        seen[case["rule"]].add("says" in case)
    both = [rule for rule, ends in seen.items() if len(ends) == 2]
    assert len(both) >= 10
