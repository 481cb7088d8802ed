"""Graded sessions over plain HTTP, orgs that are kept, and the description of it all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.conftest import NORTHGATE
from tests.serve.remote import play_over_test_client, played_alone

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named
from crmbench.serve.app import make_app
from crmbench.serve.http_api import openapi, operations
from crmbench.serve.limits import ServeLimits
from crmbench.serve.sessions import Sessions

TASKS = load_named(NORTHGATE).tasks()
CLIENT = {"name": "Acme", "email": "a@acme.example", "status": "Active"}


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    made = Sessions(out=tmp_path / "runs")
    made.open_org("first", "sales", "empty")
    yield made
    made.close()


@pytest.fixture
def client(sessions: Sessions) -> Iterator[TestClient]:
    with TestClient(make_app(sessions)) as made:
        yield made


def admin(sessions: Sessions) -> dict[str, str]:
    return {"Authorization": f"Bearer {sessions.admin_token}"}


def bearer(opened: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {opened['token']}"}


def opened(
    client: TestClient, sessions: Sessions, task: int | str = 1, **more: Any
) -> dict[str, Any]:
    body = {"set": NORTHGATE, "task": task, **more}
    answer = client.post("/v1/sessions", json=body, headers=admin(sessions))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def played(client: TestClient, sessions: Sessions, number: int, task: Task) -> dict[str, Any]:
    made = opened(client, sessions, number, agent="oracle")
    play_over_test_client(client, task, f"/v1/sessions/{made['id']}", bearer(made))
    return made


def test_a_session_is_graded_as_a_run_is(
    client: TestClient, sessions: Sessions, tmp_path: Path
) -> None:
    for number, task in enumerate(TASKS[:3], start=1):
        made = played(client, sessions, number, task)
        verdict = client.get(f"/v1/sessions/{made['id']}/verdict", headers=admin(sessions))
        assert verdict.json()["verdict"]["success"] is True
    (folder,) = (tmp_path / "runs").iterdir()
    episodes = RunDir(folder).episodes()
    assert [each.trace for each in episodes] == [played_alone(task) for task in TASKS[:3]]
    assert [task.task_id for task in RunDir(folder).tasks()] == [t.task_id for t in TASKS[:3]]
    assert RunDir(folder).config()["agent"] == "oracle"


def test_a_run_directory_is_read_as_any_runs(
    client: TestClient, sessions: Sessions, tmp_path: Path
) -> None:
    from typer.testing import CliRunner

    from crmbench.cli import app

    for _ in range(2):
        played(client, sessions, 1, TASKS[0])
    sessions.close()
    (folder,) = (tmp_path / "runs").iterdir()
    for verb, words in (("report", "oracle"), ("grade", "2 episodes graded")):
        done = CliRunner().invoke(app, [verb, str(folder)])
        assert done.exit_code == 0, done.output
        assert words in done.output
    assert RunDir(folder).config()["trials"] == 2


def test_another_server_goes_on_with_the_runs_of_one_before(
    client: TestClient, sessions: Sessions, tmp_path: Path
) -> None:
    played(client, sessions, 1, TASKS[0])
    sessions.close()
    again = Sessions(out=tmp_path / "runs")
    try:
        with TestClient(make_app(again)) as other:
            played(other, again, 1, TASKS[0])
            played(other, again, 2, TASKS[1])
    finally:
        again.close()
    (folder,) = (tmp_path / "runs").iterdir()
    places = [(each.task_id, each.trial) for each in RunDir(folder).episodes()]
    one, two = TASKS[0].task_id, TASKS[1].task_id
    assert places == [(one, 0), (one, 1), (two, 0)]


def test_a_token_reaches_its_own_session_and_no_verdict_before_the_end(
    client: TestClient, sessions: Sessions
) -> None:
    mine, other = opened(client, sessions, 1), opened(client, sessions, 2)
    url = f"/v1/sessions/{mine['id']}"
    assert client.get(url, headers=bearer(mine)).json()["over"] is False
    assert client.get("/v1/sessions/self", headers=bearer(mine)).json()["id"] == mine["id"]
    early = client.get(f"{url}/verdict", headers=bearer(mine))
    assert early.status_code == 409
    forbidden = [
        ("GET", f"/v1/sessions/{other['id']}"),
        ("GET", f"/v1/sessions/{other['id']}/message"),
        ("POST", f"/v1/sessions/{other['id']}/call"),
        ("GET", "/v1/sessions/none-of-that-id"),
        ("GET", "/v1/sessions"),
        ("POST", "/v1/sessions"),
        ("DELETE", url),
        ("GET", "/v1/orgs"),
        ("GET", "/v1/orgs/first/tools"),
        ("POST", "/v1/orgs/first/reset"),
        ("GET", f"/v1/tasks?set={NORTHGATE}"),
    ]
    for method, path in forbidden:
        answer = client.request(method, path, headers=bearer(mine))
        assert answer.status_code == 403, (method, path, answer.text)
    for headers in ({}, {"Authorization": "Bearer x"}):
        assert client.get(url, headers=headers).status_code == 401


def test_the_agent_learns_of_the_verdict_whether_it_succeeded_alone(
    client: TestClient, sessions: Sessions
) -> None:
    made = opened(client, sessions, 1)
    url = f"/v1/sessions/{made['id']}"
    for _ in TASKS[0].turns:
        client.post(f"{url}/reply", json={"text": "No."}, headers=bearer(made))
    own = client.get(f"{url}/verdict", headers=bearer(made)).json()
    assert own == {"id": made["id"], "success": False}
    after = client.post(f"{url}/call", json={"tool": "client_search"}, headers=bearer(made))
    assert after.status_code == 409


def test_what_the_agent_sees_is_what_a_player_sees(client: TestClient, sessions: Sessions) -> None:
    made = opened(client, sessions, 1)
    url = f"/v1/sessions/{made['id']}"
    assert made["message"] == TASKS[0].turns[0].utterance
    view = client.get(f"{url}/view", headers=bearer(made)).json()
    assert set(view) == {"domain", "today", "policy", "tools", "persona"}
    message = client.get(f"{url}/message", headers=bearer(made)).json()
    assert message["message"] == made["message"]
    refused = client.post(f"{url}/call", json={"tool": "no_tool"}, headers=bearer(made)).json()
    assert refused["ok"] is False
    assert "no tool named" in refused["value"]


def test_a_loop_of_calls_ends_the_session_as_the_agents_failure(
    client: TestClient, sessions: Sessions, tmp_path: Path
) -> None:
    made = opened(client, sessions, 1, max_calls=1, agent="looping")
    url, body = f"/v1/sessions/{made['id']}/call", {"tool": "client_search"}
    answers = [client.post(url, json=body, headers=bearer(made)) for _ in range(102)]
    assert [each.status_code for each in answers] == [200] * 101 + [403]
    (record,) = RunDir(next((tmp_path / "runs").iterdir())).episodes()
    assert record.trace.outcome == "agent_error"
    assert not record.verdict.success


def test_a_session_that_is_ended_early_counts_as_given_up(
    client: TestClient, sessions: Sessions, tmp_path: Path
) -> None:
    made = opened(client, sessions, 1)
    url = f"/v1/sessions/{made['id']}"
    assert client.delete(url, headers=admin(sessions)).status_code == 204
    assert client.get(url, headers=bearer(made)).status_code == 401
    (record,) = RunDir(next((tmp_path / "runs").iterdir())).episodes()
    assert (record.trace.outcome, record.verdict.counted) == ("agent_error", True)


def test_what_is_written_beside_the_tools_belongs_to_the_turn(
    client: TestClient, sessions: Sessions
) -> None:
    import asyncio

    from starlette.requests import Request

    made = opened(client, sessions, 1)
    scope = {
        "type": "http",
        "method": "PATCH",
        "path": "/services/data/v59.0/sobjects/Account/x",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {made['token']}".encode())],
    }

    async def write() -> None:
        access = await sessions.resolve(Request({**scope, "path_params": {}}))
        async with access.lock:
            assert access.sandbox.call("create_new_client", CLIENT).ok

    asyncio.run(write())
    session = sessions.graded[made["id"]]
    session.abandon()
    verdict = session.verdict
    assert verdict is not None
    (record,) = RunDir(next(iter(sessions.verdicts._runs.values())).directory.path).episodes()
    (call,) = record.trace.turns[0].calls
    assert call.tool == "salesforce_api"
    assert [change.table for change in call.changes] == ["Client"]


def test_sessions_too_old_time_out(tmp_path: Path) -> None:
    made = Sessions(limits=ServeLimits(age_seconds=0.0), out=tmp_path)
    try:
        session = made.open_session(NORTHGATE, "1")
        made.drop_old()
        assert session.name not in made.graded
        (record,) = RunDir(next(tmp_path.iterdir())).episodes()
        assert record.trace.outcome == "timeout"
    finally:
        made.close()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"set": "no-such-set", "task": 1}, "no-such-set"),
        ({"set": NORTHGATE, "task": 99}, "has no task"),
        ({"set": NORTHGATE, "task": 1.5}, "task"),
        ({"set": NORTHGATE, "task": 1, "max_calls": 0}, "max_calls"),
        ({"task": 1}, "set"),
    ],
)
def test_sessions_that_cannot_be_opened(
    client: TestClient, sessions: Sessions, body: dict[str, Any], words: str
) -> None:
    answer = client.post("/v1/sessions", json=body, headers=admin(sessions))
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_orgs_are_opened_worked_in_reset_and_closed(client: TestClient, sessions: Sessions) -> None:
    body = {"name": "second", "domain": "sales", "world": "empty"}
    made = client.post("/v1/orgs", json=body, headers=admin(sessions)).json()
    before = client.get("/v1/orgs/second/digest", headers=bearer(made)).json()["digest"]
    done = client.post(
        "/v1/orgs/second/call",
        json={"tool": "create_new_client", "arguments": CLIENT},
        headers=bearer(made),
    )
    assert done.json()["ok"] is True
    assert client.get("/v1/orgs/second/digest", headers=bearer(made)).json()["digest"] != before
    assert client.get("/v1/orgs/first/digest").json()["digest"] == before
    client.post("/v1/orgs/second/reset", headers=bearer(made))
    assert client.get("/v1/orgs/second/digest", headers=bearer(made)).json()["digest"] == before
    assert client.get("/v1/orgs/second/message", headers=bearer(made)).status_code == 404
    assert client.delete("/v1/orgs/second", headers=admin(sessions)).status_code == 204
    assert client.get("/v1/orgs/second/digest", headers=bearer(made)).status_code == 401


def test_a_kept_org_is_there_again(tmp_path: Path) -> None:
    file = tmp_path / "org.jsonl"

    def call(tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
        made = Sessions()
        try:
            made.open_org("kept", "sales", "empty", keep=file)
            with TestClient(make_app(made)) as client:
                body = {"tool": tool, "arguments": arguments}
                answer = client.post("/v1/orgs/kept/call", json=body).json()
                return answer["ok"], client.get("/v1/orgs/kept/digest").json()["digest"]
        finally:
            made.close()

    ok, first = call("create_new_client", CLIENT)
    assert ok
    # As a kill would leave it.
    with file.open("ab") as torn:
        torn.write(b'{"statements": [["INS')
    refused, second = call("create_new_client", CLIENT)
    assert (refused, second) == (False, first)
    made = Sessions()
    try:
        made.open_org("kept", "sales", "empty", keep=file)
        whole = Sessions()
        try:
            org = whole.open_org("one", "sales", "empty")
            org.sandbox.call("create_new_client", CLIENT)
            second_client = {**CLIENT, "name": "Bolt", "email": "b@bolt.example"}
            expected = org.sandbox.call("create_new_client", second_client)
            assert made.orgs["kept"].sandbox.call("create_new_client", second_client) == expected
            assert made.orgs["kept"].sandbox.effect() == org.sandbox.effect()
        finally:
            whole.close()
        with pytest.raises(InputError, match="keeps sales/empty"):
            made.open_org("other", "sales", "empty", seed="other", keep=file)
    finally:
        made.close()


def test_every_operation_is_described() -> None:
    made = operations()
    described = openapi(made)
    assert len({(each.method, each.path) for each in made}) == len(made)
    ids = [item["operationId"] for path in described["paths"].values() for item in path.values()]
    assert len(set(ids)) == len(made)
    call = described["paths"]["/v1/sessions/{session}/call"]["post"]
    assert call["requestBody"]["content"]["application/json"]["schema"]["required"] == ["tool"]
    assert call["parameters"][0]["name"] == "session"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("GET", "/v1/sessions/self/call", 405), ("PUT", "/v1/orgs", 405)],
)
def test_paths_that_are_not_there(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message"}


def test_bodies_that_cannot_be_used(client: TestClient, sessions: Sessions) -> None:
    for body in (b"{", b"[]", b"\xff"):
        answer = client.post("/v1/sessions", content=body, headers=admin(sessions))
        assert answer.status_code == 400
    small = Sessions(limits=ServeLimits(body=100))
    try:
        with TestClient(make_app(small)) as other:
            large = b" " * 101
            assert other.post("/v1/sessions", content=large).status_code == 413
            chunks = other.post("/v1/orgs", content=iter([large]), headers=admin(small))
            assert chunks.status_code == 413
    finally:
        small.close()


def test_other_names_of_the_machine_are_refused(sessions: Sessions) -> None:
    with TestClient(make_app(sessions, hosts=("testserver", ".salesforce.com"))) as client:
        assert client.get("/healthz").status_code == 200
        for host in ("evil.example", "testserver.evil.example", "salesforce.com.evil", "[::1"):
            assert client.get("/healthz", headers={"Host": host}).status_code == 403
        assert client.get("/healthz", headers={"Host": "login.salesforce.com"}).status_code == 200
        away = client.get("/healthz", headers={"Origin": "https://evil.example"})
        assert away.status_code == 403


def test_what_a_client_of_salesforce_does_is_part_of_the_turn(
    client: TestClient, sessions: Sessions, tmp_path: Path
) -> None:
    body = {"set": "service", "task": 1, "agent": "rest"}
    made = client.post("/v1/sessions", json=body, headers=admin(sessions)).json()
    query = {"q": "SELECT Id FROM Case LIMIT 1"}
    found = client.get("/services/data/v59.0/query/", params=query, headers=bearer(made)).json()
    address = f"/services/data/v59.0/sobjects/Case/{found['records'][0]['Id']}"
    done = client.patch(address, json={"Subject": "Renamed"}, headers=bearer(made))
    assert done.status_code == 204, done.text
    wrong = client.patch(address, json={"Nothing": "x"}, headers=bearer(made))
    assert wrong.status_code == 400
    sessions.graded[made["id"]].abandon()
    late = client.patch(address, json={"Subject": "Again"}, headers=bearer(made))
    assert late.status_code in (401, 403, 409)
    (record,) = RunDir(tmp_path / "runs" / "rest-service").episodes()
    read, written, refused = record.trace.turns[0].calls
    assert {each.tool for each in (read, written, refused)} == {"salesforce_api"}
    assert [change.table for change in written.changes] == ["Case"]
    assert (read.changes, refused.changes) == ((), ())
