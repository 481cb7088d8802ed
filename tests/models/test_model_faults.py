"""Each fault of the server leads to its documented outcome, in both wire formats."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from crmbench.models import (
    Limits,
    Model,
    ModelError,
    Reply,
    ToolSpec,
    Usage,
    open_model,
    tool_result,
    user,
)
from crmbench.models.testing.faults import FAULTS
from crmbench.models.testing.server import FakeServer, working

WIRES = ("openai", "anthropic")


def _open(server: FakeServer, wire: str, model: str, limits: Limits) -> Model:
    base = f"{server.url}/v1" if wire == "openai" else f"anthropic+{server.url}"
    return open_model(f"{base}#{model}", limits=limits, environment={})


async def _ask(
    wire: str, model: str, tools: list[ToolSpec], limits: Limits, tool_calls: int = 0
) -> tuple[Reply | ModelError, int]:
    async with FakeServer(working(tool_calls)) as server:
        asked = _open(server, wire, model, limits)
        try:
            reply: Reply | ModelError = await asked.complete([user("Hello")], tools)
        except ModelError as error:
            reply = error
        finally:
            await asked.close()
        return reply, server.requests


FAILURES = {
    # fault: kind, status, requests sent with two retries
    "rate_limit": ("rate_limit", 429, 3),
    "rate_limit_date": ("rate_limit", 429, 3),
    "quota": ("quota", 429, 1),
    "server_error": ("server", 500, 3),
    "overloaded": ("server", 529, 3),
    "timeout": ("timeout", None, 3),
    "dropped": ("connection", None, 3),
    "dropped_midway": ("connection", None, 3),
    "truncated_json": ("bad_reply", 200, 3),
    "html": ("server", 502, 3),
    "html_ok": ("bad_reply", 200, 3),
    "no_choices": ("bad_reply", 200, 3),
    "unauthorized": ("auth", 401, 1),
    "forbidden": ("auth", 403, 1),
    "not_found": ("not_found", 404, 1),
    "bad_request": ("bad_request", 400, 1),
    "context_length": ("context_length", 400, 1),
}
ANSWERED = {
    "empty",
    "enormous",
    "malformed_tool_call",
    "unknown_tool",
    "bad_arguments",
    "array_arguments",
    "refusal",
    "no_usage",
}


def test_every_fault_is_covered() -> None:
    assert set(FAILURES) | ANSWERED == FAULTS


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", sorted(FAILURES))
def test_a_lasting_fault_ends_in_an_error(
    wire: str, fault: str, tools: list[ToolSpec], quick: Limits
) -> None:
    limits = replace(quick, timeout=0.05) if fault == "timeout" else quick
    kind, status, requests = FAILURES[fault]
    error, sent = asyncio.run(_ask(wire, f"fake+{fault}", tools, limits))
    assert isinstance(error, ModelError)
    assert (error.kind, error.status, error.attempts) == (kind, status, requests)
    assert sent == requests
    assert error.retryable == (requests > 1)
    assert len(str(error)) < 800


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", sorted(name for name, row in FAILURES.items() if row[2] > 1))
def test_a_passing_fault_is_retried(
    wire: str, fault: str, tools: list[ToolSpec], quick: Limits
) -> None:
    limits = replace(quick, timeout=0.05) if fault == "timeout" else quick
    reply, sent = asyncio.run(_ask(wire, f"fake+{fault}*1", tools, limits))
    assert isinstance(reply, Reply)
    assert reply.text == "This is reply 1."
    assert (reply.attempts, sent) == (2, 2)


@pytest.mark.parametrize("wire", WIRES)
def test_faults_in_turn(wire: str, tools: list[ToolSpec], quick: Limits) -> None:
    name = "fake+server_error+dropped*1+no_usage"
    reply, sent = asyncio.run(_ask(wire, name, tools, quick))
    assert isinstance(reply, Reply)
    assert (reply.usage, sent) == (Usage(), 3)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("fault", "name", "arguments", "error"),
    [
        ("malformed_tool_call", "", {}, "no tool name"),
        ("unknown_tool", "no_such_tool", {}, None),
        ("array_arguments", "tool", None, "must be a JSON object, not list"),
        ("bad_arguments", "tool", None, "not valid JSON"),
    ],
)
def test_bad_tool_calls_reach_the_agent(
    wire: str,
    fault: str,
    name: str,
    arguments: dict[str, object] | None,
    error: str | None,
    tools: list[ToolSpec],
    quick: Limits,
) -> None:
    reply, sent = asyncio.run(_ask(wire, f"fake+{fault}", tools, quick))
    assert isinstance(reply, Reply)
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, sent) == (name, arguments, 1)
    assert call.error is None if error is None else error in str(call.error)
    assert call.id


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", ["malformed_tool_call", "unknown_tool", "bad_arguments"])
def test_the_conversation_goes_on_after_a_bad_call(
    wire: str, fault: str, tools: list[ToolSpec], quick: Limits
) -> None:
    async def talk() -> Reply:
        async with FakeServer() as server:
            first = _open(server, wire, f"fake+{fault}", quick)
            second = _open(server, wire, "fake", quick)
            said = [user("Hello")]
            reply = await first.complete(said, tools)
            said.append(reply.message())
            said += [tool_result(call, "refused", is_error=True) for call in reply.tool_calls]
            answer = await second.complete(said, tools)
            await first.close()
            await second.close()
            return answer

    assert asyncio.run(talk()).text == (
        "This is reply 3." if wire == "openai" else "This is reply 2."
    )


@pytest.mark.parametrize("wire", WIRES)
def test_a_refusal_is_a_reply(wire: str, tools: list[ToolSpec], quick: Limits) -> None:
    reply, _ = asyncio.run(_ask(wire, "fake+refusal", tools, quick))
    assert isinstance(reply, Reply)
    assert (reply.refusal, reply.stop_reason) == (True, "refusal")
    assert reply.text == "I cannot help with that."


@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_reply_is_a_reply(wire: str, tools: list[ToolSpec], quick: Limits) -> None:
    reply, _ = asyncio.run(_ask(wire, "fake+empty", tools, quick))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tool_calls, reply.stop_reason) == ("", (), "stop")


@pytest.mark.parametrize("wire", WIRES)
def test_missing_usage_is_unknown_not_zero(wire: str, tools: list[ToolSpec], quick: Limits) -> None:
    reply, _ = asyncio.run(_ask(wire, "fake+no_usage", tools, quick))
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(None, None, None, None, None)


@pytest.mark.parametrize("wire", WIRES)
def test_an_enormous_reply_is_read_up_to_the_limit(
    wire: str, tools: list[ToolSpec], quick: Limits
) -> None:
    reply, _ = asyncio.run(_ask(wire, "fake+enormous:3000000", tools, quick))
    assert isinstance(reply, Reply)
    assert len(reply.text) == 3_000_000
    small = replace(quick, max_reply_bytes=2**20)
    error, sent = asyncio.run(_ask(wire, "fake+enormous:3000000", tools, small))
    assert isinstance(error, ModelError)
    assert (error.kind, error.retryable, sent) == ("too_large", False, 1)


@pytest.mark.parametrize("wire", WIRES)
def test_an_enormous_conversation_is_sent(wire: str, tools: list[ToolSpec], quick: Limits) -> None:
    async def talk() -> Reply:
        async with FakeServer() as server:
            model = _open(server, wire, "fake", quick)
            reply = await model.complete([user("é" * 2_000_000)], tools)
            await model.close()
            return reply

    assert (asyncio.run(talk()).usage.prompt or 0) > 1_000_000


def test_nobody_listens(quick: Limits) -> None:
    async def talk() -> ModelError:
        async with FakeServer() as server:
            model = _open(server, "openai", "fake", quick)
        with pytest.raises(ModelError) as caught:
            await model.complete([user("Hello")])
        await model.close()
        return caught.value

    error = asyncio.run(talk())
    assert (error.kind, error.attempts) == ("connection", 3)
    assert str(error).endswith("(after 3 attempts)")


def test_retry_after_is_waited_for(tools: list[ToolSpec], quick: Limits) -> None:
    reply, _ = asyncio.run(_ask("openai", "fake+rate_limit*1:0.2", tools, quick))
    assert isinstance(reply, Reply)
    assert reply.seconds >= 0.2


def test_too_long_a_retry_after_is_not_waited_for(tools: list[ToolSpec], quick: Limits) -> None:
    error, sent = asyncio.run(_ask("openai", "fake+rate_limit:301", tools, quick))
    assert isinstance(error, ModelError)
    assert (error.retry_after, sent) == (301.0, 1)


def test_a_cancelled_call_frees_its_place(tools: list[ToolSpec], quick: Limits) -> None:
    async def talk() -> Reply:
        async with FakeServer(latency=0.05) as server:
            model = _open(server, "openai", "fake", replace(quick, concurrency=1))
            task = asyncio.create_task(model.complete([user("Hello")], tools))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            reply = await model.complete([user("Again")], tools)
            await model.close()
            return reply

    assert asyncio.run(talk()).attempts == 1
