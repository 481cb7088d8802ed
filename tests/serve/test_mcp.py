"""MCP with the SDK's own client, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx2
import orjson
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from tests.conftest import NORTHGATE
from tests.serve.remote import play, played_alone
from tests.serve.running import Running

from crmbench.core.episode import ToolResult
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named
from crmbench.seats.mcp import NEXT_MESSAGE, REPLY
from crmbench.serve.sessions import Sessions

TASKS = load_named(NORTHGATE).tasks()
Era = Literal["legacy", "auto"]
ERAS: tuple[Era, ...] = ("legacy", "auto")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    sessions = Sessions(out=tmp_path / "runs")
    sessions.open_org("first", "sales", "empty")
    with Running(sessions) as made:
        yield made


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def play_with(client: Client, number: int) -> None:
    first = orjson.loads(text_of(await client.call_tool(NEXT_MESSAGE, {})))
    assert first["message"] == TASKS[number].turns[0].utterance
    assert "house_rules" in first

    async def call(name: str, arguments: dict[str, Any]) -> ToolResult:
        result = await client.call_tool(name, arguments)
        text = text_of(result)
        return ToolResult(not result.is_error, text if result.is_error else orjson.loads(text))

    async def reply(text: str) -> bool:
        return bool(orjson.loads(text_of(await client.call_tool(REPLY, {"text": text})))["over"])

    await play(TASKS[number], call, reply)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_plays_a_whole_conversation_over_http(
    running: Running, tmp_path: Path, mode: Era
) -> None:
    session = running.sessions.open_session(NORTHGATE, "1", "mcp")

    async def go() -> None:
        async with Client(f"{running.address}/mcp/{session.token}", mode=mode) as client:
            await play_with(client, 0)
            late = await client.call_tool("client_search", {})
            assert late.is_error
            assert "over" in text_of(late)

    asyncio.run(go())
    (record,) = RunDir(tmp_path / "runs" / "mcp-northgate").episodes()
    assert record.trace == played_alone(TASKS[0])
    assert record.verdict.success


@pytest.mark.parametrize("mode", ERAS)
def test_tools_come_with_hints(running: Running, mode: Era) -> None:
    session = running.sessions.open_session(NORTHGATE, "1")

    async def go() -> dict[str, Any]:
        async with Client(f"{running.address}/mcp/{session.token}", mode=mode) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = asyncio.run(go())
    assert {NEXT_MESSAGE, REPLY} <= set(tools)
    hints = {
        name: (tools[name].annotations.read_only_hint, tools[name].annotations.destructive_hint)
        for name in ("client_search", "create_new_client", "delete_quote", NEXT_MESSAGE)
    }
    assert hints == {
        "client_search": (True, False),
        "create_new_client": (False, False),
        "delete_quote": (False, True),
        NEXT_MESSAGE: (True, False),
    }
    assert not any(tool.annotations.open_world_hint for tool in tools.values())
    assert "name" in tools["client_search"].input_schema["properties"]


def test_an_org_has_tools_and_nobody_to_talk_to(running: Running) -> None:
    async def go() -> tuple[set[str], CallToolResult]:
        async with Client(f"{running.address}/orgs/first/mcp") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names, await client.call_tool(REPLY, {"text": "Hello"})

    names, reply = asyncio.run(go())
    assert "client_search" in names
    assert not names & {NEXT_MESSAGE, REPLY}
    assert reply.is_error


def test_a_token_in_a_header_does_as_well(running: Running) -> None:
    session = running.sessions.open_session(NORTHGATE, "2")
    headers = {"Authorization": f"Bearer {session.token}"}

    async def go() -> str:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{running.address}/mcp", http_client=http)) as client,
        ):
            return text_of(await client.call_tool(NEXT_MESSAGE, {}))

    assert orjson.loads(asyncio.run(go()))["message"] == TASKS[1].turns[0].utterance


def test_a_wrong_token_is_refused_before_mcp_is_spoken(running: Running) -> None:
    session = running.sessions.open_session(NORTHGATE, "1")
    for url in (f"{running.address}/mcp/{session.token}x", f"{running.address}/mcp/x"):
        assert httpx2.post(url, json={}).status_code == 401
    headers = {"Authorization": f"Bearer {session.token}"}
    assert httpx2.post(f"{running.address}/orgs/first/mcp", headers=headers).status_code == 403


def over_stdio(*arguments: str) -> StdioServerParameters:
    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    command = ["-m", "crmbench", "mcp", *arguments]
    return StdioServerParameters(command=sys.executable, args=command, env=environment)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_plays_a_whole_conversation_over_stdio(tmp_path: Path, mode: Era) -> None:
    async def go() -> None:
        parameters = over_stdio(NORTHGATE, "--task", "2", "--out", str(tmp_path))
        async with Client(parameters, mode=mode) as client:
            await play_with(client, 1)

    asyncio.run(go())
    (record,) = RunDir(tmp_path / "mcp-northgate").episodes()
    assert record.trace == played_alone(TASKS[1])


def test_who_hangs_up_has_given_up_and_who_only_looked_has_not(tmp_path: Path) -> None:
    async def go(*, work: bool) -> None:
        parameters = over_stdio(NORTHGATE, "--out", str(tmp_path))
        async with Client(parameters) as client:
            await client.list_tools()
            if work:
                await client.call_tool("client_search", {})

    asyncio.run(go(work=False))
    assert not (tmp_path / "mcp-northgate").exists()
    asyncio.run(go(work=True))
    (record,) = RunDir(tmp_path / "mcp-northgate").episodes()
    assert record.trace.outcome == "agent_error"


def test_an_org_over_stdio() -> None:
    async def go() -> str:
        async with Client(over_stdio("--org", "sales/empty")) as client:
            return text_of(await client.call_tool("client_search", {}))

    assert orjson.loads(asyncio.run(go()))["total_count"] == 0


SALESFORCE_NAMES = {
    *("run_soql_query", "run_sosl_search", "list_objects", "describe_object"),
    *("get_record", "create_record", "update_record", "delete_record"),
}


def test_salesforce_users_find_their_tools(running: Running) -> None:
    running.sessions.open_org("service", "service")

    async def go() -> None:
        async with Client(f"{running.address}/orgs/service/mcp") as client:
            assert {tool.name for tool in (await client.list_tools()).tools} >= SALESFORCE_NAMES

            async def ask(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, text_of(result)
                return orjson.loads(text_of(result))

            objects = await ask("list_objects")
            assert "Account" in {each["name"] for each in objects["objects"]}
            fields = await ask("describe_object", object_name="Account")
            assert "Name" in {each["name"] for each in fields["fields"]}
            made = await ask("create_record", object_name="Product2", data={"Name": "Acme"})
            key = {"object_name": "Product2", "record_id": made["id"]}
            await ask("update_record", **key, data={"Name": "Bolt"})
            found = await ask("get_record", **key, fields=["Name"])
            assert found["Name"] == "Bolt"
            query = f"SELECT Name FROM Product2 WHERE Id = '{made['id']}'"
            found = await ask("run_soql_query", query=query)
            assert [each["Name"] for each in found["records"]] == ["Bolt"]
            await ask("delete_record", **key)
            assert (await ask("run_soql_query", query=query))["totalSize"] == 0
            some = await ask("run_soql_query", query="SELECT Id FROM Case", max_records=3)
            assert (len(some["records"]), some["done"]) == (3, False)
            wrong = await client.call_tool("run_soql_query", {"query": "SELECT Nothing FROM Case"})
            assert wrong.is_error
            assert "INVALID_" in text_of(wrong)

    asyncio.run(go())


def test_in_a_graded_session_they_are_there_where_asked_for(
    running: Running, tmp_path: Path
) -> None:
    plain = running.sessions.open_session("service", "1")
    assert not SALESFORCE_NAMES & {each.name for each in plain.offered}
    session = running.sessions.open_session("service", "1", "sf", salesforce_tools=True)

    async def go() -> None:
        async with Client(f"{running.address}/mcp/{session.token}") as client:
            query = {"query": "SELECT Id FROM Case LIMIT 1"}
            found = orjson.loads(text_of(await client.call_tool("run_soql_query", query)))
            arguments = {
                "object_name": "Case",
                "record_id": found["records"][0]["Id"],
                "data": {"Subject": "Renamed"},
            }
            done = await client.call_tool("update_record", arguments)
            assert not done.is_error, text_of(done)

    asyncio.run(go())
    session.abandon()
    (record,) = RunDir(tmp_path / "runs" / "sf-service-salesforce").episodes()
    read, written = record.trace.turns[0].calls
    assert (read.tool, read.changes) == ("run_soql_query", ())
    assert [change.table for change in written.changes] == ["Case"]
