"""A world with tools and no conversation."""

from __future__ import annotations

from typing import Any

import pytest

from crmbench.core.episode import MAX_REFUSED, Episode
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, Task, Turn
from crmbench.core.trace import CallRecord
from crmbench.domains.sales.domain import SALES
from crmbench.errors import AgentError, InputError, ToolError

ACME = {"name": "Acme", "email": "ops@acme.example", "status": "Active"}
SEED = {
    "Client": {"c-1": {"name": "Old", "email": "old@x.example", "status": "Active"}},
}


def test_a_call_is_recorded_with_what_it_changed() -> None:
    with Sandbox.open(SALES) as sandbox:
        before = sandbox.digest()
        made = sandbox.call("create_new_client", ACME)
        assert (made.ok, made.tool, made.arguments) == (True, "create_new_client", ACME)
        assert [(c.table, c.before) for c in made.changes] == [("Client", None)]
        assert sandbox.effect() == made.changes
        assert made.result["client_id"] in sandbox.snapshot()["Client"]
        assert sandbox.digest() != before


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("create_new_client", {**ACME, "email": "OPS@acme.example"}, "duplicate"),
        ("no_such_tool", {}, "unknown_tool"),
        ("create_new_client", "text", "validation"),
        (None, None, "unknown_tool"),
    ],
)
def test_a_refused_call_changes_nothing(name: Any, arguments: Any, kind: str) -> None:
    with Sandbox.open(SALES) as sandbox:
        sandbox.call("create_new_client", ACME)
        before = sandbox.digest()
        refused = sandbox.call(name, arguments)
        assert (refused.ok, refused.error_kind, refused.changes) == (False, kind, ())
        with pytest.raises(ToolError):
            sandbox.run(name, arguments)
        assert sandbox.digest() == before


def test_the_same_seed_and_calls_give_the_same_bytes() -> None:
    def digest(seed: str) -> str:
        with Sandbox.open(SALES, seed=seed) as sandbox:
            sandbox.call("create_new_client", ACME)
            return sandbox.digest()

    assert digest("a") == digest("a") != digest("b")


def test_seed_data_is_there_and_no_part_of_the_effect() -> None:
    with Sandbox.open(SALES, seed_data=SEED) as sandbox:
        assert sandbox.effect() == ()
        assert sandbox.call("client_search", {"name": "Old"}).result["total_count"] == 1


def test_what_is_done_is_undone_at_the_end_on_a_backend_that_goes_on() -> None:
    backend = SqliteBackend(SALES.schema)
    with Sandbox.open(SALES, "empty", backend) as sandbox:
        empty = sandbox.digest()
        sandbox.call("create_new_client", ACME)
    sandbox.close()
    with Sandbox.open(SALES, "empty", backend) as again:
        assert again.digest() == empty
    backend.close()


def test_what_cannot_be_opened_is_said() -> None:
    with pytest.raises(InputError, match="no backend 'oracle'"):
        Sandbox.open(SALES, "empty", "oracle")
    backend = SqliteBackend(SALES.schema)
    with pytest.raises(InputError, match="Status must be one of"):
        Sandbox.open(SALES, "empty", backend, seed_data={"Client": {"c": {"status": "Blue"}}})
    # The copy that it had borrowed was given back as it was.
    with Sandbox.open(SALES, "empty", backend) as sandbox:
        assert not sandbox.snapshot()["Client"]


def test_schemas_are_each_callers_own() -> None:
    with Sandbox.open(SALES) as sandbox:
        first = sandbox.tools
        first[0]["parameters"]["properties"].clear()
        assert sandbox.tools[0]["parameters"]["properties"]


class Outage:
    """Refuses every third call, loses the answers of writes, and lets a colleague edit."""

    def __init__(self) -> None:
        self.calls = 0
        self.turns: list[int] = []

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        del sandbox, name, arguments
        self.calls += 1
        if self.calls % 3 == 0:
            raise ToolError("The server is busy.", "outage")

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        del sandbox
        if not record.changes:
            return record
        return CallRecord(
            record.tool, record.arguments, False, None, "Timed out.", "outage", record.changes
        )

    def between(self, sandbox: Sandbox, turn: int) -> None:
        self.turns.append(turn)
        if turn == 2:
            row = sandbox.database.find("Client", "name", "Acme")[0]
            sandbox.database.update("Client", row, {"status": "Inactive"})


def test_conditions_stand_between_the_caller_and_the_tools() -> None:
    task = Task("t", "sales", "empty", (Turn(1, "a"), Turn(2, "b")), Gold(()))
    outage = Outage()
    with Episode(SALES, task, SqliteBackend(SALES.schema), conditions=outage) as episode:
        episode.say()
        lost = episode.call("create_new_client", ACME)
        assert (lost.ok, lost.value) == (False, "Timed out.")
        assert episode.call("client_search", {"name": "Acme"}).value["total_count"] == 1
        assert episode.call("client_search", {"name": "Acme"}).value == "The server is busy."
        episode.reply("x")
        episode.say()
        found = episode.call("client_search", {"name": "Acme"}).value
        assert found["records"][0]["status"] == "Inactive"
        assert outage.turns == [1, 2]
        trace = episode.finish()
    # The write that seemed to fail is in the record; the colleague's edit is in no call.
    assert [len(call.changes) for turn in trace.turns for call in turn.calls] == [1, 0, 0, 0]


def test_what_an_agent_does_to_its_results_and_arguments_reaches_no_record() -> None:
    task = Task("t", "sales", "empty", (Turn(1, "a"),), Gold(()))
    with Episode(SALES, task, SqliteBackend(SALES.schema)) as episode:
        episode.say()
        made = episode.call("create_new_client", dict(ACME)).value
        change = {"client_id": made["client_id"], "updates": {"status": "Inactive"}}
        result = episode.call("modify_client", change)
        assert result.ok, result.value
        result.value.clear()
        change["updates"]["status"] = "Active"
        made["status"] = "Gone"
        trace = episode.finish()
    created, modified = trace.turns[0].calls
    assert created.result["status"] == created.changes[0].after["status"] == "Active"  # type: ignore[index]
    assert modified.arguments["updates"] == {"status": "Inactive"}
    assert modified.result["status"] == "Inactive"


def test_an_agent_that_loops_on_tools_is_stopped_and_fills_no_memory() -> None:
    task = Task("t", "sales", "empty", (Turn(1, "a"),), Gold(()))
    with Episode(SALES, task, SqliteBackend(SALES.schema), max_calls=3) as episode:
        episode.say()
        for _ in range(3):
            assert episode.call("client_search", {}).ok
        for _ in range(MAX_REFUSED):
            assert not episode.call("client_search", {}).ok
        for _ in range(2):
            with pytest.raises(AgentError, match="100 times past the limit of 3"):
                episode.call("client_search", {})
        trace = episode.finish("agent_error", "looped")
    calls = trace.turns[0].calls
    assert [call.ok for call in calls] == [True, True, True, False]
    assert calls[-1].error_kind == "limit"
    assert calls[-1].error == (
        "No more than 3 tool calls are allowed in one turn. Refused 102 times."
    )
