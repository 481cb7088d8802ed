"""The server that stands in for models."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from crmbench.models import Limits, ModelError, Reply, ToolSpec, open_model, tool_result, user
from crmbench.models.testing.faults import Fault, parse_faults, pick_fault
from crmbench.models.testing.server import FakeServer, spawned, working
from crmbench.models.testing.wire import example


def test_faults_from_a_name() -> None:
    assert parse_faults("fake") == ()
    assert parse_faults("org/fake+html*2+rate_limit:0.5") == (
        Fault("html", 2, None),
        Fault("rate_limit", None, 0.5),
    )
    with pytest.raises(ValueError, match="no fault 'nonsense'"):
        parse_faults("fake+nonsense")


def test_faults_take_turns() -> None:
    faults = parse_faults("fake+html+empty*2+quota")
    names = [fault.name if (fault := pick_fault(faults, n)) else None for n in range(5)]
    assert names == ["html", "empty", "empty", "quota", "quota"]
    assert pick_fault(parse_faults("fake+html*1"), 1) is None


def test_examples_suit_their_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "stage": {"enum": ["Open", "Closed"]},
            "amount": {"type": ["number", "null"]},
            "count": {"type": "integer", "minimum": 3},
            "tags": {"type": "array"},
            "either": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "unused": {"type": "string"},
        },
        "required": ["name", "stage", "amount", "count", "tags", "either"],
    }
    assert example(schema) == {
        "name": "x",
        "stage": "Open",
        "amount": 1.5,
        "count": 3,
        "tags": [],
        "either": True,
    }


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_turn_with_tool_calls(wire: str, tools: list[ToolSpec]) -> None:
    async def talk() -> list[str]:
        names = []
        async with FakeServer(working(tool_calls=3)) as server:
            base = f"{server.url}/v1" if wire == "openai" else f"anthropic+{server.url}"
            model = open_model(f"{base}#fake", environment={})
            said = [user("Hi")]
            while True:
                reply = await model.complete(said, tools)
                said.append(reply.message())
                if not reply.tool_calls:
                    break
                for call in reply.tool_calls:
                    names.append(call.name)
                    assert call.arguments == {"name": "x", "stage": "Open"}
                    said.append(tool_result(call, "ok"))
            await model.close()
        return names

    assert len(asyncio.run(talk())) == 3


def test_requests_that_are_no_requests() -> None:
    async def talk(name: str) -> str:
        async with FakeServer() as server:
            model = open_model(f"{server.url}/v1#{name}", environment={})
            with pytest.raises(ModelError) as caught:
                await model.complete([] if name == "fake" else [user("Hi")])
            await model.close()
            return str(caught.value)

    assert asyncio.run(talk("fake+nonsense")) == "HTTP 400: there is no fault 'nonsense'"
    assert "messages must be an array" in asyncio.run(talk("fake"))


def test_shares_of_faults_do_not_depend_on_the_order() -> None:
    async def one(server: FakeServer, text: str) -> str:
        model = open_model(f"{server.url}/v1#fake", limits=Limits(retries=0), environment={})
        try:
            await model.complete([user(text)])
        except ModelError as error:
            return error.kind
        finally:
            await model.close()
        return "fine"

    async def go(texts: list[str]) -> dict[str, str]:
        shares = {"server_error": 0.3, "rate_limit": 0.3}
        async with FakeServer(shares=shares, seed=1) as server:
            return {text: await one(server, text) for text in texts}

    texts = [f"text {number}" for number in range(60)]
    outcomes = asyncio.run(go(texts))
    assert outcomes == asyncio.run(go(texts[::-1]))
    counts = Counter(outcomes.values())
    assert all(counts[kind] > 5 for kind in ("fine", "server", "rate_limit"))


def test_unknown_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="no fault 'nonsense'"):
        FakeServer(shares={"nonsense": 0.5})


def test_as_a_program(tmp_path: Path) -> None:
    kept = tmp_path / "bodies.jsonl"

    async def ask(url: str) -> Reply:
        model = open_model(f"{url}/v1#fake", environment={})
        reply = await model.complete([user("Hi")])
        await model.close()
        return reply

    with spawned("--latency", "0.01", "--fault", "no_usage=1", "--keep", str(kept)) as url:
        reply = asyncio.run(ask(url))
    assert (reply.text, reply.usage.prompt) == ("This is reply 1.", None)
    (line,) = kept.read_text().splitlines()
    assert json.loads(line)["messages"] == [{"role": "user", "content": "Hi"}]
