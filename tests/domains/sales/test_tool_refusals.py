"""What each sales tool refuses, in which words, and that a refused call changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.domains.sales.domain import SALES

REFUSALS = [
    orjson.loads(line)
    for line in (Path(__file__).parent / "tool_refusals.jsonl").read_bytes().splitlines()
]
"""Tool, arguments, kind and beginning of the error; ``$deal`` and the like stand for ids."""


class Org:
    """Two clients, an open and a won deal, and a quote."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.ids: dict[str, str] = {}
        for name, key in (("Oak", "$client"), ("Elm", "$other")):
            fields = {"name": name, "email": f"{name}@x.example", "status": "Active"}
            self._make(key, "create_new_client", "client_id", **fields)
        for stage, key in (("Proposal", "$deal"), ("Closed-Won", "$won")):
            fields = {"name": key, "client_id": self.ids["$client"], "stage": stage}
            self._make(key, "create_new_opportunity", "opportunity_id", amount=10.5, **fields)
        deal = self.ids["$deal"]
        self._make(
            "$quote", "create_quote", "quote_id", opportunity_id=deal, amount=5, status="Draft"
        )

    def _make(self, key: str, tool: str, id_name: str, **fields: Any) -> None:
        record = self.sandbox.call(tool, fields)
        assert record.ok, record.error
        self.ids[key] = record.result[id_name]

    def with_ids(self, value: Any) -> Any:
        """The value with the ids of its placeholders."""
        if isinstance(value, dict):
            return {name: self.with_ids(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.with_ids(item) for item in value]
        return self.ids.get(value, value) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def org() -> Iterator[Org]:
    with Sandbox.open(SALES, "empty") as sandbox:
        yield Org(sandbox)


@pytest.mark.parametrize(
    "case", REFUSALS, ids=[f"{case['tool']}-{n}" for n, case in enumerate(REFUSALS, 1)]
)
def test_a_tool_refuses_in_words_and_changes_nothing(case: dict[str, Any], org: Org) -> None:
    before = org.sandbox.digest()
    record = org.sandbox.call(case["tool"], org.with_ids(case["arguments"]))
    expected = case["error"]
    for key, value in org.ids.items():
        expected = expected.replace(key, value)
    assert (record.ok, record.error_kind) == (False, case["kind"])
    assert str(record.error).startswith(expected)
    assert record.changes == ()
    assert org.sandbox.digest() == before


def test_every_tool_has_a_refusal() -> None:
    assert {case["tool"] for case in REFUSALS} == set(SALES.toolbox.by_name)
