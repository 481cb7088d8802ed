"""The scripted model."""

from __future__ import annotations

import asyncio

import pytest

from crmbench.errors import HarnessError
from crmbench.models import NO_TOKENS, Message, Reply, ScriptedModel, ToolCall, Usage, user


def test_a_list_answers_by_the_length_of_the_conversation() -> None:
    call = ToolCall("a", "add", {})
    model = ScriptedModel([Reply("", (call,), Usage(3, 4)), "done"])
    said = [user("Hi")]

    async def talk() -> list[Reply]:
        first = await model.complete(said)
        again = await model.complete(said)
        second = await model.complete([*said, first.message()])
        return [first, again, second]

    first, again, second = asyncio.run(talk())
    assert first == again
    assert first.tool_calls == (call,)
    assert first.message() == Message("assistant", "", (call,))
    assert (second.text, second.usage) == ("done", NO_TOKENS)


def test_a_function_sees_messages_and_tools() -> None:
    model = ScriptedModel(lambda messages, tools: f"{messages[-1].text}!")
    assert asyncio.run(model.complete([user("Hi")])).text == "Hi!"


def test_a_script_that_is_too_short() -> None:
    model = ScriptedModel(["one"], "short")
    with pytest.raises(HarnessError, match="short has 1 replies; reply 2 was asked for"):
        asyncio.run(model.complete([user("Hi"), Message("assistant", "one")]))
