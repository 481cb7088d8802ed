"""The official packages talk to the fake server, which shows that it speaks their formats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import anthropic
import openai
import pytest

from crmbench.models.testing.server import FakeServer, working

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both packages would send requests to this machine through a proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def _with_server(talk: Callable[[FakeServer], Awaitable[None]]) -> None:
    async with FakeServer(working(tool_calls=1)) as server:
        await talk(server)
        assert server.requests == 3


def test_openai() -> None:
    async def talk(server: FakeServer) -> None:
        base = f"{server.url}/v1"
        async with openai.AsyncOpenAI(base_url=base, api_key="k", max_retries=1) as client:
            first = await client.chat.completions.create(
                model="fake+rate_limit*1:0.01",
                messages=[{"role": "user", "content": "Hi"}],
                tools=[
                    {
                        "type": "function",
                        "function": {"name": "find", "description": "Find.", "parameters": SCHEMA},
                    }
                ],
            )
            assert first.choices[0].finish_reason == "tool_calls"
            message = first.choices[0].message
            assert message.tool_calls is not None
            call = message.tool_calls[0]
            assert call.type == "function"
            assert (call.function.name, call.function.arguments) == ("find", '{"name":"x"}')
            second = await client.chat.completions.create(
                model="fake",
                messages=[
                    {"role": "user", "content": "Hi"},
                    {
                        "role": "assistant",
                        "tool_calls": [
                            {
                                "id": call.id,
                                "type": "function",
                                "function": {"name": "find", "arguments": "{}"},
                            }
                        ],
                    },
                    {"role": "tool", "tool_call_id": call.id, "content": "[]"},
                ],
            )
            assert second.choices[0].message.content == "This is reply 3."
            assert second.usage is not None
            assert second.usage.total_tokens > second.usage.completion_tokens > 0
            assert second.usage.prompt_tokens_details is not None

    asyncio.run(_with_server(talk))


def test_anthropic() -> None:
    async def talk(server: FakeServer) -> None:
        async with anthropic.AsyncAnthropic(
            base_url=server.url, api_key="k", max_retries=1
        ) as client:
            first = await client.messages.create(
                model="fake+overloaded*1",
                max_tokens=100,
                messages=[{"role": "user", "content": "Hi"}],
                tools=[{"name": "find", "description": "Find.", "input_schema": SCHEMA}],
            )
            assert first.stop_reason == "tool_use"
            use = first.content[0]
            assert isinstance(use, anthropic.types.ToolUseBlock)
            assert (use.name, use.input) == ("find", {"name": "x"})
            second = await client.messages.create(
                model="fake",
                max_tokens=100,
                messages=[
                    {"role": "user", "content": "Hi"},
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "tool_use", "id": use.id, "name": "find", "input": {}}
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": use.id, "content": "[]"}
                        ],
                    },
                ],
            )
            text = second.content[0]
            assert isinstance(text, anthropic.types.TextBlock)
            assert text.text == "This is reply 2."
            assert second.usage.output_tokens > 0

    asyncio.run(_with_server(talk))
