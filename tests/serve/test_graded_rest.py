"""A graded conversation whose writes are made over Salesforce's REST API."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.conftest import NORTHGATE
from tests.serve.remote import play

from crmbench.core.episode import ToolResult
from crmbench.domains.sales.sobjects.mapping import BY_ENTITY, ObjectMap
from crmbench.domains.sales.sobjects.mirror import Mirror
from crmbench.domains.sales.sobjects.store import MirrorStore
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named
from crmbench.serve.app import make_app
from crmbench.serve.session import Access
from crmbench.serve.sessions import Sessions

TASKS = load_named(NORTHGATE).tasks()
DATA = "/services/data/v59.0/sobjects"
WRITES = {
    "create_new_client": "Client", "create_new_contact": "Contact", "create_quote": "Quote",
    "create_new_opportunity": "Opportunity", "create_contract": "Contract", "add_note": "Note",
    "upload_document": "Document", "modify_client": "Client", "modify_contact": "Contact",
    "modify_opportunity": "Opportunity", "modify_quote": "Quote", "modify_contract": "Contract",
    "delete_opportunity": "Opportunity", "delete_quote": "Quote", "cancel_quote": "Quote",
}  # fmt: skip
"""The tools that write, and what they write."""


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    made = Sessions(out=tmp_path / "runs")
    yield made
    made.close()


def id_in(mirror: Mirror, entity: str, key: str) -> str:
    """The id of a record, or one that names nothing."""
    try:
        return mirror.id_of(entity, key)
    except KeyError:
        return f"{BY_ENTITY[entity].prefix}Hs0000000000"


class RestPlayer:
    """Makes the gold's calls: those that write over REST, the others over plain HTTP."""

    def __init__(self, client: TestClient, sessions: Sessions, opened: dict[str, Any]) -> None:
        self._client = client
        self._url = f"/v1/sessions/{opened['id']}"
        self._headers = {"Authorization": f"Bearer {opened['token']}"}
        self._session = sessions.graded[opened["id"]]
        self.written = 0

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """What a tool would have done."""
        if name in WRITES:
            return self._write(name, BY_ENTITY[WRITES[name]], arguments)
        body = {"tool": name, "arguments": arguments}
        answer = self._client.post(f"{self._url}/call", json=body, headers=self._headers)
        return ToolResult(**answer.json())

    async def reply(self, text: str) -> bool:
        """What the agent says."""
        answer = self._client.post(f"{self._url}/reply", json={"text": text}, headers=self._headers)
        return bool(answer.json()["over"])

    def _write(self, name: str, each: ObjectMap, arguments: dict[str, Any]) -> ToolResult:
        org = Access(self._session, self._session.token, "").org
        assert isinstance(org.store, MirrorStore)
        mirror, database = org.store.mirror, self._session.sandbox.database
        org.store.view()
        own = database.schema[each.entity].key
        given = {**arguments, **arguments.get("updates", {})}
        if name == "cancel_quote":
            given["status"] = "Canceled"
        fields: dict[str, Any] = {}
        for mapped in each.fields:
            value = given.get(mapped.column)
            if value is None:
                continue
            if mapped.kind == "record":
                target = next(e.entity for e in BY_ENTITY.values() if e.name == mapped.target)
                value = id_in(mirror, target, value)
            elif mapped.kind == "any_record":
                value = id_in(mirror, given[mapped.target], value)
            elif mapped.kind == "user":
                found = org.rows(f"SELECT Id FROM User WHERE Name = '{value}'")
                value = found[0]["Id"] if found else value
            fields[mapped.name] = value
        self.written += 1
        path = f"{DATA}/{each.name}"
        if not name.startswith(("create", "add", "upload")):
            path += f"/{id_in(mirror, each.entity, given[own])}"
        method = "DELETE" if name.startswith("delete") else "PATCH"
        method = method if path.count("/") == 6 else "POST"
        done = self._client.request(method, path, json=fields, headers=self._headers)
        if done.status_code >= 400:
            return ToolResult(False, done.json()[0]["message"])
        place = (
            mirror.place_of(done.json()["id"]) if method == "POST" else (each.entity, given[own])
        )
        assert place is not None
        return ToolResult(True, database.get(*place) or {})


def test_what_is_written_over_rest_is_graded_as_what_tools_write(
    sessions: Sessions, tmp_path: Path
) -> None:
    written = 0
    with TestClient(make_app(sessions)) as client:
        admin = {"Authorization": f"Bearer {sessions.admin_token}"}
        for number, task in enumerate(TASKS, start=1):
            body = {"set": NORTHGATE, "task": number}
            opened = client.post("/v1/sessions", json=body, headers=admin).json()
            player = RestPlayer(client, sessions, opened)
            asyncio.run(play(task, player.call, player.reply))
            written += player.written
    (folder,) = (tmp_path / "runs").iterdir()
    episodes = RunDir(folder).episodes()
    assert [record.verdict.success for record in episodes] == [True] * len(TASKS)
    assert written >= 8
    tools = {call.tool for e in episodes for turn in e.trace.turns for call in turn.calls}
    assert "salesforce_api" in tools
    assert not tools & set(WRITES)
