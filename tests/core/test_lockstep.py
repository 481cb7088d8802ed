"""Random calls against both databases in lockstep: same results, same errors, same state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from crmbench.core.episode import Episode
from crmbench.core.journal import diff, fold
from crmbench.core.postgres import PostgresBackend
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.core.world import Backend
from crmbench.domains.sales.domain import SALES

TASK = Task("lockstep", "sales", "empty", (Turn(1, "Hi"),), Gold((GoldTurn(),)))
TOOLS = sorted(SALES.toolbox.by_name)
ENTITY_OF_ID = {
    "client_id": "Client",
    "contact_id": "Contact",
    "opportunity_id": "Opportunity",
    "quote_id": "Quote",
    "contract_id": "Contract",
    "company_id": "Company",
    "document_id": "Document",
    "note_id": "Note",
}
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "win": ("modify_opportunity", {"stage": "Closed-Won"}),
    "reopen": ("modify_opportunity", {"stage": "Proposal"}),
    "reprice": ("modify_opportunity", {"amount": 1234.567, "probability": 55.0}),
    "past": ("modify_opportunity", {"close_date": "2020-01-01"}),
    "later": ("modify_opportunity", {"close_date": "2031-12-31"}),
    "rename": ("modify_client", {"name": "Größe & Co", "email": "NEW@x.example"}),
    "contact": ("modify_contact", {"title": "CFO"}),
    "contract": ("modify_contract", {"start_date": "2025-02-01", "end_date": "2025-01-01"}),
    "sign": ("modify_contract", {"status": "Active"}),
    "send": ("modify_quote", {"status": "Sent"}),
    "nothing": ("modify_quote", {}),
    "look": ("quote_details", {}),
    "view": ("view_opportunity_details", {}),
    "attach": ("upload_document", {"entity_type": "Opportunity", "file_name": "plan.pdf"}),
    "wrong": ("upload_document", {"entity_type": "Quote", "file_name": "plan.pdf"}),
    "drop": ("delete_opportunity", {}),
}
TEXTS = st.one_of(
    st.sampled_from(
        [
            "Acme",
            "acme ",
            "",
            " ",
            "Müller & Söhne",
            "MÜLLER",
            "a@b.example",
            "A@B.example",
            "2026-05-01",
            "2025-13-01",
            "Active",
            "Proposal",
            "Closed-Won",
            "Draft",
            "Opportunity",
            "Client",
            "plan.pdf",
            "run.exe",
            '\'; DROP TABLE "Client"; --',
            "100%_\\",
            "a\x00b",
            "\ud800",
            "İstanbul ŞİŞLİ ßß",
            "null",
        ]
    ),
    st.text(max_size=12),
)
NUMBERS = st.one_of(
    st.integers(-5, 120),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0, 1, 50.5, 9_999_999.99, 10_000_000, 10_000_001, 10**400, True]),
)
VALUES: st.SearchStrategy[Any] = st.one_of(TEXTS, NUMBERS, st.none(), st.lists(TEXTS, max_size=3))


@pytest.fixture(scope="module")
def backends() -> Iterator[tuple[Backend, Backend]]:
    both = SqliteBackend(SALES.schema), PostgresBackend(SALES.schema)
    yield both
    for backend in both:
        backend.close()


class Lockstep(RuleBasedStateMachine):
    """Makes each call on both databases. `backends` is set by the test."""

    backends: tuple[Backend, Backend]

    def __init__(self) -> None:
        super().__init__()
        self.episodes = [Episode(SALES, TASK, backend) for backend in self.backends]
        for episode in self.episodes:
            episode.say()
        self.start = self.episodes[0].database.snapshot()
        self.ids: dict[str, list[str]] = {}

    @rule(data=st.data(), name=st.sampled_from(TOOLS))
    def call(self, data: st.DataObject, name: str) -> None:
        tool = SALES.toolbox.by_name[name]
        arguments = {}
        for param in tool.params:
            if param.required or data.draw(st.integers(0, 5)) == 0:
                arguments[param.name] = self._value(data, param.name, param.kind.schema)
        self._call_both(name, arguments)

    @rule(data=st.data(), amount=st.integers(1, 500_000))
    def create_a_deal(self, data: st.DataObject, amount: int) -> None:
        number = len(self.ids.get("client_id", []))
        client = self._call_both(
            "create_new_client",
            {"name": f"Client {number}", "email": f"c{number}@x.example", "status": "Active"},
        )
        if client is not None:
            stage = data.draw(st.sampled_from(["Proposal", "Closed-Won"]))
            deal = self._call_both(
                "create_new_opportunity",
                {
                    "name": "Deal",
                    "client_id": client["client_id"],
                    "amount": amount,
                    "stage": stage,
                },
            )
            if deal is not None:
                key = deal["opportunity_id"]
                quote = {"opportunity_id": key, "amount": amount, "status": "Draft"}
                self._call_both("create_quote", quote)
                note = {"entity_type": "Opportunity", "entity_id": key, "content": "Said so."}
                self._call_both("add_note", note)

    @precondition(lambda self: "quote_id" in self.ids)
    @rule(data=st.data(), change=st.sampled_from(sorted(CHANGES)), nested=st.booleans())
    def work_on_a_record(self, data: st.DataObject, change: str, nested: bool) -> None:
        name, fields = CHANGES[change]
        (key,) = (p.name for p in SALES.toolbox.by_name[name].params[:1])
        if key == "entity_type":
            target = {"entity_id": data.draw(st.sampled_from(self.ids["opportunity_id"]))}
        elif key not in self.ids:
            return
        else:
            target = {key: data.draw(st.sampled_from(self.ids[key]))}
        inside = {"updates": fields} if nested and name.startswith("modify") else fields
        self._call_both(name, {**target, **inside})

    @precondition(lambda self: bool(self.ids))
    @rule(name=st.text(max_size=8), arguments=st.dictionaries(st.text(max_size=4), VALUES))
    def call_nonsense(self, name: str, arguments: dict[str, Any]) -> None:
        self._call_both(name, arguments)
        self._call_both("modify_client", arguments)

    @invariant()
    def the_states_agree(self) -> None:
        one, two = (episode.database for episode in self.episodes)
        assert one.digest() == two.digest()
        assert one.journal == two.journal
        assert fold(one.journal) == diff(SALES.schema.tables, self.start, one.snapshot())

    def teardown(self) -> None:
        traces = [episode.finish().to_json() for episode in self.episodes]
        assert traces[0] == traces[1]

    def _call_both(self, name: str, arguments: dict[str, Any]) -> Any:
        one, two = (episode.execute(name, arguments) for episode in self.episodes)
        assert one == two
        if one.ok and isinstance(one.result, dict):
            for key in ENTITY_OF_ID:
                if isinstance(one.result.get(key), str):
                    self.ids.setdefault(key, []).append(one.result[key])
        return one.result

    def _value(self, data: st.DataObject, name: str, schema: dict[str, Any]) -> Any:
        if data.draw(st.integers(0, 9)) == 0:
            return data.draw(VALUES)
        known = self.ids.get(name, [])
        if name == "entity_id":
            known = [key for keys in self.ids.values() for key in keys]
        reuse = data.draw(st.integers(0, 4)) > 0
        if known and reuse:
            return data.draw(st.sampled_from(known))
        if "enum" in schema:
            return data.draw(st.sampled_from(schema["enum"]))
        if schema.get("type") in ("number", "integer"):
            return data.draw(st.integers(1, 90))
        if schema.get("type") == "array":
            return self.ids.get(name.removesuffix("s"), [])[:3]
        if schema.get("type") == "object":
            return {"name": data.draw(TEXTS)}
        return data.draw(TEXTS)


def test_both_databases_answer_alike(backends: tuple[Backend, Backend]) -> None:
    machine = type("Machine", (Lockstep,), {"backends": backends})
    run_machine(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
